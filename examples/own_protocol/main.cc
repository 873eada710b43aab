// The command `whorl`, with one protocol more.

#include "cli/command_line.h"
#include "simple_lease_info.h"

#ifdef WITH_BEFORE
namespace simple_lease_before {
void Add();  // as simple_lease::Add
}
#endif

int main(int argc, char** argv) {
  simple_lease::Add();
#ifdef WITH_BEFORE
  simple_lease_before::Add();
#endif
  return whorl::cli::Main(argc, argv);
}
