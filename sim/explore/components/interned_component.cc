#include "sim/explore/components/interned_component.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace whorl::sim {
namespace {

using explore::Key128;

// No instant is this long ago: numbers below are kOldest and a rank, or kNeverSet.
constexpr int64_t kNear = -(int64_t{1} << 60);

// A rank has a bit in a word: the low bits are of ranks from 0 on, the high ones of new ranks (kNewRank).
constexpr int kNewBits = kMostNewRanks;
constexpr int kOldBits = 64 - kNewBits;
// A number that only hidden components have lies at most this far below the next rank.
constexpr int64_t kMostBetween = kRankStep / 2;

int64_t BaseOf(SlotKind kind) { return kind == SlotKind::kRank ? 0 : kOldest; }

bool IsRank(SlotKind kind, int64_t number) {
  return kind == SlotKind::kRank || (kind == SlotKind::kInstant && number < kNear);
}

// The bit of a rank; nullopt if it has no bit. REQUIRES: `number` is a rank, counted from its base.
std::optional<int> BitOf(int64_t number) {
  if (number % kRankStep != 0) return std::nullopt;
  if (number >= kNewRank) {
    const int64_t bit = kOldBits + (number - kNewRank) / kRankStep;
    return bit < 64 ? std::optional(static_cast<int>(bit)) : std::nullopt;
  }
  const int64_t bit = number / kRankStep;
  return bit >= 0 && bit < kOldBits ? std::optional(static_cast<int>(bit)) : std::nullopt;
}

// All bits below this one. REQUIRES: 0 <= bit < 64.
uint64_t Below(int bit) { return (uint64_t{1} << bit) - 1; }

// Whether the ranks that are present have no gaps, from 0 on.
bool IsDense(uint64_t present) { return (present & (present + 1)) == 0; }

bool IsBefore(const InternedComponent* a, const InternedComponent* b) {
  if (a->order != b->order) return a->order < b->order;
  if (a->digest != b->digest) return a->digest < b->digest;
  // The two mean the same, but their numbers may differ. The transition cache names components by index, so their
  // order has to be the same in all states.
  return a->identity < b->identity;
}

}  // namespace

// --- parts of the table --------------------------------------------------------------------------

const InternedComponent& NormalTable::Of(const ComponentTemplate& shape,
                                         std::span<const int64_t> numbers) {
  Key128 identity = explore::Extend({}, shape.digest);
  for (const int64_t number : numbers) {
    identity = explore::Extend(identity, static_cast<uint64_t>(number));
  }
  if (const InternedComponent* const* found = known_.Find(identity)) return **found;
  auto part = std::make_unique<InternedComponent>();
  part->shape = &shape;
  part->is_shown = shape.kind() != PartKind::kLedger;
  part->may_be_forgotten = shape.may_be_forgotten;
  part->concerns_gates = shape.slots.has_gates || !shape.questions.empty();
  part->numbers.assign(numbers.begin(), numbers.end());
  part->identity = identity;
  part->node = shape.name.index;
  part->sets = shape.sets;
  part->events = static_cast<uint8_t>(shape.events.size());
  part->only_is_due = shape.kind() == PartKind::kEvent && shape.slot_count() == 1;
  part->refers = !shape.references.empty();
  const auto known = [&](const PartTransaction& one) {
    const bool has_number = one.slot != PartTransaction::kNoSlot;
    return KnownTransaction{.id = one.id, .number = has_number ? numbers[one.slot] : 0};
  };
  for (const PartTransaction& reference : shape.references) {
    part->references.push_back(known(reference));
  }
  part->transaction = known(shape.transaction);
  Describe(*part);
  bytes_ += sizeof(InternedComponent) + numbers.size() * sizeof(int64_t) +
            part->references.size() * sizeof(KnownTransaction) +
            part->more_renamed.size() * sizeof(Digest128) + 100;
  known_.Insert(identity, part.get());
  return *parts_.emplace_back(std::move(part));
}

