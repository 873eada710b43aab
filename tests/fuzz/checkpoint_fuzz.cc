// libFuzzer's entry: any bytes as a checkpoint of a search, and as edits of one.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/sim/explore/any_checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  whorl::explore::GoOnFromAny(bytes);
  whorl::explore::GoOnFromAny(whorl::explore::EditedCheckpoint(bytes));
  return 0;
}
