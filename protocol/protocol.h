// Any of the protocols, as one machine: what hosts (the simulator, the real client) run.
//
// Invariants:
//   1. A ProtocolState is a value: a copy is a state of its own, and == compares the fields. Two
//      states of different types are different.
//   2. A ProtocolConfig never changes; copies share it.
// hosted.h makes both from a protocol's own types.
#pragma once

#include <memory>
#include <typeinfo>
#include <vector>

#include "protocol/field_tree.h"
#include "protocol/machine.h"
#include "protocol/spanner/sql.h"

namespace whorl {

class Fingerprint;

namespace protocol_internal {

// The configuration of some protocol, and what only its type can say.
class AnyConfig;

// The state of some protocol's machine.
class AnyState {
 public:
  virtual ~AnyState() = default;
  virtual std::unique_ptr<AnyState> Clone() const = 0;
  virtual bool Equals(const AnyState& other) const = 0;
  // REQUIRES: the configuration is of the state's protocol.
  virtual void Take(const AnyConfig& config, LocalTime now, Entropy& entropy, const Event& event,
                    std::vector<Effect>& out) = 0;
  virtual Standing Stands(LocalTime now) const = 0;
  virtual void AddTo(Fingerprint& fingerprint) const = 0;
  virtual FieldTree::Fields Fields() const = 0;
  virtual const void* Get(const std::type_info& type) const = 0;  // null: it is of another type
};

class AnyConfig {
 public:
  virtual ~AnyConfig() = default;
  virtual std::unique_ptr<AnyState> MakeState(bool blocking_wrapper) const = 0;
  virtual std::vector<Sql> Statements() const = 0;
  virtual const void* Get(const std::type_info& type) const = 0;  // null: it is of another type
};

}  // namespace protocol_internal

class ProtocolConfig {
 public:
  explicit ProtocolConfig(std::shared_ptr<const protocol_internal::AnyConfig> held)
      : held_(std::move(held)) {}
  const protocol_internal::AnyConfig& held() const { return *held_; }

 private:
  std::shared_ptr<const protocol_internal::AnyConfig> held_;
};

// The state of one process's part in one lock. Its type decides whether the protocol itself or its
// blocking wrapper is run.
class ProtocolState {
 public:
  ProtocolState() = default;  // of a process that has not started: it may not be stepped
  explicit ProtocolState(std::unique_ptr<protocol_internal::AnyState> held)
      : held_(std::move(held)) {}
  ProtocolState(const ProtocolState& other)
      : held_(other.held_ == nullptr ? nullptr : other.held_->Clone()) {}
  ProtocolState(ProtocolState&&) noexcept = default;
  ProtocolState& operator=(const ProtocolState& other) { return *this = ProtocolState(other); }
  ProtocolState& operator=(ProtocolState&&) noexcept = default;
  ~ProtocolState() = default;

  // Null when the state is of another type.
  template <typename State>
  const State* Get() const {
    return held_ == nullptr ? nullptr : static_cast<const State*>(held_->Get(typeid(State)));
  }

  friend bool operator==(const ProtocolState& a, const ProtocolState& b) {
    if (a.held_ == nullptr || b.held_ == nullptr) return a.held_ == b.held_;
    return a.held_->Equals(*b.held_);
  }
  // Of nothing, when the process has not started.
  void AddTo(Fingerprint& fingerprint) const;
  FieldTree::Fields Fields() const;

  friend void Step(const ProtocolConfig& config, ProtocolState& state, LocalTime now,
                   Entropy& entropy, const Event& event, std::vector<Effect>& out);
  friend Standing StandingOf(const ProtocolState& state, LocalTime now);

 private:
  std::unique_ptr<protocol_internal::AnyState> held_;
};

// REQUIRES: blocking_wrapper only where ProtocolInfo::has_blocking_wrapper.
ProtocolState MakeProtocolState(const ProtocolConfig& config, bool blocking_wrapper);
// Every text that the protocol sends, so that a database can plan them ahead.
std::vector<Sql> StatementsOf(const ProtocolConfig& config);

// REQUIRES: `state` was made by MakeProtocolState for `config`.
void Step(const ProtocolConfig& config, ProtocolState& state, LocalTime now, Entropy& entropy,
          const Event& event, std::vector<Effect>& out);
// As of `now`: a belief may end by the wall clock, which can be set.
// REQUIRES: `state` was made by MakeProtocolState.
Standing StandingOf(const ProtocolState& state, LocalTime now);

}  // namespace whorl
