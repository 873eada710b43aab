#include "sim/explore/components/transition_cache.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "base/text.h"
#include "sim/explore/menu.h"

namespace whorl::sim {
namespace {

using Part = TemplateTable::Part;
using Parts = TemplateTable::Parts;

// --- what a step reads ---------------------------------------------------------------------------

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

bool IsOfJudges(const ComponentTemplate& shape) { return (shape.sets & kOfJudges) != 0; }

// The bytes that a KeyMap adds to an entry; at most half of its table is taken.
constexpr size_t kBytesOfKey = sizeof(explore::Key128) + 4 * sizeof(uint32_t);

int64_t Nanos(Instant now) { return ToTimestamp(now).UnixNanos(); }

}  // namespace

// --- sets of parts -------------------------------------------------------------------------------

void ReadSets::Become(const InternedComponents& parts) {
  parts_ = parts;
  database_ = {};
  resources_ = {};
  judges_ = {};
  stored_ = 0;
  transactions_ = 0;
  of_process_.clear();
  of_node_.clear();
  Set of_everybody;
  uint64_t referring = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const InternedComponent& part = *parts[i];
    if (part.refers) referring |= uint64_t{1} << i;
    if (part.kind() == PartKind::kTransaction) transactions_ |= uint64_t{1} << i;
    if ((part.sets & kOfNode) != 0) {
      const auto node = static_cast<size_t>(part.node);
      if (node >= of_node_.size()) {
        of_node_.resize(node + 1);
        of_process_.resize(node + 1);
      }
      of_node_[node].Add(i, part.identity);
      if ((part.sets & kOfProcess) != 0) of_process_[node].Add(i, part.identity);
    }
    if ((part.sets & kOfDatabase) != 0) database_.Add(i, part.identity);
    if ((part.sets & kOfEverybody) != 0) of_everybody.Add(i, part.identity);
    if ((part.sets & kOfResources) != 0) resources_.Add(i, part.identity);
    if ((part.sets & kOfJudges) != 0) judges_.Add(i, part.identity);
    if ((part.sets & kStored) != 0) stored_ |= uint64_t{1} << i;
  }
  database_.Add(of_everybody);
  for (Set& set : of_process_) set.Add(of_everybody);
  for (Set& set : of_node_) set.Add(of_everybody);
  for (uint64_t bits = transactions_; bits != 0; bits &= bits - 1) {
    const auto place = static_cast<size_t>(std::countr_zero(bits));
    referring_[place] = 0;
    for (uint64_t others = referring; others != 0; others &= others - 1) {
      const auto other = static_cast<size_t>(std::countr_zero(others));
      if (parts[other]->RefersTo(*parts[place])) referring_[place] |= uint64_t{1} << other;
    }
  }
}

ReadSets::Set ReadSets::ReadsOf(const ComponentAction& action) const {
  if (action.kind == MoveKind::kFault) {
    if (action.fault >= of_node_.size() * kFaultsOfNode) return database_;
    return of_node_[static_cast<size_t>(NodeOfFault(action.fault))];
  }
  if (action.kind == MoveKind::kAdvance) return {};
  const Choice& choice = parts_[action.part]->shape->events[action.event].choice;
  switch (std::visit(ReadsOfEvent(), choice.event)) {
    case Reads::kProcess:
      return of_process_[static_cast<size_t>(choice.node)];
    case Reads::kNode: {
      const auto* ends = std::get_if<FaultEnds>(&choice.event);
      return of_node_[static_cast<size_t>(ends != nullptr ? ends->node : choice.node)];
    }
    case Reads::kDatabase:
      return database_;
    case Reads::kResource:
      return resources_;
  }
  return {};
}

uint64_t ReadSets::ReferredToByOthers(uint64_t places) const {
  uint64_t referred = 0;
  for (uint64_t bits = transactions_ & places; bits != 0; bits &= bits - 1) {
    if ((referring_[static_cast<size_t>(std::countr_zero(bits))] & ~places) != 0) {
      referred |= bits & -bits;
    }
  }
  return referred;
}

// --- the memory ----------------------------------------------------------------------------------

std::vector<uint8_t> TransitionCache::InputsOf(const CacheKey& place) {
  std::vector<uint8_t> inputs;
  for (uint64_t reads = place.reads; reads != 0; reads &= reads - 1) {
    const auto input = static_cast<uint8_t>(std::countr_zero(reads));
    if (input != place.own) inputs.push_back(input);
  }
  if (place.own != ComponentAction::kNoPart) inputs.push_back(place.own);
  return inputs;
}

