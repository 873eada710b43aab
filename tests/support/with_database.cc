// Serves a database on a free loopback port, sets SPANNER_EMULATOR_HOST to it, and runs a command;
// for tests that are scripts. Exit code: the command's; 125 if it could not be run.
//
// Usage: whorl_with_database PROTOCOL [DDL]... -- COMMAND [ARGUMENT]...
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/lock_database.h"

int main(int argc, char** argv) {
  constexpr int kOwnFailure = 125;
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string("--"));
  if (argc < 4 || end - dashes < 2) {
    std::fprintf(stderr, "usage: whorl_with_database PROTOCOL [DDL]... -- COMMAND...\n");
    return kOwnFailure;
  }
  const auto database = whorl::ServeModel(argv[1], std::vector<std::string>(argv + 2, dashes));
  setenv("SPANNER_EMULATOR_HOST", database->Connection().endpoint.c_str(), 1);
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
