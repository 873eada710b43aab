// A digest of what a state means: two states from which the same can happen, under the same names,
// have the same digest, although they came about in different ways.
//
// Whoever visits a state leaves out what cannot matter any more. This class renames what only has to
// be the same or different: the generations of transactions, which count up for as long as a process
// lives, become their ranks among those that are still alive (CanonicalNames), and ids of
// transactions follow them.
// Invariants:
//   1. Equal forms have equal digests, on every compiler and in every process; different ones differ
//      but for chance: 128 bits.
//   2. The order of an unordered collection (AddUnordered) does not matter.
// Left out: instants are taken as they are, so states at different times differ.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/spanner/field_adder.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/shared_text.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/time.h"
#include "protocol/spanner/value.h"

namespace whorl {

struct Digest128 {
  uint64_t high = 0;
  uint64_t low = 0;
  friend constexpr auto operator<=>(const Digest128&, const Digest128&) = default;
};

// The transactions that a state still refers to. Filled first, then Sort(), then read.
class CanonicalNames {
 public:
  void AddGenerationOf(const CallName& call) { generations_.push_back(GenerationOf(call)); }
  // `id` is Spanner's for the transaction that this call began.
  void AddTransaction(const TransactionId& id, const CallName& begun_by) {
    AddGenerationOf(begun_by);
    transactions_.emplace_back(id, begun_by);
  }
  void Sort() {
    std::ranges::sort(generations_);
    const auto rest = std::ranges::unique(generations_);
    generations_.erase(rest.begin(), rest.end());
  }

  // The generation's rank among those of its process.
  uint64_t RankOf(const CallName& call) const {
    const Generation sought = GenerationOf(call);
    const auto found = std::ranges::lower_bound(generations_, sought);
    const auto first =
        std::ranges::lower_bound(generations_, Generation{.process = sought.process, .number = 0});
    return static_cast<uint64_t>(found - first);
  }
  // The call that began the transaction; null if no state refers to the id.
  const CallName* FindTransaction(const SharedText& id) const {
    for (const auto& [known, begun_by] : transactions_) {
      if (known == id) return &begun_by;
    }
    return nullptr;
  }

 private:
  struct Generation {
    ProcessId process;
    uint32_t number = 0;
    friend constexpr auto operator<=>(const Generation&, const Generation&) = default;
  };
  static Generation GenerationOf(const CallName& call) {
    return {.process = call.process, .number = call.generation};
  }

  std::vector<Generation> generations_;
  std::vector<std::pair<TransactionId, CallName>> transactions_;
};

class CanonicalForm : public FieldAdder<CanonicalForm> {
 public:
  using FieldAdder::Add;
  // `names` outlives the form.
  explicit CanonicalForm(const CanonicalNames& names) : names_(names) {}
  Digest128 digest() const { return {.high = high_, .low = low_}; }
  const CanonicalNames& names() const { return names_; }

  void AddWord(uint64_t word) {
    high_ = std::rotl(high_ ^ (std::rotl(word * kPrime2, 31) * kPrime1), 27) * kPrime1 + kPrime4;
    low_ = std::rotl(low_ ^ (std::rotl(word * kPrime3, 29) * kPrime5), 25) * kPrime3 + kPrime1;
  }

  void Add(const CallName& call) {
    Add(call.process);
    AddWord(uint64_t{call.lock} << 48 | uint64_t{call.request} << 32 |
            uint64_t{call.attempt} << 16 | uint64_t{call.call});
    AddWord(names_.RankOf(call));
  }
  // An id of a transaction, or another text.
  void Add(const SharedText& text) {
    const CallName* begun_by = text.empty() ? nullptr : names_.FindTransaction(text);
    AddWord(begun_by != nullptr ? 1 : 0);
    if (begun_by == nullptr) return Add(text.view());
    Add(begun_by->process);
    AddWord(names_.RankOf(*begun_by) << 16 | uint64_t{begun_by->attempt});
  }
  void Add(const std::string& text) { Add(std::string_view(text)); }
  void Add(std::string_view text) {
    AddWord(text.size());
    if (text.empty()) return;
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    AddWord(hash.high64);
    AddWord(hash.low64);
  }
  void Add(Timestamp time) {
    AddWord(static_cast<uint64_t>(time.seconds()));
    AddWord(static_cast<uint64_t>(time.nanos()));
  }
  void Add(LocalInstant instant) { AddWord(static_cast<uint64_t>(instant.ns)); }
  void Add(Duration duration) { AddWord(static_cast<uint64_t>(duration.ns)); }
  void Add(Float64 number) { AddWord(std::bit_cast<uint64_t>(number.value())); }
  void Add(Sql sql) { AddWord(sql.digest()); }

  // Calls add(form, value) for each value that `matters`.
  template <typename Range, typename Matters, typename AddOne>
  void AddUnordered(const Range& values, const Matters& matters, const AddOne& add) {
    uint64_t count = 0;
    Digest128 sum;
    for (const auto& value : values) {
      if (!matters(value)) continue;
      CanonicalForm one(names_);
      add(one, value);
      one.AddWord(0);  // stirs the last word in
      ++count;
      sum.high += one.high_;
      sum.low += one.low_;
    }
    AddWord(count);
    AddWord(sum.high);
    AddWord(sum.low);
  }

 private:
  static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87ULL;
  static constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FULL;
  static constexpr uint64_t kPrime3 = 0x165667B19E3779F9ULL;
  static constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63ULL;
  static constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5ULL;

  const CanonicalNames& names_;
  uint64_t high_ = 0;
  uint64_t low_ = kPrime5;
};

}  // namespace whorl
