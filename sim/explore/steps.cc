#include "sim/explore/steps.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "sim/explore/menu.h"

namespace whorl::sim {
namespace {

using Part = ShapeTable::Part;
using Parts = ShapeTable::Parts;

// --- what a step reads ---------------------------------------------------------------------------

// What a process does with its calls, it does with those for which it waits.
bool IsOfProcess(const Shape& shape, int16_t node) {
  switch (shape.kind()) {
    case PartKind::kNode:
      return shape.name.index == node;
    case PartKind::kCall:
      return shape.name.index == node && shape.is_awaited;
    case PartKind::kSpanner:
      return true;
    default:
      return false;
  }
}

// All that the start or the end of a process can concern.
bool IsOfNode(const Shape& shape, int16_t node) {
  return IsOfProcess(shape, node) || (shape.kind() == PartKind::kCall && shape.name.index == node);
}

// Of the calls, those that it serves.
bool IsOfDatabase(const Shape& shape) {
  switch (shape.kind()) {
    case PartKind::kDatabase:
    case PartKind::kTransaction:
    case PartKind::kSpanner:
      return true;
    case PartKind::kCall:
      return shape.is_served;
    case PartKind::kEvent: {
      const PendingEvent& event = shape.events.front().choice.event;
      return std::holds_alternative<CommitBecomesVisible>(event) ||
             std::holds_alternative<SpannerLooksAgain>(event) ||
             std::holds_alternative<OperatorActs>(event);
    }
    default:
      return false;
  }
}

bool IsStored(const Shape& shape) {
  return shape.kind() == PartKind::kDatabase || shape.kind() == PartKind::kTransaction;
}

enum class Reads : uint8_t { kProcess, kNode, kDatabase, kResource };

struct ReadsOfEvent {
  Reads operator()(const CallArrives&) const { return Reads::kDatabase; }
  Reads operator()(const ReplyArrives&) const { return Reads::kProcess; }
  Reads operator()(const CallTimesOut&) const { return Reads::kProcess; }
  Reads operator()(const TimerDue&) const { return Reads::kProcess; }
  Reads operator()(const CommitBecomesVisible&) const { return Reads::kDatabase; }
  Reads operator()(const SpannerLooksAgain&) const { return Reads::kDatabase; }
  Reads operator()(const ResourceWrite&) const { return Reads::kResource; }
  Reads operator()(const NodeStarts&) const { return Reads::kNode; }
  Reads operator()(const FaultBegins&) const { return Reads::kNode; }
  Reads operator()(const FaultEnds&) const { return Reads::kNode; }
  Reads operator()(const OperatorActs&) const { return Reads::kDatabase; }
  Reads operator()(const ReleaseHeard&) const { return Reads::kProcess; }
};

int16_t NodeOfFault(uint32_t fault) { return static_cast<int16_t>(fault / kFaultsOfNode); }

bool IsOfJudges(const Shape& shape) {
  return shape.kind() == PartKind::kJudges || shape.kind() == PartKind::kLedger;
}

// --- keys ----------------------------------------------------------------------------------------

explore::Key128 Extend(const explore::Key128& key, const explore::Key128& other) {
  WordDigest digest = WordDigest::From({.high = key.high, .low = key.low});
  digest.Add({.high = other.high, .low = other.low});
  return {.high = digest.state().high, .low = digest.state().low};
}

// When an event that stands alone was due does not matter to what it does.
bool OnlyIsDue(const Shape& shape) {
  return shape.kind() == PartKind::kEvent && shape.hole_count() == 1;
}

explore::Key128 KeyOfStep(Instant now, const NormalParts& parts, const PartMove& part_move,
                          const PartPlaces& inputs) {
  explore::Key128 key = explore::KeyOf(uint64_t{part_move.clocks} << 48 |
                                           static_cast<uint64_t>(part_move.kind) << 40 |
                                           uint64_t{part_move.event} << 32 | part_move.fault,
                                       inputs.size());
  // Spanner's timestamps are whole microseconds.
  key = explore::Extend(key, static_cast<uint64_t>(now.ns % Microseconds(1).ns));
  for (const uint8_t input : inputs) {
    const NormalPart& part = *parts[input];
    const bool is_due = input == part_move.part && OnlyIsDue(*part.shape);
    const Digest128& shape = part.shape->digest;
    key = Extend(key, is_due ? explore::Key128{shape.high, shape.low} : part.identity);
  }
  return key;
}

bool RefersTo(const NormalPart& part, const NormalPart& transaction) {
  const PartTransaction& sought = transaction.shape->transaction;
  return std::ranges::any_of(part.shape->references, [&](const PartTransaction& reference) {
    if (reference.id != sought.id) return false;
    return sought.hole == PartTransaction::kNoHole ||
           part.numbers[reference.hole] == transaction.numbers[sought.hole];
  });
}

// In the table of a KeyMap, at most half of which is taken.
constexpr size_t kBytesOfKey = sizeof(explore::Key128) + 4 * sizeof(uint32_t);

int64_t Nanos(Instant now) { return ToTimestamp(now).UnixNanos(); }

}  // namespace

// --- sets of parts -------------------------------------------------------------------------------

PartSets::PartSets(const NormalParts& parts) : parts_(parts) {
  for (const NormalPart* part : parts) {
    const PartName& name = part->shape->name;
    if (part->shape->kind() != PartKind::kNode) continue;
    of_process_.resize(std::max<size_t>(of_process_.size(), static_cast<size_t>(name.index) + 1));
  }
  of_node_.resize(of_process_.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const Shape& shape = *parts[i]->shape;
    const uint64_t bit = uint64_t{1} << i;
    for (size_t node = 0; node < of_node_.size(); ++node) {
      if (IsOfProcess(shape, static_cast<int16_t>(node))) of_process_[node] |= bit;
      if (IsOfNode(shape, static_cast<int16_t>(node))) of_node_[node] |= bit;
    }
    if (IsOfDatabase(shape)) database_ |= bit;
    if (IsStored(shape)) stored_ |= bit;
    if (shape.kind() == PartKind::kResources) resources_ |= bit;
    if (IsOfJudges(shape)) {
      judges_ |= bit;
      key_of_judges_ = Extend(key_of_judges_, parts[i]->identity);
    }
    if (shape.kind() != PartKind::kTransaction) continue;
    for (size_t other = 0; other < parts.size(); ++other) {
      if (RefersTo(*parts[other], *parts[i])) referring_[i] |= uint64_t{1} << other;
    }
  }
}

uint64_t PartSets::ReadsOf(const PartMove& part_move) const {
  const uint64_t own = part_move.part == PartMove::kNoPart ? 0 : uint64_t{1} << part_move.part;
  if (part_move.kind == MoveKind::kFault) {
    if (part_move.fault >= of_node_.size() * kFaultsOfNode) return database_;
    return own | of_node_[static_cast<size_t>(NodeOfFault(part_move.fault))];
  }
  if (part_move.kind == MoveKind::kAdvance) return 0;
  const Choice& choice = parts_[part_move.part]->shape->events[part_move.event].choice;
  switch (std::visit(ReadsOfEvent(), choice.event)) {
    case Reads::kProcess:
      return own | of_process_[static_cast<size_t>(choice.node)];
    case Reads::kNode: {
      const auto* ends = std::get_if<FaultEnds>(&choice.event);
      return own | of_node_[static_cast<size_t>(ends != nullptr ? ends->node : choice.node)];
    }
    case Reads::kDatabase:
      return own | database_;
    case Reads::kResource:
      return own | resources_;
  }
  return own;
}

uint64_t PartSets::ReferredToByOthers(const PartPlaces& inputs, uint64_t reads) const {
  uint64_t referred = 0;
  for (size_t input = 0; input < inputs.size(); ++input) {
    if ((referring_[inputs[input]] & ~reads) != 0) referred |= uint64_t{1} << input;
  }
  return referred;
}

// --- the memory ----------------------------------------------------------------------------------

PartPlaces StepMemory::InputsOf(uint64_t reads, uint8_t last) {
  PartPlaces inputs;
  for (; reads != 0; reads &= reads - 1) {
    const auto place = static_cast<uint8_t>(std::countr_zero(reads));
    if (place != last) inputs.push_back(place);
  }
  if (last != PartMove::kNoPart) inputs.push_back(last);
  return inputs;
}

StepMemory::Place StepMemory::PlaceOf(Instant now, const PartSets& sets, const PartMove& part_move,
                                      bool is_wide) {
  Place place;
  place.reads = sets.ReadsOf(part_move) | (is_wide ? sets.stored() : 0);
  place.inputs = InputsOf(place.reads, part_move.part);
  place.key = KeyOfStep(now, sets.parts(), part_move, place.inputs);
  // Spanner forgets a transaction that is over once nobody refers to it.
  place.key = explore::Extend(place.key, sets.ReferredToByOthers(place.inputs, place.reads));
  return place;
}

// --- what is known -------------------------------------------------------------------------------

bool StepMemory::DropForgotten(NormalParts& parts) {
  bool pins = false;
  std::erase_if(parts, [&](const NormalPart* part) {
    if (!part->may_be_forgotten) return false;
    const bool is_referred_to = std::ranges::any_of(
        parts, [part](const NormalPart* other) { return RefersTo(*other, *part); });
    if (!is_referred_to) pins = pins || part->shape->pins_versions;
    return !is_referred_to;
  });
  return !pins;
}

StepMemory::Applied StepMemory::ApplyFrom(const PartSets& sets, const Place& place, NormalParts& to,
                                          Judgement& judgement) const {
  const NormalParts& from = sets.parts();
  const Step* known = steps_.Find(place.key);
  if (known == nullptr) return Applied::kNo;
  const Step& step = *known;
  if (step.is_wide) return Applied::kPins;
  if (!step.is_known) return Applied::kNo;
  const Verdict* verdict = nullptr;
  uint64_t gone = 0;
  if (step.concerns_judges) {
    if (from.back()->is_ambiguous) return Applied::kNo;
    verdict = judgements_.Find(Extend(place.key, sets.key_of_judges()));
    if (verdict == nullptr || !verdict->is_known) return Applied::kNo;
    gone = sets.judges();
  }
  for (size_t i = 0; i < place.inputs.size(); ++i) {
    if ((step.gone >> i & 1U) != 0) gone |= uint64_t{1} << place.inputs[i];
  }
  judgement = {};
  judgement.picks_commit_timestamp = step.picks_commit_timestamp;
  to.clear();
  for (size_t i = 0; i < from.size(); ++i) {
    if ((gone >> i & 1U) == 0) {
      to.push_back(from[i]);
    } else if (from[i]->concerns_gates) {
      judgement.concerns_gates = true;
    }
  }
  const auto add = [&](const NormalPart* part) {
    to.push_back(part);
    judgement.concerns_gates = judgement.concerns_gates || part->concerns_gates;
  };
  std::ranges::for_each(step.added, add);
  if (verdict != nullptr) {
    std::ranges::for_each(verdict->judges, add);
    judgement.violated = verdict->judgement.violated;
    judgement.shown = verdict->judgement.shown;
  }
  return DropForgotten(to) ? Applied::kYes : Applied::kPins;
}

bool StepMemory::Apply(Instant now, const PartSets& from, const PartMove& part_move,
                       NormalParts& to, Judgement& judgement) const {
  Applied applied = ApplyFrom(from, PlaceOf(now, from, part_move, false), to, judgement);
  if (applied == Applied::kPins) {
    applied = ApplyFrom(from, PlaceOf(now, from, part_move, true), to, judgement);
  }
  return applied == Applied::kYes;
}

// --- recording -----------------------------------------------------------------------------------

// Finds the normal numbers of new parts.
class StepMemory::Recorder {
 public:
  Recorder(NormalTable& table, Duration memory, const InWorld& from, PartPlaces inputs)
      : table_(table), now_(Nanos(from.now)), memory_(memory.ns), from_(from), inputs_(inputs) {}

