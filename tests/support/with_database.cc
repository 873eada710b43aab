// Serves a database on a free loopback port, sets SPANNER_EMULATOR_HOST to it, and runs a command;
// for tests that are scripts. Exit code: the command's; 125 if it could not be run; 77 if there is no
// emulator.
//
// Usage: whorl_with_database PROTOCOL [DDL]... -- COMMAND [ARGUMENT]...
//        whorl_with_database --emulator -- COMMAND [ARGUMENT]...   the emulator, without a database
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "live/emulator_process.h"
#include "tests/support/lock_database.h"

int main(int argc, char** argv) {
  constexpr int kOwnFailure = 125;
  constexpr int kSkipped = 77;
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string("--"));
  if (argc < 4 || end - dashes < 2) {
    std::fprintf(stderr, "usage: whorl_with_database PROTOCOL [DDL]... -- COMMAND...\n");
    return kOwnFailure;
  }
  std::unique_ptr<whorl::LockDatabase> database;
  std::unique_ptr<whorl::EmulatorProcess> emulator;
  std::string address;
  if (argv[1] == std::string("--emulator")) {
    emulator = whorl::EmulatorProcess::Start();
    if (!emulator) {
      std::puts(whorl::kNoEmulator);
      return kSkipped;
    }
    address = emulator->address();
  } else {
    database = whorl::ServeModel(argv[1], std::vector<std::string>(argv + 2, dashes));
    address = database->Connection().endpoint;
  }
  setenv("SPANNER_EMULATOR_HOST", address.c_str(), 1);
  const pid_t child = fork();
  if (child == 0) {
    execvp(dashes[1], dashes + 1);
    std::perror(dashes[1]);
    _exit(kOwnFailure);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return kOwnFailure;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kOwnFailure;
}
