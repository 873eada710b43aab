// The tests of the contract: each drives processes and one or two locks through a backend.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/protocols.h"
#include "tests/contract/lock_backend.h"

namespace whorl {

struct ContractCase {
  std::string_view name;
  void (*run)(const ProtocolInfo& info, LockBackend& backend);
  // Whether the protocol makes the promises that the test needs; others skip it.
  bool (*fits)(const ProtocolInfo& info);
};

const std::vector<ContractCase>& ContractCases();

}  // namespace whorl
