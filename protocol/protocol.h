// Any of the protocols, as one machine: what hosts (the simulator, the real client) run.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/client/transaction_runner.h"
#include "protocol/fenced_lease/fenced_lease.h"
#include "protocol/lease_lock/lease_lock.h"
#include "protocol/machine.h"
#include "protocol/semaphore/semaphore.h"
#include "protocol/spindle_v2/lock.h"
#include "protocol/spindle_v2/spindle_v2.h"
#include "protocol/spindle_v3/spindle_v3.h"

namespace whorl {

using ProtocolConfig = std::variant<spindle_v2::Config, spindle_v3::Config, semaphore::Config,
                                    lease_lock::Config, fenced_lease::Config>;
// The state of one process's part in one lock. Which alternative it holds decides whether the
// protocol itself or its blocking wrapper is run.
using ProtocolState = std::variant<spindle_v2::State, spindle_v2::LockState, spindle_v3::State,
                                   semaphore::State, lease_lock::State, fenced_lease::State>;

// REQUIRES: FindProtocol(protocol) is not null.
ProtocolConfig MakeProtocolConfig(std::string_view protocol, std::string lock_name, std::string id,
                                  Duration lease);
// REQUIRES: blocking_wrapper only where ProtocolInfo::has_blocking_wrapper.
ProtocolState MakeProtocolState(const ProtocolConfig& config, bool blocking_wrapper);
RetryPolicy RetryPolicyOf(const ProtocolConfig& config);
// Every text that the protocol sends, so that a database can plan them ahead.
std::vector<Sql> StatementsOf(const ProtocolConfig& config);

// REQUIRES: `state` was made by MakeProtocolState for `config`.
void Step(const ProtocolConfig& config, ProtocolState& state, LocalTime now, Entropy& entropy,
          const Event& event, std::vector<Effect>& out);
// As of `now`: a belief may end by the wall clock, which can be set.
Standing StandingOf(const ProtocolState& state, LocalTime now);

}  // namespace whorl
