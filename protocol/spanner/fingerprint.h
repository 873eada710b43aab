// Computes a 64-bit fingerprint of any value with fields: the same on every compiler and in every
// process.
//
// Invariants:
//   1. Equal values have equal fingerprints; lengths and alternatives are part of it, so that two
//      neighbouring fields cannot run into each other.
//   2. Only values go in: never an address, the index of an interned text, or a hash from the
//      library.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "protocol/spanner/field_adder.h"
#include "protocol/spanner/shared_text.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/value.h"

namespace whorl {

class Fingerprint : public FieldAdder<Fingerprint> {
 public:
  using FieldAdder::Add;
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

 private:
  static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87ULL;
  static constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FULL;
  static constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63ULL;
  uint64_t state_;
};

}  // namespace whorl
