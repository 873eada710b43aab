#include "protocol/protocol.h"

#include <utility>

namespace whorl {

ProtocolConfig MakeProtocolConfig(std::string_view /*protocol*/, std::string lock_name,
                                  std::string id, Duration lease) {
  return spindle_v2::MakeConfig("locktable", std::move(lock_name), std::move(id), lease);
}

ProtocolState MakeProtocolState(const ProtocolConfig& /*config*/, bool blocking_wrapper) {
  if (blocking_wrapper) return spindle_v2::LockState{};
  return spindle_v2::State{};
}

RetryPolicy RetryPolicyOf(const ProtocolConfig& /*config*/) { return GoRetryPolicy(); }

std::vector<Sql> StatementsOf(const ProtocolConfig& config) {
  const auto& v2 = std::get<spindle_v2::Config>(config);
  return {v2.check,        v2.read_token,       v2.insert_lock,         v2.insert_takeover,
          v2.update_token, v2.update_heartbeat, v2.delete_takeover_rows};
}

void Step(const ProtocolConfig& config, ProtocolState& state, LocalTime now, Entropy& entropy,
          const Event& event, std::vector<Effect>& out) {
  std::visit(
      [&](auto& machine) {
        spindle_v2::Step(std::get<spindle_v2::Config>(config), machine, now, entropy, event, out);
      },
      state);
}

Standing StandingOf(const ProtocolState& state) {
  return std::visit([](const auto& machine) { return spindle_v2::StandingOf(machine); }, state);
}

}  // namespace whorl
