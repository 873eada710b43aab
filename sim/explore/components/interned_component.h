// Keeps each component of a state once. Its numbers are normal: equal meanings have equal numbers. So components are
// equal if their addresses are, and the effect of a step can be a list of components.
//
// Normal numbers, by kind of slot:
//   kInstant   the time from now to it; for an instant that is long ago kOldest and a rank, or kNeverSet
//   kTick      the time from now to the next tick
//   kFloored   the time from now to it, or the floor if the floor is greater
//   kRank      a rank
//   kQuestionTime  0 if the instant is now; otherwise kOpen or kClosed
//   kConditional  the number; 0 if its question is closed
// A rank is kRankStep times the count of lesser numbers that shown components have in its scope. A number that only
// hidden components have lies between two ranks.
// Invariants:
//   1. A component's digest equals the one that NormalForm makes of the same part of a world.
//   2. Two components of one table are the same object if their templates and their normal numbers are equal.
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
// Ranks from here on are of new numbers, which come after all others. They are not normal yet.
inline constexpr int64_t kNewRank = (int64_t{1} << 20) * kRankStep;
inline constexpr int64_t kMostNewRanks = 8;  // of one scope

// Whether an instant, counted from now, lies in 1970: then it was never set.
inline bool WasNeverSet(int64_t from_now) {
  constexpr int64_t kLongestRun = Seconds(int64_t{366} * 86'400).ns;
  return from_now < -kLongestRun;
}

// A transaction to which a component refers, or which the component is.
struct KnownTransaction {
  uint64_t id = 0;
  int64_t number = 0;
  friend bool operator==(const KnownTransaction&, const KnownTransaction&) = default;
};

struct InternedComponent {
  // First the fields that every state needs of each of its components, so that they share a cache line.
  uint64_t order = 0;  // the sort key: the name, then the first bits of the digest
  // The digest, and the digest after renaming nodes 0 and 1 (ComponentTemplate::renamed), if the symmetry has that.
  Digest128 digest;
  Digest128 renamed;
  explore::Key128 identity;  // a hash of the template and the numbers
  int16_t node = -1;
  uint8_t sets = 0;    // ComponentTemplate::sets
  uint8_t events = 0;  // the number of its events
  bool is_shown : 1 = true;
  bool fits : 1 = true;               // all ranks fit the bitmask
  bool is_ambiguous : 1 = false;      // hidden, with numbers that no shown component has
  bool may_be_forgotten : 1 = false;  // ComponentTemplate::may_be_forgotten
  bool concerns_gates : 1 = false;    // it has questions, or slots that depend on questions
  bool has_ranks : 1 = false;
  bool refers : 1 = false;  // it refers to transactions
  // It is a pending event that is due; when it became due does not matter.
  bool only_is_due : 1 = false;

  const ComponentTemplate* shape = nullptr;
  // The component's ranks in one scope, as bits.
  struct Ranks {
    uint32_t scope = 0;
    bool has_never_set = false;
    uint64_t present = 0;  // does not count instants that were never set
  };
  std::vector<Ranks> ranks;
  std::vector<int64_t> numbers;  // by slot
  std::vector<KnownTransaction> references;
  KnownTransaction transaction;         // of a component that is a transaction
  std::vector<Digest128> more_renamed;  // the digests under the other renamings
  Digest128 signature;                  // see symmetry.h

  PartKind kind() const { return static_cast<PartKind>(order >> 56); }
  bool RefersTo(const InternedComponent& other) const {
    return refers && std::ranges::find(references, other.transaction) != references.end();
  }
};

// The components of a state, sorted by name and digest; the ledger is the last.
using InternedComponents = std::vector<const InternedComponent*>;

// Interns components, and makes their numbers normal. One thread at a time.
class NormalTable {
 public:
  // `memory`: instants longer ago are long ago. `questions`: the number of nodes times locks. `symmetry`: null if
  // there is none. REQUIRES: it outlives the table.
  NormalTable(Duration memory, size_t questions, const Symmetry* symmetry)
      : symmetry_(symmetry), memory_(memory.ns), asked_(questions) {}

  // The component with these numbers. If some are new ranks (kNewRank), it is not normal yet, and no state has it.
  const InternedComponent& Of(const ComponentTemplate& shape, std::span<const int64_t> numbers);

  // Makes the components of a world's parts, and sorts both.
  void FromWorld(Instant now, TemplateTable::Parts& world, InternedComponents& parts);
  // Replaces a state's components by those of the same state after the time `by` has passed.
  void Advance(Duration by, InternedComponents& parts);
  // Makes components normal again after some were removed or added. `gates`: some of those have questions.
  void Restore(InternedComponents& parts, bool gates);
  static void Sort(InternedComponents& parts);
  // The digest of all shown components; with symmetry, the least of the digests under all renamings.
  Digest128 DigestOf(const InternedComponents& parts) const;

  size_t bytes() const { return bytes_; }  // roughly

 private:
  // A component whose numbers may not be normal; instants count from now.
  struct Loose {
    const ComponentTemplate* shape = nullptr;
    size_t first = 0;  // in loose_numbers_
  };
  struct Scope {
    uint64_t round = 0;  // the round for which the other fields are valid
    uint64_t present = 0;
    bool has_never_set = false;
  };
  void Begin();
  void AddLoose(const ComponentTemplate& shape, std::span<const int64_t> numbers);
  // Makes the components that were added normal.
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

  // Scratch space of one state, kept to save allocations:
  std::vector<std::optional<int64_t>> asked_;  // by question: when it was asked, counted from now
  std::vector<Loose> loose_;
  std::vector<int64_t> loose_numbers_;
  Ranking shown_;   // numbers of shown components
  Ranking hidden_;  // numbers of hidden components
  std::vector<std::pair<const InternedComponent*, TemplateTable::Part>> pairs_;
  std::vector<int64_t> scratch_;  // numbers of one component
  std::vector<Scope> scopes_;
  std::vector<uint32_t> touched_;  // the scopes that were used in this round
  uint64_t round_ = 0;
};

}  // namespace whorl::sim
