#include "cli/hunt/save.h"

#include <cstddef>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>

#include "base/text.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/replay/run.h"
#include "cli/replay/text.h"
#include "sim/scenario/writer.h"

namespace whorl::cli {

namespace {

absl::Status SaveScenario(const std::string& folder, const HuntReport& report,
                          const NamedFinding& finding) {
  OutputFile file;
  if (absl::Status opened = file.Open(SavedPath(finding, folder)); !opened.ok()) return opened;
  file.stream() << sim::ScenarioText(sim::ScenarioOf(report.hunt, *finding.kind, *finding.finding));
  return file.Commit();
}

absl::Status SavePage(const HuntRequest& request, const HuntReport& report,
                      const NamedFinding& finding) {
  const sim::Scenario scenario = SavedScenario(report, finding, request.save_folder);
  return WritePageOf(scenario, ReplayCommand(request.command, scenario, scenario.seed),
                     std::filesystem::path(scenario.path).replace_extension(".html").string(),
                     static_cast<int>(request.jobs));
}

}  // namespace

absl::Status SaveFindings(const HuntRequest& request, const HuntReport& report) {
  if (request.save_folder.empty()) return absl::OkStatus();
  const absl::Status pages = request.pages ? PagesMissing() : absl::OkStatus();
  if (!pages.ok()) std::cerr << "no pages beside the scenarios: " << pages.message() << '\n';
  absl::Status done;
  for (const NamedFinding& finding : FindingsOf(report.tallies)) {
    const absl::Status saved = SaveScenario(request.save_folder, report, finding);
    done.Update(saved);
    if (saved.ok() && request.pages && pages.ok()) done.Update(SavePage(request, report, finding));
  }
  return done;
}

namespace {

constexpr uint64_t kDigestsInLine = 100;

// By Verdict.
constexpr std::string_view kLetters = "hvpu-";
static_assert(kLetters.size() == kCountOf<sim::Verdict>);

}  // namespace

absl::Status DigestFile::Open(const std::string& path) {
  is_wanted_ = !path.empty();
  return is_wanted_ ? file_.Open(path) : absl::OkStatus();
}

void DigestFile::Add(const sim::RunDigest& digest) {
  if (!is_wanted_) return;
  std::ostream& out = file_.stream();
  if (count_ % kDigestsInLine == 0) {
    if (count_ > 0) out << '\n';
    out << count_;
  }
  out << ' ' << HashText(digest.hash) << ':';
  for (const sim::Verdict verdict : digest.verdicts) out << kLetters[static_cast<size_t>(verdict)];
  ++count_;
}

absl::Status DigestFile::Commit() {
  if (!is_wanted_) return absl::OkStatus();
  if (count_ > 0) file_.stream() << '\n';
  return file_.Commit();
}

}  // namespace whorl::cli
