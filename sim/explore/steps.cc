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

template <typename Matches>
uint64_t PartsWhere(const Parts& parts, const Matches& matches) {
  uint64_t found = 0;
  for (size_t i = 0; i < parts.all.size(); ++i) {
    if (matches(*parts.all[i].shape)) found |= uint64_t{1} << i;
  }
  return found;
}

bool IsOfJudges(const Shape& shape) {
  return shape.kind() == PartKind::kJudges || shape.kind() == PartKind::kLedger;
}

// --- keys ----------------------------------------------------------------------------------------

explore::Key128 Extend(explore::Key128 key, const Digest128& digest) {
  return explore::Extend(explore::Extend(key, digest.high), digest.low);
}

// When an event that stands alone was due does not matter to what it does.
bool OnlyIsDue(const Shape& shape) {
  return shape.kind() == PartKind::kEvent && shape.hole_count() == 1;
}

explore::Key128 KeyOfStep(Instant now, const Parts& parts, const PartMove& part_move,
                          const PartPlaces& inputs) {
  explore::Key128 key = explore::KeyOf(static_cast<uint64_t>(part_move.kind) << 40 |
                                           uint64_t{part_move.event} << 32 | part_move.fault,
                                       inputs.size());
  // Spanner's timestamps are whole microseconds.
  key = explore::Extend(key, static_cast<uint64_t>(now.ns % Microseconds(1).ns));
  for (const uint8_t input : inputs) {
    const Part& part = parts.all[input];
    const bool is_due = input == part_move.part && OnlyIsDue(*part.shape);
    key = Extend(key, is_due ? part.shape->digest : part.digest);
  }
  return key;
}

bool RefersTo(const Parts& parts, const Part& part, const Part& transaction) {
  const PartTransaction& sought = transaction.shape->transaction;
  return std::ranges::any_of(part.shape->references, [&](const PartTransaction& reference) {
    if (reference.id != sought.id) return false;
    if (sought.hole == PartTransaction::kNoHole) return true;
    return parts.numbers[part.first_hole + reference.hole] ==
           parts.numbers[transaction.first_hole + sought.hole];
  });
}

bool MayBeForgotten(const Shape& shape) {
  return shape.kind() == PartKind::kTransaction && !shape.matters_by_itself;
}

// Which of the transactions among the inputs other parts refer to, as bits by input.
uint64_t ReferredToByOthers(const Parts& parts, const PartPlaces& inputs, uint64_t others) {
  uint64_t referred = 0;
  for (size_t input = 0; input < inputs.size(); ++input) {
    const Part& part = parts.all[inputs[input]];
    if (part.shape->kind() != PartKind::kTransaction) continue;
    for (size_t i = 0; i < parts.all.size(); ++i) {
      if ((others >> i & 1U) == 0 || !RefersTo(parts, parts.all[i], part)) continue;
      referred |= uint64_t{1} << input;
    }
  }
  return referred;
}

explore::Key128 KeyOfJudgement(const Parts& parts, explore::Key128 key) {
  for (const Part& part : parts.all) {
    if (!IsOfJudges(*part.shape)) continue;
    key = Extend(key, part.digest);
  }
  return explore::Extend(key, parts.gates_of_now);
}

void Append(const Parts& from, const Part& part, Parts& to) {
  const std::span<const int64_t> numbers = from.NumbersOf(part);
  Part copy = part;
  copy.first_hole = static_cast<uint32_t>(to.numbers.size());
  to.all.push_back(copy);
  to.numbers.insert(to.numbers.end(), numbers.begin(), numbers.end());
}

// In the table of a KeyMap, at most half of which is taken.
constexpr size_t kBytesOfKey = sizeof(explore::Key128) + 4 * sizeof(uint32_t);

int64_t Nanos(Instant now) { return ToTimestamp(now).UnixNanos(); }

int64_t GreatestOf(const Parts& parts, uint64_t scope) {
  int64_t greatest = 0;
  for (const Part& part : parts.all) {
    for (size_t i = 0; i < part.shape->hole_count(); ++i) {
      const Hole& hole = part.shape->holes.all[i];
      if (hole.kind != HoleKind::kRank || hole.scope != scope) continue;
      greatest = std::max(greatest, parts.numbers[part.first_hole + i]);
    }
  }
  return greatest;
}

}  // namespace

