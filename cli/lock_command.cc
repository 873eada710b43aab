#include "cli/lock_command.h"

#include <string_view>

#include "cli/exit_code.h"
#include "cli/hand_over.h"
#include "cli/lock/exec_command.h"

namespace whorl::cli {
namespace {

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
  HandOver("whorl-lock", "whorl lock", argv);
  return CodeOfFailure(argc, argv);
}

SubCommand AddLockCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("lock",
                                      "Take part in locks on Cloud Spanner: exec, run, "
                                      "init, get, list, release");
  return {.app = app, .run = [] { return static_cast<int>(kBadInput); }};
}

}  // namespace whorl::cli
