// Encodes numbers in as few bytes as they need: seven bits in each byte, the lowest first; the eighth bit says that
// more bytes follow.
#pragma once

#include <cstdint>

namespace whorl::explore {

// Calls put(byte) for each byte of the number.
template <typename Put>
void PutNumber(uint64_t number, Put put) {
  for (; number >= 128; number >>= 7) put(static_cast<uint8_t>(number | 128));
  put(static_cast<uint8_t>(number));
}

// The number whose bytes get() returns one after the other. It reads at most ten bytes, and drops bits beyond 64.
template <typename Get>
uint64_t GetNumber(Get get) {
  uint64_t number = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    const uint64_t byte = get();
    number |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  return number;
}

// Maps small numbers of either sign to small numbers: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
constexpr uint64_t ZigZag(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
constexpr int64_t UnZigZag(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

}  // namespace whorl::explore