uint64_t ReadsOf(const Parts& parts, const PartMove& part_move) {
  const uint64_t own = part_move.part == PartMove::kNoPart ? 0 : uint64_t{1} << part_move.part;
  const auto of_node = [&](int16_t node) {
    return PartsWhere(parts, [node](const Shape& shape) { return IsOfNode(shape, node); });
  };
  if (part_move.kind == MoveKind::kFault) {
    const auto nodes = static_cast<size_t>(std::ranges::count(
        parts.all, PartKind::kNode, [](const Part& p) { return p.shape->kind(); }));
    if (part_move.fault >= nodes * kFaultsOfNode) return PartsWhere(parts, IsOfDatabase);
    return own | of_node(NodeOfFault(part_move.fault));
  }
  if (part_move.kind == MoveKind::kAdvance) return 0;
  const Choice& choice = parts.all[part_move.part].shape->events[part_move.event].choice;
  switch (std::visit(ReadsOfEvent(), choice.event)) {
    case Reads::kProcess:
      return own | PartsWhere(parts, [&choice](const Shape& shape) {
               return IsOfProcess(shape, choice.node);
             });
    case Reads::kNode: {
      const auto* ends = std::get_if<FaultEnds>(&choice.event);
      return own | of_node(ends != nullptr ? ends->node : choice.node);
    }
    case Reads::kDatabase:
      return own | PartsWhere(parts, IsOfDatabase);
    case Reads::kResource:
      return own | PartsWhere(parts, [](const Shape& shape) {
               return shape.kind() == PartKind::kResources;
             });
  }
  return own;
}

PartPlaces StepMemory::InputsOf(uint64_t reads, uint8_t last) {
  PartPlaces inputs;
  for (; reads != 0; reads &= reads - 1) {
    const auto place = static_cast<uint8_t>(std::countr_zero(reads));
    if (place != last) inputs.push_back(place);
  }
  if (last != PartMove::kNoPart) inputs.push_back(last);
  return inputs;
}

StepMemory::Place StepMemory::PlaceOf(Instant now, const Parts& parts, const PartMove& part_move,
                                      bool is_wide) {
  Place place;
  const uint64_t reads = ReadsOf(parts, part_move);
  place.reads = is_wide ? reads | PartsWhere(parts, IsStored) : reads;
  place.inputs = InputsOf(place.reads, part_move.part);
  place.key = KeyOfStep(now, parts, part_move, place.inputs);
  // Spanner forgets a transaction that is over once nobody refers to it.
  place.key = explore::Extend(place.key, ReferredToByOthers(parts, place.inputs, ~place.reads));
  return place;
}

// --- what is known -------------------------------------------------------------------------------

void StepMemory::AddParts(Instant now, const Parts& from, const PartPlaces& inputs,
                          const Effect& effect, Parts& to) const {
  for (const NewPart& added : effect.added) {
    to.all.push_back(
        {.shape = added.shape, .first_hole = static_cast<uint32_t>(to.numbers.size())});
    for (size_t i = 0; i < added.sources.size(); ++i) {
      const Source& source = added.sources[i];
      int64_t number = source.value;
      switch (source.kind) {
        case Source::Kind::kCopied: {
          const Part& input = from.all[inputs[source.part]];
          number = from.numbers[input.first_hole + static_cast<size_t>(source.value)];
          break;
        }
        case Source::Kind::kFromNow:
          number += Nanos(now);
          break;
        case Source::Kind::kNew:
          number += GreatestOf(from, added.shape->holes.all[i].scope);
          break;
        case Source::Kind::kConstant:
          break;
      }
      to.numbers.push_back(number);
    }
  }
}

bool StepMemory::DropForgotten(Parts& parts) {
  bool pins = false;
  std::erase_if(parts.all, [&](const Part& part) {
    if (!MayBeForgotten(*part.shape)) return false;
    const bool is_referred_to = std::ranges::any_of(
        parts.all, [&](const Part& other) { return RefersTo(parts, other, part); });
    if (!is_referred_to) pins = pins || part.shape->pins_versions;
    return !is_referred_to;
  });
  return !pins;
}

StepMemory::Applied StepMemory::ApplyFrom(Instant now, const Parts& from, const Place& place,
                                          Parts& to, Judgement& judgement) const {
  const Step* known = steps_.Find(place.key);
  if (known == nullptr) return Applied::kNo;
  const Step& step = *known;
  if (step.is_wide) return Applied::kPins;
  if (!step.is_known) return Applied::kNo;
  const Verdict* verdict = nullptr;
  if (step.concerns_judges) {
    if (from.is_ambiguous) return Applied::kNo;
    verdict = judgements_.Find(KeyOfJudgement(from, place.key));
    if (verdict == nullptr || !verdict->is_known) return Applied::kNo;
  }
  uint64_t gone = 0;
  for (size_t i = 0; i < place.inputs.size(); ++i) {
    if ((step.effect.gone >> i & 1U) != 0) gone |= uint64_t{1} << place.inputs[i];
  }
  to.all.clear();
  to.numbers.clear();
  // A step adds few parts and numbers; states that wait keep what is reserved here.
  to.all.reserve(from.all.size() + 2);
  to.numbers.reserve(from.numbers.size() + 8);
  for (size_t i = 0; i < from.all.size(); ++i) {
    const Part& part = from.all[i];
    if ((gone >> i & 1U) != 0) continue;
    if (verdict != nullptr && IsOfJudges(*part.shape)) continue;
    Append(from, part, to);
  }
  AddParts(now, from, place.inputs, step.effect, to);
  if (verdict != nullptr) AddParts(now, from, WithJudges(from, place), verdict->effect, to);
  if (!DropForgotten(to)) return Applied::kPins;
  // The parts that are not shown are the last ones.
  std::ranges::partition(to.all,
                         [](const Part& part) { return part.shape->kind() != PartKind::kLedger; });
  judgement.violated = verdict == nullptr ? 0 : verdict->violated;
  judgement.shown.clear();
  if (verdict != nullptr) judgement.shown = verdict->shown;
  return Applied::kYes;
}

