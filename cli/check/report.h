// `whorl check --html, --timeline, --explain`: what happened, to be looked at.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "check/history_report.h"
#include "cli/check/judgement.h"
#include "cli/check/request.h"

namespace whorl::cli {

check::HistoryReport Reported(const CheckRequest& request, const ProtocolInfo& protocol,
                              const Judgement& judgement, const check::InferredScenario& inferred,
                              const check::HistoryVerdict& verdict);
// REQUIRES: PagesMissing() is ok.
absl::Status WriteHistoryPage(const std::string& path, const sim::PageModel::Data& page);
void PrintTimeline(const check::HistoryReport& report);
void PrintStory(const check::HistoryReport& report);

}  // namespace whorl::cli
