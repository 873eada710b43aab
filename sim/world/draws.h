// Draws for generating worlds: integers only, so a seed means the same with every compiler.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "sim/world/mix.h"

namespace whorl::sim {

// Rounds down to whole milliseconds for readability; durations below one millisecond stay.
constexpr Duration Rounded(Duration duration) {
  constexpr int64_t kMillisecond = 1'000'000;
  if (duration.ns < kMillisecond) return duration;
  return {duration.ns / kMillisecond * kMillisecond};
}

class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(Mix(seed + kGolden)) {}

  uint64_t Bits() { return Combine(seed_, n_++); }

  // Uniform in [lo, hi].
  int64_t Between(int64_t lo, int64_t hi) { return sim::Between(Bits(), lo, hi); }
  Duration Between(Duration lo, Duration hi) { return {Between(lo.ns, hi.ns)}; }

  // True in `share` of a hundred cases.
  bool Percent(int64_t share) { return Between(1, 100) <= share; }

  // In [lo, hi]: every doubling is equally likely, and uniform within. REQUIRES: 0 < lo <= hi.
  int64_t Log(int64_t lo, int64_t hi) {
    int64_t doublings = 0;
    while (hi >> doublings >= lo) ++doublings;
    const int64_t base = lo << Between(0, doublings - 1);
    return Between(base, std::min(hi, base + base - 1));
  }
  Duration Log(Duration lo, Duration hi) { return {Log(lo.ns, std::max(lo, hi).ns)}; }

  // Rounded(Log(lo, hi)) with a random sign.
  Duration EitherWay(Duration lo, Duration hi) {
    const Duration drawn = Rounded(Log(lo, hi));
    return Percent(50) ? drawn : -drawn;
  }

  template <typename T>
  const T& Pick(std::span<const T> choices) {
    return choices[static_cast<size_t>(Between(0, static_cast<int64_t>(choices.size()) - 1))];
  }
  template <typename T>
  const T& Pick(const std::vector<T>& choices) {
    return Pick(std::span<const T>(choices));
  }
  // A choice with its weight: how likely it is in proportion to the others.
  template <typename T>
  struct Weighted {
    int64_t weight = 1;
    T value;
  };
  template <typename T>
  T Weigh(std::span<const Weighted<T>> choices) {
    int64_t sum = 0;
    for (const Weighted<T>& choice : choices) sum += choice.weight;
    int64_t left = Between(0, sum - 1);
    size_t i = 0;
    while (left >= choices[i].weight) left -= choices[i++].weight;
    return choices[i].value;
  }

 private:
  uint64_t seed_;
  uint64_t n_ = 0;
};

}  // namespace whorl::sim
