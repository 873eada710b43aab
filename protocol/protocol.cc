#include "protocol/protocol.h"

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace whorl {
namespace {

constexpr const char* kTable = "locktable";
constexpr const char* kSemaphoreTable = "LeaderElection";

// What hosts need of each protocol beside its Step, one group for each.

ProtocolState StateFor(const spindle_v2::Config&, bool blocking_wrapper) {
  if (blocking_wrapper) return spindle_v2::LockState{};
  return spindle_v2::State{};
}
RetryPolicy PolicyOf(const spindle_v2::Config&) { return GoRetryPolicy(); }
std::vector<Sql> TextsOf(const spindle_v2::Config& config) {
  return {config.check,
          config.read_token,
          config.insert_lock,
          config.insert_takeover,
          config.update_token,
          config.update_heartbeat,
          config.delete_takeover_rows};
}

ProtocolState StateFor(const spindle_v3::Config&, bool) { return spindle_v3::State{}; }
RetryPolicy PolicyOf(const spindle_v3::Config&) { return GoRetryPolicy(); }
std::vector<Sql> TextsOf(const spindle_v3::Config& config) {
  return {config.look, config.heartbeat, config.release};
}

ProtocolState StateFor(const semaphore::Config&, bool) { return semaphore::State{}; }
RetryPolicy PolicyOf(const semaphore::Config&) { return GoRetryPolicy(); }
std::vector<Sql> TextsOf(const semaphore::Config& config) { return {config.update, config.query}; }

ProtocolState StateFor(const lease_lock::Config&, bool) { return lease_lock::State{}; }
RetryPolicy PolicyOf(const lease_lock::Config&) { return GoRetryPolicy(); }
std::vector<Sql> TextsOf(const lease_lock::Config& config) {
  return {config.locker.test, config.locker.heartbeat, config.locker.get};
}

ProtocolState StateFor(const fenced_lease::Config&, bool) { return fenced_lease::State{}; }
RetryPolicy PolicyOf(const fenced_lease::Config&) { return OurRetryPolicy(); }
std::vector<Sql> TextsOf(const fenced_lease::Config& config) {
  return {config.read, config.take, config.create, config.beat, config.release};
}

// Only a lease by the wall clock needs the clocks.
Standing StandingAt(const lease_lock::State& state, LocalTime now) {
  return StandingOf(state, now);
}
template <typename State>
Standing StandingAt(const State& state, LocalTime) {
  return StandingOf(state);
}

// The protocol of a configuration and that of a state differ: a mistake of the host.
[[noreturn]] void Mismatch() {
  std::fprintf(stderr, "a protocol's state was stepped with another protocol's configuration\n");
  std::abort();
}

template <typename Config, typename State>
concept CanStep = requires(const Config& config, State& state, LocalTime now, Entropy& entropy,
                           const Event& event, std::vector<Effect>& out) {
  Step(config, state, now, entropy, event, out);
};

}  // namespace

ProtocolConfig MakeProtocolConfig(std::string_view protocol, std::string lock_name, std::string id,
                                  Duration lease) {
  if (protocol == "spindle_v2") {
    return spindle_v2::MakeConfig(kTable, std::move(lock_name), std::move(id), lease);
  }
  if (protocol == "spindle_v3") {
    return spindle_v3::MakeConfig(kTable, std::move(lock_name), std::move(id), lease);
  }
  if (protocol == "semaphore") {
    return semaphore::MakeConfig(kSemaphoreTable, std::move(lock_name), std::move(id), lease);
  }
  if (protocol == "lease_lock") {
    return lease_lock::MakeConfig(kTable, std::move(lock_name), std::move(id), lease);
  }
  if (protocol == "fenced_lease") {
    return fenced_lease::MakeConfig(kTable, std::move(lock_name), std::move(id), lease);
  }
  std::fprintf(stderr, "no protocol is called %s\n", std::string(protocol).c_str());
  std::abort();
}

ProtocolState MakeProtocolState(const ProtocolConfig& config, bool blocking_wrapper) {
  return std::visit([&](const auto& its) { return StateFor(its, blocking_wrapper); }, config);
}

RetryPolicy RetryPolicyOf(const ProtocolConfig& config) {
  return std::visit([](const auto& its) { return PolicyOf(its); }, config);
}

std::vector<Sql> StatementsOf(const ProtocolConfig& config) {
  return std::visit([](const auto& its) { return TextsOf(its); }, config);
}

void Step(const ProtocolConfig& config, ProtocolState& state, LocalTime now, Entropy& entropy,
          const Event& event, std::vector<Effect>& out) {
  std::visit(
      [&]<typename Config, typename State>(const Config& its, State& machine) {
        if constexpr (CanStep<Config, State>) {
          Step(its, machine, now, entropy, event, out);
        } else {
          Mismatch();
        }
      },
      config, state);
}

Standing StandingOf(const ProtocolState& state, LocalTime now) {
  return std::visit([&](const auto& machine) { return StandingAt(machine, now); }, state);
}

}  // namespace whorl
