#include "cli/play/command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/play/playground.h"
#include "cli/play/server.h"
#include "cli/signals.h"
#include "cli/usage.h"

namespace whorl::cli {
namespace {

constexpr std::string_view kPlayFooter = R"(Examples:
  whorl play
  whorl play scenarios --port 8080

Opens nothing by itself: open the address that is printed in a browser of this machine. The page has a scenario at
the left and its run at the right, drawn anew when the scenario changes. "Save" writes into DIR, and replaces no
file that was there before. No other machine and no other site can use the page; its address has a token.
Exit codes: 0 ended by Ctrl-C; 2 bad usage; 3 the port is taken, or this whorl was built without pages.)";

struct PlayRequest {
  std::string folder = ".";
  int port = 0;
};

// Waits for a signal.
class SignalGate {
 public:
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return has_come_; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    has_come_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_come_ = false;  // guarded by mutex_
};

int Play(const PlayRequest& request) {
  if (const absl::Status missing = PagesMissing(); !missing.ok()) return End(missing);
  std::error_code error;
  if (!std::filesystem::is_directory(request.folder, error)) {
    Complain(Cat(Printable(request.folder, 1'000), ": is no folder to save scenarios in"));
    return kBadInput;
  }
  SignalGate gate;
  const Signals signals({SIGINT, SIGTERM, SIGHUP}, [&gate](int) { gate.Open(); });
  constexpr std::chrono::seconds kPatience(3);
  Playground playground(request.folder, kPatience);
  const absl::StatusOr<std::unique_ptr<PlayServer>> server =
      PlayServer::Start(request.port, playground);
  if (!server.ok()) return End(server.status());
  std::cout << (*server)->url() << '\n';
  if (const absl::Status written = FlushStdout(); !written.ok()) return End(written);
  std::cerr << "open it in a browser of this machine; Ctrl-C ends it\n";
  gate.Wait();
  return kAsExpected;
}

int Run(const std::vector<std::string>& words) {
  CLI::App root("Simulation and verification testbed for distributed locks on Cloud Spanner.",
                "whorl");
  root.require_subcommand(1);
  CLI::App& app =
      *root.add_subcommand("play", "Try scenarios in a browser: change one, and see its run");
  PlayRequest request;
  app.add_option("DIR", request.folder, "folder to save scenarios in (default: this one)");
  AddNumber(
      app, "--port", 1, 65'535,
      [&request](uint64_t port) { request.port = static_cast<int>(port); },
      "port on 127.0.0.1 (default: a free one)");
  app.footer(std::string(kPlayFooter));
  if (const auto code = Parse(root, words, kBadInput)) return *code;
  return Play(request);
}

}  // namespace

int RunPlayCommand(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    return Run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    Complain(std::string("cannot go on: ") + error.what());
    return kCannotRun;
  }
}

}  // namespace whorl::cli
