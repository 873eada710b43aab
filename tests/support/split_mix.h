// SplitMix64: a seed gives the same numbers on every machine and with every library.
#pragma once

#include <cstdint>

namespace whorl {

class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  // In [0, n); the bias of % does not matter in tests. REQUIRES: n > 0.
  uint64_t Below(uint64_t n) {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return (z ^ (z >> 31)) % n;
  }

 private:
  uint64_t state_;
};

}  // namespace whorl
