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

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
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

// The transactions that a state still refers to. Filled first, then Sort(), then read.
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
};

// Collects the words of one state, and hashes them at the end: only then are ranks known.
class CanonicalForm : public FieldAdder<CanonicalForm> {
 public:
  using FieldAdder::Add;
  static constexpr bool kIsCanonical = true;
  // `names` outlives the form. One form at a time in a thread.
  explicit CanonicalForm(const CanonicalNames& names) : names_(names), all_(Scratch()) {
    all_.words.Clear();
    all_.elements.Clear();
    all_.ranges.clear();
    all_.ranked.clear();
  }
  CanonicalForm(const CanonicalForm&) = delete;
  CanonicalForm& operator=(const CanonicalForm&) = delete;

  // The digest of what was added. Called once, at the end.
  Digest128 Finish();

  // What follows belongs to the process on this node, whose clock shows `now`.
  void SetProcess(int16_t node, LocalInstant now) {
    belongs_.local_scope = kScopeOfNodes + static_cast<uint64_t>(node);
    belongs_.local_now = now;
    belongs_.serial_scope = kScopeOfSerials + static_cast<uint64_t>(node);
  }
  LocalInstant local_now() const { return belongs_.local_now; }
  // Serials that follow are those that stand in texts after this base (random_id.h).
  void SetSerials(std::string_view base) { belongs_.serial_scope = ScopeOf(base); }

  void AddWord(uint64_t word) { out_->Push(word); }

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
      AddRank(ScopeOf(name->base), name->number);
      return AddText(name->more);
    }
    AddText(text);
  }
  // 0 is no serial's number: there is none.
  void AddSerial(int64_t number) {
    AddWord(number == 0 ? 0 : 1);
    if (number != 0) AddRank(belongs_.serial_scope, number);
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
  void Add(LocalInstant instant) {
    AddInstant((instant - belongs_.local_now).ns, belongs_.local_scope);
  }
  void Add(Duration duration) { AddWord(static_cast<uint64_t>(duration.ns)); }
  void Add(Float64 number) { AddWord(std::bit_cast<uint64_t>(number.value())); }
  void Add(Sql sql) { AddWord(sql.digest()); }

  // Calls add(form, value) for each value that `matters`. REQUIRES: not within another such call.
  template <typename Range, typename Matters, typename AddOne>
  void AddUnordered(const Range& values, const Matters& matters, const AddOne& add) {
    const size_t count = all_.words.size();
    for (size_t i = 0; i < 1 + kWordsOfSum; ++i) all_.words.Push(0);
    const Belongs belongs = belongs_;
    out_ = &all_.elements;
    for (const auto& value : values) {
      if (!matters(value)) continue;
      const size_t begin = all_.elements.size();
      add(*this, value);
      all_.ranges.push_back({.begin = begin, .end = all_.elements.size(), .sum = count + 1});
      ++all_.words[count];
      belongs_ = belongs;
    }
    out_ = &all_.words;
  }

 private:
  static constexpr size_t kWordsOfSum = 2;

  // Scopes of ranks; those of texts are hashes.
  static constexpr uint64_t kTrueTime = 0;
  static constexpr uint64_t kScopeOfNodes = uint64_t{1} << 16;
  static constexpr uint64_t kScopeOfSerials = uint64_t{2} << 16;
  static uint64_t ScopeOf(std::string_view base);

  static constexpr uint64_t kNumberedName = ~uint64_t{0};  // no length
  static constexpr uint64_t kLongAgo = ~uint64_t{1};

  // A vector whose Push is a few instructions wherever it is called: a state has hundreds of words.
  class Words {
   public:
    void Push(uint64_t word) {
      if (size_ == room_.size()) Grow();
      room_[size_++] = word;
    }
    void Clear() { size_ = 0; }
    size_t size() const { return size_; }
    uint64_t& operator[](size_t i) { return room_[i]; }
    std::span<const uint64_t> Part(size_t begin, size_t end) const {
      return std::span(room_).subspan(begin, end - begin);
    }

   private:
    void Grow();

    std::vector<uint64_t> room_;
    size_t size_ = 0;
  };

  // An element of an unordered collection: its words, and where the sum of the hashes goes.
  struct Range {
    size_t begin = 0;
    size_t end = 0;
    size_t sum = 0;
  };
  // A number that matters only by its order among those of the same scope, and the word that is to
  // become its rank.
  struct Ranked {
    uint64_t scope = 0;
    int64_t number = 0;
    bool in_elements = false;
    size_t place = 0;
  };
  // Kept from state to state for its memory.
  struct Collected {
    Words words;
    Words elements;  // of unordered collections
    std::vector<Range> ranges;
    std::vector<Ranked> ranked;
  };
  static Collected& Scratch() {
    thread_local Collected collected;
    return collected;
  }

  void AddText(std::string_view text) {
    AddWord(text.size());
    while (!text.empty()) {
      uint64_t word = 0;
      const std::string_view bytes = text.substr(0, sizeof(word));
      std::memcpy(&word, bytes.data(), bytes.size());
      AddWord(word);
      text.remove_prefix(bytes.size());
    }
  }

  void AddInstant(int64_t from_now, uint64_t scope) {
    if (from_now > -names_.memory().ns) return AddWord(static_cast<uint64_t>(from_now));
    AddWord(kLongAgo);
    AddRank(scope, from_now);
  }

  void AddRank(uint64_t scope, int64_t number) {
    all_.ranked.push_back({.scope = scope,
                           .number = number,
                           .in_elements = out_ == &all_.elements,
                           .place = out_->size()});
    AddWord(0);
  }
  void FillInRanks();

  // Whom the words that follow belong to.
  struct Belongs {
    uint64_t local_scope = kScopeOfNodes;
    LocalInstant local_now;
    uint64_t serial_scope = kScopeOfSerials;
  };

  const CanonicalNames& names_;
  Collected& all_;
  Words* out_ = &all_.words;
  Belongs belongs_;
};

}  // namespace whorl
