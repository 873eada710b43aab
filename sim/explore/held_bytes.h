// Counts the bytes of objects that several threads make and destroy.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace whorl::sim {

// The sum of all HeldBytes that are there.
class ByteCount {
 public:
  size_t bytes() const { return bytes_; }

 private:
  friend class HeldBytes;
  std::atomic<size_t> bytes_ = 0;
};

// Adds its bytes to `count` while it exists. REQUIRES: `count` outlives it.
class HeldBytes {
 public:
  HeldBytes(ByteCount& count, size_t bytes) : count_(count), bytes_(bytes) {
    count_.bytes_ += bytes_;
  }
  HeldBytes(HeldBytes&& other) noexcept
      : count_(other.count_), bytes_(std::exchange(other.bytes_, 0)) {}
  HeldBytes& operator=(HeldBytes&&) = delete;
  ~HeldBytes() { count_.bytes_ -= bytes_; }

 private:
  ByteCount& count_;
  size_t bytes_;
};

}  // namespace whorl::sim
