// Gives every value type of the project one field visitor.
//
// WHORL_FIELDS(Type, a, b, c), written last inside an aggregate, serves ==, the fingerprint, JSON
// and printing. Invariants:
//   1. A field that is left out does not compile: the list is bound to the aggregate by a
//      structured binding, which needs every member. HasNoOtherFields says that of every aggregate,
//      whether it is visited or not.
//   2. Order is the declaration's, on every compiler; nothing depends on addresses or on a hash
//      seed, so a fingerprint may stand in a trace.
//   3. A header costs little to include: == is the compiler's own and Tie is a template, so that no
//      tuple is made before a visit or a comparison.
// Deliberately left out: inheritance, and fields that == should ignore (there are none).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#define WHORL_FIELDS(Type, ...)                                           \
  template <typename Self>                                                \
  static constexpr auto Tie(Self& self) {                                 \
    auto& [__VA_ARGS__] = self;                                           \
    return std::tie(__VA_ARGS__);                                         \
  }                                                                       \
  static constexpr void HasNoOtherFields(const Type& self) {              \
    [[maybe_unused]] const auto& [__VA_ARGS__] = self;                    \
  }                                                                       \
  static constexpr std::string_view FieldNames() { return #__VA_ARGS__; } \
  friend bool operator==(const Type&, const Type&) = default;             \
  static_assert(true, "so that the macro ends with a semicolon")

// For an aggregate without fields.
#define WHORL_NO_FIELDS(Type)                                                   \
  template <typename Self>                                                      \
  static constexpr auto Tie(Self&) {                                            \
    static_assert(std::is_empty_v<Self>, "this type has fields: WHORL_FIELDS"); \
    return std::tuple<>();                                                      \
  }                                                                             \
  static constexpr std::string_view FieldNames() { return ""; }                 \
  friend bool operator==(const Type&, const Type&) = default;                   \
  static_assert(true, "so that the macro ends with a semicolon")

namespace whorl {

template <typename T>
concept HasFields = requires(const T& value) {
  { T::FieldNames() } -> std::same_as<std::string_view>;
};

namespace fields_internal {

// The n-th of the comma-separated names.
constexpr std::string_view NthName(std::string_view names, size_t n) {
  for (; n > 0; --n) names.remove_prefix(names.find(',') + 1);
  while (!names.empty() && names.front() == ' ') names.remove_prefix(1);
  return names.substr(0, names.find(','));
}

}  // namespace fields_internal

// Calls visit(name, field) for every field, in the order of declaration.
template <HasFields T, typename Visit>
constexpr void VisitFields(const T& value, Visit&& visit) {
  auto tied = T::Tie(value);
  [&]<size_t... I>(std::index_sequence<I...>) {
    (visit(fields_internal::NthName(T::FieldNames(), I), std::get<I>(tied)), ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(tied)>>());
}

}  // namespace whorl
