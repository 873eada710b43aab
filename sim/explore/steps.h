// What steps have done to states that were taken apart, so that it need not be done again.
//
// A step reads some parts and writes some: ReadsOf says which. What it does is a function of these parts
// alone, told from now and by order as in their canonical form. So what it did to one state is known for
// each state with the same parts, whatever the others are: parts that are gone, and parts that are new, of
// whose numbers is known from which of the numbers read they come.
// Invariants:
//   1. What is remembered was done by the code that ships. When a step is recorded, a part that it changed
//      without being said to read it is an error (UndeclaredWrite).
//   2. Judges are remembered apart: what they conclude depends on all that they know, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "sim/explore/engine/key.h"
#include "sim/explore/engine/key_map.h"
#include "sim/explore/lock_model.h"
#include "sim/explore/shape.h"

namespace whorl::sim {

// A choice of a state that was taken apart.
struct PartMove {
  static constexpr uint8_t kNoPart = 255;

  MoveKind kind = MoveKind::kAdvance;
  uint8_t part = kNoPart;  // whose event it is, or the call that a fault strikes
  uint8_t event = 0;       // kEvent: which of the part's
  uint32_t fault = 0;      // kFault: an index into the menu
  Instant at;
  friend bool operator==(const PartMove&, const PartMove&) = default;
};

// Of a state whose steps are remembered: places are bits of a word.
inline constexpr size_t kMostParts = 64;

// Places of parts, each at most once.
class PartPlaces {
 public:
  void push_back(uint8_t place) { places_[size_++] = place; }
  size_t size() const { return size_; }
  uint8_t operator[](size_t i) const { return places_[i]; }
  const uint8_t* begin() const { return places_.data(); }
  const uint8_t* end() const { return places_.data() + size_; }

 private:
  std::array<uint8_t, kMostParts> places_ = {};  // the first `size_`
  uint8_t size_ = 0;
};

// The parts, as bits by place, that the step reads, and all that it may change or take away.
// REQUIRES: there are at most kMostParts.
uint64_t ReadsOf(const ShapeTable::Parts& parts, const PartMove& part_move);

// Thrown if a step changed something that it is not said to read.
class UndeclaredWrite : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class StepMemory {
 public:
  using Parts = ShapeTable::Parts;

  struct Judgement {
    uint32_t violated = 0;
    std::vector<ShownBy> shown;
  };

  // Applies what is known of the step to `from`; the result is not normalised. False if it is not known;
  // steps of states with more parts than kMostParts never are.
  bool Apply(Instant now, const Parts& from, const PartMove& part_move, Parts& to,
             Judgement& judgement) const;
  // Remembers what the step did, if that can be told from what it read. `concerns_judges`: LockModel::Step.
  // Both states were taken from worlds. Throws UndeclaredWrite.
  void Record(Instant now, Duration memory, const Parts& from, const PartMove& part_move,
              const Parts& to, bool concerns_judges, uint32_t violated,
              const std::vector<ShownBy>& shown);

  size_t bytes() const { return bytes_; }  // roughly

 private:
  // Where a number of a new part comes from.
  struct Source {
    enum class Kind : uint8_t {
      kCopied,    // number `value` of the input `part`
      kFromNow,   // `value` after now
      kNew,       // greater than all of its scope; `value` orders several new ones
      kConstant,  // `value`
    };
    Kind kind = Kind::kConstant;
    uint8_t part = 0;
    int64_t value = 0;
  };
  struct NewPart {
    const Shape* shape = nullptr;
    std::vector<Source> sources;  // by hole
  };
  // Inputs are the parts read, in order, but the part whose event it is comes last.
  struct Effect {
    uint64_t gone = 0;  // of the inputs
    std::vector<NewPart> added;
  };
  struct Step {
    Effect effect;
    bool concerns_judges = false;
    bool is_known = true;  // otherwise its effect cannot be told from what it read
    // Its effect depends on the database, too: versions of rows are forgotten with a transaction.
    bool is_wide = false;
  };
  struct Verdict {
    Effect effect;  // on the judges' parts
    uint32_t violated = 0;
    std::vector<ShownBy> shown;
    bool is_known = true;
  };
  class Recorder;
  struct Difference;

  // Under which key a step is known.
  struct Place {
    explore::Key128 key;
    uint64_t reads = 0;
    PartPlaces inputs;
  };
  static Place PlaceOf(Instant now, const Parts& parts, const PartMove& part_move, bool is_wide);
  enum class Applied : uint8_t { kNo, kYes, kPins };
  Applied ApplyFrom(Instant now, const Parts& from, const Place& place, Parts& to,
                    Judgement& judgement) const;

  static PartPlaces InputsOf(uint64_t reads, uint8_t last);
  static PartPlaces WithJudges(const Parts& parts, const Place& place);
  // Takes away transactions to which nobody refers any more. False if one of them pinned versions.
  static bool DropForgotten(Parts& parts);
  void AddParts(Instant now, const Parts& from, const PartPlaces& inputs, const Effect& effect,
                Parts& to) const;
  void RecordStep(Instant now, Duration memory, const Parts& from, const Place& place,
                  const Parts& to, const Difference& difference, bool concerns_judges);

  static Difference DifferenceOf(const Parts& from, const Parts& to);
  static size_t BytesOf(const Effect& effect);

  size_t bytes_ = 0;
  explore::KeyMap<Step> steps_;
  explore::KeyMap<Verdict> judgements_;
};

}  // namespace whorl::sim