void NormalTable::Describe(InternedComponent& part) const {
  const NormalForm::Slots& slots = part.shape->slots;
  WordDigest alone;
  std::vector<uint64_t> ranks;
  for (size_t i = 0; i < slots.all.size(); ++i) {
    const SlotKind kind = slots.all[i].kind;
    const int64_t number = part.numbers[i];
    if (!AddMeaning(slots.all[i], number, IsRank(kind, number), alone)) continue;
    auto of_scope =
        std::ranges::find(part.ranks, slots.scopes[i], &InternedComponent::Ranks::scope);
    if (of_scope == part.ranks.end()) {
      of_scope = part.ranks.insert(of_scope, {.scope = slots.scopes[i]});
    }
    if (kind == SlotKind::kInstant && number == kNeverSet) {
      of_scope->has_never_set = true;
      part.fits = part.fits && part.is_shown;
      ranks.push_back(part.is_shown ? 0 : 1);
      continue;
    }
    const int64_t rank = number - BaseOf(kind);
    if (const std::optional<int> bit = BitOf(rank)) {
      of_scope->present |= uint64_t{1} << *bit;
    } else {
      part.fits = false;
    }
    if (part.is_shown) {
      ranks.push_back(static_cast<uint64_t>(rank / kRankStep));
    } else {
      const bool is_one_shown = rank % kRankStep == 0;
      const int64_t before = (rank + kMostBetween) / kRankStep;
      ranks.push_back(static_cast<uint64_t>(before) << 1 | (is_one_shown ? 1 : 0));
      part.is_ambiguous = part.is_ambiguous || !is_one_shown;
    }
  }
  part.has_ranks = !part.ranks.empty();
  WordDigest with_ranks = alone;
  for (const uint64_t rank : ranks) with_ranks.Add(rank);
  part.digest = DigestOfPart(part.shape->digest, with_ranks.state());
  const std::vector<Digest128>& renamed = part.shape->renamed;  // the first renames nothing
  for (size_t i = 1; i < renamed.size(); ++i) {
    const Digest128 digest = DigestOfPart(renamed[i], with_ranks.state());
    i == 1 ? void(part.renamed = digest) : part.more_renamed.push_back(digest);
  }
  part.signature = DigestOfPart(part.shape->alone, alone.state());
  const PartName& name = part.shape->name;
  part.order = uint64_t{name.kind} << 56 | static_cast<uint64_t>(name.index + 1) << 40 |
               part.digest.high >> 24;
}

// --- the slow way --------------------------------------------------------------------------------

void NormalTable::Begin() {
  loose_.clear();
  loose_numbers_.clear();
  shown_.Clear();
  hidden_.Clear();
  std::ranges::fill(asked_, std::nullopt);
}

void NormalTable::SetAsked(const ComponentTemplate& shape, std::span<const int64_t> numbers) {
  for (const PartQuestion& question : shape.questions) {
    asked_[question.question] = numbers[question.slot];
  }
}

void NormalTable::AddLoose(const ComponentTemplate& shape, std::span<const int64_t> numbers) {
  loose_.push_back({.shape = &shape, .first = loose_numbers_.size()});
  loose_numbers_.insert(loose_numbers_.end(), numbers.begin(), numbers.end());
  SetAsked(shape, numbers);
  Ranking& ranking = shape.kind() == PartKind::kLedger ? hidden_ : shown_;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const NumericSlot& slot = shape.slots.all[i];
    const bool is_old = slot.kind == SlotKind::kInstant && IsLongAgo(slot, numbers[i], memory_);
    if (slot.kind == SlotKind::kRank || is_old) ranking.Add(shape.slots.scopes[i], numbers[i]);
  }
}

int64_t NormalTable::RankOf(uint32_t scope, int64_t number, bool is_shown) {
  const std::span<const int64_t> shown = shown_.In(scope);
  const auto found = std::ranges::lower_bound(shown, number);
  const int64_t rank = (found - shown.begin()) * kRankStep;
  if (is_shown || (found != shown.end() && *found == number)) return rank;
  // A number of hidden components only: it lies between the shown number before and `found`, in order among the other
  // hidden numbers there.
  int64_t place = hidden_.RankOf(scope, number);
  if (found != shown.begin()) place -= hidden_.RankOf(scope, *(found - 1));
  return rank - kMostBetween + std::min<int64_t>(place, kMostBetween - 1);
}

int64_t NormalTable::NormalGate(const NumericSlot& slot, int64_t number) const {
  if (number == 0 || number == kClosed) return number;
  const std::optional<int64_t>& asked = asked_[static_cast<size_t>(slot.param)];
  if (!asked) return kClosed;
  // If the question was asked before now, it is the same question as before the step, and still open.
  if (number == kOpen) return *asked < 0 ? kOpen : kClosed;
  return number >= *asked ? kOpen : kClosed;
}

