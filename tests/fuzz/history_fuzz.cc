// libFuzzer's entry: any lines as a history. The last lines may contradict the first ones.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check.h"
#include "check/json_lines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whorl;  // NOLINT(google-build-using-namespace)
  const ProtocolInfo& protocol = *FindProtocol("spindle_v2");
  check::Checker checker(protocol, {.lease = Seconds(10), .window = Seconds(1)});
  check::JsonLines reader(protocol, {});
  std::vector<check::Operation> operations;
  check::Place place = {.file = "fuzz", .line = 0};
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    ++place.line;
    operations.clear();
    if (!reader.Read(rest.substr(0, end), place, operations).empty()) checker.AddUnread(place);
    for (check::Operation& operation : operations) checker.Add(std::move(operation));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  (void)checker.Verdict();
  return 0;
}
