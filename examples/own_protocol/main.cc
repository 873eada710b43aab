// The command `whorl`, with two protocols more.

#include "cli/command_line.h"
#include "row_lease_info.h"
#include "simple_lease_info.h"

#ifdef WITH_BEFORE
namespace simple_lease_before {
void Add();  // as simple_lease::Add
}
namespace row_lease_before {
void Add();
}
#endif

int main(int argc, char** argv) {
  simple_lease::Add();
  row_lease::Add();
#ifdef WITH_BEFORE
  simple_lease_before::Add();
  row_lease_before::Add();
#endif
  return whorl::cli::Main(argc, argv);
}