void NormalTable::MakeNormal(const Loose& loose) {
  const ComponentTemplate& shape = *loose.shape;
  const bool is_shown = shape.kind() != PartKind::kLedger;
  scratch_.clear();
  for (size_t i = 0; i < shape.slot_count(); ++i) {
    const NumericSlot& slot = shape.slots.all[i];
    const int64_t number = loose_numbers_[loose.first + i];
    int64_t normal = number;
    switch (slot.kind) {
      case SlotKind::kInstant:
        if (!IsLongAgo(slot, number, memory_)) break;
        normal = RankOf(shape.slots.scopes[i], number, is_shown);
        normal = number == kNeverSet && normal == 0 ? kNeverSet : kOldest + normal;
        break;
      case SlotKind::kTick:
      case SlotKind::kFloored:
        normal = NormalFromNow(slot, number);
        break;
      case SlotKind::kRank:
        normal = RankOf(shape.slots.scopes[i], number, is_shown);
        break;
      case SlotKind::kQuestionTime:
        normal = NormalGate(slot, number);
        break;
      case SlotKind::kConditional:
        if (i > 0 && scratch_.back() == kClosed) normal = 0;
        break;
    }
    scratch_.push_back(normal);
  }
}

void NormalTable::Finish(InternedComponents& parts) {
  parts.clear();
  for (const Loose& loose : loose_) {
    MakeNormal(loose);
    parts.push_back(&Of(*loose.shape, scratch_));
  }
}

void NormalTable::FromWorld(Instant now, TemplateTable::Parts& world, InternedComponents& parts) {
  const int64_t present = ToTimestamp(now).UnixNanos();
  Begin();
  for (const TemplateTable::Part& part : world.all) {
    const std::span<const int64_t> numbers = world.NumbersOf(part);
    scratch_.assign(numbers.begin(), numbers.end());
    for (size_t i = 0; i < numbers.size(); ++i) {
      const SlotKind kind = part.shape->slots.all[i].kind;
      if (kind == SlotKind::kRank || kind == SlotKind::kConditional) continue;
      scratch_[i] = SaturatingAdd(numbers[i], -present);
      if (!WasNeverSet(scratch_[i])) continue;
      if (kind == SlotKind::kInstant) scratch_[i] = kNeverSet;
      if (kind == SlotKind::kQuestionTime) scratch_[i] = kClosed;
    }
    AddLoose(*part.shape, scratch_);
  }
  Finish(parts);
  pairs_.clear();
  for (size_t i = 0; i < parts.size(); ++i) pairs_.emplace_back(parts[i], world.all[i]);
  std::ranges::sort(pairs_,
                    [](const auto& a, const auto& b) { return IsBefore(a.first, b.first); });
  for (size_t i = 0; i < parts.size(); ++i) std::tie(parts[i], world.all[i]) = pairs_[i];
}

void NormalTable::Advance(Duration by, InternedComponents& parts) {
  Begin();
  for (const InternedComponent* part : parts) {
    scratch_ = part->numbers;
    for (size_t i = 0; i < scratch_.size(); ++i) {
      const auto& [kind, scope, param, stands] = part->shape->slots.all[i];
      if (stands) continue;
      const bool counts_from_now = (kind == SlotKind::kInstant && scratch_[i] >= kNear) ||
                                   kind == SlotKind::kTick || kind == SlotKind::kFloored ||
                                   (kind == SlotKind::kQuestionTime && scratch_[i] == 0);
      if (counts_from_now) scratch_[i] -= by.ns;
    }
    AddLoose(*part->shape, scratch_);
  }
  Finish(parts);
}

void NormalTable::RestoreSlowly(InternedComponents& parts) {
  Begin();
  for (const InternedComponent* part : parts) AddLoose(*part->shape, part->numbers);
  Finish(parts);
}

// --- the quick way -------------------------------------------------------------------------------

void NormalTable::AddBits(const InternedComponent& part) {
  for (const InternedComponent::Ranks& ranks : part.ranks) {
    if (ranks.scope >= scopes_.size()) scopes_.resize(size_t{ranks.scope} + 1);
    Scope& scope = scopes_[ranks.scope];
    if (scope.round != round_) {
      scope = {.round = round_};
      touched_.push_back(ranks.scope);
    }
    scope.present |= ranks.present;
    scope.has_never_set = scope.has_never_set || ranks.has_never_set;
  }
}

uint64_t NormalTable::PresentIn(uint32_t scope) const {
  return scope < scopes_.size() && scopes_[scope].round == round_ ? scopes_[scope].present : 0;
}

bool NormalTable::StandsAsItIs(const InternedComponent& ledger) const {
  return std::ranges::all_of(ledger.ranks, [this](const InternedComponent::Ranks& ranks) {
    const uint64_t present = PresentIn(ranks.scope);
    return (ranks.present & ~present) == 0 && IsDense(present);
  });
}

