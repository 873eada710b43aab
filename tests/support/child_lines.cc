#include "tests/support/child_lines.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace whorl {
namespace {

int MakePipe(int* ends) {
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "no pipe");
  }
  return ends[1];
}

}  // namespace

ChildLines::ChildLines(const std::vector<std::string>& arguments)
    : child_(arguments, MakePipe(output_)) {
  close(output_[1]);
}

ChildLines::~ChildLines() {
  child_.Kill();
  close(output_[0]);
}

std::optional<std::string> ChildLines::Next(Duration patience) {
  while (true) {
    const size_t end = heard_.find('\n');
    if (end != std::string::npos) {
      std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return line;
    }
    pollfd waits = {.fd = output_[0], .events = POLLIN, .revents = 0};
    const int milliseconds =
        static_cast<int>(std::max<int64_t>(0, patience.ns) / Milliseconds(1).ns);
    if (poll(&waits, 1, milliseconds) <= 0) return std::nullopt;
    std::array<char, 4096> part{};
    const ssize_t size = read(output_[0], part.data(), part.size());
    if (size <= 0) return std::nullopt;
    heard_.append(part.data(), static_cast<size_t>(size));
  }
}

}  // namespace whorl
