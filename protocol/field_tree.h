// Turns the fields of a value into a tree of names and values, so that a host can report the state
// of a protocol whose types it does not know.
//
// Invariants:
//   1. Fields have their own names and come in the order of their declaration (VisitFields).
//   2. A field that is false, zero or empty is left out, unless it has a word.
// An enumeration without words (words.h) is reported as a number.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/counting.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/value.h"
#include "protocol/spanner/words.h"
#include "protocol/token.h"

namespace whorl {

// An enumeration with words, or a name.
template <typename T>
concept HasWord = requires(const T& value) {
  { WordOf(value) } -> std::same_as<std::string_view>;
};

// A type whose values are points in time.
template <typename T>
concept HasTimestamp = requires(const T& value) {
  { ToTimestamp(value) } -> std::same_as<Timestamp>;
};

struct NamedField;
struct FieldTree {
  using List = std::vector<FieldTree>;
  using Fields = std::vector<NamedField>;
  // monostate: an empty optional. Value: a column of a row, whatever its type.
  std::variant<std::monostate, bool, int64_t, uint64_t, std::string, Timestamp, Duration, Value,
               List, Fields>
      what;
};
struct NamedField {
  std::string_view name;
  FieldTree value;
};

namespace field_tree_internal {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVariant = false;
template <typename... T>
inline constexpr bool kIsVariant<std::variant<T...>> = true;

}  // namespace field_tree_internal

template <typename T>
FieldTree ToFieldTree(const T& value);

template <HasFields T>
FieldTree::Fields FieldsOf(const T& value) {
  FieldTree::Fields fields;
  VisitFields(value, [&fields](std::string_view name, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (!HasWord<Field> && std::is_default_constructible_v<Field>) {
      if (field == Field{}) return;
    }
    fields.push_back({.name = name, .value = ToFieldTree(field)});
  });
  return fields;
}

template <typename T>
FieldTree ToFieldTree(const T& value) {
  using field_tree_internal::kIsOptional;
  using field_tree_internal::kIsVariant;
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint64_t> ||
                std::is_same_v<T, Timestamp> || std::is_same_v<T, Duration> ||
                std::is_same_v<T, Value>) {
    return {.what = value};
  } else if constexpr (std::is_same_v<T, LocalInstant>) {
    return {.what = value - LocalInstant{}};
  } else if constexpr (std::is_same_v<T, TokenNumber>) {
    return {.what = value.number};
  } else if constexpr (std::is_same_v<T, Ticker>) {
    return ToFieldTree(value.from);
  } else if constexpr (kIsCounting<T>) {
    return {.what = value.n};
  } else if constexpr (std::is_same_v<T, Token>) {
    return {.what = value.ToValue()};
  } else if constexpr (HasWord<T>) {
    return {.what = std::string(WordOf(value))};
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    return {.what = static_cast<int64_t>(value)};
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return {.what = std::string(std::string_view(value))};
  } else if constexpr (HasTimestamp<T>) {
    return {.what = ToTimestamp(value)};
  } else if constexpr (kIsOptional<T>) {
    return value.has_value() ? ToFieldTree(*value) : FieldTree{};
  } else if constexpr (kIsVariant<T>) {
    return std::visit([](const auto& alternative) { return ToFieldTree(alternative); }, value);
  } else if constexpr (HasFields<T>) {
    return {.what = FieldsOf(value)};
  } else if constexpr (requires { value.begin(); }) {
    FieldTree::List list;
    for (const auto& element : value) list.push_back(ToFieldTree(element));
    return {.what = std::move(list)};
  } else {
    return {.what = std::string("(not told)")};
  }
}

}  // namespace whorl
