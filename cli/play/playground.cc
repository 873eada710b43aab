#include "cli/play/playground.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/version.h"
#include "sim/hunt/hunt.h"
#include "sim/judge/batch.h"
#include "sim/judge/expectations.h"
#include "sim/judge/known.h"
#include "sim/judge/run.h"
#include "sim/report/explain.h"
#include "sim/report/page_model.h"
#include "sim/report/starter_scenario.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/writer.h"

namespace whorl::cli {
namespace {

using sim::Json;
using Clock = std::chrono::steady_clock;

// As errors name the text.
constexpr std::string_view kPath = "scenario";
constexpr size_t kNameMax = 80;

Json Errors(std::vector<std::string> errors) { return {{"errors", std::move(errors)}}; }

// Ends a run that takes too long to be played with.
class Patience final : public sim::RunWatch {
 public:
  explicit Patience(std::chrono::milliseconds most) : end_(Clock::now() + most) {}
  bool GoesOn(sim::Instant /*at*/, uint64_t /*events*/) override { return Clock::now() < end_; }

 private:
  const Clock::time_point end_;
};

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kNameMax && name.front() != '-' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_';
         });
}

// One sentence: what the run came to.
std::string HeadOf(const sim::RunResult& result, const std::vector<std::string>& failures) {
  const auto count = std::ranges::count(result.checks.invariants, sim::Verdict::kViolated,
                                        &sim::InvariantResult::verdict);
  std::string head = count == 0
                         ? "No invariant was violated"
                         : Cat(CountText(count, "invariant was", "invariants were"), " violated");
  if (!failures.empty()) return Cat(head, "; not as the scenario expects");
  return Cat(head, "; as the scenario expects");
}

}  // namespace

Playground::Playground(std::string folder, std::chrono::milliseconds patience)
    : folder_(std::move(folder)), patience_(patience) {}

Json Playground::Starts() {
  Json starts = Json::array();
  for (const sim::IncidentStart& start : sim::IncidentStarts()) {
    starts.push_back({{"words", start.words}, {"about", start.about}});
  }
  return starts;
}

Json Playground::Start(const std::string& protocol, const std::string& words) const {
  const ProtocolInfo* info = FindProtocol(protocol);
  if (info == nullptr) {
    std::vector<std::string_view> names;
    for (const ProtocolInfo& known : Protocols()) names.push_back(known.name);
    return Errors({sim::UnknownWord("protocol", protocol, names)});
  }
  const auto starts = sim::IncidentStarts();
  const auto start = std::ranges::find(starts, words, &sim::IncidentStart::words);
  if (start == starts.end()) return Errors({Cat("there is no start ", Quoted(words))});
  return {{"text", sim::ScenarioOfIncident(*info, *start)}};
}

Json Playground::Run(const std::string& text) {
  absl::StatusOr<sim::Scenario> scenario = sim::ParseScenario(text, kPath);
  if (!scenario.ok()) return Errors(LinesOf(std::string(scenario.status().message())));
  sim::PageModel model(*scenario);
  Patience watch(patience_);
  const std::optional<sim::RunResult> result =
      sim::RunScenario(*scenario, scenario->seed, &model, watch);
  if (!result) {
    return Errors({Cat("this run takes more than ", std::to_string(patience_.count()),
                       " ms; save it, and whorl replay runs it")});
  }
  if (!result->schedule_problem.empty()) return Errors({result->schedule_problem});
  const sim::Story story = sim::Explain(*scenario, *result);
  const std::vector<std::string> failures = sim::FailuresOf(*scenario, *result);
  Json violated = Json::array();
  for (const sim::InvariantResult& one : result->checks.invariants) {
    if (one.verdict != sim::Verdict::kViolated) continue;
    violated.push_back({{"invariant", WordOf(one.invariant)},
                        {"promise", sim::PromiseWords(one.invariant, one.promise)},
                        {"at", FormatSeconds({one.first->at.ns}, 6)},
                        {"text", one.first->text}});
  }
  const sim::PageModel::Data data = model.Finish(
      *result, story, {.whorl_version = kVersion, .command = "whorl replay", .on = {}});
  std::ostringstream page;
  WritePage(PageKind::kRun, data.head, data.bytes, page);
  page_ = std::move(page).str();
  return {{"head", HeadOf(*result, failures)},      {"good", failures.empty()},
          {"violated", std::move(violated)},        {"failures", failures},
          {"warnings", sim::WarningsOf(*scenario)}, {"story", story.Lines()}};
}

