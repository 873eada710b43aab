// Names the calls of a program that was not written here, as whorl's own client names its calls: by
// the transaction they belong to and the step of the protocol that it is.
//
// A transaction is new with its first statement that is recognised; an attempt after ABORTED is another
// transaction, since nothing on the wire says that it repeats one.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/call_names.h"
#include "live/foreign/sql_steps.h"
#include "live/wire_calls.h"
#include "protocol/client/transaction.h"
#include "protocol/token.h"

namespace whorl::live {

class CallRecognizer {
 public:
  // A lock of the process, by name and by its index in the scenario.
  struct Lock {
    std::string name;
    uint16_t index = 0;
  };
  // `locks`: those that it takes part in; not empty.
  CallRecognizer(const ProtocolInfo& info, const std::string& table, ProcessId process,
                 std::vector<Lock> locks)
      : info_(info),
        table_(table),
        steps_(info, table),
        process_(process),
        locks_(std::move(locks)) {}

  struct Sent {
    NamedCall call;
    bool begins = false;  // the first call of its transaction
  };
  struct Heard {
    NamedCall call;
    StepName transaction;            // its transaction's step
    bool ends_statement = false;     // a step within another one has ended
    std::optional<Outcome> outcome;  // the transaction has ended
    std::optional<Token> own_token;  // and has given the process this token
  };

  // `number` names the call until its reply. nullopt for a call that is not recognised.
  std::optional<Sent> OnRequest(uint64_t number, const WireCall& call, StepOccasion occasion);
  std::optional<Heard> OnReply(uint64_t number, const Status& status, const WireReply& reply);
  // The lock that the call's values name; the first one if they name none.
  uint16_t LockOf(const WireCall& call) const;
  // Whether it is a statement on the lock's table that the protocol does not have.
  bool IsUnknown(const WireCall& call) const;

 private:
  using TransactionKey = std::pair<SessionName, TransactionId>;
  struct Open {
    CallName name;  // of its last call
    StepName step;
    TokenSource token = TokenSource::kNone;
    std::optional<Timestamp> parameter;
    bool failed = false;  // the last statement did
  };
  struct UnderWay {
    NamedCall call;
    WireCall wire;
    uint32_t transaction = 0;
  };

  std::optional<Token> TokenOf(const Open& open, const WireReply& reply) const;
  bool IsFor(const Lock& lock, const WireCall& call) const;

  const ProtocolInfo& info_;
  const std::string table_;
  const SqlSteps steps_;
  const ProcessId process_;
  const std::vector<Lock> locks_;
  uint32_t last_ = 0;              // counts the transactions
  std::map<uint32_t, Open> open_;  // by that number
  std::map<TransactionKey, uint32_t> by_id_;
  std::map<uint64_t, UnderWay> under_way_;
};

}  // namespace whorl::live
