// Writes a run as a picture for ui.perfetto.dev and chrome://tracing, while the run goes on.
//
// The picture has one group of tracks for each of these:
//   invariants   every violation, the first of each invariant with its text
//   Spanner      the term of each lock's holder; the calls that Spanner served
//   resource     writes that arrived, accepted or refused
//   a node its process with pauses, its link, its faults; for each lock its belief, callbacks,
//                answers and writes; its transactions with their calls
// Invariants:
//   1. A scenario and a seed decide every byte, with every compiler.
//   2. Memory depends on what is open (transactions, calls, faults) and on at most kMaxLate calls
//      that were given up, not on the length of the run.
//   3. Slices of one track nest or do not overlap. Transactions that overlap get lanes of their
//      own, which contain their calls.
//   4. An arrow is drawn if both of its ends are known; a lost message has none.
// A call that Spanner serves at once is drawn kServedWidth wide: observations say when a call was
// served and since when it waited, but not when it arrived.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "protocol/token.h"
#include "sim/judge/run.h"
#include "sim/judge/run_judge.h"
#include "sim/report/chrome_trace.h"
#include "sim/report/json_print.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

class PerfettoWriter : public ObservationSink {
 public:
  static constexpr size_t kMaxLate = 1'000;
  static constexpr Duration kServedWidth = Microseconds(1);

  // Writes the head; RunEnded writes the end. `out` and `scenario` outlive the writer.
  PerfettoWriter(std::ostream& out, const Scenario& scenario, uint64_t seed,
                 std::string_view whorl_version);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

 private:
  // Identifies a transaction of a process until it has finished.
  using WorkId = std::tuple<ProcessId, uint16_t, RequestId>;
  struct OpenCall {
    CallName name;
    Instant sent;
    bool waits = false;  // drawn as a slice within the call's
    // Set once it has been served:
    std::optional<Instant> served;
    TraceTrack at_spanner;
  };
  struct Work {
    TraceTrack track;
    std::optional<OpenCall> call;
  };
  // A call that its process has given up and that Spanner may still serve.
  struct LateCall {
    CallName name;
    TraceTrack track;
    Instant sent;
  };
  struct NodeTracks {
    int process = 0;
    std::optional<TraceTrack> life;
    std::optional<TraceTrack> link_to;
    std::optional<TraceTrack> link_from;
    std::vector<std::optional<TraceTrack>> locks;
    TraceLanes faults;
    TraceLanes work;
    bool runs = false;
    bool paused = false;
    bool link_to_open = false;
    bool link_from_open = false;
    std::vector<bool> believes;  // by lock
  };
  // The holder of a lock, by the newest version of its row.
  struct Term {
    bool held = false;
    ProcessId owner;
    std::optional<Token> token;
    friend bool operator==(const Term&, const Term&) = default;
  };

  void On(const ProcessStarted& x);
  void On(const ProcessStopped& x);
  void On(const ProcessGone& x);
  void On(const ProcessPaused& x);
  void On(const ProcessResumed& x);
  void On(const ParticipationEnded& x);
  void On(const LinkChanged& x);
  void On(const SpannerAvailability& x);
  void On(const ClockChanged& x);
  void On(const SpannerClocksChanged& x);
  void On(const SessionLost& x);
  void On(const SessionCreated& x);
  void On(const FaultBegan& x);
  void On(const FaultEnded& x);
  void On(const CallSent& x);
  void On(const CallServed& x);
  void On(const CallWaits& x);
  void On(const CallHangs& x);
  void On(const CallEnded& x);
  void On(const LateReplyIgnored& x);
  void On(const TransactionStarted& x);
  void On(const TransactionAbortedBySpanner& x);
  void On(const TransactionCommitted& x);
  void On(const TransactionFinished& x);
  void On(const RowCommitted& x);
  void On(const BeliefChanged& x);
  void On(const CalledBack& x);
  void On(const QuestionAnswered& x);
  void On(const Noted& x);
  void On(const WriteSent& x);
  void On(const WriteArrived& x);
  void On(const RunEnded& x);
  void On(const auto&) {}  // shown by what follows it

  NodeTracks& NodeOf(int16_t node) { return nodes_[static_cast<size_t>(node)]; }
  TraceTrack LifeOf(int16_t node);
  void ShowLink(std::optional<TraceTrack>& track, bool& is_open, std::string_view name,
                const LinkChanged& x);
  TraceTrack Clocks();
  TraceTrack LockOf(int16_t node, uint16_t lock);
  TraceTrack TermsOf(uint16_t lock);
  TraceTrack ResourceOf(uint16_t lock, bool fenced);
  TraceTrack Commits();
  Work* FindWork(const CallName& call);
  OpenCall* FindCall(const CallName& call);

  void EndCall(Work& work, const Json& args);
  void EndWork(Work& work, int16_t node, const Json& args);
  void ShowTerm(uint16_t lock);
  void ShowFault(uint32_t fault, Instant from, bool is_over);
  void ShowViolations();
  template <typename T>
  Json Args(const T& x) const {
    Json args = Json::object();
    printer_.AddFields(x, args);
    return args;
  }

  const Scenario& scenario_;
  JsonPrinter printer_;
  RunJudge judge_;
  std::array<int64_t, kCountOf<Invariant>> violations_{};
  ChromeTrace trace_;
  Instant now_;

  int invariants_ = 0;  // this and the next two: processes of the picture
  int spanner_ = 0;
  int resource_ = 0;
  std::optional<TraceTrack> violation_track_;
  std::optional<TraceTrack> commits_;
  std::optional<TraceTrack> clocks_;
  std::optional<TraceTrack> availability_;
  bool unavailable_ = false;
  std::vector<std::optional<TraceTrack>> term_tracks_;  // by lock
  std::vector<Term> terms_;                             // by lock; as drawn
  std::vector<std::optional<TraceTrack>> fenced_;       // by lock
  std::vector<std::optional<TraceTrack>> unfenced_;
  // Made together with their process of the picture.
  std::optional<TraceLanes> served_;
  std::optional<TraceLanes> faults_of_no_node_;
  std::vector<NodeTracks> nodes_;
  std::map<WorkId, Work> works_;
  std::map<CallName, Instant> waiting_;  // calls that wait at Spanner, and since when
  std::deque<LateCall> late_;
  std::map<uint32_t, Instant> faults_;  // active faults, and since when
};

}  // namespace whorl::sim
