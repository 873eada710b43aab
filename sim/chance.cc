#include "sim/chance.h"

#include "sim/wide.h"

namespace whorl::sim {
namespace {

// SplitMix64's finaliser: every bit of the input moves every bit of the output.
constexpr uint64_t Mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

constexpr uint64_t Combine(uint64_t hash, uint64_t word) { return Mix(hash + kGolden + Mix(word)); }

// World streams and machine streams must not meet.
constexpr uint64_t kWorldStream = 1;
constexpr uint64_t kMachineStream = 2;

}  // namespace

Chance::Chance(uint64_t seed, size_t nodes, size_t locks)
    : seed_(Mix(seed + kGolden)), locks_(locks), drawn_(nodes), drawn_inside_(nodes * locks) {}

uint64_t Chance::Bits(Draw draw, int16_t node) {
  const uint64_t n = drawn_[static_cast<size_t>(node)][static_cast<size_t>(draw)]++;
  const uint64_t stream = kWorldStream << 32 | static_cast<uint64_t>(draw) << 16 |
                          static_cast<uint64_t>(static_cast<uint16_t>(node));
  return Combine(Combine(seed_, stream), n);
}

int64_t Chance::Between(ProcessId process, uint16_t lock, Purpose purpose, int64_t lo, int64_t hi) {
  const size_t place = static_cast<size_t>(process.node) * locks_ + lock;
  const uint64_t n = drawn_inside_[place][static_cast<size_t>(purpose)]++;
  const uint64_t stream = kMachineStream << 32 | static_cast<uint64_t>(purpose) << 16 |
                          static_cast<uint64_t>(static_cast<uint16_t>(process.node));
  const uint64_t who = static_cast<uint64_t>(process.incarnation) << 16 | lock;
  const uint64_t bits = Combine(Combine(Combine(seed_, stream), who), n);
  // The high half of a 128-bit product: uniform to within 2^-64 of the range.
  const auto range = static_cast<Uint128>(static_cast<uint64_t>(hi - lo)) + 1;
  return lo + static_cast<int64_t>(static_cast<uint64_t>(bits * range >> 64));
}

}  // namespace whorl::sim
