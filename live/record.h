// What was seen of a real run, before it is put in order.
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
  std::optional<sim::Instant> lapses_at;  // of StandingChanged: when the belief lapses by itself
  WHORL_FIELDS(ReportedEvent, at, what, lapses_at);
};

// A commit of which the proxy saw the reply, whether its process heard it or not; or an operator's.
struct SeenCommit {
  sim::Instant at;  // when the reply was seen
  CallName call;    // nobody's process: an operator's
  StepName step;
  Timestamp commit;
  // All rows just before the commit and as of it; nothing when they could not be read.
  std::optional<std::vector<Row>> before;
  std::optional<std::vector<Row>> after;
  WHORL_FIELDS(SeenCommit, at, call, step, commit, before, after);
};

struct Record {
  Timestamp start;                   // what the system's clock showed when the run began
  std::vector<Row> rows;             // that were there then
  std::vector<ReportedEvent> heard;  // in the order in which the stage heard of it
  std::vector<SeenCommit> commits;
  std::vector<std::string> holes;  // what is missing, for people; then no verdict is certain
  WHORL_FIELDS(Record, start, rows, heard, commits, holes);
};

}  // namespace whorl::live
