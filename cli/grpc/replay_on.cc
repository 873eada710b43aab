#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/exit_rules.h"
#include "cli/grpc/commands.h"
#include "cli/grpc/replay_on_report.h"
#include "cli/inputs.h"
#include "cli/junit.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/shell_text.h"
#include "cli/version.h"
#include "live/backend.h"
#include "live/comparison.h"
#include "live/history.h"
#include "live/refusals.h"
#include "live/save.h"
#include "sim/judge/batch.h"
#include "sim/judge/expectations.h"
#include "sim/report/explain.h"
#include "sim/report/jepsen.h"
#include "sim/report/page_model.h"
#include "sim/report/perfetto.h"
#include "sim/report/timeline.h"
#include "sim/report/trace.h"
#include "sim/scenario/writer.h"

namespace whorl::cli {
namespace {

using live::AsOn;
using live::ChangesOn;
using live::JudgeHistory;
using live::RealRun;
using live::RefusalsOf;
using live::RunForReal;
using live::ScenarioOf;
using live::Simulate;

// Why the scenario is left out; empty if it is not.
std::string WhySkipped(const ReplayRequest& request, const sim::Scenario& scenario) {
  constexpr Duration kLongest = Seconds(180);
  const Duration longest = request.longest.value_or(kLongest);
  if (scenario.duration > longest) {
    return Cat("it lasts ", FormatDuration(scenario.duration), ", and --longest is ",
               FormatDuration(longest));
  }
  if (!request.protocol.empty() && scenario.protocol != request.protocol) {
    return Cat("it is of ", scenario.protocol, ", and --protocol is ", request.protocol);
  }
  const std::vector<std::string> refusals = RefusalsOf(*request.on, scenario, request.program);
  return request.where_possible && !refusals.empty() ? refusals.front() : std::string();
}

class ReplayOn {
 public:
  ReplayOn(const ReplayRequest& request, std::vector<sim::Scenario> scenarios)
      : request_(request),
        on_(*request.on),
        scenarios_(std::move(scenarios)),
        report_(std::cout, on_, NameWidth(scenarios_)),
        runs_(sim::kBatchWindow) {
    for (const sim::Scenario& scenario : scenarios_) {
      if (!WhySkipped(request, scenario).empty()) {
        ++skipped_;
        continue;
      }
      compared_.emplace_back().changes = ChangesOn(on_, scenario);
      plain_.push_back(&scenario);
      real_.push_back(AsOn(on_, scenario));
    }
    for (size_t i = 0; i < real_.size(); ++i) compared_[i].scenario = &real_[i];
  }

  int Run() {
    if (const absl::Status ready = Prepare(); !ready.ok()) return End(ready);
    if (!request_.json) {
      report_.PrintHead();
      for (const sim::Scenario& scenario : scenarios_) {
        const std::string why = WhySkipped(request_, scenario);
        if (!why.empty()) report_.PrintSkipped(scenario, why);
      }
    }
    SimulateAll();
    if (!stopped_.ok()) return End(stopped_);
    Progress progress;
    sim::RunBatch(
        compared_.size() * request_.repeat, static_cast<int>(request_.Jobs()),
        [&](size_t job) { RunJob(job); },
        [&](size_t job, const std::optional<std::string>& error) {
          const sim::BatchStep step = JobDone(job, error);
          if (progress.IsDue()) {
            progress.Show(Cat(std::to_string(job + 1), " of ",
                              std::to_string(compared_.size() * request_.repeat), " runs"));
          }
          return step;
        });
    Progress::Clear();
    return Finish();
  }

 private:
  static size_t NameWidth(const std::vector<sim::Scenario>& scenarios) {
    size_t width = std::string_view("scenario").size();
    for (const sim::Scenario& scenario : scenarios) {
      width = std::max(width, Printable(scenario.name).size());
    }
    return width;
  }

  // Opens the output before the runs, so that an error shows before them rather than after.
  absl::Status Prepare() {
    if (!request_.html_path.empty()) {
      if (absl::Status missing = PagesMissing(); !missing.ok()) return missing;
    }
    const std::pair<OutputFile*, const std::string*> files[] = {
        {&document_, &request_.out},
        {&saved_, &request_.save_path},
        {&picture_, &request_.perfetto_path},
        {&page_, &request_.html_path},
        {&jepsen_, &request_.jepsen_path}};
    for (const auto& [file, path] : files) {
      if (path->empty()) continue;
      if (absl::Status opened = file->Open(*path); !opened.ok()) return opened;
    }
    if (absl::Status opened = junit_.Open(request_.junit_path); !opened.ok()) return opened;
    return request_.trace_folder.empty() ? absl::OkStatus() : MakeFolder(request_.trace_folder);
  }

  void SimulateAll() {
    sim::RunBatch(
        compared_.size(), static_cast<int>(DefaultJobs()),
        [&](size_t i) {
          compared_[i].simulated = Simulate(real_[i]);
          ReplayPlain(*plain_[i], compared_[i]);
        },
        [&](size_t i, const std::optional<std::string>& error) {
          if (error) return Stop(absl::InternalError(*error));
          const absl::Status written = WriteSimulated(compared_[i]);
          return written.ok() ? sim::BatchStep::kGoOn : Stop(written);
        });
  }

