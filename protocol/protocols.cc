#include "protocol/protocols.h"

#include <algorithm>

#include "protocol/infos.h"

namespace whorl {
namespace {

// A deque, because pointers to what it holds stay good when something is added.
std::deque<ProtocolInfo>& AllProtocols() {
  static std::deque<ProtocolInfo> protocols = {
      spindle_v2::Info(), spindle_v3::Info(),   semaphore::Info(),
      lease_lock::Info(), fenced_lease::Info(),
  };
  return protocols;
}

}  // namespace

const std::deque<ProtocolInfo>& Protocols() { return AllProtocols(); }

const ProtocolInfo* FindProtocol(std::string_view name) {
  for (const ProtocolInfo& info : Protocols()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

std::vector<StepName> AllSteps() {
  std::vector<StepName> all = {steps::kHasLock, steps::kWrite};
  for (const ProtocolInfo& info : Protocols()) {
    all.insert(all.end(), info.steps.begin(), info.steps.end());
  }
  std::ranges::sort(all, {}, &StepName::key);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

std::optional<StepName> FindStep(std::string_view word) {
  for (const StepName step : AllSteps()) {
    if (WordOf(step) == word) return step;
  }
  return std::nullopt;
}

void AddToProtocols(const ProtocolInfo& info) { AllProtocols().push_back(info); }

}  // namespace whorl
