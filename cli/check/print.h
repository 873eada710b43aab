// The verdict on a history, for people and for machines.
#pragma once

#include <cstdint>

#include "check/verdict.h"
#include "cli/check/request.h"
#include "sim/scenario/json_text.h"

namespace whorl::cli {

void PrintVerdict(const check::HistoryVerdict& verdict, const ProtocolInfo& protocol);

// `errors`: lines that could not be read.
sim::Json VerdictDocument(const check::HistoryVerdict& verdict, const CheckRequest& request,
                          int64_t errors);

}  // namespace whorl::cli
