#include "cli/hunt/speed.h"

#include <algorithm>

#include "base/text.h"
#include "base/time.h"

namespace whorl::cli {

double SecondsSince(std::chrono::steady_clock::time_point started) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

std::string SpeedText(uint64_t runs, double seconds) {
  const auto rate = static_cast<int64_t>(static_cast<double>(runs) / std::max(seconds, 0.001));
  return Cat(CountText(static_cast<int64_t>(runs), "run", "runs"), " in ",
             FormatSeconds({static_cast<int64_t>(seconds * 1e9)}, 1), " s (", GroupedText(rate),
             " a second)");
}

}  // namespace whorl::cli
