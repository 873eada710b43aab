// A 64-bit fingerprint of any value with fields: the same on every compiler and in every process.
//
// Invariants:
//   1. Equal values have equal fingerprints; lengths and alternatives are part of it, so that two
//      neighbouring fields cannot run into each other.
//   2. Only values go in: never an address, the index of an interned text, or a hash from the
//      library.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/shared_text.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/time.h"
#include "protocol/spanner/value.h"

namespace whorl {

class Fingerprint {
 public:
  explicit constexpr Fingerprint(uint64_t seed = 0) : state_(seed) {}
  constexpr uint64_t value() const { return state_; }

  // One round of XXH64's kind: rotate and multiply, so that order matters.
  constexpr void AddWord(uint64_t word) {
    state_ = std::rotl(state_ ^ (std::rotl(word * kPrime2, 31) * kPrime1), 27) * kPrime1 + kPrime4;
  }

  void Add(const SharedText& text) { Add(text.view()); }
  void Add(const std::string& text) { Add(std::string_view(text)); }
  void Add(std::string_view text) {
    AddWord(text.size());
    AddWord(XXH3_64bits(text.data(), text.size()));
  }
  void Add(Timestamp time) {
    AddWord(static_cast<uint64_t>(time.seconds()));
    AddWord(static_cast<uint64_t>(time.nanos()));
  }
  void Add(Duration duration) { AddWord(static_cast<uint64_t>(duration.ns)); }
  void Add(LocalInstant instant) { AddWord(static_cast<uint64_t>(instant.ns)); }
  void Add(Float64 number) { AddWord(std::bit_cast<uint64_t>(number.value())); }
  void Add(Sql sql) { AddWord(sql.digest()); }
  template <typename T>
    requires std::integral<T> || std::is_enum_v<T>
  void Add(T number) {
    AddWord(static_cast<uint64_t>(number));
  }
  template <typename T>
  void Add(const std::vector<T>& values) {
    AddWord(values.size());
    for (const T& value : values) Add(value);
  }
  // Of maps in an order of their own only: that of a hash table is an accident.
  template <typename Map>
    requires requires {
      typename Map::mapped_type;
      typename Map::key_compare;
    }
  void Add(const Map& values) {
    AddWord(values.size());
    for (const auto& [key, value] : values) {
      Add(key);
      Add(value);
    }
  }
  template <typename T, size_t N>
  void Add(const std::array<T, N>& values) {
    for (const T& value : values) Add(value);
  }
  template <typename T>
  void Add(const std::optional<T>& value) {
    AddWord(value.has_value() ? 1 : 0);
    if (value) Add(*value);
  }
  template <typename... T>
  void Add(const std::variant<T...>& value) {
    AddWord(value.index());
    std::visit([this](const auto& held) { this->Add(held); }, value);
  }
  template <HasFields T>
  void Add(const T& value) {
    VisitFields(value, [this](std::string_view, const auto& field) { this->Add(field); });
  }
  // For a type that adds itself.
  template <typename T>
    requires requires(const T& value, Fingerprint& fingerprint) { value.AddTo(fingerprint); }
  void Add(const T& value) {
    value.AddTo(*this);
  }

 private:
  static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87ULL;
  static constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FULL;
  static constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63ULL;
  uint64_t state_;
};

}  // namespace whorl
