#include "base/located_error.h"

#include <map>
#include <utility>

#include "base/text.h"

namespace whorl {

std::string PathText(std::string_view path) {
  constexpr size_t kMaxPathShown = 1000;
  return Printable(path, kMaxPathShown);
}

std::string AtLine(std::string_view path, int64_t line) {
  return Cat(PathText(path), ":", std::to_string(line));
}

std::vector<std::string> ErrorLines(std::string_view path, const std::vector<Problem>& problems) {
  std::multimap<std::pair<int, int>, const Problem*> sorted;
  for (const Problem& problem : problems) {
    sorted.emplace(std::pair(problem.position.line, problem.position.column), &problem);
  }
  std::vector<std::string> lines;
  for (const auto& [position, problem] : sorted) {
    if (lines.size() == kMaxErrorLines) {
      lines.push_back(Cat(PathText(path), ": further errors are not shown"));
      break;
    }
    lines.push_back(Cat(AtLine(path, position.first), ": ", problem->pointer,
                        problem->pointer.empty() ? "" : ": ", problem->text));
  }
  return lines;
}

}  // namespace whorl