  static void ReplayPlain(const sim::Scenario& scenario, Compared& compared) {
    const sim::RunResult result = sim::RunScenario(scenario, scenario.seed, nullptr);
    for (const sim::InvariantResult& invariant : result.checks.invariants) {
      if (invariant.verdict != sim::Verdict::kViolated) continue;
      compared.violated_in_plain.push_back(invariant.invariant);
    }
    compared.plain_as_expected = sim::FailuresOf(scenario, result).empty();
  }

  // Called on any thread.
  void RunJob(size_t job) {
    const size_t place = job / request_.repeat;
    runs_[job % sim::kBatchWindow] = RunForReal(on_, real_[place], job % request_.repeat + 1,
                                                compared_[place].simulated, request_.program);
  }

  // Called on the main thread, in order.
  sim::BatchStep JobDone(size_t job, const std::optional<std::string>& error) {
    Compared& compared = compared_[job / request_.repeat];
    const std::string whose = Cat(Printable(compared.scenario->path, 1000), ": ");
    if (error) return Stop(absl::InternalError(Cat(whose, "cannot be run: ", *error)));
    absl::StatusOr<RealRun> run = *std::exchange(runs_[job % sim::kBatchWindow], std::nullopt);
    if (!run.ok())
      return Stop(absl::UnavailableError(Cat(whose, std::string(run.status().message()))));
    if (absl::Status written = WriteReal(compared, *run); !written.ok()) return Stop(written);
    if (request_.timeline || request_.explain) Show(compared, *run);
    run->history.clear();
    compared.runs.push_back(*std::move(run));
    if (compared.runs.size() < request_.repeat) return sim::BatchStep::kGoOn;
    if (!request_.json) {
      Progress::Clear();
      report_.Print(compared);
      std::cout << shown_;
    }
    const absl::Status flushed = FlushStdout();
    return flushed.ok() ? sim::BatchStep::kGoOn : Stop(flushed);
  }

  // --- details of one run
  // Judges the history a second time, with the listeners.
  static void Tell(const RealRun& run, sim::ObservationSink& sink, const sim::Scenario& scenario) {
    JudgeHistory(scenario, run.result.seed, run.history, run.holes, &sink);
  }

  sim::Story StoryOf(const Compared& compared, const RealRun& run) const {
    return sim::Explain(*compared.scenario, run.result, request_.explained,
                        [&](sim::ObservationSink& sink) { Tell(run, sink, *compared.scenario); });
  }

  void Show(const Compared& compared, const RealRun& run) {
    std::ostringstream out;
    if (request_.timeline) {
      sim::Timeline timeline(*compared.scenario);
      Tell(run, timeline, *compared.scenario);
      out << '\n';
      timeline.Print(run.result.checks, {.width = ScreenWidth(), .colour = WantsColour()}, out);
      out << '\n';
    }
    if (request_.explain) {
      out << '\n';
      for (const std::string& line : StoryOf(compared, run).Lines()) out << line << '\n';
      out << '\n';
    }
    shown_ = out.str();
  }

  sim::BatchStep Stop(absl::Status status) {
    stopped_ = std::move(status);
    return sim::BatchStep::kStop;
  }

  // --- files
  std::string TracePath(const Compared& compared, const std::string& which) const {
    const std::string name = Cat(compared.scenario->name, ".", which, ".jsonl");
    return (std::filesystem::path(request_.trace_folder) / name).string();
  }
  absl::Status WriteSimulated(const Compared& compared) const {
    if (request_.trace_folder.empty()) return absl::OkStatus();
    const sim::Scenario& scenario = *compared.scenario;
    return WriteTrace(
        TracePath(compared, "simulated"), scenario, scenario.seed,
        [&](sim::ObservationSink& sink) { sim::RunScenario(scenario, scenario.seed, &sink); });
  }
  absl::Status WriteReal(const Compared& compared, const RealRun& run) {
    const auto tell = [&](sim::ObservationSink& sink) { Tell(run, sink, *compared.scenario); };
    const uint64_t number = run.result.seed;
    absl::Status written;
    if (!request_.trace_folder.empty()) {
      const std::string which = Cat(WordOf(on_), "-", std::to_string(number));
      written = WriteTrace(TracePath(compared, which), *compared.scenario, number, tell);
    }
    if (!request_.perfetto_path.empty()) {
      written.Update(Write<sim::PerfettoWriter>(picture_, *compared.scenario, number, tell));
    }
    if (!request_.jepsen_path.empty()) {
      written.Update(Write<sim::JepsenWriter>(jepsen_, *compared.scenario, number, tell));
    }
    if (!request_.html_path.empty()) written.Update(WriteItsPage(compared, run));
    if (!request_.save_path.empty()) {
      saved_.stream() << sim::ScenarioText(
          ScenarioOf(on_, *compared.scenario, run.history, run.result));
      written.Update(saved_.Commit());
    }
    return written;
  }
  absl::Status WriteItsPage(const Compared& compared, const RealRun& run) {
    const sim::Scenario& scenario = *compared.scenario;
    sim::PageModel model(scenario);
    Tell(run, model, scenario);
    const sim::PageModel::Data data =
        model.Finish(run.result, StoryOf(compared, run),
                     {.whorl_version = kVersion,
                      .command = Cat(ShellQuoted(request_.command), " replay ",
                                     ShellQuoted(scenario.path), " --on ", WordOf(on_)),
                      .on = std::string(WordOf(on_))});
    WritePage(PageKind::kRun, data.head, data.bytes, page_.stream());
    return page_.Commit();
  }
  template <typename Tell>
  static absl::Status WriteTrace(const std::string& path, const sim::Scenario& scenario,
                                 uint64_t seed, Tell tell) {
    OutputFile file;
    if (absl::Status opened = file.Open(path); !opened.ok()) return opened;
    return Write<sim::TraceWriter>(file, scenario, seed, tell);
  }
  template <typename Writer, typename Tell>
  static absl::Status Write(OutputFile& file, const sim::Scenario& scenario, uint64_t seed,
                            Tell tell) {
    {
      Writer writer(file.stream(), scenario, seed, kVersion);
      tell(writer);
    }
    return file.Commit();
  }

