// A digest of what a state means: two states from which the same can happen, under the same names,
// have the same digest, although they came about in different ways.
//
// Whoever visits a state leaves out what cannot matter any more. This class renames what only has to
// be the same or different: the generations of transactions, which count up for as long as a process
// lives, become their ranks among those that are still alive (CanonicalNames), and ids of
// transactions follow them. So do serials (protocol/counting.h), also within texts.
//
// Instants are told by how far they are from now: from true time, and for a LocalInstant from what the
// clock of its process shows. So states at different times can be the same. What is longer ago than
// CanonicalNames::memory is only told by its rank among all that is.
// Invariants:
//   1. Equal forms have equal digests, on every compiler and in every process; different ones differ
//      but for chance: 128 bits.
//   2. The order of an unordered collection (AddUnordered) does not matter.
// REQUIRES of the code under test, for equal forms to have the same future: it compares instants with
// each other, and subtracts them, but uses none as a number of its own; and it asks of none whether it
// is longer ago than `memory`.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/random_id.h"
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

// The transactions that a state still refers to, which are filled in first, then Sort(), then read;
// and what is told by its rank, which the first visit of the state collects, for the second to use.
class CanonicalNames {
 public:
  // `now`: true time.
  CanonicalNames(Timestamp now, Duration memory) : now_(now), memory_(memory) {}
  Timestamp now() const { return now_; }
  Duration memory() const { return memory_; }

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

  // A number that matters only by its order among those of the same scope. Returns its rank; before
  // EndCollecting, 0.
  uint64_t RankIn(uint64_t scope, int64_t number) {
    const std::pair<uint64_t, int64_t> sought(scope, number);
    if (collecting_) {
      ranked_.push_back(sought);
      return 0;
    }
    const auto found = std::ranges::lower_bound(ranked_, sought);
    const auto first =
        std::ranges::lower_bound(ranked_, std::pair(scope, std::numeric_limits<int64_t>::min()));
    return static_cast<uint64_t>(found - first);
  }
  // The state was visited once. Whether a rank is above 0, so that it has to be visited again.
  bool EndCollecting() {
    collecting_ = false;
    std::ranges::sort(ranked_);
    const auto rest = std::ranges::unique(ranked_);
    ranked_.erase(rest.begin(), rest.end());
    return std::ranges::adjacent_find(ranked_, {}, &std::pair<uint64_t, int64_t>::first) !=
           ranked_.end();
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

  Timestamp now_;
  Duration memory_;
  std::vector<Generation> generations_;
  std::vector<std::pair<TransactionId, CallName>> transactions_;
  bool collecting_ = true;
  std::vector<std::pair<uint64_t, int64_t>> ranked_;  // scope and number
};

class CanonicalForm : public FieldAdder<CanonicalForm> {
 public:
  using FieldAdder::Add;
  static constexpr bool kIsCanonical = true;
  // `names` outlives the form.
  explicit CanonicalForm(CanonicalNames& names) : names_(names) {}
  Digest128 digest() const { return {.high = high_, .low = low_}; }

  // What follows belongs to the process on this node, whose clock shows `now`.
  void SetProcess(int16_t node, LocalInstant now) {
    local_scope_ = kScopeOfNodes + static_cast<uint64_t>(node);
    local_now_ = now;
    serial_scope_ = kScopeOfSerials + static_cast<uint64_t>(node);
  }
  LocalInstant local_now() const { return local_now_; }
  // Serials that follow are those that stand in texts after this base (random_id.h).
  void SetSerials(std::string_view base) { serial_scope_ = ScopeOf(base); }

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
    if (const auto name = ParseNumberedName(text)) {
      AddWord(kNumberedName);
      AddText(name->base);
      AddWord(names_.RankIn(ScopeOf(name->base), name->number));
      return AddText(name->more);
    }
    AddText(text);
  }
  // 0 is no serial's number: there is none.
  void AddSerial(int64_t number) {
    AddWord(number == 0 ? 0 : 1 + names_.RankIn(serial_scope_, number));
  }
  // A token as users see it: the nanoseconds of a timestamp, or a number of another kind.
  void AddTokenNumber(uint64_t number) {
    const auto ns = static_cast<int64_t>(number);
    const Timestamp time = Timestamp::FromUnixNanos(ns);
    constexpr Duration kNear = Seconds(int64_t{366} * 86'400);
    const Duration ago = names_.now() - time;
    if (ago < kNear && -kNear < ago) return Add(time);
    AddWord(number);
  }
  void Add(Timestamp time) { AddInstant((time - names_.now()).ns, kTrueTime); }
  void Add(LocalInstant instant) { AddInstant((instant - local_now_).ns, local_scope_); }
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
      CanonicalForm one = *this;
      one.Restart();
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

  // Scopes of ranks; those of texts are hashes.
  static constexpr uint64_t kTrueTime = 0;
  static constexpr uint64_t kScopeOfNodes = uint64_t{1} << 16;
  static constexpr uint64_t kScopeOfSerials = uint64_t{2} << 16;
  static uint64_t ScopeOf(std::string_view base) { return XXH3_64bits(base.data(), base.size()); }

  static constexpr uint64_t kNumberedName = ~uint64_t{0};  // no length
  static constexpr uint64_t kLongAgo = ~uint64_t{1};

  void Restart() {
    high_ = 0;
    low_ = kPrime5;
  }

  void AddText(std::string_view text) {
    AddWord(text.size());
    if (text.empty()) return;
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    AddWord(hash.high64);
    AddWord(hash.low64);
  }

  void AddInstant(int64_t from_now, uint64_t scope) {
    if (from_now > -names_.memory().ns) return AddWord(static_cast<uint64_t>(from_now));
    AddWord(kLongAgo);
    AddWord(names_.RankIn(scope, from_now));
  }

  CanonicalNames& names_;
  uint64_t local_scope_ = kScopeOfNodes;
  LocalInstant local_now_;
  uint64_t serial_scope_ = kScopeOfSerials;
  uint64_t high_ = 0;
  uint64_t low_ = kPrime5;
};

}  // namespace whorl
