// Says in one sentence for people what became of a run: who harmed what, when, and what saved it or did not.
//
//   At 35.010 s a wrote although b held the lock: the resource that checks tokens refused it, the one that
//   does not check them accepted it.
//   271 writes of the rightful holder were refused, the first at 86.430 s (of pod-32#2): ...
//   At 12.513 s b began to believe that it leads lock "lock" while a believed so.
//   No invariant was violated.
//
// Of all that happened the sentence tells the worst: a broken promise, else refused writes of the holder, else
// stale writes that were accepted, else those that were refused, else two at work or two that believe, else the
// first violation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/judge/check_report.h"
#include "sim/report/timeline_layout.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Writes that one metric counts.
struct CountedWrites {
  Metric metric = Metric::kStaleWriteRefused;
  std::vector<uint64_t> events;  // their ordinals
  // Of the first one:
  Instant at;
  std::string writer;
  std::string owner;  // of the lock then; empty: nobody
};

// The three fates of writes that are worth telling.
struct WriteFates {
  CountedWrites stale_refused{.metric = Metric::kStaleWriteRefused, .events = {}};
  CountedWrites stale_accepted{.metric = Metric::kStaleWriteAccepted, .events = {}};
  CountedWrites rightful_refused{.metric = Metric::kLegitimateWriteRefused, .events = {}};
};

struct Headline {
  std::string text;
  Tone tone = Tone::kPlain;
  uint64_t event = 0;  // that it tells of; 0: of none
};

Headline HeadlineOf(const Scenario& scenario, const CheckReport& checks, const WriteFates& writes);

}  // namespace whorl::sim
