#include <string_view>

#include "live/live_command_line.h"
#include "live/node_process.h"
#include "live/talk.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == whorl::live::kNodeArgument) {
    return whorl::live::RunNodeProcess();
  }
  return whorl::live::LiveMain(argc, argv);
}
