// The verdict on a history, for people and for machines.
#pragma once

#include <cstdint>

#include "check/verdict.h"
#include "cli/check/request.h"
#include "sim/scenario/json_text.h"

namespace whorl::cli {

// Whether it is violated for certain, and decides the exit code.
bool Decides(const check::InvariantResult& found, const ProtocolInfo& protocol,
             const ExitRules& rules);

// Whether outside writes were found, and decide the exit code.
bool OutsideDecides(const check::HistoryVerdict& verdict, const ExitRules& rules);

// What is violated and does not decide comes last, below a line that says so.
void PrintVerdict(const check::HistoryVerdict& verdict, const ProtocolInfo& protocol,
                  const ExitRules& rules);

// `errors`: lines that could not be read.
sim::Json VerdictDocument(const check::HistoryVerdict& verdict, const ProtocolInfo& protocol,
                          const CheckRequest& request, int64_t errors);

}  // namespace whorl::cli