  int Finish() {
    if (!stopped_.ok()) return End(stopped_);
    const auto good = static_cast<size_t>(std::ranges::count_if(compared_, &Compared::good));
    if (request_.json || !request_.out.empty()) {
      if (absl::Status written = WriteDocument(); !written.ok()) return End(written);
    }
    if (absl::Status written = WriteJunit(); !written.ok()) return End(written);
    if (!request_.json) report_.PrintSummary(compared_, skipped_);
    return EndJudged(FlushStdout(), *request_.exits, {.has_found = good != compared_.size()});
  }

  absl::Status WriteJunit() {
    if (!junit_.is_wanted()) return absl::OkStatus();
    for (const sim::Scenario& scenario : scenarios_) {
      const std::string why = WhySkipped(request_, scenario);
      if (why.empty()) continue;
      junit_.Add({.group = scenario.protocol,
                  .name = scenario.name,
                  .outcome = JunitOutcome::kSkipped,
                  .text = why});
    }
    for (const Compared& compared : compared_) {
      std::ostringstream text;
      ReplayOnReport(text, on_, 0).Print(compared);
      junit_.Add({.group = compared.scenario->protocol,
                  .name = compared.scenario->name,
                  .outcome = compared.good() ? JunitOutcome::kPassed : JunitOutcome::kFailed,
                  .text = text.str()});
    }
    return junit_.Commit("");
  }

  absl::Status WriteDocument() {
    sim::Json document = sim::Json::object();
    document["format"] = "whorl-live";
    document["version"] = 1;
    document["on"] = std::string(WordOf(on_));
    document["scenarios"] = sim::Json::array();
    for (const Compared& compared : compared_) {
      document["scenarios"].push_back(ComparedJson(compared));
    }
    const std::string text = sim::DumpJson(document, 2) + "\n";
    if (request_.json) std::cout << text;
    if (request_.out.empty()) return absl::OkStatus();
    document_.stream() << text;
    return document_.Commit();
  }

  const ReplayRequest& request_;
  const live::BackendKind on_;
  const std::vector<sim::Scenario> scenarios_;
  std::vector<const sim::Scenario*> plain_;  // those that are not skipped
  std::vector<sim::Scenario> real_;  // those that are not skipped, as they are on the backend
  std::vector<Compared> compared_;   // one for each
  ReplayOnReport report_;
  OutputFile document_;
  JunitFile junit_{"whorl replay --on"};
  OutputFile saved_;
  OutputFile picture_;
  OutputFile page_;
  OutputFile jepsen_;
  std::vector<std::optional<absl::StatusOr<RealRun>>> runs_;  // by job
  std::string shown_;  // the timeline and the like of the only run, for people
  size_t skipped_ = 0;
  absl::Status stopped_;  // why the work was broken off
};

}  // namespace

int RunReplayOn(const ReplayRequest& request) {
  if (request.paths.empty()) {
    Complain(
        "replay wants scenarios: files, folders, or - for standard input "
        "(whorl replay --help has examples)");
    return kBadInput;
  }
  const std::vector<std::string> contradictions = Contradictions(request);
  for (const std::string& error : contradictions) Complain(error);
  if (!contradictions.empty()) return kBadInput;
  Inputs inputs = LoadInputs(request.paths);
  bool refused = !inputs.bad.empty();
  for (const BadInput& bad : inputs.bad) {
    for (const std::string& error : bad.errors) std::cerr << error << '\n';
  }
  for (const std::string& error : Contradictions(request, inputs)) {
    Complain(error);
    refused = true;
  }
  for (const sim::Scenario& scenario : inputs.scenarios) {
    if (!WhySkipped(request, scenario).empty()) continue;
    for (const std::string& refusal : RefusalsOf(*request.on, scenario, request.program)) {
      std::cerr << refusal << '\n';
      refused = true;
    }
  }
  if (refused) return kBadInput;
  return ReplayOn(request, std::move(inputs.scenarios)).Run();
}

}  // namespace whorl::cli
