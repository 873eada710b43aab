#include "cli/command_line.h"

int main(int argc, char** argv) { return whorl::cli::Main(argc, argv); }
