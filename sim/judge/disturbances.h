// Tracks what disturbs a run at each moment: active faults, and transactions whose calls hung. Only
// what is judged over time (checkers/no_wedge.h) and the metrics ask for it; no judge of a state
// does.
//
// Invariants:
//   1. A transaction is open from its start until its process hears its end or is gone. One that its
//      process no longer waits for delays nothing.
//   2. Memory depends on nodes and open transactions, not on the length of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/ledger.h"
#include "sim/world/observation.h"

namespace whorl::sim {

struct TransactionLeft {  // a transaction has finished, as its process sees it
  StepName step;
  Outcome outcome = Outcome::kUnknown;
  Code code = Code::kOk;
  bool hung = false;  // one of its calls hung
};
// A process is gone, and will never hear how its open transactions end.
struct TransactionsAbandoned {
  std::vector<StepName> steps;  // one for each transaction
};

// REQUIRES: the ledger has had each observation first.
class Disturbances {
 public:
  explicit Disturbances(const CheckerSetup& setup) : open_(setup.nodes.size()) {}

  void On(const FaultBegan&, const Ledger&) { ++faults_; }
  void On(const FaultEnded&, const Ledger&) { --faults_; }
  void On(const TransactionStarted& x, const Ledger& ledger);
  void On(const CallSent& x, const Ledger& ledger);
  void On(const CallHangs& x, const Ledger& ledger);
  std::optional<TransactionLeft> On(const TransactionFinished& x, const Ledger& ledger);
  // Nothing if no transaction was open.
  std::optional<TransactionsAbandoned> On(const ProcessLost& x, const Ledger& ledger);

  // Whether a process waits for the transaction of the call. A process uses the id of a request
  // again; calls that are left from before have another generation.
  bool IsAwaited(const CallName& call, const Ledger& ledger) const;
  // Whether no fault is active and no open transaction hung.
  bool IsQuiet() const { return faults_ == 0 && hanging_ == 0; }
  // Whether an open transaction hung.
  bool Hangs() const { return hanging_ > 0; }

  friend bool operator==(const Disturbances&, const Disturbances&) = default;

 private:
  struct OpenTransaction {
    uint16_t lock = 0;
    RequestId request = 0;
    StepName step;
    std::optional<uint32_t> generation;  // all of its calls have it; empty until one is sent
    bool hung = false;
    WHORL_FIELDS(OpenTransaction, lock, request, step, generation, hung);

    // Whether the call is one of its own.
    bool Sent(const CallName& call) const {
      return lock == call.lock && request == call.request && generation == call.generation;
    }
  };

  std::vector<OpenTransaction>& OpenOf(int16_t node) { return open_[static_cast<size_t>(node)]; }
  const std::vector<OpenTransaction>& OpenOf(int16_t node) const {
    return open_[static_cast<size_t>(node)];
  }

  std::vector<std::vector<OpenTransaction>> open_;  // by node; few, in the order of their ids
  int64_t faults_ = 0;                              // active
  int64_t hanging_ = 0;                             // open transactions that hung
};

}  // namespace whorl::sim
