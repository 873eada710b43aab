// Turns files of an earlier release into today's words, so that they go on working.
//
// Only rules have changed so far: what a rule matches stood beside what it does, `every` was a count,
// `probability` is `percent` now, `hold` a latency, and `black_hole` and `reset` partitions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace whorl::sim {

// The text in today's words, indented; nothing if it has none of the earlier ones. What is wrong in the text stays
// so, for the loader to say. REQUIRES: JsonDocument::Parse() finds no problem in it.
std::optional<std::string> FromEarlierWords(std::string_view text);

}  // namespace whorl::sim
