// Says in one sentence what became of a recorded history: "Lease respected; two workers side by side for at
// least 5.033 s, from 59.528247 s on."
#pragma once

#include "base/time.h"
#include "check/verdict.h"
#include "sim/report/headline.h"

namespace whorl::check {

// Times are told from `zero` on. The headline names no event.
sim::Headline HeadlineOf(const HistoryVerdict& verdict, Timestamp zero);

}  // namespace whorl::check
