// Breaks lines that are longer than the terminal is wide between words, where the terminal would break them within
// one.
//
// What may be pasted or parsed stays whole: JSON, and lines of shell. Colours take no room.
#pragma once

#include <cstddef>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace whorl::cli {

// The line in lines of at most `width` characters; a word that is longer has a line of its own. Lines after the first
// begin below the second column, if the line has columns (two spaces between words), else two spaces further to the
// right than the first. `line` has no line feed.
std::string Wrapped(std::string_view line, size_t width);

// While it lives, what is written to `stream` is wrapped.
class WrappedOutput : private std::streambuf {
 public:
  // Does nothing if `width` is 0.
  WrappedOutput(std::ostream& stream, size_t width);
  WrappedOutput(const WrappedOutput&) = delete;
  WrappedOutput& operator=(const WrappedOutput&) = delete;
  ~WrappedOutput() override;

 private:
  int_type overflow(int_type c) override;
  int sync() override;
  // Hands the line on, whole or not. Returns false if that failed.
  bool PassOn();

  std::ostream& stream_;
  std::streambuf* inner_;
  size_t width_;
  std::string line_;  // what of a line was written
};

}  // namespace whorl::cli
