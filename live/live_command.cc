#include "live/live_command.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/version.h"
#include "live/comparison.h"
#include "live/history.h"
#include "live/live_report.h"
#include "live/refusals.h"
#include "live/save.h"
#include "sim/judge/batch.h"
#include "sim/report/explain.h"
#include "sim/report/perfetto.h"
#include "sim/report/timeline.h"
#include "sim/report/trace.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/writer.h"

namespace whorl::live {
namespace {

using cli::Complain;
using sim::Cat;

// Why the scenario is left out; empty when it is not.
std::string WhySkipped(const LiveOptions& options, const sim::Scenario& scenario) {
  if (scenario.duration > options.longest) {
    return Cat("it lasts ", FormatDuration(scenario.duration), ", and --longest is ",
               FormatDuration(options.longest));
  }
  const std::vector<std::string> refusals = RefusalsOf(options.on, scenario);
  return options.where_possible && !refusals.empty() ? refusals.front() : std::string();
}

class LiveReplay {
 public:
  LiveReplay(const LiveOptions& options, std::vector<sim::Scenario> scenarios)
      : options_(options),
        scenarios_(std::move(scenarios)),
        report_(std::cout, options.on, NameWidth(scenarios_)),
        runs_(sim::kBatchWindow) {
    for (const sim::Scenario& scenario : scenarios_) {
      if (!WhySkipped(options, scenario).empty()) {
        ++skipped_;
        continue;
      }
      compared_.emplace_back().changes = ChangesOn(options_.on, scenario);
      real_.push_back(AsOn(options_.on, scenario));
    }
    for (size_t i = 0; i < real_.size(); ++i) compared_[i].scenario = &real_[i];
  }

  int Run() {
    if (const absl::Status ready = Prepare(); !ready.ok()) return cli::End(ready);
    if (!options_.json) {
      report_.PrintHead();
      for (const sim::Scenario& scenario : scenarios_) {
        const std::string why = WhySkipped(options_, scenario);
        if (!why.empty()) report_.PrintSkipped(scenario, why);
      }
    }
    SimulateAll();
    if (!stopped_.ok()) return cli::End(stopped_);
    cli::Progress progress;
    sim::RunBatch(
        compared_.size() * options_.repeat, static_cast<int>(options_.jobs),
        [&](size_t job) { RunJob(job); },
        [&](size_t job, const std::optional<std::string>& error) {
          const sim::BatchStep step = JobDone(job, error);
          if (progress.IsDue()) {
            progress.Show(Cat(std::to_string(job + 1), " of ",
                              std::to_string(compared_.size() * options_.repeat), " runs"));
          }
          return step;
        });
    cli::Progress::Clear();
    return Finish();
  }

 private:
  static size_t NameWidth(const std::vector<sim::Scenario>& scenarios) {
    size_t width = std::string_view("scenario").size();
    for (const sim::Scenario& scenario : scenarios) {
      width = std::max(width, sim::Printable(scenario.name).size());
    }
    return width;
  }

  // What would fail at the end of all the runs fails before them.
  absl::Status Prepare() {
    const std::pair<cli::OutputFile*, const std::string*> files[] = {
        {&document_, &options_.out},
        {&saved_, &options_.save_path},
        {&picture_, &options_.perfetto_path}};
    for (const auto& [file, path] : files) {
      if (path->empty()) continue;
      if (absl::Status opened = file->Open(*path); !opened.ok()) return opened;
    }
    return options_.trace_folder.empty() ? absl::OkStatus()
                                         : cli::MakeFolder(options_.trace_folder);
  }

  void SimulateAll() {
    sim::RunBatch(
        compared_.size(), static_cast<int>(cli::DefaultJobs()),
        [&](size_t i) { compared_[i].simulated = Simulate(real_[i]); },
        [&](size_t i, const std::optional<std::string>& error) {
          if (error) return Stop(absl::InternalError(*error));
          const absl::Status written = WriteSimulated(compared_[i]);
          return written.ok() ? sim::BatchStep::kGoOn : Stop(written);
        });
  }

  // On any thread.
  void RunJob(size_t job) {
    const size_t place = job / options_.repeat;
    runs_[job % sim::kBatchWindow] = RunForReal(
        options_.on, real_[place], job % options_.repeat + 1, compared_[place].simulated);
  }

  // On the main thread, in order.
  sim::BatchStep JobDone(size_t job, const std::optional<std::string>& error) {
    Compared& compared = compared_[job / options_.repeat];
    const std::string whose = Cat(sim::Printable(compared.scenario->path, 1000), ": ");
    if (error) return Stop(absl::InternalError(Cat(whose, "cannot be run: ", *error)));
    absl::StatusOr<RealRun> run = *std::exchange(runs_[job % sim::kBatchWindow], std::nullopt);
    if (!run.ok())
      return Stop(absl::UnavailableError(Cat(whose, std::string(run.status().message()))));
    if (absl::Status written = WriteReal(compared, *run); !written.ok()) return Stop(written);
    if (options_.ShowsOneRun()) Show(compared, *run);
    run->history.clear();
    compared.runs.push_back(*std::move(run));
    if (compared.runs.size() < options_.repeat) return sim::BatchStep::kGoOn;
    if (!options_.json) {
      cli::Progress::Clear();
      report_.Print(compared);
      std::cout << shown_;
    }
    const absl::Status flushed = cli::FlushStdout();
    return flushed.ok() ? sim::BatchStep::kGoOn : Stop(flushed);
  }

  // --- a run closely
  // A second look at the history, by whatever listens.
  static void Tell(const RealRun& run, sim::ObservationSink& sink, const sim::Scenario& scenario) {
    JudgeHistory(scenario, run.result.seed, run.history, run.holes, &sink);
  }

