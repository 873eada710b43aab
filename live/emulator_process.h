// Runs the official Cloud Spanner emulator as a child process.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live/child_process.h"

namespace whorl {

// The path of the emulator's program: $SPANNER_EMULATOR, else emulator_main on PATH, else beside
// the gcloud on PATH, else where Google's packages put it. nullopt if there is none.
std::optional<std::string> FindEmulator();

// The message of a skipped test.
inline constexpr const char* kNoEmulator =
    "SKIPPED: no Cloud Spanner emulator ($SPANNER_EMULATOR, emulator_main on PATH, or the Google "
    "Cloud SDK's component cloud-spanner-emulator)";

// By default the emulator aborts one transaction in five when another one is begun. If it never does, the open
// transaction of a client that was killed keeps all others from it for good.
enum class EmulatorAborts { kNever, kByDefault };

class EmulatorProcess {
 public:
  // Starts it on a free loopback port and waits until it answers. Null if there is no emulator;
  // throws std::runtime_error, with the emulator's output, if there is one that does not answer.
  // `more`: further options of its command line.
  static std::unique_ptr<EmulatorProcess> Start(EmulatorAborts aborts = EmulatorAborts::kNever,
                                                const std::vector<std::string>& more = {});

  const std::string& address() const { return address_; }  // 127.0.0.1:port
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  ChildProcess& process() { return process_; }

 private:
  EmulatorProcess(std::vector<std::string> command, std::string address);

  std::string address_;
  ChildProcess process_;
  std::shared_ptr<grpc::Channel> channel_;
};

// A plaintext channel that shares its connection with no other (gRPC shares connections between equal
// channels) and tries again soon if no server listens yet.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address);
// Waits until a server answers. False if none does within 20 s, or if `process` (may be null) ends.
bool WaitForServer(grpc::Channel& channel, ChildProcess* process);

}  // namespace whorl
