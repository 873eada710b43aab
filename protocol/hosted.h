// Wraps a protocol's own types for hosts (protocol.h): its Config, its State, and the functions
// Step and LeadershipViewOf beside them in its namespace.
#pragma once

#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "protocol/field_sink.h"
#include "protocol/field_tree.h"
#include "protocol/machine.h"
#include "protocol/protocol.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/fingerprint.h"
#include "protocol/spanner/sql.h"

namespace whorl {

// What a protocol has to provide: values with WHORL_FIELDS, a step, and the standing that checkers
// see.
template <typename State, typename Config>
concept MachineOf = HasFields<Config> && HasFields<State> && std::copyable<State> &&
                    std::default_initializable<State> &&
                    requires(const Config& config, State& state, LocalTime now, Entropy& entropy,
                             const Event& event, std::vector<Effect>& out) {
                      Step(config, state, now, entropy, event, out);
                    } && (requires(const State& state) {
                            { LeadershipViewOf(state) } -> std::same_as<LeadershipView>;
                          } || requires(const State& state, LocalTime now) {
                            { LeadershipViewOf(state, now) } -> std::same_as<LeadershipView>;
                          });

namespace protocol_internal {

// The host passed the configuration of one protocol with the state of another.
[[noreturn]] inline void Mismatch() {
  std::fprintf(stderr, "a protocol's state was stepped with another protocol's configuration\n");
  std::abort();
}

template <HasFields T>
void CollectStatements(const T& value, std::vector<Sql>& statements) {
  VisitFields(value, [&statements](std::string_view, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, Sql>) {
      statements.push_back(field);
    } else if constexpr (HasFields<Field>) {
      CollectStatements(field, statements);
    }
  });
}

template <typename Config, MachineOf<Config> State>
class HeldState final : public AnyState {
 public:
  std::unique_ptr<AnyState> Clone() const override { return std::make_unique<HeldState>(*this); }
  bool Equals(const AnyState& other) const override {
    const void* state = other.Get(typeid(State));
    return state != nullptr && *static_cast<const State*>(state) == state_;
  }
  void Take(const AnyConfig& config, LocalTime now, Entropy& entropy, const Event& event,
            std::vector<Effect>& out) override {
    const void* its = config.Get(typeid(Config));
    if (its == nullptr) Mismatch();
    Step(*static_cast<const Config*>(its), state_, now, entropy, event, out);
  }
  LeadershipView Stands(LocalTime now) const override {
    // A protocol whose belief ends by the wall clock needs the clocks.
    if constexpr (requires { LeadershipViewOf(state_, now); }) {
      return LeadershipViewOf(state_, now);
    } else {
      return LeadershipViewOf(state_);
    }
  }
  void AddTo(Fingerprint& fingerprint) const override { fingerprint.Add(state_); }
  void AddTo(FieldSink& sink) const override {
    if constexpr (requires { state_.SerialsBase(); }) sink.SetSerials(state_.SerialsBase());
    sink.Add(state_);
  }
  FieldTree::Fields Fields() const override { return FieldsOf(state_); }
  const void* Get(const std::type_info& type) const override {
    return type == typeid(State) ? &state_ : nullptr;
  }

 private:
  State state_;
};

template <typename Config, MachineOf<Config> State, MachineOf<Config> Wrapper>
class HeldConfig final : public AnyConfig {
 public:
  explicit HeldConfig(Config config) : config_(std::move(config)) {}

  std::unique_ptr<AnyState> MakeState(bool blocking_wrapper) const override {
    if (blocking_wrapper) return std::make_unique<HeldState<Config, Wrapper>>();
    return std::make_unique<HeldState<Config, State>>();
  }
  std::vector<Sql> Statements() const override {
    std::vector<Sql> statements;
    CollectStatements(config_, statements);
    return statements;
  }
  const void* Get(const std::type_info& type) const override {
    return type == typeid(Config) ? &config_ : nullptr;
  }

 private:
  Config config_;
};

}  // namespace protocol_internal

// A machine starts as State{}, or as Wrapper{} if the application uses the blocking Lock() and
// Unlock(). The texts that it sends to Spanner are the fields of `config` of type Sql.
template <typename State, typename Wrapper = State, typename Config>
  requires MachineOf<State, Config> && MachineOf<Wrapper, Config>
ProtocolConfig Hosted(Config config) {
  return ProtocolConfig(
      std::make_shared<const protocol_internal::HeldConfig<Config, State, Wrapper>>(
          std::move(config)));
}

}  // namespace whorl
