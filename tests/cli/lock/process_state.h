// What the kernel says of a process, for tests that start some.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <iterator>
#include <string>

namespace whorl {

// 'Z': it has ended, and its parent has not asked how; 'T': stopped; '?': it is not there.
inline char StateOf(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const size_t name_ends = text.rfind(')');
  return name_ends == std::string::npos ? '?' : text[name_ends + 2];
}

}  // namespace whorl
