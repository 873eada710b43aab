#include "cli/lock/lock_command_line.h"

int main(int argc, char** argv) { return whorl::cli::LockMain(argc, argv); }
