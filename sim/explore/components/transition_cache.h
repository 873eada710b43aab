// Caches the effects of transitions on components.
//
// A transition reads some components, its read set, and changes some of these (ReadSets::ReadsOf). Its effect depends
// on them alone: which components go, and which come. So the effect on one state is known for each state with the
// same interned components (interned_component.h) in its read set, whatever the others are.
// Invariants:
//   1. What is remembered was done by the code that ships. When a step is recorded, a part that it changed
//      without being said to read it is an error (UndeclaredWrite).
//   2. Judges are remembered apart: what they conclude depends on all that they know, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "sim/explore/components/component_template.h"
#include "sim/explore/components/interned_component.h"
#include "sim/explore/components/model_state.h"
#include "sim/explore/engine/key.h"
#include "sim/explore/engine/key_map.h"

namespace whorl::sim {

// A choice of a state that was taken apart.
struct ComponentAction {
  static constexpr uint8_t kNoPart = 255;

  MoveKind kind = MoveKind::kAdvance;
  uint8_t part = kNoPart;  // whose event it is, or the call that a fault strikes
  uint8_t event = 0;       // kEvent: which of the part's
  uint8_t clocks = 0;      // how Spanner's clocks are off (LockModel::ErrorsOf)
  uint32_t fault = 0;      // kFault: an index into the menu
  Instant at;
  friend bool operator==(const ComponentAction&, const ComponentAction&) = default;
};

// Of a state whose steps are remembered: places are bits of a word.
inline constexpr size_t kMostParts = 64;

// Says which parts of a state its steps read.
class ReadSets {
 public:
  // Parts, as bits by place, and the sum of their identities.
  struct Set {
    uint64_t places = 0;
    explore::Key128 sum;

    void Add(size_t place, const explore::Key128& identity) {
      Add({.places = uint64_t{1} << place, .sum = identity});
    }
    void Add(const Set& other) {
      places |= other.places;
      sum.high += other.sum.high;
      sum.low += other.sum.low;
    }
  };

  // Those of a state. REQUIRES: there are at most kMostParts.
  void Become(const InternedComponents& parts);

  const InternedComponents& parts() const { return parts_; }
  // What the step reads, and all that it may change or take away, except the part whose event it is: that may be
  // missing.
  Set ReadsOf(const ComponentAction& action) const;
  // Rows and transactions.
  uint64_t stored() const { return stored_; }
  const Set& judges() const { return judges_; }
  // Which transactions of `places` parts refer to that are not in `places`.
  uint64_t ReferredToByOthers(uint64_t places) const;

 private:
  InternedComponents parts_;
  Set database_;
  Set resources_;
  Set judges_;
  uint64_t stored_ = 0;
  uint64_t transactions_ = 0;
  std::vector<Set> of_process_;  // by node
  std::vector<Set> of_node_;
  std::array<uint64_t, kMostParts> referring_ = {};  // to each transaction
};

// Thrown if a step changed something that it is not said to read.
class UndeclaredWrite : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class TransitionCache {
 public:
  // REQUIRES: `table` outlives it.
  TransitionCache(NormalTable& table, Duration memory) : table_(table), memory_(memory) {}

  struct Judgement {
    uint32_t violated = 0;
    std::vector<ViolationSource> shown;
    bool concerns_gates = false;  // a part that does is gone or new
    bool picks_commit_timestamp = false;
  };
  // A state's world, taken apart, and the state's parts, in the same order.
  struct InWorld {
    Instant now;
    const TemplateTable::Parts& world;
    const ReadSets& sets;
  };

  // Applies what is known of the step to `from`; the result is neither normal nor sorted. False if it is not
  // known; steps of states with more parts than kMostParts never are.
  bool Apply(Instant now, const ReadSets& from, const ComponentAction& action,
             InternedComponents& to, Judgement& judgement) const;
  // Remembers what the step did, if that can be told from what it read.
  // `to`: taken from a world. Throws UndeclaredWrite.
  void Record(const InWorld& from, const ComponentAction& action, const TemplateTable::Parts& to,
              const Stepped& stepped, const Judgement& judgement);

  size_t bytes() const { return bytes_; }  // roughly

 private:
  // Inputs are the parts read, in order, but the part whose event it is comes last.
  struct Step {
    uint64_t gone = 0;                          // of the inputs, as bits
    std::span<const InternedComponent*> added;  // with new ranks
    bool concerns_judges = false;
    bool is_known = true;  // otherwise its effect cannot be told from what it read
    // Its effect depends on the database, too: versions of rows are forgotten with a transaction.
    bool is_wide = false;
    bool picks_commit_timestamp = false;
  };
  struct Verdict {
    std::span<const InternedComponent*> judges;  // their parts afterwards
    Judgement judgement;
    bool is_known = true;
  };
  class Recorder;
  struct Difference;

  // A step is known by this key, made of: its kind, event or fault, and how far clocks are off; now, within a
  // microsecond; how many parts it reads, and the sum of their identities; the part whose event it is; the
  // transactions among them to which other parts refer.
  struct CacheKey {
    explore::Key128 key;
    uint64_t reads = 0;                      // the places of the parts, as bits
    uint8_t own = ComponentAction::kNoPart;  // of these, the part whose event it is
  };
  static CacheKey CacheKeyOf(Instant now, const ReadSets& sets, const ComponentAction& action,
                             bool is_wide);
  enum class Applied : uint8_t { kNo, kYes, kPins };
  Applied ApplyFrom(const ReadSets& from, const CacheKey& place, InternedComponents& to,
                    Judgement& judgement) const;

  // The places of all inputs, and of some that are given as bits by input.
  static std::vector<uint8_t> InputsOf(const CacheKey& place);
  static uint64_t PlacesOf(uint64_t inputs, const CacheKey& place);
  // A copy of the list that stays.
  std::span<const InternedComponent*> Keep(const std::vector<const InternedComponent*>& list);
  // Takes away transactions to which nobody refers any more. False if one of them pinned versions.
  static bool DropForgotten(InternedComponents& parts);
  void RecordStep(const InWorld& from, const CacheKey& place, const TemplateTable::Parts& to,
                  const Difference& difference, const Stepped& stepped);

  static Difference DifferenceOf(const TemplateTable::Parts& from, const TemplateTable::Parts& to);

  NormalTable& table_;
  Duration memory_;
  size_t bytes_ = 0;
  explore::KeyMap<Step> steps_;
  explore::KeyMap<Verdict> judgements_;
  std::vector<std::vector<const InternedComponent*>>
      kept_;  // lists, one behind the other; they never move
};

}  // namespace whorl::sim
