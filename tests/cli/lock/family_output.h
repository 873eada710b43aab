// Reads the output of a family of processes as it comes.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

namespace whorl {

// The reading end of a pipe or terminal. It reaches end of file when no process of the family is left,
// since each of them holds the other end.
class FamilyOutput {
 public:
  explicit FamilyOutput(int file) : file_(file) {}
  FamilyOutput(const FamilyOutput&) = delete;
  FamilyOutput& operator=(const FamilyOutput&) = delete;
  ~FamilyOutput() { close(file_); }

  const std::string& text() const { return text_; }
  // Waits until `word` was printed `count` times. False if no process is left, or after a minute.
  bool WaitFor(const std::string& word, size_t count = 1) {
    while (Count(word) < count) {
      if (!ReadSome()) return false;
    }
    return true;
  }
  // Reads what is there. Who is read by nobody stops when the pipe is full.
  void ReadReady() {
    while (!at_end_ && ReadSome(/*patience_ms=*/0)) {
    }
  }
  // Waits until no process is left. False after a minute.
  bool WaitForEnd() {
    while (ReadSome()) {
    }
    return at_end_;
  }

 private:
  size_t Count(const std::string& word) const {
    size_t count = 0;
    for (size_t at = text_.find(word); at != std::string::npos; at = text_.find(word, at + 1)) {
      ++count;
    }
    return count;
  }
  static constexpr int kMinuteMs = 60'000;

  bool ReadSome(int patience_ms = kMinuteMs) {
    pollfd waiting = {.fd = file_, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, patience_ms) != 1) return false;
    std::array<char, 4096> bytes{};
    const ssize_t size = read(file_, bytes.data(), bytes.size());
    // A terminal whose last user is gone answers with an error.
    at_end_ = size <= 0;
    if (!at_end_) text_.append(bytes.data(), static_cast<size_t>(size));
    return !at_end_;
  }

  int file_;
  std::string text_;
  bool at_end_ = false;
};

}  // namespace whorl
