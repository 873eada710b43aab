#include "live/emulator_process.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace whorl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBesideGcloud = "cloud_spanner_emulator/emulator_main";

bool IsProgram(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> FindOnPath(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path candidate = fs::path(folder) / name;
    if (IsProgram(candidate)) return candidate;
  }
  return std::nullopt;
}

std::optional<fs::path> FindBesideGcloud() {
  const std::optional<fs::path> gcloud = FindOnPath("gcloud");
  if (!gcloud) return std::nullopt;
  std::error_code ignored;
  // /usr/bin/gcloud is a link into the SDK's bin/.
  fs::path candidate = fs::canonical(*gcloud, ignored).parent_path() / kBesideGcloud;
  return IsProgram(candidate) ? std::optional(candidate) : std::nullopt;
}

std::optional<fs::path> FindInUsualPlaces() {
  for (const std::string_view sdk :
       {"/usr/lib/google-cloud-sdk", "/opt/google-cloud-sdk", "/usr/local/google-cloud-sdk"}) {
    fs::path candidate = fs::path(sdk) / "bin" / kBesideGcloud;
    if (IsProgram(candidate)) return candidate;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FindEmulator() {
  // An explicit path that is wrong is a mistake, not an absence.
  if (const char* named = std::getenv("SPANNER_EMULATOR"); named != nullptr && *named != '\0') {
    if (IsProgram(named)) return named;
    throw std::runtime_error("$SPANNER_EMULATOR names no program: " + std::string(named));
  }
  std::optional<fs::path> found = FindOnPath("emulator_main");
  if (!found) found = FindBesideGcloud();
  if (!found) found = FindInUsualPlaces();
  if (!found) return std::nullopt;
  return found->string();
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  // What an attempt may take before it counts as failed, and calls with it; one that is refused ends at once.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

bool WaitForServer(grpc::Channel& channel, ChildProcess* process) {
  using std::chrono::steady_clock;
  using std::chrono::system_clock;
  const auto give_up = steady_clock::now() + std::chrono::seconds(20);
  while (steady_clock::now() < give_up) {
    if (process != nullptr && !process->IsRunning()) return false;
    // In slices, to notice soon if the process has ended.
    if (channel.WaitForConnected(system_clock::now() + std::chrono::milliseconds(200))) return true;
  }
  return false;
}

EmulatorProcess::EmulatorProcess(std::vector<std::string> command, std::string address)
    : address_(std::move(address)), process_(std::move(command)), channel_(MakeChannel(address_)) {}

std::unique_ptr<EmulatorProcess> EmulatorProcess::Start(EmulatorAborts aborts,
                                                        const std::vector<std::string>& more) {
  const std::optional<std::string> program = FindEmulator();
  if (!program) return nullptr;
  constexpr int kAttempts = 3;  // each on another port
  std::string output;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string address = "127.0.0.1:" + std::to_string(FreePort());
    std::vector<std::string> command = {*program, "--host_port=" + address};
    if (aborts == EmulatorAborts::kNever) {
      command.emplace_back("--abort_current_transaction_probability=0");
    }
    command.insert(command.end(), more.begin(), more.end());
    std::unique_ptr<EmulatorProcess> emulator(new EmulatorProcess(std::move(command), address));
    // The process still runs, so the channel is connected to it and not to another user of the port.
    if (WaitForServer(*emulator->channel_, &emulator->process_) && emulator->process_.IsRunning()) {
      return emulator;
    }
    output = emulator->process_.Output();
  }
  throw std::runtime_error(*program + " does not answer. It printed:\n" + output);
}

}  // namespace whorl