uint64_t TransitionCache::PlacesOf(uint64_t inputs, const CacheKey& place) {
  const uint64_t own = place.own == ComponentAction::kNoPart ? 0 : uint64_t{1} << place.own;
  uint64_t places = 0;
  for (uint64_t rest = place.reads & ~own; rest != 0; rest &= rest - 1, inputs >>= 1) {
    if ((inputs & 1U) != 0) places |= rest & -rest;
  }
  return (inputs & 1U) != 0 ? places | own : places;
}

std::span<const InternedComponent*> TransitionCache::Keep(
    const std::vector<const InternedComponent*>& list) {
  constexpr size_t kBlock = 4'096;
  if (kept_.empty() || kept_.back().size() + list.size() > kept_.back().capacity()) {
    kept_.emplace_back().reserve(std::max(kBlock, list.size()));
  }
  std::vector<const InternedComponent*>& block = kept_.back();
  const size_t first = block.size();
  block.insert(block.end(), list.begin(), list.end());
  bytes_ += list.size() * sizeof(const InternedComponent*);
  return std::span(block).subspan(first);
}

// The key has the sum of the identities of all components that are read, so their order does not matter. The component
// whose event it is, and the transactions to which others refer, are added separately.
TransitionCache::CacheKey TransitionCache::CacheKeyOf(Instant now, const ReadSets& sets,
                                                      const ComponentAction& action, bool is_wide) {
  const InternedComponents& parts = sets.parts();
  ReadSets::Set reads = sets.ReadsOf(action);
  if (is_wide) {
    for (uint64_t more = sets.stored() & ~reads.places; more != 0; more &= more - 1) {
      const auto place = static_cast<size_t>(std::countr_zero(more));
      reads.Add(place, parts[place]->identity);
    }
  }
  explore::Key128 own;
  if (action.part != ComponentAction::kNoPart) {
    const InternedComponent& part = *parts[action.part];
    const uint64_t bit = uint64_t{1} << action.part;
    if ((reads.places & bit) != 0) {
      reads.sum.high -= part.identity.high;
      reads.sum.low -= part.identity.low;
    }
    reads.places |= bit;
    // The effect of an event that is a component of its own does not depend on when it was due.
    const Digest128& shape = part.shape->digest;
    own = part.only_is_due ? shape : part.identity;
  }
  // Spanner forgets a transaction that is over once no process and no message refers to it.
  for (uint64_t bits = sets.ReferredToByOthers(reads.places); bits != 0; bits &= bits - 1) {
    const explore::Key128& identity = parts[static_cast<size_t>(std::countr_zero(bits))]->identity;
    explore::AddTo(reads.sum, {.high = explore::MixBits(identity.low),
                               .low = explore::MixBits(identity.high)});
  }
  // Spanner's timestamps are whole microseconds.
  const auto within_microsecond = static_cast<uint64_t>(now.ns % Microseconds(1).ns);
  const auto count = static_cast<uint64_t>(std::popcount(reads.places));
  const explore::Key128 key =
      explore::KeyOf(uint64_t{action.clocks} << 48 | static_cast<uint64_t>(action.kind) << 40 |
                         uint64_t{action.event} << 32 | action.fault,
                     within_microsecond << 32 | count);
  return {.key = explore::Extend(explore::Extend(key, reads.sum), own),
          .reads = reads.places,
          .own = action.part};
}

// --- what is known -------------------------------------------------------------------------------

bool TransitionCache::DropForgotten(InternedComponents& parts) {
  bool pins = false;
  std::erase_if(parts, [&](const InternedComponent* part) {
    if (!part->may_be_forgotten) return false;
    const bool is_referred_to = std::ranges::any_of(
        parts, [part](const InternedComponent* other) { return other->RefersTo(*part); });
    if (!is_referred_to) pins = pins || part->shape->pins_versions;
    return !is_referred_to;
  });
  return !pins;
}

