#include "spanner_model/sql/source_error.h"

#include "base/utf8.h"

namespace whorl::model {
namespace {

constexpr int64_t kTabWidth = 8;

bool EndsLine(char c) { return c == '\n' || c == '\r'; }

// The width of `c` at `column`.
int64_t Width(char c, int64_t column) {
  if (c == '\t') return kTabWidth - (column - 1) % kTabWidth;
  return IsContinuationByte(c) ? 0 : 1;
}

}  // namespace

SourcePosition LocateInSource(std::string_view text, size_t offset) {
  SourcePosition position;
  size_t line_start = 0;
  for (size_t i = 0; i < offset; ++i) {
    if (!EndsLine(text[i])) continue;
    // "\r\n" is one end of a line.
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    ++position.line;
    line_start = i + 1;
  }
  int64_t column = 1;
  for (size_t i = line_start; i < text.size() && !EndsLine(text[i]); ++i) {
    if (i == offset) position.column = column;
    const int64_t width = Width(text[i], column);
    if (text[i] == '\t') {
      position.line_text.append(static_cast<size_t>(width), ' ');
    } else {
      position.line_text.push_back(text[i]);
    }
    column += width;
    if (i + 1 == offset) position.column = column;
  }
  return position;
}

Status SourceError(std::string_view text, size_t offset, const std::string& message) {
  const SourcePosition position = LocateInSource(text, offset);
  std::string full = message + " [at " + std::to_string(position.line) + ":" +
                     std::to_string(position.column) + "]\n" + position.line_text + "\n";
  full.append(static_cast<size_t>(position.column - 1), ' ');
  full.push_back('^');
  return Error(Code::kInvalidArgument, std::move(full));
}

}  // namespace whorl::model
