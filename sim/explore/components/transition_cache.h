// Caches the effects of transitions on components.
//
// A transition reads some components, its read set, and changes some of these (ReadSets::ReadsOf). Its effect, a list
// of components to remove and to add, depends only on the read set. So an effect that was recorded in one state is
// reused in every state whose read set has the same interned components (interned_component.h).
// Invariants:
//   1. Every cached effect comes from the code that ships. If a recorded step changed a component outside of its
//      read set, that is an error (UndeclaredWrite).
//   2. Effects on judges are cached separately, since they also depend on all that the judges remember.
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

// A choice in a state that is given by its components.
struct ComponentAction {
  static constexpr uint8_t kNoPart = 255;

  MoveKind kind = MoveKind::kAdvance;
  uint8_t part = kNoPart;  // the component whose event it is, or the call that a fault strikes
  uint8_t event = 0;       // kEvent: an index into the events of the component
  uint8_t clocks = 0;      // how Spanner's clocks are off (LockModel::ErrorsOf)
  uint32_t fault = 0;      // kFault: an index into the menu
  Instant at;
  friend bool operator==(const ComponentAction&, const ComponentAction&) = default;
};

// Steps of states with more components are not cached: the indexes of components are bits of a word.
inline constexpr size_t kMostParts = 64;

// Tells which components of a state its steps read.
class ReadSets {
 public:
  // Components, as bits by index, and the sum of their identities.
  struct Set {
    uint64_t places = 0;
    explore::Key128 sum;

    void Add(size_t place, const explore::Key128& identity) {
      Add({.places = uint64_t{1} << place, .sum = identity});
    }
    void Add(const Set& other) {
      places |= other.places;
      explore::AddTo(sum, other.sum);
    }
  };

  // From now on answers are about these components of a state. REQUIRES: there are at most kMostParts.
  void Become(const InternedComponents& parts);

  const InternedComponents& parts() const { return parts_; }
  // The components that the step reads; it changes and removes no others. The component whose event it is may be
  // missing.
  Set ReadsOf(const ComponentAction& action) const;
  // The components that are rows or transactions.
  uint64_t stored() const { return stored_; }
  const Set& judges() const { return judges_; }
  // The transactions in `places` to which components outside of `places` refer.
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
  // By transaction: the components that refer to it, as bits.
  std::array<uint64_t, kMostParts> referring_ = {};
};

// Thrown if a step changed a component outside of its read set.
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
    bool concerns_gates = false;  // a component with questions was removed or added
    bool picks_commit_timestamp = false;
  };
  // The parts of a state's world, and the state's components in the same order.
  struct InWorld {
    Instant now;
    const TemplateTable::Parts& world;
    const ReadSets& sets;
  };

  // Applies the cached effect of the step to `from`; the result is neither normal nor sorted. False if there is none,
  // as for every step of a state with more than kMostParts components.
  bool Apply(Instant now, const ReadSets& from, const ComponentAction& action,
             InternedComponents& to, Judgement& judgement) const;
  // Caches the effect of the step, if its read set determines it. `to`: the parts of the world after the step. Throws
  // UndeclaredWrite.
  void Record(const InWorld& from, const ComponentAction& action, const TemplateTable::Parts& to,
              const Stepped& stepped, const Judgement& judgement);

  size_t bytes() const { return bytes_; }  // roughly

 private:
  // The effect of a step. Its inputs are the components that it reads, in order; but the component whose event it is
  // comes last.
  struct Step {
    uint64_t gone = 0;                          // the inputs that are removed, as bits
    std::span<const InternedComponent*> added;  // may have new ranks (kNewRank)
    bool concerns_judges = false;
    bool is_known = true;  // false: the read set does not determine the effect
    // The effect also depends on all rows and transactions: with a transaction, Spanner forgets versions of rows.
    bool is_wide = false;
    bool picks_commit_timestamp = false;
  };
  struct Verdict {
    std::span<const InternedComponent*> judges;  // the judges' components after the step
    Judgement judgement;
    bool is_known = true;
  };
  class Recorder;
  struct Difference;

  // The key of a step in the cache is made of: its kind, its event or fault, and the errors of clocks; now, modulo
  // a microsecond; the number of components that it reads, and the sum of their identities; the component whose
  // event it is; and those transactions among them to which other components refer.
  struct CacheKey {
    explore::Key128 key;
    uint64_t reads = 0;                      // the components that are read, as bits by index
    uint8_t own = ComponentAction::kNoPart;  // among these, the component whose event it is
  };
  static CacheKey CacheKeyOf(Instant now, const ReadSets& sets, const ComponentAction& action,
                             bool is_wide);
  enum class Applied : uint8_t { kNo, kYes, kPins };
  Applied ApplyFrom(const ReadSets& from, const CacheKey& place, InternedComponents& to,
                    Judgement& judgement) const;

  // The indexes of all inputs; and, as bits, the indexes of those inputs that have a bit in `inputs`.
  static std::vector<uint8_t> InputsOf(const CacheKey& place);
  static uint64_t PlacesOf(uint64_t inputs, const CacheKey& place);
  // Makes a permanent copy of the list.
  std::span<const InternedComponent*> Keep(const std::vector<const InternedComponent*>& list);
  // Removes transactions to which no component refers any more. False if one of them pinned versions.
  static bool DropForgotten(InternedComponents& parts);
  void RecordStep(const InWorld& from, const CacheKey& place, const TemplateTable::Parts& to,
                  const Difference& difference, const Stepped& stepped);

  static Difference DifferenceOf(const TemplateTable::Parts& from, const TemplateTable::Parts& to);

  NormalTable& table_;
  Duration memory_;
  size_t bytes_ = 0;
  explore::KeyMap<Step> steps_;
  explore::KeyMap<Verdict> judgements_;
  // Lists, one behind the other. They never move.
  std::vector<std::vector<const InternedComponent*>> kept_;
};

}  // namespace whorl::sim
