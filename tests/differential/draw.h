// Draws at random from rapidcheck's generator.
#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace whorl::differential {

class Draw {
 public:
  explicit Draw(const rc::Random& random) : random_(random) {}

  // A number in [0, n). REQUIRES: n > 0.
  int Below(int n) { return static_cast<int>(random_.next() % static_cast<uint64_t>(n)); }
  int Between(int low, int high) { return low + Below(high - low + 1); }
  bool OneIn(int n) { return Below(n) == 0; }
  // True in `percent` of a hundred draws.
  bool Percent(int percent) { return Below(100) < percent; }
  // REQUIRES: `choices` is not empty.
  template <typename Choices>
  const auto& Of(const Choices& choices) {
    return choices[static_cast<size_t>(Below(static_cast<int>(choices.size())))];
  }
  // An index of `weights`, with a probability in proportion to its weight.
  size_t Weighted(const std::vector<int>& weights) {
    int all = 0;
    for (const int weight : weights) all += weight;
    int at = Below(all);
    size_t index = 0;
    while (at >= weights[index]) at -= weights[index++];
    return index;
  }

 private:
  rc::Random random_;
};

}  // namespace whorl::differential
