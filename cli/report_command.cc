#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_rules.h"
#include "cli/inputs.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/replay/run.h"
#include "cli/replay/text.h"
#include "cli/version.h"
#include "sim/judge/batch.h"
#include "sim/judge/expectations.h"
#include "sim/judge/known.h"

namespace whorl::cli {
namespace {

namespace fs = std::filesystem;
using sim::Json;

struct ReportRequest {
  std::vector<std::string> paths;
  std::string html;
  std::string pages;  // the folder to write a page of each run into; empty: write none
  uint64_t jobs = 1;
  std::string command;
};

std::string PageName(const sim::Scenario& scenario) { return scenario.name + ".html"; }

class Report {
 public:
  Report(const ReportRequest& request, Inputs inputs)
      : request_(request), inputs_(std::move(inputs)), rows_(inputs_.scenarios.size()) {}

  int Run() {
    if (const absl::Status ready = Prepare(); !ready.ok()) return End(ready);
    Progress progress;
    sim::RunBatch(
        rows_.size(), static_cast<int>(request_.jobs), [&](size_t i) { RunOne(i); },
        [&](size_t i, const std::optional<std::string>& error) {
          const sim::Scenario& scenario = inputs_.scenarios[i];
          if (error.has_value()) {
            stopped_ = absl::InternalError(Cat(scenario.path, ": cannot be run: ", *error));
          } else if (!rows_[i].written.ok()) {
            stopped_ = rows_[i].written;
          }
          if (progress.IsDue()) {
            progress.Show(
                Cat(std::to_string(i + 1), " of ", std::to_string(rows_.size()), " runs"));
          }
          return stopped_.ok() ? sim::BatchStep::kGoOn : sim::BatchStep::kStop;
        });
    Progress::Clear();
    if (!stopped_.ok()) return End(stopped_);
    return Tell();
  }

 private:
  struct Row {
    Json json;
    bool failed = false;
    absl::Status written;
  };

  absl::Status Prepare() {
    if (absl::Status missing = PagesMissing(); !missing.ok()) return missing;
    if (absl::Status opened = index_.Open(request_.html); !opened.ok()) return opened;
    return request_.pages.empty() ? absl::OkStatus() : MakeFolder(request_.pages);
  }

  // Called on any thread.
  void RunOne(size_t i) {
    const sim::Scenario& scenario = inputs_.scenarios[i];
    RunRequest run{.scenario = &scenario, .seed = scenario.seed, .unlimited = true};
    if (!request_.pages.empty()) {
      run.html_path = (fs::path(request_.pages) / PageName(scenario)).string();
      run.page_command = ReplayCommand(request_.command, scenario, scenario.seed);
    }
    const RunOutcome outcome = RunOnce(run);
    rows_[i].written = outcome.written;
    rows_[i].json = RowOf(scenario, outcome.result);
    rows_[i].failed = !sim::FailuresOf(scenario, outcome.result).empty();
  }

