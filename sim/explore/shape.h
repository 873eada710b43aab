// A state of a search as the parts of its canonical form: what a world and its judges are, said by a
// few shapes, which many states share, and some numbers.
//
// A state can be taken further without a world where the step is known (steps.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "protocol/canonical_form.h"
#include "sim/explore/bounds.h"
#include "sim/explore/engine/key.h"
#include "sim/explore/lock_model.h"
#include "sim/world/canonical.h"
#include "sim/world/world.h"

namespace whorl::sim {

// An event of a part. Its first holes say when they are due, in the same order.
struct PartEvent {
  Choice choice;  // as in one of the worlds that have the shape: others have other names
  bool waits_for_pause = false;
};

// A transaction that a part refers to, or is. `id` and the number in the hole tell it from others.
struct PartTransaction {
  static constexpr uint32_t kNoHole = ~uint32_t{0};
  uint64_t id = 0;
  uint32_t hole = kNoHole;
};

// A question for has_lock that is under way.
struct PartQuestion {
  uint32_t question = 0;
  uint32_t hole = 0;  // when it was asked
};

// What parts have in common that differ in their numbers alone, and what follows from it.
struct Shape {
  Digest128 digest;
  PartName name;
  NormalForm::Holes holes;
  std::vector<PartEvent> events;
  std::vector<PartTransaction> references;

  // Whether it is the transaction of the operator whose fault this is, or his next step.
  bool IsOfOperator(uint32_t fault) const;

  size_t hole_count() const { return holes.all.size(); }
  PartKind kind() const { return static_cast<PartKind>(name.kind); }

  // kNode
  Life life = Life::kDown;
  uint32_t incarnation = 0;
  bool is_paused = false;
  std::vector<PartQuestion> questions;
  // kCall
  CallName call;  // as in `events`
  bool is_awaited = false;
  bool is_served = false;  // Spanner has it, and has not answered
  bool may_abort = false;
  // kTransaction
  PartTransaction transaction;
  bool matters_by_itself = false;
  bool pins_versions = false;  // versions of rows are kept for its reads
  // kDatabase
  std::vector<uint32_t> deletions;  // faults of the menu that find their row

  // Digests of the shape that the same part has under other names (symmetry.h), by renaming, the first of
  // which renames nothing. None without symmetry, or if the part is not shown.
  std::vector<Digest128> renamed;
  Digest128 alone;  // of a node's part, if the symmetry has signatures
};

// Takes states apart, and keeps one Shape of each kind. One thread at a time.
class ShapeTable {
 public:
  // REQUIRES: `model` outlives it.
  explicit ShapeTable(const LockModel& model) : model_(model) {}

  struct Part {
    const Shape* shape = nullptr;
    Digest128 digest;           // of the shape and what the numbers mean
    Digest128 alone;            // of the numbers, if it is known (NormalForm::Alone)
    uint32_t first_hole = 0;    // among the numbers of all parts
    uint32_t origin : 30 = 0;   // CanonicalForm::Part::origin, if it was taken from a world
    bool is_known : 1 = false;  // what the numbers are alone
    bool has_old : 1 = false;
  };
  struct Parts {
    std::vector<Part> all;  // sorted by name and digest; the ledger's is the last
    std::vector<int64_t> numbers;
    uint64_t gates_of_now = 0;  // NormalForm
    bool is_ambiguous = false;

    std::span<const int64_t> NumbersOf(const Part& part) const {
      return std::span(numbers).subspan(part.first_hole, part.shape->hole_count());
    }
  };

  // Those of a situation. The digest is of all parts that are shown.
  Digest128 TakeApart(const Situation& situation, Parts& parts);
  // Sets what depends on the numbers and the time, and sorts. The same digest. `is_later`: time has gone on
  // since parts became known.
  Digest128 Normalise(Instant now, Parts& parts, bool is_later);

 private:
  const Shape& ShapeOf(const Situation& situation, size_t place);
  Digest128 RenamedShape(const Situation& situation, size_t place, const Renaming& renaming);
  Digest128 LeastDigest(const Symmetry& symmetry, const Parts& parts) const;

  const LockModel& model_;
  std::map<Digest128, std::unique_ptr<const Shape>> shapes_;
  CanonicalForm form_;
  NormalForm normal_;
  std::vector<int64_t> asked_;
  CanonicalForm renamed_form_;
};

}  // namespace whorl::sim
