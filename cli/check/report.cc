#include "cli/check/report.h"

#include <iostream>

#include "base/text.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/shell_text.h"
#include "cli/version.h"
#include "sim/report/timeline_layout.h"

namespace whorl::cli {
namespace {

std::string CommandText(const CheckRequest& request) {
  std::string text = "whorl check";
  for (const std::string& file : request.files) text += " " + ShellQuoted(file);
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) text += Cat(" ", option, " ", ShellQuoted(value));
  };
  const DatabaseRequest& database = request.database;
  add("--database", database.name);
  add("--stream", database.stream);
  if (database.from) add("--from", FormatRfc3339(*database.from));
  if (database.to) add("--to", FormatRfc3339(*database.to));
  if (database.every) add("--every", FormatDuration(*database.every));
  add("--protocol", request.protocol);
  add("--lock", request.lock);
  add("--table", request.table);
  for (const std::string& clocks : request.clocks) add("--clocks", clocks);
  if (request.format) add("--format", std::string(WordOf(*request.format)));
  add("--pattern", request.pattern);
  if (request.lease) add("--lease", FormatDuration(*request.lease));
  if (request.clock_error) add("--clock-error", FormatDuration(*request.clock_error));
  if (request.window) add("--window", FormatDuration(*request.window));
  return text;
}

}  // namespace

check::HistoryReport Reported(const CheckRequest& request, const ProtocolInfo& protocol,
                              const Judgement& judgement, const check::InferredScenario& inferred,
                              const check::HistoryVerdict& verdict) {
  return check::ReportOf(
      protocol, judgement.history(), judgement.processes(), inferred, verdict,
      {.whorl_version = kVersion, .command = CommandText(request), .lease = request.lease});
}

absl::Status WriteHistoryPage(const std::string& path, const sim::PageModel::Data& page) {
  OutputFile file;
  if (absl::Status opened = file.Open(path); !opened.ok()) return opened;
  WritePage(PageKind::kRun, page.head, page.bytes, file.stream());
  return file.Commit();
}

void PrintTimeline(const check::HistoryReport& report) {
  std::cout << '\n';
  sim::PrintTimelineLines(report.nodes, report.timeline,
                          {.width = ScreenWidth(), .colour = WantsColour()}, std::cout);
}

void PrintStory(const check::HistoryReport& report) {
  std::cout << '\n';
  for (const std::string& line : report.story.Lines()) {
    std::cout << Printable(line, 2'000) << '\n';
  }
}

}  // namespace whorl::cli
