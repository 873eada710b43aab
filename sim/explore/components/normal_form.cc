#include "sim/explore/components/normal_form.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <mutex>

namespace whorl::sim {
namespace {

// Numbers scopes as they come: a search has some dozens of them, and its threads share shapes.
uint32_t PlaceOfScope(uint64_t scope) {
  static std::mutex mutex;
  static auto& places = *new std::map<uint64_t, uint32_t>();
  const std::lock_guard lock(mutex);
  return places.emplace(scope, static_cast<uint32_t>(places.size())).first->second;
}

}  // namespace

void NormalForm::Begin(Timestamp now, Duration memory, std::span<const int64_t> asked, bool ranks) {
  now_ = now.UnixNanos();
  memory_ = memory.ns;
  asked_ = asked;
  ranks_ = ranks;
  ranked_.clear();
  parts_.clear();
  ++round_;
  digest_ = {};
}

NormalForm::Slots::Slots(std::span<const NumericSlot> its_slots)
    : all(its_slots.begin(), its_slots.end()) {
  for (const NumericSlot& slot : all) {
    scopes.push_back(PlaceOfScope(slot.scope));
    has_gates = has_gates || slot.kind == SlotKind::kQuestionTime;
  }
}

inline void NormalForm::Collect(uint32_t place, int64_t number) {
  if (!ranks_) return;
  if (place >= scopes_.size()) scopes_.resize(size_t{place} + 1);
  Scope& scope = scopes_[place];
  if (scope.round != round_) {
    scope = {.round = round_,
             .least = std::numeric_limits<int64_t>::max(),
             .greatest = std::numeric_limits<int64_t>::min()};
  }
  ranked_.push_back({.scope = place, .number = number});
  scope.least = std::min(scope.least, number);
  scope.greatest = std::max(scope.greatest, number);
}

// Collects what is to be ranked, and makes a digest of the rest.
Digest128 NormalForm::WalkNumbers(const Slots& slots, std::span<const int64_t> numbers) {
  WordDigest digest;
  bool gate_is_open = false;
  for (size_t i = 0; i < slots.all.size(); ++i) {
    const NumericSlot& slot = slots.all[i];
    int64_t number = numbers[i];
    bool is_old = false;
    switch (slot.kind) {
      case SlotKind::kInstant:
        number = SaturatingAdd(number, -now_);
        is_old = IsLongAgo(slot, number, memory_);
        break;
      case SlotKind::kTick:
      case SlotKind::kFloored:
        number = SaturatingAdd(number, -now_);
        break;
      case SlotKind::kQuestionTime:
        gate_is_open = number >= asked_[static_cast<size_t>(slot.param)];
        break;
      case SlotKind::kConditional:
        if (!gate_is_open) number = 0;
        break;
      case SlotKind::kRank:
        break;
    }
    if (AddMeaning(slot, number, is_old, digest)) Collect(slots.scopes[i], numbers[i]);
  }
  return digest.state();
}

void NormalForm::AddPart(const Digest128& shape, const Slots& slots,
                         std::span<const int64_t> numbers) {
  Part part = {.shape = shape, .alone = {}, .first_rank = ranked_.size()};
  part.alone = WalkNumbers(slots, numbers);
  part.last_rank = ranked_.size();
  parts_.push_back(part);
}

void NormalForm::AddPartsOf(const CanonicalForm& form) {
  for (const CanonicalForm::Part& part : form.parts()) {
    AddPart(form.ShapeOf(part), form.SlotsOf(part), form.NumbersOf(part));
  }
}

void NormalForm::SortNumbers() {
  wide_.clear();
  for (const Ranked& one : ranked_) {
    Scope& scope = scopes_[one.scope];
    if (IsNarrow(scope)) {
      scope.present |= uint64_t{1} << (one.number - scope.least);
    } else {
      wide_.push_back(one);
    }
  }
  std::ranges::sort(wide_);
  const auto rest = std::ranges::unique(wide_);
  wide_.erase(rest.begin(), rest.end());
}

uint64_t NormalForm::RankOf(const Ranked& one) const {
  const Scope& scope = scopes_[one.scope];
  if (IsNarrow(scope)) {
    const uint64_t bit = uint64_t{1} << (one.number - scope.least);
    return static_cast<uint64_t>(std::popcount(scope.present & (bit - 1)));
  }
  const auto first = std::ranges::lower_bound(
      wide_, Ranked{.scope = one.scope, .number = std::numeric_limits<int64_t>::min()});
  return static_cast<uint64_t>(std::ranges::lower_bound(wide_, one) - first);
}

void NormalForm::Finish() {
  SortNumbers();
  for (const Part& part : parts_) {
    WordDigest numbers = WordDigest::From(part.alone);
    for (size_t k = part.first_rank; k < part.last_rank; ++k) numbers.Add(RankOf(ranked_[k]));
    const Digest128 digest = DigestOfPart(part.shape, numbers.state());
    digest_.high += digest.high;
    digest_.low += digest.low;
  }
}

}  // namespace whorl::sim