  // Nothing if a number comes from elsewhere.
  std::optional<std::vector<const NormalPart*>> Trace(const Parts& to,
                                                      const std::vector<const Part*>& added) {
    for (const Part* part : added) CollectNew(to, *part);
    std::ranges::sort(new_);
    const auto rest = std::ranges::unique(new_);
    new_.erase(rest.begin(), rest.end());
    std::vector<const NormalPart*> traced;
    for (const Part* part : added) {
      std::vector<int64_t> numbers;
      for (size_t i = 0; i < part->shape->hole_count(); ++i) {
        const std::optional<int64_t> number = NormalOf(to, *part, i, numbers);
        if (!number) return std::nullopt;
        numbers.push_back(*number);
      }
      traced.push_back(&table_.Of(*part->shape, numbers));
    }
    return traced;
  }

 private:
  // The normal number of an input that has this number in a hole that is as `wanted`.
  std::optional<int64_t> Copied(const Hole& wanted, int64_t number) const {
    for (const uint8_t input : inputs_) {
      const Part& part = from_.world.all[input];
      if (OnlyIsDue(*part.shape)) continue;  // no part of the key
      for (size_t i = 0; i < part.shape->hole_count(); ++i) {
        if (part.shape->holes.all[i] != wanted) continue;
        if (from_.world.numbers[part.first_hole + i] == number) {
          return from_.sets.parts()[input]->numbers[i];
        }
      }
    }
    return std::nullopt;
  }

