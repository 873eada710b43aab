#include "base/nearest_word.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace whorl {
namespace {

// Longer words are not compared, since comparing takes quadratic time.
constexpr size_t kMaxCompared = 64;

char Folded(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

std::string Folded(std::string_view word) {
  std::string folded(word);
  std::transform(folded.begin(), folded.end(), folded.begin(), [](char c) { return Folded(c); });
  return folded;
}

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  if (a.size() > kMaxCompared || b.size() > kMaxCompared) {
    return a == b ? 0 : std::max(a.size(), b.size());
  }
  // Row i of the usual table holds the distances of a's first i letters to b's first 0, 1, 2 ...;
  // a swap looks two rows back.
  std::array<size_t, kMaxCompared + 1> before{};
  std::array<size_t, kMaxCompared + 1> last{};
  std::array<size_t, kMaxCompared + 1> row{};
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = last;
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::optional<std::string_view> NearestWord(std::string_view word,
                                            std::span<const std::string_view> known) {
  if (word.size() > kMaxCompared) return std::nullopt;
  const std::string folded = Folded(word);
  std::optional<std::string_view> nearest;
  size_t nearest_distance = 0;
  for (const std::string_view candidate : known) {
    const size_t letters = std::max(word.size(), candidate.size());
    const size_t distance = EditDistance(folded, Folded(candidate));
    if (distance > std::max<size_t>(1, letters / 3) || distance >= letters) continue;
    if (nearest.has_value() && distance >= nearest_distance) continue;
    nearest = candidate;
    nearest_distance = distance;
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> known) {
  const std::optional<std::string_view> nearest = NearestWord(word, known);
  return nearest.has_value() ? Cat("; did you mean ", Quoted(*nearest), "?") : "";
}

}  // namespace whorl
