// How fast a hunt is. On standard error: no two hunts take the same time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace whorl::cli {

double SecondsSince(std::chrono::steady_clock::time_point started);

// "12,345 runs in 6.1 s (2,024 a second)".
std::string SpeedText(uint64_t runs, double seconds);

}  // namespace whorl::cli
