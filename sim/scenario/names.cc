#include "sim/scenario/names.h"

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

}  // namespace whorl::sim
