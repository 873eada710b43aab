#include "cli/replay/command.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/replay/json.h"
#include "cli/replay/options.h"
#include "cli/replay/run.h"
#include "cli/replay/state.h"
#include "cli/replay/tally.h"
#include "cli/replay/text.h"
#include "sim/judge/batch.h"
#include "sim/scenario/error_text.h"

namespace whorl::cli {
namespace {

using sim::Cat;

// --- the work ----------------------------------------------------------------------------------

class Replay {
 public:
  Replay(const ReplayRequest& request, Inputs inputs)
      : request_(request),
        inputs_(std::move(inputs)),
        table_(std::cout,
               {.width = StdoutIsTerminal() ? static_cast<size_t>(ScreenWidth()) : 0,
                .name_width = NameWidth(inputs_),
                .colour = WantsColour(),
                .details = inputs_.scenarios.size() == 1},
               request.command) {
    for (const sim::Scenario& scenario : inputs_.scenarios) {
      tallies_.emplace_back(scenario, FirstSeed(scenario), request_.repeat, WantsJson());
    }
    outcomes_.resize(std::min(JobCount(), sim::kBatchWindow));
    summary_.bad_inputs = inputs_.bad.size();
  }

  int Run() {
    if (const absl::Status ready = Prepare(); !ready.ok()) return End(ready);
    if (JobCount() > 0) {
      if (PrintsTable()) table_.PrintHead();
      sim::RunBatch(
          JobCount(), static_cast<int>(request_.Jobs()), [&](size_t i) { RunJob(i); },
          [&](size_t i, const std::optional<std::string>& error) {
            const sim::BatchStep step = JobDone(i, error);
            if (progress_.IsDue()) {
              progress_.Show(
                  Cat(std::to_string(i + 1), " of ", std::to_string(JobCount()), " runs"));
            }
            return step;
          });
    }
    return Finish();
  }

 private:
  static size_t NameWidth(const Inputs& inputs) {
    size_t width = std::string_view("scenario").size();
    for (const sim::Scenario& scenario : inputs.scenarios) {
      width = std::max(width, sim::Printable(scenario.name).size());
    }
    return width;
  }

  bool PrintsTable() const { return !request_.json && !request_.mermaid; }
  bool WantsJson() const { return request_.json || !request_.out.empty(); }
  uint64_t FirstSeed(const sim::Scenario& scenario) const {
    return request_.seed.value_or(scenario.seed);
  }
  // A job is one seed of one scenario. The jobs of a scenario follow each other.
  size_t JobCount() const { return tallies_.size() * request_.repeat; }
  Tally& TallyOf(size_t job) { return tallies_[job / request_.repeat]; }
  uint64_t SeedOf(size_t job) { return TallyOf(job).first_seed() + job % request_.repeat; }

  // Opens the output before the work, so that an error shows before it rather than after.
  absl::Status Prepare() {
    if (!request_.html_path.empty()) {
      if (absl::Status missing = PagesMissing(); !missing.ok()) return missing;
    }
    if (!request_.out.empty()) {
      if (absl::Status opened = document_.Open(request_.out); !opened.ok()) return opened;
    }
    return request_.trace_folder.empty() ? absl::OkStatus() : MakeFolder(request_.trace_folder);
  }

  std::string TracePath(const sim::Scenario& scenario, uint64_t seed) const {
    if (request_.trace_folder.empty()) return {};
    const std::string name = Cat(scenario.name, ".", std::to_string(seed), ".jsonl");
    return (std::filesystem::path(request_.trace_folder) / name).string();
  }

  // Called on any thread.
  void RunJob(size_t job) {
    const sim::Scenario& scenario = TallyOf(job).scenario();
    const uint64_t seed = SeedOf(job);
    outcomes_[job % sim::kBatchWindow] =
        RunOnce({.scenario = &scenario,
                 .seed = seed,
                 .trace_path = TracePath(scenario, seed),
                 .perfetto_path = request_.perfetto_path,
                 .html_path = request_.html_path,
                 .jepsen_path = request_.jepsen_path,
                 .page_command = ReplayCommand(request_.command, scenario, seed),
                 .timeline = request_.timeline,
                 .mermaid = request_.mermaid,
                 .explain = request_.explain,
                 .explained = request_.explained,
                 .check_determinism = request_.check_determinism,
                 .decides = JobCount() == 1,
                 .threads = JobCount() == 1 ? static_cast<int>(request_.Jobs()) : 1,
                 .unlimited = request_.unlimited,
                 .progress = JobCount() == 1 ? &progress_ : nullptr});
  }