  int64_t GreatestOf(uint64_t scope) const {
    int64_t greatest = 0;
    for (const Part& part : from_.world.all) {
      for (size_t i = 0; i < part.shape->hole_count(); ++i) {
        const Hole& hole = part.shape->holes.all[i];
        if (hole.kind != HoleKind::kRank || hole.scope != scope) continue;
        greatest = std::max(greatest, from_.world.numbers[part.first_hole + i]);
      }
    }
    return greatest;
  }

  void CollectNew(const Parts& to, const Part& part) {
    for (size_t i = 0; i < part.shape->hole_count(); ++i) {
      const Hole& hole = part.shape->holes.all[i];
      const int64_t number = to.numbers[part.first_hole + i];
      if (hole.kind == HoleKind::kRank && !Copied(hole, number))
        new_.emplace_back(hole.scope, number);
    }
  }

  std::optional<int64_t> NewRank(const Hole& hole, int64_t number) const {
    if (number <= GreatestOf(hole.scope)) return std::nullopt;
    const auto first =
        std::ranges::lower_bound(new_, std::pair(hole.scope, std::numeric_limits<int64_t>::min()));
    const auto found = std::ranges::lower_bound(new_, std::pair(hole.scope, number));
    if (found - first >= kMostNewRanks) return std::nullopt;
    return kNewRank + (found - first) * kRankStep;
  }

