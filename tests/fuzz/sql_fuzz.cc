// libFuzzer's entry: any bytes as SQL against the tables of the protocols.
// Only a build for libFuzzer (WHORL_LIBFUZZER) defines the entry, since the other fuzz targets have
// one of their own:
//   clang++ -DWHORL_LIBFUZZER -fsanitize=fuzzer,address,undefined ...
//   sql_fuzz -dict=tests/fuzz/sql.dict -max_len=600 CORPUS
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/sql_any_text.h"

#ifdef WHORL_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  whorl::model::CompileAndEvaluate({reinterpret_cast<const char*>(data), size});
  return 0;
}
#endif
