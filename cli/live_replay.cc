#include "cli/live_replay.h"

#include <algorithm>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/hand_over.h"

namespace whorl::cli {

bool IsLiveReplay(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != "replay") return false;
  return std::any_of(argv + 2, argv + argc, [](std::string_view argument) {
    return argument == "--on" || argument.starts_with("--on=");
  });
}

int HandOverToLive(char** argv) {
  HandOver("whorl-live", "whorl replay --on", argv);
  return kCannotRun;
}

}  // namespace whorl::cli
