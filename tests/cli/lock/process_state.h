// Asks the kernel for the state of a process, for tests that start processes.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <iterator>
#include <string>

namespace whorl {

// 'Z': it has ended and was not reaped; 'T': stopped; '?': there is no such process.
inline char StateOf(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const size_t name_ends = text.rfind(')');
  return name_ends == std::string::npos ? '?' : text[name_ends + 2];
}

}  // namespace whorl
