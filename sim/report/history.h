// Keeps the history of a run up to one observation: what each process did, for explaining that
// observation.
//
// Invariants:
//   1. It is built from observations alone, in the same way for every protocol: transactions are
//      identified by their steps, rows by their columns.
//   2. Of the transactions, which are many, the last kMaxTransactions are kept. What changes rarely
//      (starts and ends of processes, faults, beliefs, answers that differ from the last one) is
//      kept completely.
// Observations do not contain what a read returned. The history takes the row as it was when
// Spanner served the read, which is the same for the strong reads that all protocols make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/machine.h"
#include "sim/judge/checkers.h"
#include "sim/judge/run.h"
#include "sim/scenario/rules.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// The row of a lock as it stood at some time.
struct SeenRow {
  std::optional<Row> row;
  ProcessId owner;   // the process whose grant it is
  ProcessId writer;  // the process that wrote it last
  Instant written;   // when it did
};

struct RowChange {
  std::optional<Row> before;
  std::optional<Row> after;
  bool takes_the_lock = false;  // it takes the lock whose row it is
};

// One transaction as its process ran it, or as an operator did.
struct TransactionRecord {
  ProcessId process;
  uint16_t lock = 0;
  RequestId request = 0;
  StepName step;
  Instant started;
  std::optional<Instant> served;  // when its last successful statement or read was served
  SeenRow seen;                   // the row of its lock at that time
  std::optional<Instant> committed;
  Timestamp commit;
  std::vector<RowChange> rows;
  int failed_calls = 0;  // as its process heard; it may have retried them
  Code last_failure = Code::kOk;
  std::optional<Instant> finished;  // as its process sees it
  Outcome outcome = Outcome::kUnknown;
  Code code = Code::kOk;
  std::optional<Instant> waits_since;  // a call of it waits for another transaction's row lock
  Duration waited;                     // how long its calls have waited so
};

struct FaultSpan {
  uint32_t fault = 0;
  Instant from;
  std::optional<Instant> to;
};

// A change of a process's state other than by transactions and faults.
enum class ProcessChangeKind : uint8_t {
  kStarted,
  kStopped,
  kGone,
  kContextEnded,
  kBelieves,
  kLapsed
};
struct ProcessChange {
  Instant at;
  ProcessChangeKind kind = ProcessChangeKind::kStarted;
  ProcessId process;
  uint16_t lock = 0;
};

// The newest of what ends a process's part in a lock, beside changes of its state.
struct LastEnds {
  std::optional<Instant> work;  // its work ended
  std::optional<Instant> loss;  // it noted that it had lost the lock
  std::string why_lost;
};

// An answer that differs from the last one to the same process.
struct Answered {
  Instant at;
  Instant asked;
  ProcessId process;
  uint16_t lock = 0;
  Answer answer;
};

class History : public ObservationSink {
 public:
  static constexpr size_t kMaxTransactions = 100'000;

  // Hears the run up to and including observation `last`. `scenario` outlives this.
  History(const Scenario& scenario, uint64_t last);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  // Each of these is in the order of time.
  const std::deque<TransactionRecord>& transactions() const { return transactions_; }
  const std::vector<FaultSpan>& faults() const { return faults_; }
  const std::vector<ProcessChange>& process_changes() const { return process_changes_; }
  const std::vector<Answered>& answers() const { return answers_; }
  // The last observation heard.
  const Observation& last() const { return observation_; }
  // The first lock that had candidates, but no process that would be answered "has lock", before
  // the last observation; lock 0 if there was none.
  uint16_t orphan() const { return orphan_; }
  // Since when no process would be answered "has lock", as of the last observation.
  std::optional<Instant> orphaned_since(uint16_t lock) const { return orphaned_[lock]; }

  // Who held the lock, by its row, just before the last observation; nobody if it was free or released.
  ProcessId holder_before_last(uint16_t lock) const { return holders_before_last_[lock]; }
  LastEnds last_ends(ProcessId process, uint16_t lock) const;

  struct NodeState {
    ProcessId process;
    bool runs = false;
    bool stopped = false;
    bool crashed = false;
    std::optional<Instant> gone_at;  // set while no process runs
    bool paused = false;
    LinkState link_to = LinkState::kUp;    // the way to Spanner
    LinkState link_from = LinkState::kUp;  // the way back
  };
  const NodeState& node(int16_t node) const { return nodes_[static_cast<size_t>(node)]; }
  bool Believes(ProcessId process, uint16_t lock) const;
  // Nothing if the row belongs to no lock.
  std::optional<uint16_t> LockOf(const RowChange& row) const;
  std::string KeyOf(const RowChange& row) const;

 private:
  using TransactionKey = std::tuple<ProcessId, uint16_t, RequestId>;

  void On(const ProcessStarted& x);
  void On(const ProcessStopped& x);
  void On(const ProcessGone& x);
  void On(const ProcessPaused& x);
  void On(const ProcessResumed& x);
  void On(const ParticipationEnded& x);
  void On(const LinkChanged& x);
  void On(const FaultBegan& x);
  void On(const FaultEnded& x);
  void On(const CallSent& x);
  void On(const CallWaits& x);
  void On(const CallServed& x);
  void On(const CallEnded& x);
  void On(const TransactionStarted& x);
  void On(const TransactionCommitted& x);
  void On(const TransactionFinished& x);
  void On(const RowCommitted& x);
  void On(const BeliefChanged& x);
  void On(const QuestionAnswered& x);
  void On(const WorkChanged& x);
  void On(const Noted& x);
  void On(const auto&) {}

  void Add(TransactionRecord record);
  // Null if it has been forgotten.
  TransactionRecord* At(uint64_t number) {
    return number < forgotten_ ? nullptr : &transactions_[number - forgotten_];
  }
  TransactionRecord* Open(const CallName& call);
  NodeState& NodeOf(ProcessId process) { return nodes_[static_cast<size_t>(process.node)]; }
  void AddProcessChange(ProcessChangeKind kind, ProcessId process, uint16_t lock = 0) {
    process_changes_.push_back(
        {.at = observation_.at, .kind = kind, .process = process, .lock = lock});
  }
  Instant now() const { return observation_.at; }

  uint64_t last_;
  const Rules& rules_;
  Checkers checkers_;
  Observation observation_;
  uint16_t orphan_ = 0;
  std::vector<std::optional<Instant>> orphaned_;  // by lock
  std::vector<ProcessId> holders_before_last_;    // likewise

  std::deque<TransactionRecord> transactions_;
  uint64_t forgotten_ = 0;                   // how many transactions before the first that is kept
  std::map<TransactionKey, uint64_t> open_;  // by number of the transaction
  std::map<CallName, uint64_t> sent_;        // commits that were sent and not served
  std::optional<uint64_t> committing_;       // the one whose RowCommitted follow
  std::vector<FaultSpan> faults_;
  std::vector<ProcessChange> process_changes_;
  std::vector<Answered> answers_;
  std::map<std::pair<ProcessId, uint16_t>, LastEnds> last_ends_;
  std::vector<NodeState> nodes_;
  std::vector<SeenRow> rows_;  // by lock
};

}  // namespace whorl::sim