  void Show(const Compared& compared, const RealRun& run) {
    std::ostringstream out;
    if (options_.timeline) {
      sim::Timeline timeline(*compared.scenario);
      Tell(run, timeline, *compared.scenario);
      out << '\n';
      timeline.Print(run.result.checks, {.width = cli::ScreenWidth(), .colour = cli::WantsColour()},
                     out);
      out << '\n';
    }
    if (options_.explain) {
      out << '\n';
      const sim::Story story =
          sim::Explain(*compared.scenario, run.result, options_.explained,
                       [&](sim::ObservationSink& sink) { Tell(run, sink, *compared.scenario); });
      for (const std::string& line : story.Lines()) out << line << '\n';
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
    return (std::filesystem::path(options_.trace_folder) / name).string();
  }
  absl::Status WriteSimulated(const Compared& compared) const {
    if (options_.trace_folder.empty()) return absl::OkStatus();
    const sim::Scenario& scenario = *compared.scenario;
    return WriteTrace(
        TracePath(compared, "simulated"), scenario, scenario.seed,
        [&](sim::ObservationSink& sink) { sim::RunScenario(scenario, scenario.seed, &sink); });
  }
  absl::Status WriteReal(const Compared& compared, const RealRun& run) {
    const auto tell = [&](sim::ObservationSink& sink) { Tell(run, sink, *compared.scenario); };
    const uint64_t number = run.result.seed;
    absl::Status written;
    if (!options_.trace_folder.empty()) {
      const std::string which = Cat(WordOf(options_.on), "-", std::to_string(number));
      written = WriteTrace(TracePath(compared, which), *compared.scenario, number, tell);
    }
    if (!options_.perfetto_path.empty()) {
      written.Update(Write<sim::PerfettoWriter>(picture_, *compared.scenario, number, tell));
    }
    if (!options_.save_path.empty()) {
      saved_.stream() << sim::ScenarioText(
          ScenarioOf(options_.on, *compared.scenario, run.history, run.result));
      written.Update(saved_.Commit());
    }
    return written;
  }
  template <typename Tell>
  static absl::Status WriteTrace(const std::string& path, const sim::Scenario& scenario,
                                 uint64_t seed, Tell tell) {
    cli::OutputFile file;
    if (absl::Status opened = file.Open(path); !opened.ok()) return opened;
    return Write<sim::TraceWriter>(file, scenario, seed, tell);
  }
  template <typename Writer, typename Tell>
  static absl::Status Write(cli::OutputFile& file, const sim::Scenario& scenario, uint64_t seed,
                            Tell tell) {
    {
      Writer writer(file.stream(), scenario, seed, cli::kVersion);
      tell(writer);
    }
    return file.Commit();
  }

  int Finish() {
    if (!stopped_.ok()) return cli::End(stopped_);
    const auto good = static_cast<size_t>(std::ranges::count_if(compared_, &Compared::good));
    if (options_.json || !options_.out.empty()) {
      if (absl::Status written = WriteDocument(); !written.ok()) return cli::End(written);
    }
    if (!options_.json) report_.PrintSummary(compared_.size(), good, skipped_);
    return cli::End(cli::FlushStdout(),
                    good == compared_.size() ? cli::kAsExpected : cli::kExpectationFailed);
  }

  absl::Status WriteDocument() {
    sim::Json document = sim::Json::object();
    document["format"] = "whorl-live";
    document["version"] = 1;
    document["on"] = std::string(WordOf(options_.on));
    document["scenarios"] = sim::Json::array();
    for (const Compared& compared : compared_) {
      document["scenarios"].push_back(ComparedJson(compared));
    }
    const std::string text = sim::DumpJson(document, 2) + "\n";
    if (options_.json) std::cout << text;
    if (options_.out.empty()) return absl::OkStatus();
    document_.stream() << text;
    return document_.Commit();
  }

  const LiveOptions& options_;
  const std::vector<sim::Scenario> scenarios_;
  std::vector<sim::Scenario> real_;  // those that are not skipped, as they are on the backend
  std::vector<Compared> compared_;   // one for each
  LiveReport report_;
  cli::OutputFile document_;
  cli::OutputFile saved_;
  cli::OutputFile picture_;
  std::vector<std::optional<absl::StatusOr<RealRun>>> runs_;  // of jobs, by place
  std::string shown_;                                         // of the one run, for people
  size_t skipped_ = 0;
  absl::Status stopped_;  // why the work was broken off
};

}  // namespace

int RunLive(const LiveOptions& options) {
  if (options.paths.empty()) {
    Complain(
        "replay wants scenarios: files, folders, or - for standard input "
        "(whorl replay --on server --help has examples)");
    return cli::kBadInput;
  }
  cli::Inputs inputs = cli::LoadInputs(options.paths);
  bool refused = !inputs.bad.empty();
  for (const cli::BadInput& bad : inputs.bad) {
    for (const std::string& error : bad.errors) std::cerr << error << '\n';
  }
  for (const std::string& error : Contradictions(options, inputs.scenarios.size())) {
    Complain(error);
    refused = true;
  }
  for (const sim::Scenario& scenario : inputs.scenarios) {
    if (!WhySkipped(options, scenario).empty()) continue;
    for (const std::string& refusal : RefusalsOf(options.on, scenario)) {
      std::cerr << refusal << '\n';
      refused = true;
    }
  }
  if (refused) return cli::kBadInput;
  return LiveReplay(options, std::move(inputs.scenarios)).Run();
}

}  // namespace whorl::live
