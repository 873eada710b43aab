// libFuzzer's entry: any bytes as a checkpoint of a search, and as edits of one.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/sim/explore/any_checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  whorl::explore::GoOnFromAny(bytes);
  static const std::string& whole = *new std::string(whorl::explore::WholeCheckpoint());
  static const std::string& lasso = *new std::string(whorl::explore::WholeLassoCheckpoint());
  for (const std::string* each : {&whole, &lasso}) {
    whorl::explore::GoOnFromAny(whorl::explore::EditedCheckpoint(*each, bytes));
  }
  return 0;
}
