#include "sim/explore/engine/fingerprint_set.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace whorl::explore {
namespace {

constexpr uint64_t kLeastHomes = 64;

// Large arrays ask for pages of this size. Look-ups go to all parts of the table, and with small pages most of their
// time would be spent on translating addresses.
constexpr size_t kHugePage = size_t{1} << 21;

uint64_t* AllocateSlots(uint64_t count) {
  const size_t alignment = count * sizeof(uint64_t) < kHugePage ? alignof(uint64_t) : kHugePage;
  const size_t size = (count * sizeof(uint64_t) + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, size);
  if (memory == nullptr) throw std::bad_alloc();
  // If the system refuses, the array works with small pages.
  if (alignment == kHugePage) madvise(memory, count * sizeof(uint64_t), MADV_HUGEPAGE);
  return static_cast<uint64_t*>(memory);
}

}  // namespace

FingerprintSet::FingerprintSet() {
  shards_.reserve(kShards);
  for (uint64_t i = 0; i < kShards; ++i) {
    shards_.emplace_back(kLeastHomes + kLeastHomes * i / (4 * uint64_t{kShards}));
  }
}

uint64_t FingerprintSet::size() const {
  uint64_t size = 0;
  for (const Shard& shard : shards_) size += shard.size;
  return size;
}

size_t FingerprintSet::bytes() const {
  size_t bytes = sizeof(Shard) * kShards;
  for (const Shard& shard : shards_) bytes += shard.count * sizeof(uint64_t);
  return bytes;
}

double FingerprintSet::ExpectedOmissions(uint64_t states) {
  constexpr double kKeys = 295147905179352825856.0;  // 2^68
  const auto count = static_cast<double>(states);
  return count * (count - 1) / 2 / kKeys;
}

void FingerprintSet::Shard::Free::operator()(uint64_t* memory) const { std::free(memory); }

void FingerprintSet::Shard::Allocate(uint64_t new_homes) {
  homes = new_homes;
  grow_at = homes / 5 * 4;
  count = homes + room + 1;
  slots.reset(AllocateSlots(count));
  std::fill_n(slots.get(), count, kEmpty);
}

void FingerprintSet::Shard::InsertBefore(uint64_t* slot, uint64_t word) {
  uint64_t* end = slot;
  while (*end != kEmpty) ++end;
  const bool is_full = size >= grow_at;
  const bool would_take_the_last = end == slots.get() + count - 1;
  if (is_full || would_take_the_last) {
    if (would_take_the_last) room *= 2;
    Grow(is_full ? homes + homes / 4 : homes);
    return InsertBefore(FirstNotLess(word), word);
  }
  std::memmove(slot + 1, slot, static_cast<size_t>(end - slot) * sizeof(uint64_t));
  *slot = word;
  ++size;
}

void FingerprintSet::Shard::Set(std::span<const uint64_t> words) {
  // The size to which the shard would have grown by Insert.
  while (words.size() > homes / 5 * 4) homes += homes / 4;
  size = words.size();
  while (true) {
    Allocate(homes);
    uint64_t* free = slots.get();
    const uint64_t* const last = slots.get() + count - 1;  // stays empty
    for (const uint64_t word : words) {
      uint64_t* const slot = std::max(free, Home(word));
      free = slot + 1;
      if (free > last) break;
      *slot = word;
    }
    if (free <= last) return;
    room *= 2;
  }
}

void FingerprintSet::Shard::Grow(uint64_t new_homes) {
  const std::unique_ptr<uint64_t[], Free> old = std::move(slots);
  const uint64_t old_count = count;
  Allocate(new_homes);
  Take(old.get(), old_count);
}

void FingerprintSet::Shard::Take(const uint64_t* old, uint64_t old_count) {
  uint64_t* free = slots.get();
  for (uint64_t i = 0; i < old_count; ++i) {
    if (old[i] == kEmpty) continue;
    uint64_t* const slot = std::max(free, Home(old[i]));
    *slot = old[i];
    free = slot + 1;
  }
}

}  // namespace whorl::explore
