// libFuzzer's entry: any bytes as a history, compressed or not, in any format. The first byte chooses
// between the formats that are recognised, logs by the ready mapping, and logs by a mapping that the bytes
// before the first zero are; and how long the parts are in which a line is given.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check.h"
#include "check/decoder.h"
#include "check/input.h"
#include "check/relative_time.h"

constexpr size_t kTextMax = size_t{1} << 20U;  // of what a few bytes may unpack to

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whorl;  // NOLINT(google-build-using-namespace)
  const ProtocolInfo& protocol = *FindProtocol("spindle_v2");
  check::Checker checker(protocol, {.lease = Seconds(10), .window = Seconds(1)});
  static const check::LogPattern kReady = [] {
    check::LogPattern pattern;
    (void)pattern.Parse(*check::ReadyPattern("spindle_v2"));
    return pattern;
  }();
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const check::LogPattern* pattern = data[0] % 3 == 0 ? nullptr : &kReady;
  check::LogPattern own;
  if (data[0] % 3 == 2) {
    const size_t end = std::min(bytes.find('\0'), bytes.size());
    // What is no mapping reads nothing.
    if (own.Parse(bytes.substr(0, end)).empty()) pattern = &own;
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  const size_t part = size_t{1} << (data[0] / 3 % 16);
  check::InputOptions options = {
      .wanted = {.lock = "job", .table = {}}, .format = {}, .pattern = pattern};
  if (data[0] >= 128) options.wanted.jepsen.lease = Seconds(10);
  check::Input input(protocol, options);
  check::TimeOrigins origins;
  std::string text;
  check::Decoder decoder;
  if (decoder.Add(bytes, text).empty()) (void)decoder.Finish(text);
  if (text.size() > kTextMax) return 0;
  std::vector<check::Operation> operations;
  check::Place place = {.file = "fuzz", .line = 0};
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    ++place.line;
    std::string_view line = rest.substr(0, end);
    operations.clear();
    for (; line.size() > part; line.remove_prefix(part)) {
      if (!input.Part(line.substr(0, part), place, operations).empty()) checker.AddUnread(place);
    }
    if (!input.Read(line, place, operations).empty()) checker.AddUnread(place);
    for (const std::string& refused : options.wanted.Counts().TakeRefused()) {
      if (!refused.empty()) checker.AddUnread(place);
    }
    std::string wrong;
    for (check::Operation& operation : operations) {
      if (!origins.Refuses(operation, wrong)) checker.Add(std::move(operation));
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (!input.Finish().empty()) checker.AddUnread(place);
  (void)checker.Certain();
  (void)checker.Verdict();
  return 0;
}
