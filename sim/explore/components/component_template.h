// Splits a state into components: each part of its canonical form is a template, which many states share, and
// the numbers in the template's slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/explore/components/canonical_form.h"
#include "sim/explore/components/canonical_world.h"
#include "sim/explore/components/model_state.h"
#include "sim/explore/components/normal_form.h"
#include "sim/explore/components/symmetry.h"
#include "sim/explore/engine/key_map.h"
#include "sim/explore/menu.h"
#include "sim/world/world.h"

namespace whorl::sim {

// An event of a part. The part's first slots say when its events are due, in the order of the events.
struct PartEvent {
  EventFacts facts;
  Choice choice;  // as in one of the worlds with this template; in others, names may differ
};

// The sets to which a part belongs, as bits. A step reads the parts of one set (transition_cache.h).
enum PartSet : uint8_t {
  // The process of its node: the node, and the calls that it awaits.
  kOfProcess = 1,
  kOfNode = 2,       // parts that the start or the end of its node's process may change
  kOfDatabase = 4,   // the database, and the calls that it serves
  kOfEverybody = 8,  // parts in the read sets of every process and of the database
  kOfResources = 16,
  kOfJudges = 32,
  kStored = 64,  // rows and transactions
};

// A transaction to which a part refers, or which the part is. `id` and the number in the slot identify it.
struct PartTransaction {
  static constexpr uint32_t kNoSlot = ~uint32_t{0};
  uint64_t id = 0;
  uint32_t slot = kNoSlot;
};

// A question for has_lock that is under way.
struct PartQuestion {
  uint32_t question = 0;
  uint32_t slot = 0;  // of the instant at which it was asked
};

// Holds what is equal in parts that differ only in their numbers, and what a search has to know of such parts.
struct ComponentTemplate {
  Digest128 digest;
  PartName name;
  NormalForm::Slots slots;
  std::vector<PartEvent> events;
  std::vector<PartTransaction> references;

  // Whether it is the operator's transaction or next step for this fault.
  bool IsOfOperator(uint32_t fault) const;

  size_t slot_count() const { return slots.all.size(); }
  PartKind kind() const { return static_cast<PartKind>(name.kind); }

  uint8_t sets = 0;  // bits of PartSet

  // kNode
  Life life = Life::kDown;
  uint32_t incarnation = 0;
  bool is_paused = false;
  std::vector<PartQuestion> questions;
  // kCall
  CallName call;  // as in `events`
  bool is_awaited = false;
  bool is_served = false;  // Spanner has received it, and has not answered
  bool may_abort = false;
  // kTransaction
  PartTransaction transaction;
  bool may_be_forgotten = false;  // once no process and no message refers to it
  bool pins_versions = false;     // Spanner keeps versions of rows for its reads
  // kDatabase
  std::vector<uint32_t> deletions;  // faults of the menu that find their row

  // For each renaming (symmetry.h), the digest of the renamed template; the first renaming changes nothing. Empty
  // without symmetry, or if the part is hidden.
  std::vector<Digest128> renamed;
  // The digest under Symmetry::Alone; of a node's part, if the symmetry has signatures.
  Digest128 alone;
};

// Splits states, and keeps each ComponentTemplate once. One thread at a time.
class TemplateTable {
 public:
  // `symmetry`: null if there is none. REQUIRES: it outlives the table.
  explicit TemplateTable(const Symmetry* symmetry) : symmetry_(symmetry) {}

  struct Part {
    const ComponentTemplate* shape = nullptr;
    uint32_t first_slot = 0;  // the index of its first number among those of all parts
    uint32_t origin = 0;      // CanonicalForm::Part::origin
  };
  struct Parts {
    std::vector<Part> all;
    std::vector<int64_t> numbers;

    std::span<const int64_t> NumbersOf(const Part& part) const {
      return std::span(numbers).subspan(part.first_slot, part.shape->slot_count());
    }
  };

  // The parts of a state; the ledger's is the last.
  void TakeApart(const ModelState& model_state, Parts& parts);

 private:
  const ComponentTemplate& ShapeOf(const ModelState& model_state, size_t place);
  Digest128 RenamedShape(const ModelState& model_state, size_t place, const Renaming& renaming);

  const Symmetry* symmetry_;
  explore::KeyMap<std::unique_ptr<const ComponentTemplate>> shapes_;
  CanonicalForm form_;
  CanonicalForm renamed_form_;
};

}  // namespace whorl::sim
