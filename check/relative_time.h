// Times that count from the beginning of something, such as a test, and are of no clock.
//
// They are timestamps of the years 1 to 999, in which nobody recorded a lock: so no history takes them for
// others, and their differences are those of timestamps.
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
