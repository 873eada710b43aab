// Turns a run into the data of its page (page/README.md): every observation, and what a picture of
// them needs so that the page derives nothing itself.
//
//   table        a row for
//   events       each observation: its time, and its kind, an index into `kinds` of the head
//   KIND         each observation of that kind, with the fields of a trace's line (trace.h); fields of
//                a field are named "call.lock"
//   calls        each call: the observations that it was sent, served and ended by; 0: it was not
//   spans        a state of a node that lasts: up, paused, believes, works, cut_to, cut_from
//   versions     each change of a lock's row: holder, token, lease's end, by the judges' ledger
//   violations   each violation
//   faults       each time that a fault was active
//
// Observations are named by their ordinals, as in a trace. What still lasts when the run ends has 0
// for its end. Calls, spans and faults are in the order of their beginnings.
// Invariant: a scenario and a seed decide every byte, with every compiler.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/spanner/rpc.h"
#include "sim/judge/run.h"
#include "sim/judge/run_judge.h"
#include "sim/report/headline.h"
#include "sim/report/json_print.h"
#include "sim/report/page_spans.h"
#include "sim/report/page_tables.h"
#include "sim/report/story.h"
#include "sim/report/timeline.h"
#include "sim/scenario/names.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// A headline as JSON.
Json HeadlineJson(const Headline& headline);

inline constexpr int kPageFormat = 2;

class PageModel : public ObservationSink {
 public:
  // `scenario` outlives this.
  explicit PageModel(const Scenario& scenario);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  struct About {
    std::string whorl_version;
    std::string command;  // that makes the run again
    std::string on;       // what a real run ran on; empty: it was simulated
  };
  struct Data {
    Json head;          // all but the tables' bytes
    std::string bytes;  // of the tables, as head["tables"] says
  };
  // Once. REQUIRES: it has heard the whole run, whose result is `result`; `story` explains it.
  Data Finish(const RunResult& result, const Story& story, const About& about);

 private:
  void On(const ProcessStarted& x);
  void On(const ProcessGone& x);
  void On(const ProcessPaused& x);
  void On(const ProcessResumed& x);
  void On(const LinkChanged& x);
  void On(const FaultBegan& x);
  void On(const FaultEnded& x);
  void On(const CallSent& x);
  void On(const CallServed& x);
  void On(const CallEnded& x);
  void On(const RowCommitted& x);
  void On(const BeliefChanged& x);
  void On(const WorkChanged& x);
  void On(const auto&) {}  // has its row, and lasts no time

  void AddEvent(const Observation& observation);
  void AddViolations();
  void AddWrite(CountedWrites& of, const Observation& observation);
  Json ScenarioJson() const;
  Json ResultJson(const RunResult& result, bool is_judged) const;
  Json TimelineJson(const RunResult& result) const;

  const Scenario& scenario_;
  const Names names_;
  JsonPrinter printer_;
  RunJudge judge_;
  Timeline timeline_;
  PageTables tables_;
  Instant now_;
  uint64_t ordinal_ = 0;
  std::vector<std::string_view> kinds_;
  std::array<int64_t, kCountOf<Invariant>> violations_{};
  WriteFates writes_;
  PageSpans<CallName> spans_;
};

}  // namespace whorl::sim