const InternedComponent& NormalTable::Compact(const InternedComponent& part) {
  Key128 key = part.identity;
  for (const InternedComponent::Ranks& ranks : part.ranks) {
    key = explore::Extend(key, PresentIn(ranks.scope));
  }
  if (const InternedComponent* const* known = compacted_.Find(key)) return **known;
  const NormalForm::Slots& slots = part.shape->slots;
  std::vector<int64_t> numbers = part.numbers;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const SlotKind kind = slots.all[i].kind;
    if (!IsRank(kind, numbers[i]) || numbers[i] == kNeverSet) continue;
    const uint64_t present = PresentIn(slots.scopes[i]);
    const int bit = *BitOf(numbers[i] - BaseOf(kind));
    const uint64_t before = present & Below(bit);
    numbers[i] = BaseOf(kind) + std::popcount(before) * kRankStep;
    if ((present >> bit & 1U) != 0) continue;
    // No shown component has the number any more. It lies between two ranks, as other such numbers may.
    const uint64_t own =
        std::ranges::find(part.ranks, slots.scopes[i], &InternedComponent::Ranks::scope)->present;
    const uint64_t between = Below(bit) & ~Below(64 - std::countl_zero(before));
    numbers[i] += std::popcount(own & ~present & between) - kMostBetween;
  }
  const InternedComponent& compact = Of(*part.shape, numbers);
  compacted_.Insert(key, &compact);
  bytes_ += 60;
  return compact;
}

void NormalTable::RestoreGates(InternedComponents& parts) {
  std::ranges::fill(asked_, std::nullopt);
  for (const InternedComponent* part : parts) SetAsked(*part->shape, part->numbers);
  for (const InternedComponent*& part : parts) {
    const NormalForm::Slots& slots = part->shape->slots;
    if (!slots.has_gates) continue;
    scratch_ = part->numbers;
    for (size_t i = 0; i < scratch_.size(); ++i) {
      const NumericSlot& slot = slots.all[i];
      if (slot.kind == SlotKind::kQuestionTime) scratch_[i] = NormalGate(slot, scratch_[i]);
      if (slot.kind == SlotKind::kConditional && scratch_[i - 1] == kClosed) scratch_[i] = 0;
    }
    if (scratch_ != part->numbers) part = &Of(*part->shape, scratch_);
  }
}

void NormalTable::Restore(InternedComponents& parts, bool gates) {
  ++round_;
  touched_.clear();
  for (const InternedComponent* part : parts) {
    if (!part->fits) return RestoreSlowly(parts);
    if (part->is_shown && part->has_ranks) AddBits(*part);
  }
  bool all_are_dense = true;
  for (const uint32_t touched : touched_) {
    Scope& scope = scopes_[touched];
    // An instant that was never set needs the first rank, which is taken.
    if (scope.has_never_set && (scope.present & 1U) != 0) return RestoreSlowly(parts);
    scope.present |= scope.has_never_set ? 1 : 0;
    all_are_dense = all_are_dense && IsDense(scope.present);
  }
  for (const InternedComponent*& part : parts) {
    if (!part->has_ranks) continue;
    if (part->is_shown ? all_are_dense : StandsAsItIs(*part)) continue;
    const bool is_dense = std::ranges::all_of(
        part->ranks,
        [this](const InternedComponent::Ranks& ranks) { return IsDense(PresentIn(ranks.scope)); });
    if (!is_dense || !part->is_shown) part = &Compact(*part);
  }
  if (gates) RestoreGates(parts);
}

void NormalTable::Sort(InternedComponents& parts) {
  // Insertion sort: the components are nearly sorted.
  for (size_t i = 1; i < parts.size(); ++i) {
    const InternedComponent* const part = parts[i];
    size_t place = i;
    for (; place > 0 && IsBefore(part, parts[place - 1]); --place) parts[place] = parts[place - 1];
    parts[place] = part;
  }
}

// --- digests -------------------------------------------------------------------------------------

Digest128 NormalTable::DigestOf(const InternedComponents& parts) const {
  Digest128 own;
  for (const InternedComponent* part : parts) {
    if (part->is_shown) explore::AddTo(own, part->digest);
  }
  if (symmetry_ == nullptr) return own;
  const auto signature = [&](int16_t node) {
    Digest128 sum;
    for (const InternedComponent* part : parts) {
      if (part->shape->name.index == node) explore::AddTo(sum, part->signature);
    }
    return sum;
  };
  const auto renamed = [&](size_t i) {
    Digest128 sum;
    for (const InternedComponent* part : parts) {
      if (part->is_shown) {
        explore::AddTo(sum, i == 1 ? part->renamed : part->more_renamed[i - 2]);
      }
    }
    return sum;
  };
  return symmetry_->Least(own, signature, renamed);
}

}  // namespace whorl::sim
