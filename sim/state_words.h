// Pieces of state_report.cc: times, values and any state with fields in words, and the clocks of a
// world at a time at which nothing happens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "sim/instant.h"
#include "sim/json_print.h"
#include "sim/world.h"
#include "spanner_model/truetime.h"

namespace whorl::sim {

// Seconds since the start, exact, without trailing zeros: "12.5".
std::string TimeWords(Instant at);
// The same for a TIMESTAMP of a row; other values as Spanner's JSON has them.
Json ValueWords(const Value& value);

LocalTime NodesClocks(const World& world, int16_t node, Instant at);
model::Moment SpannersClocks(const World& world, Instant at);

// A state by its fields, without those that are false, zero or empty. Enumerations have words where
// a WordOf() is found for them.
template <typename T>
Json Words(const T& value) {
  using json_internal::WordOf;
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (json_internal::HasWord<T>) {
    return std::string(WordOf(value));
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return std::to_string(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return std::string(std::string_view(value));
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    return TimeWords(ToInstant(value));
  } else if constexpr (std::is_same_v<T, Instant>) {
    return TimeWords(value);
  } else if constexpr (std::is_same_v<T, Duration>) {
    return FormatDuration(value);
  } else if constexpr (std::is_same_v<T, Value>) {
    return ValueWords(value);
  } else if constexpr (json_internal::kIsOptional<T>) {
    return value.has_value() ? Words(*value) : Json(nullptr);
  } else if constexpr (json_internal::kIsVariant<T>) {
    return std::visit([](const auto& alternative) { return Words(alternative); }, value);
  } else if constexpr (HasFields<T>) {
    Json object = Json::object();
    VisitFields(value, [&](std::string_view name, const auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      constexpr bool kHasWord = json_internal::HasWord<Field>;
      if constexpr (!kHasWord && std::is_default_constructible_v<Field>) {
        if (field == Field{}) return;
      }
      object[std::string(name)] = Words(field);
    });
    return object;
  } else if constexpr (requires { value.begin(); }) {
    Json array = Json::array();
    for (const auto& element : value) array.push_back(Words(element));
    return array;
  } else {
    return "(not told)";
  }
}

}  // namespace whorl::sim
