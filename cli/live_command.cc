#include "cli/live_command.h"

#include <algorithm>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/hand_over.h"

namespace whorl::cli {

bool IsLiveCommand(int argc, char** argv) {
  const auto is = [&](int place, std::string_view word) {
    return place < argc && std::string_view(argv[place]) == word;
  };
  if (!is(1, "replay") && !(is(1, "bench") && is(2, "takeover"))) return false;
  return std::any_of(argv + 2, argv + argc, [](std::string_view argument) {
    return argument == "--on" || argument.starts_with("--on=");
  });
}

int HandOverToLive(char** argv) {
  HandOver("whorl-live", "--on", argv);
  return kCannotRun;
}

}  // namespace whorl::cli
