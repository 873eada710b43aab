// JSON as it is written: scenarios, traces and machine-readable reports.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace whorl::sim {

using Json = nlohmann::ordered_json;

// On one line, or indented for `indent` >= 0. Bytes that are not UTF-8 are replaced by U+FFFD.
std::string DumpJson(const Json& json, int indent = -1);

}  // namespace whorl::sim
