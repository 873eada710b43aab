// Makes the page (sim/report/page_model.h) and the timeline of a recorded history, and the story of its first
// violation.
//
// The page adds to the records: the ends of beliefs that lapse ("left"), the leases of rows by the protocol's
// rules, and the faults that infer.h infers.
// Times are likely ones: the middle of what clocks allow. 0 s is the whole second before the first record.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/history.h"
#include "check/infer.h"
#include "check/processes.h"
#include "check/verdict.h"
#include "protocol/protocols.h"
#include "sim/report/page_model.h"
#include "sim/report/story.h"
#include "sim/report/timeline_layout.h"

namespace whorl::check {

struct HistoryReport {
  std::vector<std::string> nodes;
  std::vector<sim::TimelineLine> timeline;  // changes only
  sim::Story story;                         // of the violation that is first in time
  sim::PageModel::Data page;
};

struct ReportAbout {
  std::string whorl_version;
  std::string command;            // that judges the history again
  std::optional<Duration> lease;  // of processes that declare none
};

// `inferred`: of the same history. Its faults are drawn.
HistoryReport ReportOf(const ProtocolInfo& protocol, const History& history,
                       const Processes& processes, const InferredScenario& inferred,
                       const HistoryVerdict& verdict, const ReportAbout& about);

}  // namespace whorl::check
