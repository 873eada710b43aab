// Represents times that count from the beginning of something, such as a test, rather than by a clock.
//
// They are timestamps of the years 1 to 999, so no history confuses them with others, and differences work as for
// timestamps.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"
#include "check/operation.h"

namespace whorl::check {

Timestamp Relative(Duration since);
bool IsRelative(Timestamp time);
// "2026-01-01T00:00:00Z", or "1.5s since the beginning".
std::string TimeText(Timestamp time);

// Notices when times cannot be compared.
class TimeOrigins {
 public:
  // Whether the operation is of a file that is refused. Then `wrong` says why, when it is the first one.
  bool Refuses(const Operation& operation, std::string& wrong);

 private:
  std::string relative_;  // the file whose times are relative
  std::string absolute_;  // and the first one whose times are not
  std::map<std::string, bool, std::less<>> refused_;
};

}  // namespace whorl::check
