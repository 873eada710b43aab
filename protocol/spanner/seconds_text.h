// Seconds with nine decimals, as logs and reports have them: "9.980000000".
#pragma once

#include <string>

#include "protocol/spanner/time.h"

namespace whorl {

std::string FormatSeconds(Duration duration);

}  // namespace whorl
