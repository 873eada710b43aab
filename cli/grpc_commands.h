// Lists the commands that another program runs. The program whorl links no gRPC and no HTTP server, so that it starts
// fast: it becomes the program whorl-grpc, which is the same command line with the commands that speak gRPC in it, or
// whorl-play.
//
//   whorl play ...                       whorl-play
//   whorl lock|serve|proxy|conform ...   whorl-grpc, whatever the arguments are
//   whorl replay ... --on SPANNER        whorl-grpc; without --on, whorl itself
//   whorl bench takeover ... --on S.     likewise
//   whorl check ... --database NAME      likewise, and with --stream
//
// A sub-command that always speaks gRPC has a row in kGrpcSubCommands; only whorl-grpc declares its
// options. A sub-command that speaks gRPC only with some option has all of its options in both
// programs, and calls a member of GrpcCommands when it runs.
#pragma once

#include <functional>
#include <string_view>

namespace whorl::cli {

struct CheckRequest;
struct ReplayRequest;
struct TakeoverRequest;

// The functions that run them: those of whorl come from HandedOver, those of whorl-grpc in
// cli/grpc/main.cc. Each returns the exit code.
struct GrpcCommands {
  std::function<int()> lock;
  std::function<int()> serve;
  std::function<int()> proxy;
  std::function<int()> conform;
  std::function<int()> play;
  std::function<int(const ReplayRequest&)> replay_on;      // REQUIRES: request.on
  std::function<int(const TakeoverRequest&)> takeover_on;  // REQUIRES: request.on
  std::function<int(const CheckRequest&)> check_database;  // REQUIRES: request.database.IsRead()
};

struct GrpcSubCommand {
  std::string_view name;
  std::string_view help;  // for `whorl --help`
  // Called before the command line is parsed. REQUIRES: no other thread runs yet, and the process has
  // not changed its signal dispositions.
  std::function<int()> GrpcCommands::* run;
};
inline constexpr GrpcSubCommand kGrpcSubCommands[] = {
    {.name = "lock",
     .help = "Take part in locks on Cloud Spanner: exec, run, init, get, list, release",
     .run = &GrpcCommands::lock},
    {.name = "serve",
     .help = "Serve Cloud Spanner's API, by the model, to any program",
     .run = &GrpcCommands::serve},
    {.name = "proxy",
     .help = "Put faults between programs and a Spanner server",
     .run = &GrpcCommands::proxy},
    {.name = "conform",
     .help = "Say what a program lacks to take part in scenarios",
     .run = &GrpcCommands::conform},
    {.name = "play",
     .help = "Try scenarios in a browser: change one, and see its run",
     .run = &GrpcCommands::play},
};

// Parses the whole command line and runs it. REQUIRES: no other thread runs yet. Returns the exit
// code.
int Main(int argc, char** argv, const GrpcCommands& grpc);

// Commands that hand over to whorl-grpc by exec: this process becomes that program, which lies beside this
// one or, if whorl was installed, in ../libexec/whorl. They return only if that fails, and say why. whorl-grpc
// gets the command line as it was typed, argv[0] included, so that ps and pgrep show it.
GrpcCommands HandedOver(int argc, char** argv);

}  // namespace whorl::cli