  // Called on the main thread, in order.
  sim::BatchStep JobDone(size_t job, const std::optional<std::string>& error) {
    Tally& tally = TallyOf(job);
    if (error.has_value()) {
      return Stop(
          absl::InternalError(Cat(tally.scenario().path, ", seed ", std::to_string(SeedOf(job)),
                                  ": cannot be run: ", *error)));
    }
    RunOutcome outcome = *std::exchange(outcomes_[job % sim::kBatchWindow], std::nullopt);
    if (!outcome.refused.empty()) {
      return Stop(absl::InvalidArgumentError(
          Cat(sim::Printable(tally.scenario().path, 1000), ": ", outcome.refused)));
    }
    if (!outcome.written.ok()) return Stop(outcome.written);
    tally.Add(std::move(outcome));
    if (!tally.IsComplete()) return sim::BatchStep::kGoOn;
    summary_.Add(tally.conclusion());
    if (WantsJson()) documents_.push_back(TallyJson(tally));
    if (request_.json) return sim::BatchStep::kGoOn;
    Progress::Clear();
    if (PrintsTable()) table_.PrintTally(tally);
    if (tally.shown() != nullptr) std::cout << tally.shown()->mermaid;
    PrintTimeline(tally);
    PrintStory(tally);
    const absl::Status flushed = FlushStdout();
    return flushed.ok() ? sim::BatchStep::kGoOn : Stop(flushed);
  }

  static void PrintTimeline(const Tally& tally) {
    const RunOutcome* shown = tally.shown();
    if (shown == nullptr || shown->timeline == nullptr) return;
    std::cout << '\n';
    shown->timeline->Print(shown->result.checks, {.width = ScreenWidth(), .colour = WantsColour()},
                           std::cout);
    std::cout << '\n';
  }

  static void PrintStory(const Tally& tally) {
    const RunOutcome* shown = tally.shown();
    if (shown == nullptr || !shown->story.has_value()) return;
    std::cout << '\n';
    for (const std::string& line : shown->story->Lines()) std::cout << line << '\n';
    if (shown->decision.has_value()) std::cout << shown->decision->Text() << '\n';
    std::cout << '\n';
  }

  sim::BatchStep Stop(absl::Status status) {
    stopped_ = std::move(status);
    return sim::BatchStep::kStop;
  }

  int Finish() {
    Progress::Clear();
    if (!stopped_.ok()) return End(stopped_);
    if (WantsJson()) {
      const std::string text =
          sim::DumpJson(ReplayJson(std::move(documents_), inputs_.bad, summary_), 2) + "\n";
      if (request_.json) std::cout << text;
      if (!request_.out.empty()) {
        document_.stream() << text;
        if (const absl::Status written = document_.Commit(); !written.ok()) return End(written);
      }
    }
    if (PrintsTable() && summary_.scenarios() > 0) table_.PrintSummary(summary_);
    int code = summary_.failed > 0 ? kExpectationFailed : kAsExpected;
    if (summary_.bad_inputs > 0) code = kBadInput;
    return End(FlushStdout(), code);
  }

  const ReplayRequest& request_;
  Inputs inputs_;
  ReplayTable table_;
  OutputFile document_;
  std::vector<Tally> tallies_;                       // one for each scenario
  std::vector<std::optional<RunOutcome>> outcomes_;  // by job
  std::vector<sim::Json> documents_;
  Summary summary_;
  Progress progress_;     // of the runs; of the run, if there is one
  absl::Status stopped_;  // why the work was broken off
};

int RunReplay(const ReplayRequest& request) {
  if (request.paths.empty()) {
    Complain(
        "replay wants scenarios: files, folders, or - for standard input "
        "(whorl replay --help has examples)");
    return kBadInput;
  }
  const auto refuse = [](const std::vector<std::string>& contradictions) {
    for (const std::string& error : contradictions) Complain(error);
    return !contradictions.empty();
  };
  if (refuse(Contradictions(request))) return kBadInput;
  Inputs inputs = LoadInputs(request.paths);
  for (const BadInput& bad : inputs.bad) {
    // Printed unchanged, so that an editor finds file and line.
    for (const std::string& error : bad.errors) std::cerr << error << '\n';
  }
  if (refuse(Contradictions(request, inputs))) return kBadInput;
  if (request.at.has_value()) {
    if (inputs.scenarios.empty()) return kBadInput;
    return ShowState(request, inputs.scenarios.front());
  }
  return Replay(request, std::move(inputs)).Run();
}

}  // namespace

SubCommand AddReplayCommand(CLI::App& root, const std::string& command, const GrpcCommands& grpc) {
  CLI::App* app = root.add_subcommand(
      "replay", "Run scenarios, and say what happened and whether it was as expected");
  const auto request = std::make_shared<ReplayRequest>();
  request->command = command;
  return {.app = app,
          .run =
              [request, on = grpc.replay_on] {
                return request->on.has_value() ? on(*request) : RunReplay(*request);
              },
          .make_options = [app, request] { AddReplayOptions(*app, request); }};
}

}  // namespace whorl::cli