  // Where the index finds the page of a run: where this command writes it, or beside the scenario, as
  // whorl hunt --save leaves it. Empty if there is none.
  std::string LinkOf(const sim::Scenario& scenario) const {
    const fs::path page = request_.pages.empty()
                              ? fs::path(scenario.path).replace_extension(".html")
                              : fs::path(request_.pages) / PageName(scenario);
    std::error_code error;  // a page that cannot be found is not linked
    if (!fs::is_regular_file(page, error)) return {};
    const fs::path from = fs::absolute(fs::path(request_.html), error).parent_path();
    std::string link;
    for (const fs::path& part : fs::proximate(fs::absolute(page, error), from, error)) {
      link += Cat(link.empty() ? "" : "/", UrlPart(part.string()));
    }
    return error ? std::string() : link;
  }
  // A name as a part of an address.
  static std::string UrlPart(std::string_view name) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string part;
    for (const char c : name) {
      const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                            (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
      if (is_plain) {
        part += c;
        continue;
      }
      const auto byte = static_cast<unsigned char>(c);
      part += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
    return part;
  }

  Json RowOf(const sim::Scenario& scenario, const sim::RunResult& result) const {
    std::vector<Json> violated;
    Json unknown = Json::array();
    Json not_applicable = Json::array();
    for (const sim::InvariantResult& of : result.checks.invariants) {
      if (of.verdict == sim::Verdict::kUnknown) unknown.push_back(WordOf(of.invariant));
      if (of.verdict == sim::Verdict::kNotApplicable)
        not_applicable.push_back(WordOf(of.invariant));
      if (!of.first.has_value()) continue;
      const bool is_known = FindProtocol(scenario.protocol) != nullptr;
      violated.push_back(
          {{"invariant", WordOf(of.invariant)},
           {"at", of.first->at.ns},
           {"violations", of.violations},
           {"text", of.first->text},
           {"promised",
            is_known && sim::KnownOf(scenario, of.invariant, of.promise).IsPromiseBroken()},
           {"expected", sim::ExpectedOf(scenario, of.invariant) == sim::Expected::kViolated}});
    }
    std::ranges::sort(violated, {}, [](const Json& one) {
      return std::pair(one["at"].get<int64_t>(), one["invariant"].get<std::string>());
    });
    return {{"scenario", scenario.name},
            {"about", scenario.about},
            {"protocol", scenario.protocol},
            {"seed", std::to_string(scenario.seed)},
            {"simulated", scenario.duration.ns},
            {"failures", sim::FailuresOf(scenario, result)},
            {"violated", violated},
            {"unknown", std::move(unknown)},
            {"not_applicable", std::move(not_applicable)},
            {"page", LinkOf(scenario)}};
  }

  int Tell() {
    Json head = Json::object();
    std::string folder;
    for (const std::string& path : request_.paths) folder += Cat(folder.empty() ? "" : ", ", path);
    head["folder"] = folder;
    head["whorl"] = kVersion;
    head["invariants"] = Json::array();
    for (const Invariant invariant : AllOf<Invariant>()) {
      head["invariants"].push_back(WordOf(invariant));
    }
    head["runs"] = Json::array();
    const auto broken = std::ranges::count_if(rows_, [](const Row& row) {
      return std::ranges::any_of(row.json["violated"],
                                 [](const Json& one) { return one["promised"].get<bool>(); });
    });
    for (Row& row : rows_) head["runs"].push_back(std::move(row.json));
    head["bad"] = Json::array();
    for (const BadInput& bad : inputs_.bad) head["bad"].push_back(bad.path);
    WritePage(PageKind::kIndex, head, "", index_.stream());
    if (const absl::Status written = index_.Commit(); !written.ok()) return End(written);
    const auto failed = std::ranges::count_if(rows_, &Row::failed);
    std::cout << CountText(static_cast<int64_t>(rows_.size()), "run", "runs") << ", "
              << rows_.size() - static_cast<size_t>(failed)
              << " as expected; a promise was broken in " << broken << ": "
              << Printable(request_.html, 1'000) << '\n';
    return EndJudged(FlushStdout(), ExitRules{},
                     {.has_found = failed > 0, .has_bad_input = !inputs_.bad.empty()});
  }

  const ReportRequest& request_;
  const Inputs inputs_;
  std::vector<Row> rows_;  // one for each scenario
  OutputFile index_;
  absl::Status stopped_;  // why the work was broken off
};

int RunReport(const ReportRequest& request) {
  if (request.paths.empty() || request.html.empty()) {
    Complain(
        "report wants scenarios (files and folders) and --html FILE (whorl report --help has "
        "examples)");
    return kBadInput;
  }
  Inputs inputs = LoadInputs(request.paths);
  for (const BadInput& bad : inputs.bad) {
    // Printed unchanged, so that an editor finds file and line.
    for (const std::string& error : bad.errors) std::cerr << error << '\n';
  }
  if (const std::string same = SameInput(inputs, request.html); !same.empty()) {
    Complain(Cat("--html ", Printable(request.html, 1'000), " would write over the scenario ",
                 Printable(same, 1'000)));
    return kBadInput;
  }
  if (inputs.scenarios.empty()) return kBadInput;
  return Report(request, std::move(inputs)).Run();
}

constexpr std::string_view kReportFooter = R"(Examples:
  whorl report scenarios --html index.html                 an index of all scenarios
  whorl report scenarios --html index.html --pages pages   and a page of each, which it links

Every scenario is run with its own seed. The index has verdicts by scenario, protocol and invariant, and
the time to each first violation. A page NAME.html beside NAME.json, as whorl hunt --save
leaves it, is linked.

Exit codes: 0 all as expected; 1 an expectation failed; 2 bad input or usage; 3 the output could not be
written, or this command was built without pages; 130 interrupted. docs/EXIT_CODES.md has all of them.)";

}  // namespace

SubCommand AddReportCommand(CLI::App& root, const std::string& command) {
  CLI::App* app =
      root.add_subcommand("report", "Run scenarios, and write an index of them as a page");
  const auto request = std::make_shared<ReportRequest>();
  request->command = command;
  request->jobs = DefaultJobs();
  app->add_option("paths", request->paths, "scenarios: files and folders")->type_name("FILE|DIR");
  app->add_option("--html", request->html, "write the index into FILE")->type_name("FILE");
  app->add_option("--pages", request->pages, "write a page of each run into DIR, and link it")
      ->type_name("DIR");
  AddNumber(
      *app, "--jobs", 1, kJobsMax, [request](uint64_t n) { request->jobs = n; },
      "runs at the same time (default: one for each core); changes no output");
  app->footer(std::string(kReportFooter));
  return {.app = app, .run = [request] { return RunReport(*request); }};
}

}  // namespace whorl::cli
