// A trace as the data of a page: the same tables as those of a run's page (page_model.h), as far as a
// trace tells. It needs no scenario, so it reads traces of other versions of whorl and of real runs.
//
// Deliberately left out: verdicts, the story and holders of rows, which a trace does not have; the
// head says `from_trace`.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "sim/report/page_model.h"
#include "sim/report/trace_reader.h"

namespace whorl::sim {

// An error if the input is no whole trace; it names the file and the line.
absl::StatusOr<PageModel::Data> PageOfTrace(TraceInput input);

}  // namespace whorl::sim