PartPlaces StepMemory::WithJudges(const Parts& parts, const Place& place) {
  PartPlaces inputs = place.inputs;
  for (size_t i = 0; i < parts.all.size(); ++i) {
    if (IsOfJudges(*parts.all[i].shape)) inputs.push_back(static_cast<uint8_t>(i));
  }
  return inputs;
}

bool StepMemory::Apply(Instant now, const Parts& from, const PartMove& part_move, Parts& to,
                       Judgement& judgement) const {
  if (from.all.size() > kMostParts) return false;
  Applied applied = ApplyFrom(now, from, PlaceOf(now, from, part_move, false), to, judgement);
  if (applied == Applied::kPins) {
    applied = ApplyFrom(now, from, PlaceOf(now, from, part_move, true), to, judgement);
  }
  return applied == Applied::kYes;
}

// --- recording -----------------------------------------------------------------------------------

// Instants from before any run: 1970 is when what was never set was.
constexpr Duration kLongestRun = Seconds(int64_t{366} * 86'400);

// Finds the sources of the numbers of new parts.
class StepMemory::Recorder {
 public:
  Recorder(Instant now, Duration memory, const Parts& from, PartPlaces inputs)
      : now_(Nanos(now)), memory_(memory.ns), from_(from), inputs_(inputs) {}

  // Nothing if a number comes from elsewhere.
  std::optional<std::vector<NewPart>> Trace(const Parts& to,
                                            const std::vector<const Part*>& added) {
    for (const Part* part : added) CollectNew(to, *part);
    std::ranges::sort(new_);
    const auto rest = std::ranges::unique(new_);
    new_.erase(rest.begin(), rest.end());
    std::vector<NewPart> traced;
    for (const Part* part : added) {
      NewPart one{.shape = part->shape, .sources = {}};
      for (size_t i = 0; i < part->shape->hole_count(); ++i) {
        const std::optional<Source> source = SourceOf(to, *part, i);
        if (!source) return std::nullopt;
        one.sources.push_back(*source);
      }
      traced.push_back(std::move(one));
    }
    return traced;
  }

 private:
  static Source FromNow(int64_t after) { return {.kind = Source::Kind::kFromNow, .value = after}; }

  // The same number of an input, in a hole that is as `wanted`, or after one that is.
  std::optional<Source> Copied(const Hole& wanted, int64_t number, size_t after = 0) const {
    for (size_t input = 0; input < inputs_.size(); ++input) {
      const Part& part = from_.all[inputs_[input]];
      for (size_t i = 0; i + after < part.shape->hole_count(); ++i) {
        if (part.shape->holes.all[i] != wanted) continue;
        if (from_.numbers[part.first_hole + i + after] != number) continue;
        return Source{.kind = Source::Kind::kCopied,
                      .part = static_cast<uint8_t>(input),
                      .value = static_cast<int64_t>(i + after)};
      }
    }
    return std::nullopt;
  }

  void CollectNew(const Parts& to, const Part& part) {
    for (size_t i = 0; i < part.shape->hole_count(); ++i) {
      const Hole& hole = part.shape->holes.all[i];
      const int64_t number = to.numbers[part.first_hole + i];
      if (hole.kind == HoleKind::kRank && !Copied(hole, number))
        new_.emplace_back(hole.scope, number);
    }
  }

  std::optional<Source> SourceOf(const Parts& to, const Part& part, size_t i) const {
    const Hole& hole = part.shape->holes.all[i];
    const int64_t number = to.numbers[part.first_hole + i];
    const int64_t from_now = SaturatingAdd(number, -now_);
    switch (hole.kind) {
      case HoleKind::kInstant:
        if (from_now > -memory_) return FromNow(from_now);
        if (from_now < -kLongestRun.ns) {  // never set
          return Source{.kind = Source::Kind::kConstant, .value = number};
        }
        return Copied(hole, number);
      case HoleKind::kTick:
        return FromNow(from_now);
      case HoleKind::kFloored:
        return FromNow(std::max(from_now, hole.param));
      case HoleKind::kGate:
        if (from_now == 0) return FromNow(0);
        return Copied(hole, number);
      case HoleKind::kGated: {
        // What was set now is not what was there before, even if it is the same.
        const bool is_new = i > 0 && to.numbers[part.first_hole + i - 1] == now_;
        if (i > 0 && !is_new) {
          if (const auto copied = Copied(part.shape->holes.all[i - 1], number, 1)) return copied;
        }
        return Source{.kind = Source::Kind::kConstant, .value = number};
      }
      case HoleKind::kRank: {
        if (const auto copied = Copied(hole, number)) return copied;
        if (number <= GreatestOf(from_, hole.scope)) return std::nullopt;
        const auto first = std::ranges::lower_bound(
            new_, std::pair(hole.scope, std::numeric_limits<int64_t>::min()));
        const auto found = std::ranges::lower_bound(new_, std::pair(hole.scope, number));
        return Source{.kind = Source::Kind::kNew, .value = found - first + 1};
      }
    }
    return std::nullopt;
  }

  int64_t now_;
  int64_t memory_;
  const Parts& from_;
  PartPlaces inputs_;
  std::vector<std::pair<uint64_t, int64_t>> new_;  // by scope
};

namespace {

// Whether a transaction is gone for which versions of rows were kept, and which the step did not read.
bool ForgetsPinned(const Parts& from, uint64_t gone, uint64_t reads) {
  for (size_t i = 0; i < from.all.size(); ++i) {
    const Shape& shape = *from.all[i].shape;
    if ((gone & ~reads) >> i & 1U && MayBeForgotten(shape) && shape.pins_versions) return true;
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

size_t StepMemory::BytesOf(const Effect& effect) {
  size_t bytes = 0;
  for (const NewPart& added : effect.added) {
    bytes += sizeof(NewPart) + added.sources.capacity() * sizeof(Source);
  }
  return bytes;
}

void StepMemory::Record(Instant now, Duration memory, const Parts& from, const PartMove& part_move,
                        const Parts& to, bool concerns_judges, uint32_t violated,
                        const std::vector<ShownBy>& shown) {
  if (from.all.size() > kMostParts) return;
  Place place = PlaceOf(now, from, part_move, false);
  const Difference difference = DifferenceOf(from, to);
  if (ForgetsPinned(from, difference.gone, place.reads)) {
    if (steps_.Find(place.key) == nullptr) steps_.Insert(place.key, {.is_wide = true});
    place = PlaceOf(now, from, part_move, true);
  }
  RecordStep(now, memory, from, place, to, difference, concerns_judges);
  if (!concerns_judges || from.is_ambiguous) return;
  const explore::Key128 key = KeyOfJudgement(from, place.key);
  if (judgements_.Find(key) != nullptr) return;
  std::vector<const Part*> judges;
  for (const Part& part : to.all) {
    if (IsOfJudges(*part.shape)) judges.push_back(&part);
  }
  Verdict verdict = {.violated = violated, .shown = shown};
  auto added = Recorder(now, memory, from, WithJudges(from, place)).Trace(to, judges);
  if (added) {
    verdict.effect.added = *std::move(added);
  } else {
    verdict.is_known = false;
  }
  bytes_ += sizeof(verdict) + kBytesOfKey + BytesOf(verdict.effect);
  judgements_.Insert(key, std::move(verdict));
}

void StepMemory::RecordStep(Instant now, Duration memory, const Parts& from, const Place& place,
                            const Parts& to, const Difference& difference, bool concerns_judges) {
  if (steps_.Find(place.key) != nullptr) return;
  Step step = {.concerns_judges = concerns_judges};
  for (size_t i = 0; i < from.all.size(); ++i) {
    if ((difference.gone >> i & 1U) == 0) continue;
    const auto input = std::ranges::find(place.inputs, i);
    if (input != place.inputs.end()) {
      step.effect.gone |= uint64_t{1} << (input - place.inputs.begin());
    } else if (!MayBeForgotten(*from.all[i].shape)) {
      throw UndeclaredWrite("a step changed a part of kind " +
                            std::to_string(from.all[i].shape->name.kind) +
                            " that it is not said to read");
    }
  }
  if (auto added = Recorder(now, memory, from, place.inputs).Trace(to, difference.added)) {
    step.effect.added = *std::move(added);
  } else {
    step.is_known = false;
  }
  bytes_ += sizeof(step) + kBytesOfKey + BytesOf(step.effect);
  steps_.Insert(place.key, std::move(step));
}

}  // namespace whorl::sim
