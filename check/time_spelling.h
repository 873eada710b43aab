// Reads times as other programs write them: RFC 3339, BigQuery, Go and PostgreSQL. All name their zone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace whorl::check {

std::optional<Timestamp> ParseAnyTime(std::string_view text);
// What the text, which is no such time, seems to be, and which are taken; for people.
std::string TimeRefusal(std::string_view text);

}  // namespace whorl::check
