#include "protocol/protocol.h"

#include "protocol/field_sink.h"
#include "protocol/spanner/fingerprint.h"

namespace whorl {

void ProtocolState::AddTo(Fingerprint& fingerprint) const {
  fingerprint.AddWord(held_ != nullptr ? 1 : 0);
  if (held_ != nullptr) held_->AddTo(fingerprint);
}

void ProtocolState::AddTo(FieldSink& sink) const {
  sink.AddWord(held_ != nullptr ? 1 : 0);
  if (held_ != nullptr) held_->AddTo(sink);
}

FieldTree::Fields ProtocolState::Fields() const {
  return held_ == nullptr ? FieldTree::Fields() : held_->Fields();
}

ProtocolState MakeProtocolState(const ProtocolConfig& config, bool blocking_wrapper) {
  return ProtocolState(config.held().MakeState(blocking_wrapper));
}

std::vector<Sql> StatementsOf(const ProtocolConfig& config) { return config.held().Statements(); }

void Step(const ProtocolConfig& config, ProtocolState& state, LocalTime now, Entropy& entropy,
          const Event& event, std::vector<Effect>& out) {
  state.held_->Take(config.held(), now, entropy, event, out);
}

LeadershipView LeadershipViewOf(const ProtocolState& state, LocalTime now) {
  return state.held_->Stands(now);
}

}  // namespace whorl
