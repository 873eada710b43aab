#include "cli/lock_command.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/exit_code.h"
#include "cli/lock/exec_command.h"
#include "cli/output.h"
#include "sim/error_text.h"

namespace whorl::cli {
namespace {

namespace fs = std::filesystem;

// As whorl-lock itself would: `exec` keeps lower codes for its command.
int CodeOfFailure(int argc, char** argv) {
  const bool is_exec = argc > 2 && std::string_view(argv[2]) == "exec";
  return is_exec ? static_cast<int>(kExecFailed) : static_cast<int>(kCannotRun);
}

}  // namespace

bool IsLockCommand(int argc, char** argv) {
  return argc > 1 && std::string_view(argv[1]) == "lock";
}

int HandOverToLock(int argc, char** argv) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = self.parent_path() / "whorl-lock";
  const fs::path installed = self.parent_path().parent_path() / "libexec/whorl/whorl-lock";
  // argv[0] is whorl's, argv[1] is `lock`.
  std::vector<char*> arguments(argv + 1, argv + argc);
  arguments.push_back(nullptr);
  for (const fs::path& program : {beside, installed}) {
    execv(program.c_str(), arguments.data());
    if (errno == ENOENT) continue;
    Complain(sim::Cat(program.string(), ": ", std::generic_category().message(errno)));
    return CodeOfFailure(argc, argv);
  }
  Complain(sim::Cat("whorl lock needs the program ", beside.string(),
                    ", which is missing: ./dev build makes it, with Google's protos"));
  return CodeOfFailure(argc, argv);
}

SubCommand AddLockCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("lock",
                                      "Take part in locks on Cloud Spanner: exec, run, "
                                      "init, get, list, release");
  return {.app = app, .run = [] { return static_cast<int>(kBadInput); }};
}

}  // namespace whorl::cli
