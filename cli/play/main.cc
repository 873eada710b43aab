// The program whorl-play, which whorl becomes for `whorl play`; users do not call it themselves.
#include <sys/prctl.h>

#include "cli/play/command.h"

int main(int argc, char** argv) {
  // ps and top show what the user typed.
  prctl(PR_SET_NAME, "whorl", 0, 0, 0);
  return whorl::cli::RunPlayCommand(argc, argv);
}
