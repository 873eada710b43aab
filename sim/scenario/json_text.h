// Writes JSON: the library's type, and its text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace whorl::sim {

using Json = nlohmann::ordered_json;

// The text on one line, or indented if `indent` >= 0. Bytes that are not UTF-8 become U+FFFD.
std::string DumpJson(const Json& json, int indent = -1);

}  // namespace whorl::sim
