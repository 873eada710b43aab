// libFuzzer's entry: any bytes as calls to the server's backend.
#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/spanner_model/server/any_calls.h"

// protobuf writes a line for each text that is no UTF-8, and most are none.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using whorl::server::AnyCalls;
  AnyCalls(whorl::server::BackendOptions()).Run(bytes);
  AnyCalls(whorl::server::EmulatorLike()).Run(bytes);
  return 0;
}
