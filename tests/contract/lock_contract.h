// The tests of the contract: each is a story of processes and one lock or two, told to a backend.
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
  // For the protocols that promise what the story is about; the others are shorter of it.
  bool (*fits)(const ProtocolInfo& info);
};

const std::vector<ContractCase>& ContractCases();

}  // namespace whorl
