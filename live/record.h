// Holds the record of a real run, in the order in which it was collected. history.h sorts it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "sim/scenario/instant.h"
#include "sim/world/observation.h"

namespace whorl::live {

struct ReportedEvent {
  sim::Instant at;
  sim::ObservedEvent what;
  // For LeadershipViewChanged: when the belief lapses by the clock.
  std::optional<sim::Instant> lapses_at;
  WHORL_FIELDS(ReportedEvent, at, what, lapses_at);
};

// A commit whose reply the proxy saw, even if the process did not receive it; or an operator's.
struct SeenCommit {
  sim::Instant at;  // when the reply was seen
  CallName call;    // without a process: an operator's
  StepName step;
  Timestamp commit;
  // All rows just before the commit and as of the commit; nullopt if they could not be read.
  std::optional<std::vector<Row>> before;
  std::optional<std::vector<Row>> after;
  WHORL_FIELDS(SeenCommit, at, call, step, commit, before, after);
};

struct Record {
  Timestamp start;                   // the system's time when the run began
  std::vector<Row> rows;             // the initial rows
  std::vector<ReportedEvent> heard;  // in the order in which the coordinator received them
  std::vector<SeenCommit> commits;
  std::vector<std::string> holes;  // what is missing, for people; if any, verdicts are unknown
  // Statements of programs on the lock's table that the protocol does not have, each once.
  std::vector<std::string> unknown_statements;
  WHORL_FIELDS(Record, start, rows, heard, commits, holes, unknown_statements);
};

}  // namespace whorl::live
