// Makes the events of a page from a recorded history, in the order of likely time, with the fields that a trace
// of a run would have (sim/report/trace.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/history.h"
#include "check/infer.h"
#include "check/processes.h"
#include "check/verdict.h"
#include "protocol/protocols.h"
#include "protocol/spanner/words.h"
#include "sim/scenario/json_text.h"

namespace whorl::check {

enum class PageEventKind : uint8_t {
  kProcessStarted,
  kProcessGone,
  kBeliefChanged,
  kWorkChanged,
  kQuestionAnswered,
  kWriteArrived,
  kLine,  // shows that a process's log goes on
  kCallSent,
  kCallServed,
  kCallEnded,
  kRowCommitted,
  kFaultBegan,
  kFaultEnded,
  kViolated,  // the first violation of an invariant, at its time
};
constexpr auto WordTableOf(PageEventKind) {
  return MakeWordTable<PageEventKind>({
      {PageEventKind::kProcessStarted, "process_started"},
      {PageEventKind::kProcessGone, "process_gone"},
      {PageEventKind::kBeliefChanged, "belief_changed"},
      {PageEventKind::kWorkChanged, "work_changed"},
      {PageEventKind::kQuestionAnswered, "question_answered"},
      {PageEventKind::kWriteArrived, "write_arrived"},
      {PageEventKind::kLine, "line"},
      {PageEventKind::kCallSent, "call_sent"},
      {PageEventKind::kCallServed, "call_served"},
      {PageEventKind::kCallEnded, "call_ended"},
      {PageEventKind::kRowCommitted, "row_committed"},
      {PageEventKind::kFaultBegan, "fault_began"},
      {PageEventKind::kFaultEnded, "fault_ended"},
      {PageEventKind::kViolated, "violated"},
  });
}

struct PageVersion {  // of a lock's row, by the protocol's rules
  bool is_there = false;
  bool held = false;
  std::string owner;  // the process that the row names
  int16_t node = -1;
  std::string token;
  std::optional<Timestamp> lease_until;
};

struct PageEvent {
  Timestamp at;
  PageEventKind kind = PageEventKind::kLine;
  int16_t node = -1;
  int lock = -1;         // -1: of none, or of all
  uint32_t number = 0;   // of the call, or of the fault
  bool is_on = false;    // it begins to believe, or to work
  bool lapses = false;   // a belief ends by itself
  bool is_sign = false;  // its process was alive then
  PageVersion version;   // after a commit
  sim::Json fields = sim::Json::object();
};

struct PageFault {
  std::string text;
  int16_t node = -1;
  bool is_pause = false;
};

struct PageEvents {
  std::string protocol;
  Timestamp zero;  // of the page: a whole second
  std::vector<std::string> nodes;
  std::vector<std::string> locks;
  std::vector<PageFault> faults;
  std::vector<PageEvent> events;  // never empty
};

// The violations of `verdict` are among them. REQUIRES: `moments` is not empty. `lease`: of processes that declare none; without, theirs is not drawn.
PageEvents PageEventsOf(const ProtocolInfo& protocol, const std::vector<Moment>& moments,
                        const Processes& processes, const InferredScenario& inferred,
                        const HistoryVerdict& verdict, std::optional<Duration> lease);

}  // namespace whorl::check
