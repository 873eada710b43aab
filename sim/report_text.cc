#include "sim/report_text.h"

#include <array>
#include <cstddef>

#include "protocol/protocols.h"

namespace whorl::sim {

std::string Names::Node(int16_t node) const {
  const auto index = static_cast<size_t>(node);
  return node >= 0 && index < nodes.size() ? nodes[index] : std::to_string(node);
}

std::string Names::Lock(uint16_t lock) const {
  return lock < locks.size() ? locks[lock] : std::to_string(lock);
}

std::string Names::Process(ProcessId process) const {
  if (process == ProcessId{}) return "nobody";
  return Node(process.node) + "#" + std::to_string(process.incarnation);
}

std::string Names::ShortProcess(ProcessId process) const {
  return process.incarnation == 1 ? Node(process.node) : Process(process);
}

Names NamesOf(const Scenario& scenario) {
  Names names;
  for (const NodeSpec& node : scenario.nodes) names.nodes.push_back(node.name);
  names.locks = scenario.locks;
  if (const ProtocolInfo* protocol = FindProtocol(scenario.protocol)) {
    for (const ColumnInfo& column : protocol->columns) names.columns.emplace_back(column.name);
  }
  return names;
}

std::string SecondsText(Duration duration, int digits) {
  // Unsigned, since the magnitude of the smallest int64 has no positive twin.
  const bool negative = duration.ns < 0;
  uint64_t magnitude = static_cast<uint64_t>(duration.ns);
  if (negative) magnitude = ~magnitude + 1;
  uint64_t unit = 1;  // nanoseconds in the last digit
  for (int digit = digits; digit < 9; ++digit) unit *= 10;
  const uint64_t units = (magnitude + unit / 2) / unit;
  const uint64_t units_per_second = 1'000'000'000 / unit;
  std::string text = negative && units > 0 ? "-" : "";
  text += std::to_string(units / units_per_second);
  if (digits == 0) return text;
  const std::string fraction = std::to_string(units % units_per_second);
  return text + "." + std::string(static_cast<size_t>(digits) - fraction.size(), '0') + fraction;
}

std::string HashText(uint64_t hash) {
  std::string text(16, '0');
  for (size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

std::string GroupedText(int64_t number) {
  std::string text = std::to_string(number);
  const size_t first_digit = number < 0 ? 1 : 0;
  for (size_t i = text.size(); i > first_digit + 3;) text.insert(i -= 3, ",");
  return text;
}

std::string CountText(int64_t count, std::string_view one, std::string_view many) {
  return GroupedText(count) + " " + std::string(count == 1 ? one : many);
}

std::string_view LinkStateText(LinkState link) {
  constexpr std::array<std::string_view, 3> kWords = {"up", "black_holed", "refused"};
  return kWords[static_cast<size_t>(link)];
}

std::string_view PromiseText(Promise promise) {
  constexpr std::array<std::string_view, 3> kWords = {"promised", "not_promised", "not_applicable"};
  return kWords[static_cast<size_t>(promise)];
}

}  // namespace whorl::sim
