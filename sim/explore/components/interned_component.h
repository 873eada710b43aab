// Keeps each component of a state once. Its numbers are normal: they are the same wherever they mean the same. So a
// component is known by its address, and what a step does to components is a list of other components.
//
// Normal numbers, by kind of slot:
//   kInstant   how far it is from now. What is long ago: kOldest and a rank, or kNeverSet.
//   kTick      how far the next tick is from now
//   kFloored   how far it is from now, or the floor
//   kRank      a rank
//   kQuestionTime  0 if the instant is now; otherwise kOpen or kClosed
//   kConditional  the number; 0 behind a gate that is closed
// A rank is kRankStep times how many numbers of its scope are less, of those that are shown. A number that is
// not shown, and is none of those that are, lies between two ranks.
// Invariants:
//   1. The digests of normal parts are those that NormalForm makes of the numbers as they are in a world.
//   2. Two parts of one table are the same if their shapes and normal numbers are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/explore/components/canonical_form.h"
#include "sim/explore/components/component_template.h"
#include "sim/explore/components/normal_form.h"
#include "sim/explore/components/symmetry.h"
#include "sim/explore/engine/key.h"
#include "sim/explore/engine/key_map.h"
#include "sim/scenario/instant.h"

namespace whorl::sim {

inline constexpr int64_t kRankStep = 64;
inline constexpr int64_t kOldest = -(int64_t{1} << 61);  // more than 70 years before now
inline constexpr int64_t kNeverSet = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kClosed = kNeverSet + 1;
inline constexpr int64_t kOpen = kNeverSet + 2;
// A rank after all others, until it has been made normal: this and the following ones.
inline constexpr int64_t kNewRank = (int64_t{1} << 20) * kRankStep;
inline constexpr int64_t kMostNewRanks = 8;  // of one scope

// Whether an instant, counted from now, is one of 1970: that of what was never set.
inline bool WasNeverSet(int64_t from_now) {
  constexpr int64_t kLongestRun = Seconds(int64_t{366} * 86'400).ns;
  return from_now < -kLongestRun;
}

// A transaction that a part refers to, or is: two are the same if they are equal.
struct KnownTransaction {
  uint64_t id = 0;
  int64_t number = 0;
  friend bool operator==(const KnownTransaction&, const KnownTransaction&) = default;
};

struct InternedComponent {
  // First what is asked of each part of each state, so that it is fetched together.
  uint64_t order = 0;  // by name, then digest, as far as a word tells
  // Of what the numbers mean, and the same with nodes 0 and 1 renamed (ComponentTemplate::renamed), if they can be.
  Digest128 digest;
  Digest128 renamed;
  explore::Key128 identity;  // of the shape and the numbers
  int16_t node = -1;
  uint8_t sets = 0;    // as its shape
  uint8_t events = 0;  // how many it has
  bool is_shown : 1 = true;
  bool fits : 1 = true;               // all ranks fit the bitmask
  bool is_ambiguous : 1 = false;      // it is not shown, and has numbers that no part shows
  bool may_be_forgotten : 1 = false;  // as its shape
  bool concerns_gates : 1 = false;    // it has gates, or questions
  bool has_ranks : 1 = false;
  bool refers : 1 = false;  // to transactions
  bool only_is_due : 1 =
      false;  // it is an event that stands alone, and when that was due matters to nothing

  const ComponentTemplate* shape = nullptr;
  // Its ranks, as bits.
  struct Ranks {
    uint32_t scope = 0;
    bool has_never_set = false;
    uint64_t present = 0;  // without what was never set
  };
  std::vector<Ranks> ranks;
  std::vector<int64_t> numbers;  // by slot
  std::vector<KnownTransaction> references;
  KnownTransaction transaction;         // that it is, if it is one
  std::vector<Digest128> more_renamed;  // by the other renamings
  Digest128 signature;                  // Symmetry

  PartKind kind() const { return static_cast<PartKind>(order >> 56); }
  bool RefersTo(const InternedComponent& other) const {
    return refers && std::ranges::find(references, other.transaction) != references.end();
  }
};

// Sorted by name and digest; the ledger's is the last.
using InternedComponents = std::vector<const InternedComponent*>;

// Interns components, and makes their numbers normal. One thread at a time.
class NormalTable {
 public:
  // `memory`: how long ago something has to be to be long ago. `questions`: how many there can be, by node and
  // lock. `symmetry`: null if each state stands for itself. REQUIRES: it outlives the table.
  NormalTable(Duration memory, size_t questions, const Symmetry* symmetry)
      : symmetry_(symmetry), memory_(memory.ns), asked_(questions) {}

  // The part with these numbers. They may have new ranks (kNewRank): then the part is no part of a state.
  const InternedComponent& Of(const ComponentTemplate& shape, std::span<const int64_t> numbers);

  // The parts of a world. Sorts both.
  void FromWorld(Instant now, TemplateTable::Parts& world, InternedComponents& parts);
  // The parts when so much time has gone on.
  void Advance(Duration by, InternedComponents& parts);
  // Makes parts normal that were so, some of which have gone or are new. `gates`: those may concern gates.
  void Restore(InternedComponents& parts, bool gates);
  static void Sort(InternedComponents& parts);
  // Of all that are shown; with symmetry, the least.
  Digest128 DigestOf(const InternedComponents& parts) const;

  size_t bytes() const { return bytes_; }  // roughly

 private:
  // A part whose numbers may not be normal; those of kInstant count from now.
  struct Loose {
    const ComponentTemplate* shape = nullptr;
    size_t first = 0;  // in loose_numbers_
  };
  struct Scope {
    uint64_t round = 0;  // the other fields are of this round
    uint64_t present = 0;
    bool has_never_set = false;
  };
  struct Ranked {
    uint32_t scope = 0;
    int64_t number = 0;
    friend constexpr auto operator<=>(const Ranked&, const Ranked&) = default;
  };

  void Begin();
  void AddLoose(const ComponentTemplate& shape, std::span<const int64_t> numbers);
  // All that were added, made normal.
  void Finish(InternedComponents& parts);
  void SetAsked(const ComponentTemplate& shape, std::span<const int64_t> numbers);
  int64_t RankOf(uint32_t scope, int64_t number, bool is_shown);
  int64_t NormalGate(const NumericSlot& slot, int64_t number) const;
  void MakeNormal(const Loose& loose);
  void RestoreSlowly(InternedComponents& parts);
  void AddBits(const InternedComponent& part);
  uint64_t PresentIn(uint32_t scope) const;
  bool StandsAsItIs(const InternedComponent& ledger) const;
  const InternedComponent& Compact(const InternedComponent& part);
  void RestoreGates(InternedComponents& parts);
  void Describe(InternedComponent& part) const;

  const Symmetry* symmetry_;
  int64_t memory_;
  std::vector<std::unique_ptr<const InternedComponent>> parts_;
  explore::KeyMap<const InternedComponent*> known_;
  explore::KeyMap<const InternedComponent*> compacted_;
  size_t bytes_ = 0;

  // Of one state, kept for their memory:
  std::vector<std::optional<int64_t>> asked_;  // by question: when, from now
  std::vector<Loose> loose_;
  std::vector<int64_t> loose_numbers_;
  std::vector<Ranked> ranked_;
  std::vector<Ranked> hidden_;
  std::vector<std::pair<const InternedComponent*, TemplateTable::Part>> pairs_;
  std::vector<int64_t> scratch_;
  std::vector<Scope> scopes_;
  std::vector<uint32_t> touched_;  // scopes of this round
  uint64_t round_ = 0;
};

}  // namespace whorl::sim
