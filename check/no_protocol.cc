#include "check/no_protocol.h"

#include "base/time.h"

namespace whorl::check {

const ProtocolInfo& NoProtocol() {
  static const ProtocolInfo kNone = [] {
    ProtocolInfo none;
    none.name = kNoProtocolName;
    none.summary = "no protocol of whorl's";
    none.table = {};
    none.promises.fill(Promise::kNotPromised);
    // Only guesses of what happened use it.
    none.lease_default = Seconds(10);
    return none;
  }();
  return kNone;
}

const ProtocolInfo* FindProtocolOrNone(std::string_view name) {
  return name == kNoProtocolName ? &NoProtocol() : FindProtocol(name);
}

const sim::Rules& RulesFor(const ProtocolInfo& protocol) {
  static const sim::Rules kNone = [] {
    sim::Rules none{};
    none.protocol = kNoProtocolName;
    return none;
  }();
  return IsNone(protocol) ? kNone : sim::RulesOf(protocol.name);
}

std::string_view WhyNotWithoutProtocol(Invariant invariant) {
  switch (invariant) {
    case Invariant::kOneLiveToken:
    case Invariant::kTokenMonotonic:
    case Invariant::kHasLockTruthful:
    case Invariant::kLeaseRespected:
      return "only the rows of a protocol's table show it (--protocol none)";
    case Invariant::kNoWorkAfterRelease:
      return "only a protocol says which call gives a lock back (--protocol none)";
    case Invariant::kNoWedge:
      return "only the replay of a protocol shows it (--protocol none)";
    case Invariant::kSingleLeaderBelief:
    case Invariant::kSingleWorker:
    case Invariant::kHandedTokenMonotonic:
    case Invariant::kFencedWritesOrdered:
    case Invariant::kIsolation:
    case Invariant::kPacedCalls:
    case Invariant::kToldOfLeadership:
    case Invariant::kAnsweredInTime:
    case Invariant::kReasonedStepDown:
    case Invariant::kPromptHandover:
      break;
  }
  return {};
}

}  // namespace whorl::check
