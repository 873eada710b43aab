// libFuzzer's entry: any bytes as SQL against the tables of the protocols.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/spanner_model/sql/any_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  whorl::model::CompileAndEvaluate({reinterpret_cast<const char*>(data), size});
  return 0;
}
