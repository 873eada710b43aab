// Numbers in as few bytes as they need: seven bits in each byte, the lowest first; the eighth bit
// says that more follow.
#pragma once

#include <cstdint>

namespace whorl::explore {

// Calls put(byte) for each byte of the number.
template <typename Put>
void PutNumber(uint64_t number, Put put) {
  for (; number >= 128; number >>= 7) put(static_cast<uint8_t>(number | 128));
  put(static_cast<uint8_t>(number));
}

// The number of the bytes that get() returns one after the other. Bits beyond 64 are dropped, and
// the tenth byte is the last one that is asked for.
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

// Small numbers of either sign become small numbers: 0, -1, 1, -2, ...
constexpr uint64_t ZigZag(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
constexpr int64_t UnZigZag(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

}  // namespace whorl::explore
