// Reduces the work of a test where a sanitizer slows it down.
#pragma once

#include <cstdint>

namespace whorl {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WHORL_TESTS_ARE_SLOW 1
#endif
#endif

#ifdef WHORL_TESTS_ARE_SLOW
inline constexpr bool kTestsAreSlow = true;
#else
inline constexpr bool kTestsAreSlow = false;
#endif

// Under the sanitizers a run takes ten times longer, and a few runs show what they look for.
constexpr uint64_t Fewer(uint64_t count) { return kTestsAreSlow ? count / 5 : count; }

}  // namespace whorl
