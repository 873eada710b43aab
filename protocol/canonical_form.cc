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

}  // namespace

void CanonicalForm::Words::Grow() { room_.resize(std::max<size_t>(1'024, 2 * room_.size())); }

uint64_t CanonicalForm::ScopeOf(std::string_view base) {
  return XXH3_64bits(base.data(), base.size());
}

void CanonicalForm::FillInRanks() {
  std::vector<Ranked>& ranked = all_.ranked;
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) {
    return a.scope != b.scope ? a.scope < b.scope : a.number < b.number;
  });
  uint64_t rank = 0;
  for (size_t i = 0; i < ranked.size(); ++i) {
    if (i > 0) {
      const Ranked& before = ranked[i - 1];
      if (ranked[i].scope != before.scope) {
        rank = 0;
      } else if (ranked[i].number != before.number) {
        ++rank;
      }
    }
    (ranked[i].in_elements ? all_.elements : all_.words)[ranked[i].place] = rank;
  }
}

Digest128 CanonicalForm::Finish() {
  FillInRanks();
  for (const Range& range : all_.ranges) {
    const Digest128 digest = HashOf(all_.elements.Part(range.begin, range.end));
    all_.words[range.sum] += digest.high;
    all_.words[range.sum + 1] += digest.low;
  }
  return HashOf(all_.words.Part(0, all_.words.size()));
}

}  // namespace whorl