TransitionCache::Applied TransitionCache::ApplyFrom(const ReadSets& sets, const CacheKey& place,
                                                    InternedComponents& to,
                                                    Judgement& judgement) const {
  const InternedComponents& from = sets.parts();
  const Step* known = steps_.Find(place.key);
  if (known == nullptr) return Applied::kNo;
  const Step& step = *known;
  if (step.is_wide) return Applied::kPins;
  if (!step.is_known) return Applied::kNo;
  const Verdict* verdict = nullptr;
  uint64_t gone = 0;
  if (step.concerns_judges) {
    if (from.back()->is_ambiguous) return Applied::kNo;
    verdict = judgements_.Find(explore::Extend(place.key, sets.judges().sum));
    if (verdict == nullptr || !verdict->is_known) return Applied::kNo;
    gone = sets.judges().places;
  }
  gone |= PlacesOf(step.gone, place);
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
  const auto add = [&](const InternedComponent* part) {
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

bool TransitionCache::Apply(Instant now, const ReadSets& from, const ComponentAction& action,
                            InternedComponents& to, Judgement& judgement) const {
  Applied applied = ApplyFrom(from, CacheKeyOf(now, from, action, false), to, judgement);
  if (applied == Applied::kPins) {
    applied = ApplyFrom(from, CacheKeyOf(now, from, action, true), to, judgement);
  }
  return applied == Applied::kYes;
}

// --- recording -----------------------------------------------------------------------------------

// Finds the normal numbers of the parts that a step added.
class TransitionCache::Recorder {
 public:
  Recorder(NormalTable& table, Duration memory, const InWorld& from, std::vector<uint8_t> inputs)
      : table_(table),
        now_(Nanos(from.now)),
        memory_(memory.ns),
        from_(from),
        inputs_(std::move(inputs)) {}

  // nullopt if a number comes from neither the inputs nor the step.
  std::optional<std::vector<const InternedComponent*>> Trace(
      const Parts& to, const std::vector<const Part*>& added) {
    for (const Part* part : added) CollectNew(to, *part);
    std::ranges::sort(new_);
    const auto rest = std::ranges::unique(new_);
    new_.erase(rest.begin(), rest.end());
    std::vector<const InternedComponent*> traced;
    for (const Part* part : added) {
      std::vector<int64_t> numbers;
      for (size_t i = 0; i < part->shape->slot_count(); ++i) {
        const std::optional<int64_t> number = NormalOf(to, *part, i, numbers);
        if (!number) return std::nullopt;
        numbers.push_back(*number);
      }
      traced.push_back(&table_.Of(*part->shape, numbers));
    }
    return traced;
  }

 private:
  // The normal number of an input that has this number in a slot equal to `wanted`.
  std::optional<int64_t> Copied(const NumericSlot& wanted, int64_t number) const {
    for (const uint8_t input : inputs_) {
      const Part& part = from_.world.all[input];
      if (from_.sets.parts()[input]->only_is_due) continue;  // its number is not in the key
      for (size_t i = 0; i < part.shape->slot_count(); ++i) {
        if (!MeanTheSame(part.shape->slots.all[i], wanted)) continue;
        if (from_.world.numbers[part.first_slot + i] == number) {
          return from_.sets.parts()[input]->numbers[i];
        }
      }
    }
    return std::nullopt;
  }

  int64_t GreatestOf(uint64_t scope) const {
    int64_t greatest = 0;
    for (const Part& part : from_.world.all) {
      for (size_t i = 0; i < part.shape->slot_count(); ++i) {
        const NumericSlot& slot = part.shape->slots.all[i];
        if (slot.kind != SlotKind::kRank || slot.scope != scope) continue;
        greatest = std::max(greatest, from_.world.numbers[part.first_slot + i]);
      }
    }
    return greatest;
  }

  void CollectNew(const Parts& to, const Part& part) {
    for (size_t i = 0; i < part.shape->slot_count(); ++i) {
      const NumericSlot& slot = part.shape->slots.all[i];
      const int64_t number = to.numbers[part.first_slot + i];
      if (slot.kind == SlotKind::kRank && !Copied(slot, number))
        new_.emplace_back(slot.scope, number);
    }
  }

  std::optional<int64_t> NewRank(const NumericSlot& slot, int64_t number) const {
    if (number <= GreatestOf(slot.scope)) return std::nullopt;
    const auto first =
        std::ranges::lower_bound(new_, std::pair(slot.scope, std::numeric_limits<int64_t>::min()));
    const auto found = std::ranges::lower_bound(new_, std::pair(slot.scope, number));
    if (found - first >= kMostNewRanks) return std::nullopt;
    return kNewRank + (found - first) * kRankStep;
  }

  // `before`: the normal numbers of the part's slots before slot i.
  std::optional<int64_t> NormalOf(const Parts& to, const Part& part, size_t i,
                                  const std::vector<int64_t>& before) const {
    const NumericSlot& slot = part.shape->slots.all[i];
    const int64_t number = to.numbers[part.first_slot + i];
    const int64_t from_now = SaturatingAdd(number, -now_);
    switch (slot.kind) {
      case SlotKind::kInstant:
        if (!IsLongAgo(slot, from_now, memory_)) return from_now;
        if (WasNeverSet(from_now)) return kNeverSet;
        return Copied(slot, number);
      case SlotKind::kTick:
      case SlotKind::kFloored:
        return NormalFromNow(slot, from_now);
      case SlotKind::kQuestionTime:
        if (from_now == 0) return 0;
        return Copied(slot, number);
      case SlotKind::kConditional:
        return before.back() == kClosed ? 0 : number;
      case SlotKind::kRank: {
        const std::optional<int64_t> copied = Copied(slot, number);
        return copied ? copied : NewRank(slot, number);
      }
    }
    return std::nullopt;
  }

  NormalTable& table_;
  int64_t now_;
  int64_t memory_;
  const InWorld& from_;
  const std::vector<uint8_t> inputs_;
  std::vector<std::pair<uint64_t, int64_t>> new_;  // by scope
};

namespace {

// Whether the step removed a transaction that it did not read, and for which versions of rows were kept.
bool ForgetsPinned(const Parts& from, uint64_t gone, uint64_t reads) {
  for (size_t i = 0; i < from.all.size(); ++i) {
    const ComponentTemplate& shape = *from.all[i].shape;
    if ((gone & ~reads) >> i & 1U && shape.may_be_forgotten && shape.pins_versions) return true;
  }
  return false;
}

}  // namespace

// The difference of two states: the parts that only the first one has, as bits, and those that only the second one has.
struct TransitionCache::Difference {
  uint64_t gone = 0;
  std::vector<const Part*> added;
};

TransitionCache::Difference TransitionCache::DifferenceOf(const Parts& from, const Parts& to) {
  Difference difference;
  std::vector<bool> matched(to.all.size());
  for (size_t i = 0; i < from.all.size(); ++i) {
    const Part& part = from.all[i];
    if (IsOfJudges(*part.shape)) continue;
    const auto is_same = [&](const Part& other) {
      // Compares digests, not pointers: each thread has a table of its own.
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

void TransitionCache::Record(const InWorld& from, const ComponentAction& action, const Parts& to,
                             const Stepped& stepped, const Judgement& judgement) {
  CacheKey place = CacheKeyOf(from.now, from.sets, action, false);
  const Difference difference = DifferenceOf(from.world, to);
  if (ForgetsPinned(from.world, difference.gone, place.reads)) {
    if (steps_.Find(place.key) == nullptr) steps_.Insert(place.key, {.is_wide = true});
    place = CacheKeyOf(from.now, from.sets, action, true);
  }
  RecordStep(from, place, to, difference, stepped);
  if (!stepped.concerns_judges || from.sets.parts().back()->is_ambiguous) return;
  const explore::Key128 key = explore::Extend(place.key, from.sets.judges().sum);
  if (judgements_.Find(key) != nullptr) return;
  std::vector<const Part*> judges;
  for (const Part& part : to.all) {
    if (IsOfJudges(*part.shape)) judges.push_back(&part);
  }
  Verdict verdict = {.judges = {}, .judgement = judgement};
  std::vector<uint8_t> inputs = InputsOf(place);
  std::ranges::copy(InputsOf({.reads = from.sets.judges().places}), std::back_inserter(inputs));
  if (const auto traced = Recorder(table_, memory_, from, std::move(inputs)).Trace(to, judges)) {
    verdict.judges = Keep(*traced);
  } else {
    verdict.is_known = false;
  }
  bytes_ += sizeof(verdict) + kBytesOfKey;
  judgements_.Insert(key, std::move(verdict));
}

void TransitionCache::RecordStep(const InWorld& from, const CacheKey& place, const Parts& to,
                                 const Difference& difference, const Stepped& stepped) {
  if (steps_.Find(place.key) != nullptr) return;
  const std::vector<uint8_t> inputs = InputsOf(place);
  Step step = {.concerns_judges = stepped.concerns_judges,
               .picks_commit_timestamp = stepped.picks_commit_timestamp};
  for (size_t i = 0; i < from.world.all.size(); ++i) {
    if ((difference.gone >> i & 1U) == 0) continue;
    const ComponentTemplate& shape = *from.world.all[i].shape;
    const auto input = std::ranges::find(inputs, i);
    if (input != inputs.end()) {
      step.gone |= uint64_t{1} << (input - inputs.begin());
    } else if (!shape.may_be_forgotten) {
      throw UndeclaredWrite(
          Cat("a step changed ", WordOf(shape.kind()),
              shape.name.index < 0 ? "" : " of node " + std::to_string(shape.name.index),
              ", which its read set does not contain: a mistake of whorl's or of a protocol that "
              "keeps state "
              "outside of its machine. --plain searches without read sets"));
    }
  }
  if (const auto traced = Recorder(table_, memory_, from, inputs).Trace(to, difference.added)) {
    step.added = Keep(*traced);
  } else {
    step.is_known = false;
  }
  bytes_ += sizeof(step) + kBytesOfKey;
  steps_.Insert(place.key, std::move(step));
}

}  // namespace whorl::sim
