// Searches the toy lease L1 and prints, in one line, what it took: the whorl side of
// explore_against_spin.sh.
//
//   whorl_toy_lease_search END TOKENS THREADS
//   STATES TRANSITIONS SECONDS_OF_CPU SECONDS BYTES_COUNTED BYTES_RESIDENT
#include <sys/resource.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "sim/explore/engine/search.h"
#include "tests/sim/explore/toy_lease.h"

namespace whorl::explore {
namespace {

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

int Run(uint8_t end, uint8_t tokens, int threads) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = Explore(ToyLease(end, tokens), {.jobs = threads});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  std::printf("%ju %ju %.3f %.3f %zu %ju\n", uintmax_t{result.states},
              uintmax_t{result.transitions}, SecondsOf(used.ru_utime) + SecondsOf(used.ru_stime),
              took.count(), result.peak_bytes, static_cast<uintmax_t>(used.ru_maxrss) * 1024);
  return result.ending == Ending::kComplete && result.violations.empty() ? 0 : 1;
}

template <typename Number>
bool Parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

int Main(int argc, char** argv) {
  uint8_t end = 0;
  uint8_t tokens = 0;
  int threads = 0;
  if (argc == 4 && Parse(argv[1], end) && Parse(argv[2], tokens) && Parse(argv[3], threads) &&
      threads >= 1) {
    return Run(end, tokens, threads);
  }
  std::fputs("Usage: whorl_toy_lease_search END TOKENS THREADS\n", stderr);
  return 2;
}

}  // namespace
}  // namespace whorl::explore

int main(int argc, char** argv) { return whorl::explore::Main(argc, argv); }
