// The official Cloud Spanner emulator, as a child process of a test.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <optional>
#include <string>

#include "live/child_process.h"

namespace whorl {

// The path of the emulator's program: $SPANNER_EMULATOR, else emulator_main on PATH, else beside
// the gcloud on PATH, else where Google's packages put it. Nothing when there is none.
std::optional<std::string> FindEmulator();

// What a skipped test says.
inline constexpr const char* kNoEmulator =
    "SKIPPED: no Cloud Spanner emulator ($SPANNER_EMULATOR, emulator_main on PATH, or the Google "
    "Cloud SDK's component cloud-spanner-emulator)";

class EmulatorProcess {
 public:
  // Started on a free loopback port, and answering. It never aborts a transaction in favour of
  // another by chance. Null when there is no emulator; throws std::runtime_error, with what the
  // emulator printed, when there is one and it does not answer.
  static std::unique_ptr<EmulatorProcess> Start();

  const std::string& address() const { return address_; }  // 127.0.0.1:port
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  ChildProcess& process() { return process_; }

 private:
  EmulatorProcess(const std::string& program, std::string address);

  std::string address_;
  ChildProcess process_;
  std::shared_ptr<grpc::Channel> channel_;
};

// A plaintext channel of its own (gRPC shares connections between equal ones) that connects again
// soon when nobody listens yet.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address);
// True once a server answers; false when it does not within 20 s, or when `process` (if any) ended.
bool WaitForServer(grpc::Channel& channel, ChildProcess* process);

}  // namespace whorl
