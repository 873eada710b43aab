// Prints any value with fields as JSON. All traces and machine-readable reports are printed by
// this.
//
// Invariants:
//   1. Every field is printed, under its own name and in the order of its declaration
//      (VisitFields), so a new field cannot be forgotten.
//   2. The bytes are the same with every compiler: no floating point except a row's FLOAT64, no
//      locale, no hash order.
//   3. Numbers that a reader might convert to a double are strings: times in seconds
//      ("12.345678901", always nine decimals), uint64 (tokens), and INT64 in rows.
// Enumerations are printed as their words, a Row as an object of its columns, column values as in
// Spanner's JSON, and ids of transactions (opaque bytes) in hex.
// Deliberately left out: parsing, and which alternative a variant holds (a trace names that of an
// observation by `event`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/text.h"
#include "protocol/field_tree.h"
#include "protocol/machine.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/words.h"
#include "sim/judge/check_report.h"
#include "sim/scenario/json_text.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/names.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// {"grants": 2, ..., "without_holder_max": "1.500000000", ...}
Json MetricsJson(const Metrics& metrics);
// {"takeover": 1, ...}: how often each `sometimes` goal was met.
Json MetJson(const Metrics& metrics);

// A column value in Spanner's JSON encoding.
Json ValueJson(const Value& value);

namespace json_internal {

using field_tree_internal::kIsOptional;
using field_tree_internal::kIsVariant;

}  // namespace json_internal

class JsonPrinter {
 public:
  explicit JsonPrinter(Names names) : names_(std::move(names)) {}

  // Adds the fields of `value` to an object.
  template <HasFields T>
  void AddFields(const T& value, Json& object) const {
    VisitFields(value, [&](std::string_view name, const auto& field) {
      object[std::string(name)] = Print(name, field);
    });
  }

  // `name` is the name of the field; it distinguishes numbers of nodes and locks from other
  // numbers.
  template <typename T>
  Json Print(std::string_view name, const T& value) const {
    if constexpr (std::is_same_v<T, bool>) {
      return value;
    } else if constexpr (HasWord<T>) {
      return std::string(WordOf(value));
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<int64_t>(value);
    } else if constexpr (std::is_integral_v<T>) {
      return Integer(name, value);
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
      return Text(name, value);
    } else if constexpr (requires { Special(name, value); }) {
      return Special(name, value);
    } else if constexpr (json_internal::kIsOptional<T>) {
      return value.has_value() ? Print(name, *value) : Json(nullptr);
    } else if constexpr (json_internal::kIsVariant<T>) {
      return std::visit([&](const auto& alternative) { return Print(name, alternative); }, value);
    } else if constexpr (HasFields<T>) {
      Json object = Json::object();
      AddFields(value, object);
      return object;
    } else {
      Json array = Json::array();
      for (const auto& element : value) array.push_back(Print(name, element));
      return array;
    }
  }

  const Names& names() const { return names_; }

 private:
  template <typename T>
  Json Integer(std::string_view name, T value) const {
    if constexpr (std::is_same_v<T, uint64_t>) return std::to_string(value);
    if constexpr (std::is_same_v<T, int16_t>) {
      if (name == "node") return names_.Node(value);
    }
    if constexpr (std::is_same_v<T, uint16_t>) {
      if (name == "lock" || name == "locks") return names_.Lock(value);
    }
    if constexpr (std::is_same_v<T, uint8_t>) {
      if (name == "request") return RequestText(value);
    }
    return static_cast<int64_t>(value);
  }

  static Json RequestText(uint8_t index);
  static Json Text(std::string_view name, std::string_view text);
  Json Special(std::string_view name, const Row& row) const;
  Json Special(std::string_view name, ProcessId process) const;
  Json Special(std::string_view name, Duration duration) const;
  Json Special(std::string_view name, LocalInstant instant) const;
  Json Special(std::string_view name, Instant instant) const;
  Json Special(std::string_view name, Timestamp timestamp) const;
  Json Special(std::string_view name, Sql sql) const;
  Json Special(std::string_view name, const Value& value) const;
  Json Special(std::string_view name, const Token& token) const;
  Json Special(std::string_view name, const Metrics& metrics) const;

  Names names_;
};

}  // namespace whorl::sim