Json Playground::Hunt(const std::string& text) const {
  absl::StatusOr<sim::Scenario> scenario = sim::ParseScenario(text, kPath);
  if (!scenario.ok()) return Errors(LinesOf(std::string(scenario.status().message())));
  constexpr uint64_t kRuns = 5'000;
  sim::HuntOptions hunt;
  hunt.protocols = {scenario->protocol};
  hunt.world.duration = scenario->duration;
  hunt.from = *std::move(scenario);
  hunt.counts_kinds = false;
  const Clock::time_point end = Clock::now() + patience_;
  const auto threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  sim::HuntTallies tallies;
  uint64_t runs = 0;
  const auto has_broken_promise = [](const sim::HuntTallies& so_far) {
    return std::ranges::any_of(so_far, [](const auto& tally) {
      return std::ranges::any_of(tally.second.findings,
                                 [](const auto& found) { return found.second.promised; });
    });
  };
  absl::Status status = sim::RunHunt(
      hunt, 0, kRuns, threads,
      [&](uint64_t done, const sim::RunDigest&, const sim::HuntTallies& so_far) {
        runs = done;
        return has_broken_promise(so_far) || Clock::now() >= end ? sim::BatchStep::kStop
                                                                 : sim::BatchStep::kGoOn;
      },
      tallies);
  if (!status.ok()) return Errors({std::string(status.message())});
  Json answer = {{"runs", runs}};
  // The simplest one, of those that break a promise if there are any.
  for (auto& [protocol, tally] : tallies) {
    if (tally.findings.empty()) continue;
    const auto best = std::ranges::min_element(
        tally.findings, {}, [](const auto& found) { return found.second.Rank(); });
    std::map<sim::ViolationKind, sim::Finding> only = {*best};
    tally.findings = std::move(only);
    status =
        sim::ShrinkFindings(hunt, threads, [](size_t) { return sim::BatchStep::kGoOn; }, tallies);
    if (!status.ok()) return Errors({std::string(status.message())});
    const auto& [kind, finding] = *tally.findings.begin();
    const sim::Scenario found = sim::ScenarioOf(hunt, kind, finding);
    answer["about"] =
        Cat(WordOf(kind.invariant), " is violated ", kind.WhereText(), " (",
            sim::PromiseWords(kind.invariant,
                              finding.promised ? Promise::kPromised : Promise::kNotPromised),
            ")");
    answer["text"] = sim::ScenarioText(found);
  }
  return answer;
}

Json Playground::Save(const std::string& name, const std::string& text) {
  if (!IsName(name)) {
    return Errors({Cat("a name has letters, digits, - and _, at most ", std::to_string(kNameMax),
                       " in all, and not ", Quoted(name))});
  }
  const std::filesystem::path path = std::filesystem::path(folder_) / (name + ".json");
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error)) &&
      !saved_.contains(name)) {
    return Errors({Cat(path.string(), " is there already; choose another name")});
  }
  OutputFile file;
  absl::Status written = file.Open(path.string());
  if (written.ok()) {
    file.stream() << text;
    written = file.Commit();
  }
  if (!written.ok()) return Errors({std::string(written.message())});
  saved_.insert(name);
  return {{"path", path.string()}};
}

}  // namespace whorl::cli
