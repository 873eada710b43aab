// Holds JSON to a JSON Schema: only what our own files use of it.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace whorl {

inline bool HasJsonType(const nlohmann::json& json, const std::string& type) {
  if (type == "string") return json.is_string();
  if (type == "integer") return json.is_number_integer();
  if (type == "boolean") return json.is_boolean();
  if (type == "array") return json.is_array();
  if (type == "object") return json.is_object();
  return type == "null" && json.is_null();
}

// What in `json` is not as the schema, a part of `document`, says; empty if all is. An object has no
// members but those of `properties` where `additionalProperties` is false.
inline std::string MistakeIn(const nlohmann::json& json, nlohmann::json schema,
                             const nlohmann::json& document) {
  using Json = nlohmann::json;
  if (schema.contains("$ref")) {
    schema = document.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1)));
  }
  if (schema.contains("oneOf")) {
    const auto fits = std::ranges::count_if(
        schema["oneOf"], [&](const Json& one) { return MistakeIn(json, one, document).empty(); });
    return fits == 1 ? "" : "fits " + std::to_string(fits) + " forms: " + json.dump();
  }
  const Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
  const bool has_type = std::ranges::any_of(
      types, [&](const Json& type) { return HasJsonType(json, type.get<std::string>()); });
  if (!has_type) return "no " + types.dump() + ": " + json.dump();
  if (schema.contains("enum") && std::ranges::find(schema["enum"], json) == schema["enum"].end()) {
    return "not listed: " + json.dump();
  }
  if (schema.contains("minimum") && json < schema["minimum"]) return "too small: " + json.dump();
  if (json.is_array()) {
    for (const Json& one : json) {
      if (std::string mistake = MistakeIn(one, schema["items"], document); !mistake.empty()) {
        return mistake;
      }
    }
  }
  if (!json.is_object()) return {};
  for (const Json& key : schema["required"]) {
    if (!json.contains(key.get<std::string>())) return "missing: " + key.dump();
  }
  for (const auto& [key, value] : json.items()) {
    if (!schema["properties"].contains(key)) {
      if (schema.value("additionalProperties", true)) continue;
      return "not described: " + key;
    }
    std::string mistake = MistakeIn(value, schema["properties"][key], document);
    if (!mistake.empty()) return mistake;
  }
  return {};
}

}  // namespace whorl
