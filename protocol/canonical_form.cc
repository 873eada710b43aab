#include "protocol/canonical_form.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <span>

namespace whorl {
namespace {

Digest128 HashOf(std::span<const uint64_t> words) {
  const XXH128_hash_t hash = XXH3_128bits(words.data(), words.size_bytes());
  return {.high = hash.high64, .low = hash.low64};
}

// Words of instants that are long ago, by rank: no instant is so far from now.
constexpr uint64_t kLongAgo = uint64_t{1} << 63;

bool IsBefore(uint64_t scope, int64_t number, uint64_t other_scope, int64_t other_number) {
  return scope != other_scope ? scope < other_scope : number < other_number;
}

}  // namespace

void CanonicalForm::Words::Grow() { room_.resize(std::max<size_t>(1'024, 2 * room_.size())); }

uint64_t CanonicalForm::ScopeOf(std::string_view base) {
  constexpr uint64_t kBits = (uint64_t{1} << 55) - 1;
  return XXH3_64bits(base.data(), base.size()) & kBits;
}

void CanonicalForm::Clear(Timestamp now) {
  now_ = now;
  transactions_.clear();
  words_.Clear();
  holes_.clear();
  numbers_.clear();
  parts_.clear();
}

void CanonicalForm::BeginPart(PartName name, uint32_t origin) {
  parts_.push_back(
      {.name = name, .origin = origin, .first_word = words_.size(), .first_hole = holes_.size()});
  AddWord(uint64_t{name.kind} << 16 | static_cast<uint16_t>(Renamed(name.index)));
}

void CanonicalForm::EndPart() {
  parts_.back().last_word = words_.size();
  parts_.back().last_hole = holes_.size();
}

Digest128 CanonicalForm::ShapeOf(const Part& part) const {
  return HashOf(words_.Part(part.first_word, part.last_word));
}

// --- NormalForm ----------------------------------------------------------------------------------

void NormalForm::Begin(Timestamp now, Duration memory, std::span<const int64_t> asked, bool ranks) {
  now_ = now.UnixNanos();
  memory_ = memory.ns;
  asked_ = asked;
  ranks_ = ranks;
  words_.clear();
  ranked_.clear();
  hidden_.clear();
  parts_.clear();
  shown_ = 0;
  gates_of_now_ = 0;
  is_ambiguous_ = false;
  digest_ = {};
}

void NormalForm::Rank(uint64_t scope, int64_t number) {
  if (ranks_) {
    (shown_ == parts_.size() ? ranked_ : hidden_)
        .push_back({.scope = scope, .number = number, .place = words_.size()});
  }
  words_.push_back(0);
}

void NormalForm::AddPart(const Digest128& shape, std::span<const Hole> holes,
                         std::span<const int64_t> numbers, bool is_shown) {
  const size_t first = words_.size();
  parts_.emplace_back();
  if (is_shown) shown_ = parts_.size();
  words_.push_back(shape.high);
  words_.push_back(shape.low);
  for (size_t i = 0; i < holes.size(); ++i) {
    const Hole& hole = holes[i];
    const int64_t number = numbers[i];
    const int64_t from_now = SaturatingAdd(number, -now_);
    switch (hole.kind) {
      case HoleKind::kInstant:
        if (from_now > -memory_) {
          words_.push_back(static_cast<uint64_t>(from_now));
        } else {
          Rank(hole.scope, number);
        }
        break;
      case HoleKind::kTick: {
        const int64_t left = from_now > 0 ? from_now : from_now % hole.param + hole.param;
        words_.push_back(static_cast<uint64_t>(left));
        break;
      }
      case HoleKind::kFloored:
        words_.push_back(static_cast<uint64_t>(std::max(from_now, hole.param)));
        break;
      case HoleKind::kRank:
        Rank(hole.scope, number);
        break;
      case HoleKind::kGate:
        gate_is_open_ = number >= asked_[static_cast<size_t>(hole.param)];
        if (gate_is_open_ && from_now == 0)
          gates_of_now_ |= uint64_t{1} << (hole.param % int64_t{kMostGates});
        break;
      case HoleKind::kGated:
        words_.push_back(gate_is_open_ ? static_cast<uint64_t>(number) : 0);
        break;
    }
  }
  parts_.back().first_word = first;
  parts_.back().last_word = words_.size();
}

void NormalForm::AddPartsOf(const CanonicalForm& form) {
  for (const CanonicalForm::Part& part : form.parts()) {
    AddPart(form.ShapeOf(part), form.HolesOf(part), form.NumbersOf(part));
  }
}

void NormalForm::FillInRanks() {
  std::ranges::sort(ranked_, [](const Ranked& a, const Ranked& b) {
    return IsBefore(a.scope, a.number, b.scope, b.number);
  });
  uint64_t rank = 0;
  for (size_t i = 0; i < ranked_.size(); ++i) {
    if (i > 0) {
      const Ranked& before = ranked_[i - 1];
      if (ranked_[i].scope != before.scope) {
        rank = 0;
      } else if (ranked_[i].number != before.number) {
        ++rank;
      }
    }
    words_[ranked_[i].place] = kLongAgo | rank;
  }
}

// By how many of those that are shown are before it, and whether it is one of them.
void NormalForm::FillInHidden() {
  for (const Ranked& one : hidden_) {
    const auto next = std::ranges::lower_bound(ranked_, one, [](const Ranked& a, const Ranked& b) {
      return IsBefore(a.scope, a.number, b.scope, b.number);
    });
    const bool is_known =
        next != ranked_.end() && next->scope == one.scope && next->number == one.number;
    const auto place = static_cast<uint64_t>(next - ranked_.begin());
    words_[one.place] = kLongAgo | place << 1 | (is_known ? 1 : 0);
    is_ambiguous_ = is_ambiguous_ || !is_known;
  }
}

void NormalForm::Finish() {
  FillInRanks();
  FillInHidden();
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    part.digest =
        HashOf(std::span(words_).subspan(part.first_word, part.last_word - part.first_word));
    if (i >= shown_) continue;
    digest_.high += part.digest.high;
    digest_.low += part.digest.low;
  }
}

}  // namespace whorl
