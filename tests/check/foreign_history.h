// Writes simulated runs as histories that others might have recorded: a change stream, and logs by clocks
// that are off, with lines missing, twice, and out of order.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/protocols.h"
#include "sim/judge/checkers/setup.h"
#include "sim/scenario/scenario.h"
#include "sim/world/driver.h"
#include "sim/world/observation.h"

namespace whorl::check {

// How a history is recorded.
struct Recording {
  uint64_t seed = 0;
  Duration clock_error;           // each process's offset is drawn within this, either way
  int64_t drift_ppm = 0;          // and how much faster or slower its clock runs, likewise
  bool clocks_declared = true;    // otherwise only calls show them
  int64_t missing_per_mille = 0;  // of lines, but the last of each process and of each row
  int64_t twice_per_mille = 0;
  Duration disorder;  // how much later a line may be written than one that came after it
  // Of each process each kind of line, each field of its lines, and all of them; of rows each column, and what was
  // before. A process that leaves out a kind does not say that it logs it; whether others say so is drawn.
  int64_t left_out_per_mille = 0;
};

// What was left out, as far as it takes away what a verdict takes for granted.
struct LeftOut {
  bool rows = false;              // all of them
  bool lapses = false;            // some process has said "left"
  std::vector<std::string> what;  // for people
};

class ForeignHistory final : public sim::ObservationSink {
 public:
  // `keeps_ids`: a process that is started again has the id of the one before it, and numbers its lines anew;
  // of its end a supervisor says that it has seen it. Otherwise it logs its end.
  //
  // Beliefs that a lease bounds are logged as real processes do: with the time that is left, with each renewal,
  // and, if the lease ran out in a pause, with its end when the pause is over.
  ForeignHistory(const sim::Scenario& scenario, const ProtocolInfo& protocol, bool keeps_ids);

  void Hear(const sim::Observation& observation, uint64_t ordinal, uint64_t hash) override;

  // The lines of one file.
  std::vector<std::string> Lines(const Recording& recording, LeftOut* left_out = nullptr) const;

  // Writes of operators.
  int64_t outside_writes() const { return outside_; }

 private:
  struct Entry {
    std::string of;  // the process, or "row " and the row's key
    bool is_row = false;
    bool begins = false;  // the process's lines
    sim::Instant at;
    nlohmann::json line;
    std::vector<std::pair<std::string, sim::Instant>> times;  // by the process's clock
    std::optional<sim::Instant> lapses;                       // what it says began is over then
  };
  // A belief that lasts, and the entry that prolonged it last.
  struct Belief {
    size_t entry = 0;
    std::optional<LocalInstant> until;
  };
  using LockOfProcess = std::pair<ProcessId, uint16_t>;

  void Say(ProcessId process, const char* event, sim::Instant at, const std::string& lock = {});
  void On(const sim::ProcessStarted& x, sim::Instant at);
  void On(const sim::ProcessStopped& x, sim::Instant at);
  void On(const sim::ProcessGone& x, sim::Instant at);
  void On(const sim::ProcessPaused& x, sim::Instant at);
  void On(const sim::ProcessResumed& x, sim::Instant at);
  void Renew(const sim::LeadershipViewChanged& x, sim::Instant at);
  void On(const sim::BeliefChanged& x, sim::Instant at);
  void On(const sim::LeadershipViewChanged& x, sim::Instant at);
  void On(const sim::WorkChanged& x, sim::Instant at);
  void On(const sim::TransactionStarted& x, sim::Instant at);
  void On(const sim::TransactionCommitted& x, sim::Instant at);
  void On(const sim::TransactionFinished& x, sim::Instant at);
  void On(const sim::QuestionAnswered& x, sim::Instant at);
  void On(const sim::WriteArrived& x, sim::Instant at);
  void On(const sim::RowCommitted& row, sim::Instant at);
  std::string NameOf(ProcessId process) const;

  const ProtocolInfo& protocol_;
  const bool keeps_ids_;
  sim::CheckerSetup setup_;
  std::vector<Entry> entries_;
  std::map<std::string, ProcessId> processes_;
  std::set<ProcessId> stopped_;
  std::map<LockOfProcess, std::optional<Token>> own_tokens_;
  std::map<LockOfProcess, Belief> beliefs_;
  std::map<LockOfProcess, std::optional<LocalInstant>> believes_until_;
  std::map<ProcessId, std::vector<uint16_t>> paused_;  // and the locks whose beliefs lapsed since
  struct Transaction {
    sim::Instant sent;
    std::optional<Timestamp> commit;
    StepName step;
  };
  std::map<std::tuple<ProcessId, uint16_t, RequestId>, Transaction> transactions_;
  // By the row and the id: a process may have an id that another one has in another lock.
  std::map<std::pair<std::string, std::string>, std::string> process_of_id_;
  std::map<std::string, nlohmann::json> rows_;  // as they were written
  int64_t outside_ = 0;
};

}  // namespace whorl::check
