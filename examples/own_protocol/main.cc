// The command `whorl`, with one protocol more.

#include "cli/command_line.h"
#include "simple_lease_info.h"

int main(int argc, char** argv) {
  simple_lease::Add();
  return whorl::cli::Main(argc, argv);
}
