// libFuzzer's entry: any bytes as a scenario.
#include <cstddef>
#include <cstdint>

#include "tests/sim/scenario/any_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  whorl::sim::LoadAnyText({reinterpret_cast<const char*>(data), size});
  return 0;
}
