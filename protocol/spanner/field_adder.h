// Takes values apart into the words of a hash: containers, alternatives and aggregates with fields.
// Derived adds what is no composite: it has AddWord(uint64_t), Add() for texts, times and numbers
// that are no integers, and `using FieldAdder::Add`.
//
// Invariant: lengths and alternatives are words, too, so that two neighbouring fields cannot run
// into each other.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "protocol/spanner/fields.h"

namespace whorl {

template <typename Derived>
class FieldAdder {
 public:
  template <typename T>
    requires std::integral<T> || std::is_enum_v<T>
  void Add(T number) {
    self().AddWord(static_cast<uint64_t>(number));
  }
  template <typename T>
  void Add(const std::vector<T>& values) {
    self().AddWord(values.size());
    for (const T& value : values) self().Add(value);
  }
  // Takes only maps that have an order of their own: the order in a hash table is an accident.
  template <typename Map>
    requires requires {
      typename Map::mapped_type;
      typename Map::key_compare;
    }
  void Add(const Map& values) {
    self().AddWord(values.size());
    for (const auto& [key, value] : values) {
      self().Add(key);
      self().Add(value);
    }
  }
  template <typename T, size_t N>
  void Add(const std::array<T, N>& values) {
    for (const T& value : values) self().Add(value);
  }
  template <typename T>
  void Add(const std::optional<T>& value) {
    self().AddWord(value.has_value() ? 1 : 0);
    if (value) self().Add(*value);
  }
  template <typename... T>
  void Add(const std::variant<T...>& value) {
    self().AddWord(value.index());
    std::visit([this](const auto& held) { self().Add(held); }, value);
  }
  template <HasFields T>
  void Add(const T& value) {
    VisitFields(value, [this](std::string_view, const auto& field) { self().Add(field); });
  }
  // For a type that adds itself.
  template <typename T>
    requires requires(const T& value, Derived& derived) { value.AddTo(derived); }
  void Add(const T& value) {
    value.AddTo(self());
  }

 private:
  FieldAdder() = default;
  friend Derived;
  constexpr Derived& self() { return static_cast<Derived&>(*this); }
};

}  // namespace whorl