  // `before`: those of the part's holes before it.
  std::optional<int64_t> NormalOf(const Parts& to, const Part& part, size_t i,
                                  const std::vector<int64_t>& before) const {
    const Hole& hole = part.shape->holes.all[i];
    const int64_t number = to.numbers[part.first_hole + i];
    const int64_t from_now = SaturatingAdd(number, -now_);
    switch (hole.kind) {
      case HoleKind::kInstant:
        if (!IsLongAgo(hole, from_now, memory_)) return from_now;
        if (WasNeverSet(from_now)) return kNeverSet;
        return Copied(hole, number);
      case HoleKind::kTick:
      case HoleKind::kFloored:
        return NormalFromNow(hole, from_now);
      case HoleKind::kGate:
        if (from_now == 0) return 0;
        return Copied(hole, number);
      case HoleKind::kGated:
        return before.back() == kClosed ? 0 : number;
      case HoleKind::kRank: {
        const std::optional<int64_t> copied = Copied(hole, number);
        return copied ? copied : NewRank(hole, number);
      }
    }
    return std::nullopt;
  }

  NormalTable& table_;
  int64_t now_;
  int64_t memory_;
  const InWorld& from_;
  PartPlaces inputs_;
  std::vector<std::pair<uint64_t, int64_t>> new_;  // by scope
};

namespace {

// Whether a transaction is gone for which versions of rows were kept, and which the step did not read.
bool ForgetsPinned(const Parts& from, uint64_t gone, uint64_t reads) {
  for (size_t i = 0; i < from.all.size(); ++i) {
    const Shape& shape = *from.all[i].shape;
    if ((gone & ~reads) >> i & 1U && shape.may_be_forgotten && shape.pins_versions) return true;
  }
  return false;
}

}  // namespace

// Which parts of `from` are in `to`, too, with the same numbers, and which of `to` are new.
struct StepMemory::Difference {
  uint64_t gone = 0;
  std::vector<const Part*> added;
};

StepMemory::Difference StepMemory::DifferenceOf(const Parts& from, const Parts& to) {
  Difference difference;
  std::vector<bool> matched(to.all.size());
  for (size_t i = 0; i < from.all.size(); ++i) {
    const Part& part = from.all[i];
    if (IsOfJudges(*part.shape)) continue;
    const auto is_same = [&](const Part& other) {
      // Not the same pointer: each thread has a table of its own.
      return other.shape->digest == part.shape->digest &&
             std::ranges::equal(from.NumbersOf(part), to.NumbersOf(other));
    };
    bool found = false;
    for (size_t k = 0; k < to.all.size() && !found; ++k) {
      if (matched[k] || !is_same(to.all[k])) continue;
      matched[k] = true;
      found = true;
    }
    if (!found) difference.gone |= uint64_t{1} << i;
  }
  for (size_t k = 0; k < to.all.size(); ++k) {
    if (!matched[k] && !IsOfJudges(*to.all[k].shape)) difference.added.push_back(&to.all[k]);
  }
  return difference;
}

void StepMemory::Record(const InWorld& from, const PartMove& part_move, const Parts& to,
                        const LockModel::Stepped& stepped, const Judgement& judgement) {
  Place place = PlaceOf(from.now, from.sets, part_move, false);
  const Difference difference = DifferenceOf(from.world, to);
  if (ForgetsPinned(from.world, difference.gone, place.reads)) {
    if (steps_.Find(place.key) == nullptr) steps_.Insert(place.key, {.is_wide = true});
    place = PlaceOf(from.now, from.sets, part_move, true);
  }
  RecordStep(from, place, to, difference, stepped);
  if (!stepped.concerns_judges || from.sets.parts().back()->is_ambiguous) return;
  const explore::Key128 key = Extend(place.key, from.sets.key_of_judges());
  if (judgements_.Find(key) != nullptr) return;
  std::vector<const Part*> judges;
  for (const Part& part : to.all) {
    if (IsOfJudges(*part.shape)) judges.push_back(&part);
  }
  Verdict verdict = {.judges = {}, .judgement = judgement};
  PartPlaces inputs = place.inputs;
  for (const uint8_t place_of_judges : InputsOf(from.sets.judges(), PartMove::kNoPart)) {
    inputs.push_back(place_of_judges);
  }
  if (auto traced = Recorder(table_, memory_, from, inputs).Trace(to, judges)) {
    verdict.judges = *std::move(traced);
  } else {
    verdict.is_known = false;
  }
  bytes_ += sizeof(verdict) + kBytesOfKey + verdict.judges.size() * sizeof(NormalPart*);
  judgements_.Insert(key, std::move(verdict));
}

void StepMemory::RecordStep(const InWorld& from, const Place& place, const Parts& to,
                            const Difference& difference, const LockModel::Stepped& stepped) {
  if (steps_.Find(place.key) != nullptr) return;
  Step step = {.concerns_judges = stepped.concerns_judges,
               .picks_commit_timestamp = stepped.picks_commit_timestamp};
  for (size_t i = 0; i < from.world.all.size(); ++i) {
    if ((difference.gone >> i & 1U) == 0) continue;
    const Shape& shape = *from.world.all[i].shape;
    const auto input = std::ranges::find(place.inputs, i);
    if (input != place.inputs.end()) {
      step.gone |= uint64_t{1} << (input - place.inputs.begin());
    } else if (!shape.may_be_forgotten) {
      throw UndeclaredWrite("a step changed a part of kind " + std::to_string(shape.name.kind) +
                            " that it is not said to read");
    }
  }
  if (auto traced = Recorder(table_, memory_, from, place.inputs).Trace(to, difference.added)) {
    step.added = *std::move(traced);
  } else {
    step.is_known = false;
  }
  bytes_ += sizeof(step) + kBytesOfKey + step.added.size() * sizeof(NormalPart*);
  steps_.Insert(place.key, std::move(step));
}

}  // namespace whorl::sim
