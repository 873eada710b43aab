// Writes a run as a history in the form of Jepsen: an operation's beginnings and ends as maps of EDN,
// one a line, for Jepsen's checkers and Knossos' models of a mutex.
//
//   ; whorl 0.1.0: scenario x, spindle_v2, seed 7
//   {:index 0, :time 0, :type :invoke, :process 0, :f :acquire, :value {:lock "lock", :client "a#1"}}
//   {:index 1, :time 12625000, :type :ok, :process 0, :f :acquire, :value {:lock "lock", ...}}
//
//   :acquire   from when a process begins to take part in a lock, or is no longer the leader, until
//              it believes that it leads
//   :release   when that belief lapses; it takes no time
//   :has-lock  a question and its answer
//   :write     a write to a resource; refused by its token: :fail
//   :nemesis   a fault begins or ends
// Invariants:
//   1. A scenario and a seed decide every byte. Times are nanoseconds of true time since the start.
//   2. A number of :process has one operation at a time. What a process that is gone had begun is
//      :info, and its number is not used again. A write on its way is not its process's any more.
//   3. Memory depends on what is open.
// Deliberately left out: checks of the stream; its owner checks its state afterwards.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "sim/judge/run.h"
#include "sim/scenario/names.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

class JepsenWriter : public ObservationSink {
 public:
  // Writes the comment. `out` and `scenario` outlive the writer.
  JepsenWriter(std::ostream& out, const Scenario& scenario, uint64_t seed,
               std::string_view whorl_version);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

 private:
  struct Operation {
    int64_t process = 0;
    std::string_view f;
    std::string value;  // the entries of its map, without braces
  };
  using LockOf = std::tuple<ProcessId, uint16_t>;
  using AskOf = std::tuple<ProcessId, uint16_t, AskId>;
  using WriteOf = std::tuple<ProcessId, uint16_t, bool, std::optional<uint64_t>>;  // fenced, token

  void On(const ProcessStarted& x);
  void On(const ProcessStopped& x);
  void On(const ProcessGone& x);
  void On(const ParticipationEnded& x);
  void On(const BeliefChanged& x);
  void On(const QuestionAsked& x);
  void On(const QuestionAnswered& x);
  void On(const WriteSent& x);
  void On(const WriteArrived& x);
  void On(const FaultBegan& x) { AddFault(":begin", x.fault); }
  void On(const FaultEnded& x) { AddFault(":end", x.fault); }
  void On(const auto&) {}

  Operation Invoke(std::string_view f, ProcessId process, uint16_t lock, const std::string& more);
  // The number of its :process is free then, unless the outcome is :info.
  void Complete(const Operation& operation, std::string_view type, const std::string& more = {});
  void Acquire(ProcessId process, uint16_t lock);
  void EndAcquire(ProcessId process, uint16_t lock, std::string_view type, const std::string& more);
  void AddFault(std::string_view f, uint32_t fault);
  void AddLine(std::string_view type, const std::string& process, std::string_view f,
               const std::string& value);

  std::ostream& out_;
  const Scenario& scenario_;
  Names names_;
  Instant now_;
  int64_t index_ = 0;
  std::set<int64_t> free_;  // numbers of :process whose operations are over
  int64_t next_process_ = 0;
  std::map<LockOf, Operation> acquiring_;
  std::set<ProcessId> leaving_;  // asked to stop
  std::map<AskOf, Operation> asked_;
  // Of equal writes, the oldest is taken to end first.
  std::map<WriteOf, std::deque<Operation>> writing_;
};

}  // namespace whorl::sim
