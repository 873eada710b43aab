#include "check/relative_time.h"

#include <optional>
#include <utility>

#include "base/text.h"
#include "check/record_reader.h"

namespace whorl::check {
namespace {

constexpr int64_t kSecondsOfADay = 86'400;
// 0500-01-01 and 1000-01-01.
constexpr Timestamp kZero = *Timestamp::FromParts(-536'906 * kSecondsOfADay, 0);
constexpr Timestamp kEnd = *Timestamp::FromParts(-354'285 * kSecondsOfADay, 0);

}  // namespace

Timestamp Relative(Duration since) { return kZero + since; }

bool IsRelative(Timestamp time) { return time < kEnd && time != Timestamp::Min(); }

std::string TimeText(Timestamp time) {
  if (!IsRelative(time)) return FormatRfc3339(time);
  return Cat(FormatDuration(time - kZero), " since the beginning");
}

bool TimeOrigins::Refuses(const Operation& operation, std::string& wrong) {
  const std::optional<Timestamp> time = TimeOf(operation);
  if (!time) return false;
  const std::string& file = operation.place.file;
  if (!refused_.empty() && refused_.contains(file)) return true;
  std::string& own = IsRelative(*time) ? relative_ : absolute_;
  if (own.empty()) own = file;
  const bool is_second = IsRelative(*time) && relative_ != file;
  const bool is_mixed = !relative_.empty() && !absolute_.empty();
  if (!is_second && !is_mixed) return false;
  refused_.emplace(file, true);
  const std::string other = is_second ? relative_ : IsRelative(*time) ? absolute_ : relative_;
  // What was read first is judged.
  if (is_mixed) own.clear();
  const std::string_view own_says = IsRelative(*time)
                                        ? "its times count from the beginning of a test"
                                        : "its times are of a clock";
  const std::string_view other_says = is_second           ? " from that of another one"
                                      : IsRelative(*time) ? " are of clocks"
                                                          : " count from the beginning of a test";
  wrong = Cat(WhereIs(operation.place), ": ", own_says, ", and those of ",
              other == file ? std::string("records before it") : Printable(other, 1'000),
              other_says, ": judge each by itself, or say when the test began (--began ",
              is_second ? "FILE=TIME for each)" : "TIME)");
  return true;
}

}  // namespace whorl::check
