#include "cli/wrapped_output.h"

#include <algorithm>

namespace whorl::cli {
namespace {

// How many columns the text takes on a terminal: neither colours nor the later bytes of a character take one.
size_t ColumnsOf(std::string_view text) {
  size_t columns = 0;
  bool in_colour = false;
  for (const char c : text) {
    if (c == '\x1b') in_colour = true;
    if (!in_colour && (static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++columns;
    if (c == 'm') in_colour = false;
  }
  return columns;
}

// Whether a line that is broken would be of no use.
bool MustStayWhole(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::string_view text = line.substr(begin);
  constexpr std::string_view kJson = "{}[]\"";
  const bool is_json = !text.empty() && kJson.find(text.front()) != std::string_view::npos;
  const bool is_shell = text.starts_with("echo ") || text.starts_with("whorl ") ||
                        text.starts_with("./") ||
                        text.find("whorl replay ") != std::string_view::npos;
  return is_json || is_shell;
}

// Where lines after the first begin.
size_t IndentOf(std::string_view line, size_t width) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const size_t gap = line.find("  ", begin);
  if (gap != std::string_view::npos) {
    const size_t column = line.find_first_not_of(' ', gap);
    if (column != std::string_view::npos && 2 * column <= width) return column;
  }
  return std::min(begin + 2, width / 2);
}

}  // namespace

std::string Wrapped(std::string_view line, size_t width) {
  if (ColumnsOf(line) <= width || MustStayWhole(line)) return std::string(line);
  const std::string indent(IndentOf(line, width), ' ');
  std::string text;
  std::string begun;  // the line that is being filled
  bool has_word = false;
  size_t at = 0;
  while (at < line.size()) {
    const size_t word = std::min(line.find_first_not_of(' ', at), line.size());
    const size_t end = std::min(line.find(' ', word), line.size());
    const std::string_view piece = line.substr(at, end - at);  // with the spaces before it
    if (has_word && ColumnsOf(begun) + ColumnsOf(piece) > width) {
      text += begun + '\n';
      begun = indent + std::string(line.substr(word, end - word));
    } else {
      begun += piece;
    }
    has_word |= end > word;
    at = end;
  }
  return text + begun;
}

WrappedOutput::WrappedOutput(std::ostream& stream, size_t width)
    : stream_(stream), inner_(stream.rdbuf()), width_(width) {
  if (width_ > 0) stream_.rdbuf(this);
}

WrappedOutput::~WrappedOutput() {
  if (width_ == 0) return;
  PassOn();
  stream_.rdbuf(inner_);
}

WrappedOutput::int_type WrappedOutput::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  if (traits_type::to_char_type(c) != '\n') {
    line_ += traits_type::to_char_type(c);
    return c;
  }
  line_ = Wrapped(line_, width_) + '\n';
  return PassOn() ? c : traits_type::eof();
}

int WrappedOutput::sync() { return PassOn() && inner_->pubsync() == 0 ? 0 : -1; }

bool WrappedOutput::PassOn() {
  const auto size = static_cast<std::streamsize>(line_.size());
  const bool passed = inner_->sputn(line_.data(), size) == size;
  line_.clear();
  return passed;
}

}  // namespace whorl::cli
