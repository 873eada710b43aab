#include "sim/explore/components/normal_form.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace whorl::sim {
namespace {

// The number of a scope in this process: scopes are numbered in the order in which they first occur. A search has some
// dozens of scopes, and its threads share shapes.
uint32_t PlaceOfScope(uint64_t scope) {
  static std::mutex mutex;
  static auto& places = *new std::map<uint64_t, uint32_t>();
  const std::lock_guard lock(mutex);
  return places.emplace(scope, static_cast<uint32_t>(places.size())).first->second;
}

}  // namespace

void Ranking::Clear() {
  for (const uint32_t scope : scopes_) numbers_[scope].clear();
  scopes_.clear();
}

void Ranking::Add(uint32_t scope, int64_t number) {
  if (scope >= numbers_.size()) numbers_.resize(size_t{scope} + 1);
  std::vector<int64_t>& all = numbers_[scope];
  if (all.empty()) scopes_.push_back(scope);
  const auto place = std::ranges::lower_bound(all, number);
  if (place == all.end() || *place != number) all.insert(place, number);
}

void NormalForm::Begin(Timestamp now, Duration memory, std::span<const int64_t> asked, bool ranks) {
  now_ = now.UnixNanos();
  memory_ = memory.ns;
  asked_ = asked;
  ranks_ = ranks;
  ranked_.clear();
  ranking_.Clear();
  parts_.clear();
  digest_ = {};
}

NormalForm::Slots::Slots(std::span<const NumericSlot> its_slots)
    : all(its_slots.begin(), its_slots.end()) {
  for (const NumericSlot& slot : all) {
    scopes.push_back(PlaceOfScope(slot.scope));
    has_gates = has_gates || slot.kind == SlotKind::kQuestionTime;
  }
}

// Collects the numbers that are to be ranked, and makes a digest of the meanings that numbers have without ranks.
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
    if (!AddMeaning(slot, number, is_old, digest) || !ranks_) continue;
    ranked_.push_back({.scope = slots.scopes[i], .number = numbers[i]});
    ranking_.Add(slots.scopes[i], numbers[i]);
  }
  return digest.state();
}

void NormalForm::AddPart(const Digest128& shape, const Slots& slots,
                         std::span<const int64_t> numbers) {
  const Digest128 alone = WalkNumbers(slots, numbers);
  parts_.push_back({.shape = shape, .alone = alone, .last_rank = ranked_.size()});
}

void NormalForm::AddPart(const Digest128& shape, std::span<const NumericSlot> slots,
                         std::span<const int64_t> numbers) {
  const Slots* known = slots_.Find(shape);
  AddPart(shape, known != nullptr ? *known : slots_.Insert(shape, Slots(slots)), numbers);
}

void NormalForm::AddPartsOf(const CanonicalForm& form, std::optional<int16_t> node) {
  for (const CanonicalForm::Part& part : form.parts()) {
    if (node && part.name.index != *node) continue;
    AddPart(form.ShapeOf(part), form.SlotsOf(part), form.NumbersOf(part));
  }
}

void NormalForm::Finish() {
  size_t rank = 0;
  for (const Part& part : parts_) {
    WordDigest numbers = WordDigest::From(part.alone);
    for (; rank < part.last_rank; ++rank) {
      const Ranked& one = ranked_[rank];
      numbers.Add(static_cast<uint64_t>(ranking_.RankOf(one.scope, one.number)));
    }
    explore::AddTo(digest_, DigestOfPart(part.shape, numbers.state()));
  }
}

}  // namespace whorl::sim
