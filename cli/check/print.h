// Prints the verdict on a history, for people and for machines, and what happened in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "check/history_report.h"
#include "check/reproduce.h"
#include "check/verdict.h"
#include "cli/check/judgement.h"
#include "cli/check/request.h"
#include "cli/junit.h"
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

// The last line: the verdict in numbers, and why the exit code is what it is.
std::string ClosingText(const check::HistoryVerdict& verdict, const ProtocolInfo& protocol,
                        const ExitRules& rules, const CommandResult& result);

// The verdict as tests: one for each invariant, and one for writes from outside.
std::vector<JunitTest> JunitTestsOf(const check::HistoryVerdict& verdict,
                                    const ProtocolInfo& protocol, const ExitRules& rules);

// `errors`: lines that could not be read.
sim::Json VerdictDocument(const check::HistoryVerdict& verdict, const ProtocolInfo& protocol,
                          const CheckRequest& request, int64_t errors);

// --- whorl check --html, --timeline, --explain ----------------------------------------------------

check::HistoryReport Reported(const CheckRequest& request, const ProtocolInfo& protocol,
                              const Judgement& judgement, const check::InferredScenario& inferred,
                              const check::HistoryVerdict& verdict);
// REQUIRES: PagesMissing() is ok.
absl::Status WriteHistoryPage(const std::string& path, const sim::PageModel::Data& page);
void PrintTimeline(const check::HistoryReport& report);
void PrintStory(const check::HistoryReport& report, const check::HistoryVerdict& verdict);

// --- whorl check --scenario -----------------------------------------------------------------------

// Writes what happened as a scenario.
absl::Status WriteScenario(const std::string& path, const sim::Scenario& scenario);
void PrintReproduction(const std::string& path, const check::Reproduction& reproduction);
sim::Json ReproductionJson(const std::string& path, const check::Reproduction& reproduction);

}  // namespace whorl::cli
