// The commands that speak gRPC. The program whorl links no gRPC, so that it starts fast: it becomes
// the program whorl-grpc, which is the same command line with these commands in it.
//
//   whorl lock ...                     whorl-grpc, whatever the arguments are
//   whorl replay ... --on SPANNER      whorl-grpc; without --on, whorl itself
//   whorl bench takeover ... --on S.   likewise
//
// A sub-command that always speaks gRPC has a row in kGrpcSubCommands, and its options only in
// whorl-grpc. One that speaks gRPC with some option has all of its options in both programs, and
// calls a member of GrpcCommands when it runs.
#pragma once

#include <functional>
#include <string_view>

namespace whorl::cli {

struct ReplayRequest;
struct TakeoverRequest;

// How a program runs them: in whorl by hand_over.h, in whorl-grpc by cli/grpc/main.cc. Each returns
// the exit code.
struct GrpcCommands {
  std::function<int()> lock;
  std::function<int(const ReplayRequest&)> replay_on;      // REQUIRES: request.on
  std::function<int(const TakeoverRequest&)> takeover_on;  // REQUIRES: request.on
};

struct GrpcSubCommand {
  std::string_view name;
  std::string_view help;  // for `whorl --help`
  // Called before the command line is read. REQUIRES: no other thread runs yet, and signals are as
  // this process has found them.
  std::function<int()> GrpcCommands::* run;
};
inline constexpr GrpcSubCommand kGrpcSubCommands[] = {
    {.name = "lock",
     .help = "Take part in locks on Cloud Spanner: exec, run, init, get, list, release",
     .run = &GrpcCommands::lock},
};

// The whole command line. REQUIRES: no other thread runs yet. Returns the exit code.
int Main(int argc, char** argv, const GrpcCommands& grpc);

}  // namespace whorl::cli
