// All chance of a run: a counter-based generator, so that every draw is named.
//
// Invariants:
//   1. The n-th draw of a stream is a function of (seed, stream, n) alone. A draw that is added to
//      one stream moves no draw of another.
//   2. Integers only: std:: distributions differ between standard libraries.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "protocol/machine.h"
#include "protocol/spanner/rpc.h"

namespace whorl::sim {

// What the world draws for, for each node on its own.
enum class Draw : uint8_t {
  kRequestLatency,
  kReplyLatency,
  kServiceTime,
  kReplicationTime,
  kResourceLatency,
};
inline constexpr size_t kDrawCount = 5;

class Chance {
 public:
  Chance(uint64_t seed, size_t nodes, size_t locks);

  // Uniform 64 bits, of the world's stream `draw` of `node`.
  uint64_t Bits(Draw draw, int16_t node);
  // Uniform in [lo, hi], for the protocol machine of a process's lock.
  int64_t Between(ProcessId process, uint16_t lock, Purpose purpose, int64_t lo, int64_t hi);

 private:
  uint64_t seed_;
  size_t locks_;
  std::vector<std::array<uint64_t, kDrawCount>> drawn_;            // by node
  std::vector<std::array<uint64_t, kPurposeCount>> drawn_inside_;  // by node and lock
};

// The machine's view of Chance.
class ProcessEntropy final : public Entropy {
 public:
  ProcessEntropy(Chance& chance, ProcessId process, uint16_t lock)
      : chance_(chance), process_(process), lock_(lock) {}
  int64_t Between(Purpose purpose, int64_t lo, int64_t hi) override {
    return chance_.Between(process_, lock_, purpose, lo, hi);
  }

 private:
  Chance& chance_;
  ProcessId process_;
  uint16_t lock_;
};

}  // namespace whorl::sim
