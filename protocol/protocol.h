// Puts any protocol behind one interface, for the hosts that run it: the simulator and the real
// client.
//
// Invariants:
//   1. A ProtocolState is a value: a copy is independent of the original, and == compares the
//      fields. States of different types are different.
//   2. A ProtocolConfig never changes; copies share it.
// hosted.h makes both from a protocol's types.
#pragma once

#include <memory>
#include <typeinfo>
#include <vector>

#include "protocol/field_tree.h"
#include "protocol/machine.h"
#include "protocol/spanner/sql.h"

namespace whorl {

class FieldSink;
class Fingerprint;

namespace protocol_internal {

// The configuration of some protocol, whose type only its implementation knows.
class AnyConfig;

// The state of some protocol's machine.
class AnyState {
 public:
  virtual ~AnyState() = default;
  virtual std::unique_ptr<AnyState> Clone() const = 0;
  virtual bool Equals(const AnyState& other) const = 0;
  // REQUIRES: `config` belongs to the state's protocol.
  virtual void Take(const AnyConfig& config, LocalTime now, Entropy& entropy, const Event& event,
                    std::vector<Effect>& out) = 0;
  virtual LeadershipView Stands(LocalTime now) const = 0;
  virtual void AddTo(Fingerprint& fingerprint) const = 0;
  virtual void AddTo(FieldSink& sink) const = 0;
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

// The state of one process's part in one lock. Its type decides whether the protocol or its
// blocking wrapper runs.
class ProtocolState {
 public:
  ProtocolState() = default;  // the process has not started; REQUIRES: it is not stepped
  explicit ProtocolState(std::unique_ptr<protocol_internal::AnyState> held)
      : held_(std::move(held)) {}
  ProtocolState(const ProtocolState& other)
      : held_(other.held_ == nullptr ? nullptr : other.held_->Clone()) {}
  ProtocolState(ProtocolState&&) noexcept = default;
  ProtocolState& operator=(const ProtocolState& other) { return *this = ProtocolState(other); }
  ProtocolState& operator=(ProtocolState&&) noexcept = default;
  ~ProtocolState() = default;

  // Null if the state has another type.
  template <typename State>
  const State* Get() const {
    return held_ == nullptr ? nullptr : static_cast<const State*>(held_->Get(typeid(State)));
  }

  friend bool operator==(const ProtocolState& a, const ProtocolState& b) {
    if (a.held_ == nullptr || b.held_ == nullptr) return a.held_ == b.held_;
    return a.held_->Equals(*b.held_);
  }
  // A process that has not started has no fields.
  void AddTo(Fingerprint& fingerprint) const;
  void AddTo(FieldSink& sink) const;
  FieldTree::Fields Fields() const;

  friend void Step(const ProtocolConfig& config, ProtocolState& state, LocalTime now,
                   Entropy& entropy, const Event& event, std::vector<Effect>& out);
  friend LeadershipView LeadershipViewOf(const ProtocolState& state, LocalTime now);

 private:
  std::unique_ptr<protocol_internal::AnyState> held_;
};

// REQUIRES: ProtocolInfo::has_blocking_wrapper, if `blocking_wrapper` is true.
ProtocolState MakeProtocolState(const ProtocolConfig& config, bool blocking_wrapper);
// All texts that the protocol can send, so that a database can plan them in advance.
std::vector<Sql> StatementsOf(const ProtocolConfig& config);

// REQUIRES: `state` was made by MakeProtocolState for `config`.
void Step(const ProtocolConfig& config, ProtocolState& state, LocalTime now, Entropy& entropy,
          const Event& event, std::vector<Effect>& out);
// At the time `now`: a belief may end by the wall clock, which can be set.
// REQUIRES: `state` was made by MakeProtocolState.
LeadershipView LeadershipViewOf(const ProtocolState& state, LocalTime now);

}  // namespace whorl
