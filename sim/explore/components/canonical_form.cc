#include "sim/explore/components/canonical_form.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <span>

namespace whorl::sim {
namespace {

Digest128 HashOf(std::span<const uint64_t> words) {
  const XXH128_hash_t hash = XXH3_128bits(words.data(), words.size_bytes());
  return {.high = hash.high64, .low = hash.low64};
}

}  // namespace

void CanonicalForm::Words::Grow() { room_.resize(std::max<size_t>(1'024, 2 * room_.size())); }

uint64_t CanonicalForm::ScopeOf(std::string_view base) {
  constexpr uint64_t kBits = (uint64_t{1} << 55) - 1;
  return XXH3_64bits(base.data(), base.size()) & kBits;
}

void CanonicalForm::Clear(Timestamp now, bool orders_tokens) {
  now_ = now;
  orders_tokens_ = orders_tokens;
  times_ = Times::kInstants;
  transactions_.clear();
  words_.Clear();
  slots_.clear();
  numbers_.clear();
  parts_.clear();
}

void CanonicalForm::BeginPart(PartName name, uint32_t origin) {
  parts_.push_back(
      {.name = name, .origin = origin, .first_word = words_.size(), .first_slot = slots_.size()});
  AddWord(uint64_t{name.kind} << 16 | static_cast<uint16_t>(Renamed(name.index)));
}

void CanonicalForm::EndPart() {
  parts_.back().last_word = words_.size();
  parts_.back().last_slot = slots_.size();
}

Digest128 CanonicalForm::ShapeOf(const Part& part) const {
  return HashOf(words_.Part(part.first_word, part.last_word));
}

}  // namespace whorl::sim
