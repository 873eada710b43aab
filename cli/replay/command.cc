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
#include "absl/status/statusor.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_rules.h"
#include "cli/inputs.h"
#include "cli/junit.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/replay/json.h"
#include "cli/replay/options.h"
#include "cli/replay/run.h"
#include "cli/replay/shards.h"
#include "cli/replay/tally.h"
#include "cli/replay/text.h"
#include "cli/shards/coverage.h"
#include "cli/shards/option.h"
#include "cli/shards/report_file.h"
#include "sim/judge/batch.h"

namespace whorl::cli {
namespace {

size_t NameWidth(const std::vector<sim::Scenario>& scenarios) {
  size_t width = std::string_view("scenario").size();
  for (const sim::Scenario& scenario : scenarios) {
    width = std::max(width, Printable(scenario.name).size());
  }
  return width;
}

// --- the output --------------------------------------------------------------------------------

// Where the report goes: a table or a document to standard output, a document into a file.
class ReplayOutput {
 public:
  ReplayOutput(const ReplayRequest& request, const std::vector<sim::Scenario>& scenarios)
      : request_(request),
        table_(std::cout,
               {.width = StdoutIsTerminal() ? static_cast<size_t>(ScreenWidth()) : 0,
                .name_width = NameWidth(scenarios),
                .colour = WantsColour(),
                .details = scenarios.size() == 1},
               request.command) {}

  // Opens the output before the work, so that an error shows before it rather than after.
  absl::Status Prepare() {
    if (!request_.html_path.empty()) {
      if (absl::Status missing = PagesMissing(); !missing.ok()) return missing;
    }
    if (!request_.out.empty()) {
      if (absl::Status opened = document_.Open(request_.out); !opened.ok()) return opened;
    }
    if (absl::Status opened = junit_.Open(request_.junit_path); !opened.ok()) return opened;
    return request_.trace_folder.empty() ? absl::OkStatus() : MakeFolder(request_.trace_folder);
  }

  bool PrintsTable() const { return !request_.json && !request_.mermaid; }
  void PrintHead() {
    if (PrintsTable()) table_.PrintHead();
  }

  // REQUIRES: the tally is complete.
  absl::Status Tell(const Tally& tally) {
    summary_.Add(tally);
    if (junit_.is_wanted()) junit_.Add(JunitTestOf(tally, request_.command));
    if (request_.WantsJson()) documents_.push_back(TallyJson(tally));
    if (request_.json) return absl::OkStatus();
    Progress::Clear();
    if (PrintsTable()) table_.PrintTally(tally);
    if (tally.shown() != nullptr) std::cout << tally.shown()->mermaid;
    PrintTimeline(tally);
    PrintStory(tally);
    return FlushStdout();
  }

  // `part`: the document of a shard; empty: that of the whole is made of what was told.
  // `missing`: which runs of shards are; `is_incomplete`: and they should not be.
  int End(const std::vector<BadInput>& bad, const std::string& part, std::string_view missing,
          bool is_incomplete) {
    Progress::Clear();
    absl::Status done;
    summary_.bad_inputs = bad.size();
    if (request_.WantsJson()) {
      const std::string text =
          part.empty() ? sim::DumpJson(ReplayJson(std::move(documents_), bad, summary_), 2) + "\n"
                       : part;
      if (request_.json) std::cout << text;
      if (!request_.out.empty()) {
        document_.stream() << text;
        done.Update(document_.Commit());
      }
    }
    for (const BadInput& input : bad) junit_.AddBadInput(input.path, input.errors);
    done.Update(junit_.Commit(is_incomplete ? "runs of shards are missing" : ""));
    if (PrintsTable() && summary_.scenarios() > 0) table_.PrintSummary(summary_, missing);
    done.Update(FlushStdout());
    return EndJudged(done, *request_.exits,
                     {.has_found = summary_.failed > 0,
                      .has_bad_input = summary_.bad_inputs > 0,
                      .is_incomplete = is_incomplete});
  }

 private:
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
    if (!shown->needed_faults.empty()) std::cout << shown->needed_faults << '\n';
    if (shown->decision.has_value()) std::cout << shown->decision->Text() << '\n';
    std::cout << '\n';
  }

  const ReplayRequest& request_;
  ReplayTable table_;
  OutputFile document_;
  JunitFile junit_{"whorl replay"};
  std::vector<sim::Json> documents_;
  Summary summary_;
};

// --- the work ----------------------------------------------------------------------------------

class Replay {
 public:
  Replay(const ReplayRequest& request, Inputs inputs)
      : request_(request), inputs_(std::move(inputs)), output_(request, inputs_.scenarios) {
    for (size_t s = 0; s < inputs_.scenarios.size(); ++s) {
      const sim::Scenario& scenario = inputs_.scenarios[s];
      tallies_.emplace_back(scenario, FirstSeed(scenario), JobsBefore(s + 1) - JobsBefore(s),
                            request_.WantsJson());
    }
    outcomes_.resize(std::min(JobCount(), sim::kBatchWindow));
  }

  int Run() {
    if (const absl::Status ready = output_.Prepare(); !ready.ok()) return End(ready);
    if (JobCount() > 0) {
      output_.PrintHead();
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
    Progress::Clear();
    if (!stopped_.ok()) return End(stopped_);
    if (!request_.shard.is_given) return output_.End(inputs_.bad, "", "", false);
    const ReplayShard part = PartDone();
    return output_.End(inputs_.bad, request_.WantsJson() ? ReplayShardText(part) : "",
                       MissingText(part.coverage, part.JobCount()), false);
  }

 private:
  uint64_t FirstSeed(const sim::Scenario& scenario) const {
    return request_.seed.value_or(scenario.seed);
  }
  // A job is one seed of one scenario; those of a scenario follow each other. A shard does every N-th of all.
  size_t AllJobs() const { return inputs_.scenarios.size() * request_.repeat; }
  size_t JobCount() const { return JobsBefore(inputs_.scenarios.size()); }
  // How many of the shard's jobs are of the first `scenarios` scenarios.
  size_t JobsBefore(size_t scenarios) const {
    return RunsOfShard(scenarios * request_.repeat, request_.shard.shard, request_.shard.shards);
  }
  size_t NumberOf(size_t job) const { return request_.shard.shard + job * request_.shard.shards; }
  Tally& TallyOf(size_t job) { return tallies_[NumberOf(job) / request_.repeat]; }
  uint64_t SeedOf(size_t job) {
    return TallyOf(job).first_seed() + NumberOf(job) % request_.repeat;
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
    const bool is_alone = AllJobs() == 1;
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
                 .decides = is_alone,
                 .threads = is_alone ? static_cast<int>(request_.Jobs()) : 1,
                 .unlimited = request_.unlimited,
                 .progress = is_alone ? &progress_ : nullptr});
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
          Cat(Printable(tally.scenario().path, 1000), ": ", outcome.refused)));
    }
    if (!outcome.written.ok()) return Stop(outcome.written);
    tally.Add(std::move(outcome));
    if (!tally.IsComplete()) return sim::BatchStep::kGoOn;
    const absl::Status told = output_.Tell(tally);
    return told.ok() ? sim::BatchStep::kGoOn : Stop(told);
  }

  sim::BatchStep Stop(absl::Status status) {
    stopped_ = std::move(status);
    return sim::BatchStep::kStop;
  }

  ReplayShard PartDone() const {
    ReplayShard part{.seed = request_.seed,
                     .repeat = request_.repeat,
                     .check_determinism = request_.check_determinism};
    for (size_t s = 0; s < tallies_.size(); ++s) {
      part.scenarios.push_back({.path = inputs_.scenarios[s].path,
                                .text = inputs_.texts[s],
                                .counts = tallies_[s].counts()});
    }
    part.coverage = {.shards = request_.shard.shards, .runs = {{request_.shard.shard, JobCount()}}};
    return part;
  }

  const ReplayRequest& request_;
  Inputs inputs_;
  ReplayOutput output_;
  std::vector<Tally> tallies_;                       // one for each scenario
  std::vector<std::optional<RunOutcome>> outcomes_;  // by job
  Progress progress_;                                // of the runs; of the run, if there is one
  absl::Status stopped_;                             // why the work was broken off
};

// --- sums of shards ----------------------------------------------------------------------------

// The reports count what was violated. What one run has to be shown of, and judged by, is run again.
class ReplaySum {
 public:
  ReplaySum(const ReplayRequest& request, ReplayShard sum)
      : request_(request), sum_(std::move(sum)) {}

  int Run() {
    if (const absl::Status read = ReadScenarios(); !read.ok()) return End(read);
    ReplayOutput output(request_, scenarios_);
    if (const absl::Status ready = output.Prepare(); !ready.ok()) return End(ready);
    output.PrintHead();
    // A report of a part is to be merged with the others.
    const std::string part = sum_.IsWhole() || !request_.WantsJson() ? "" : ReplayShardText(sum_);
    const std::string missing = MissingText(sum_.coverage, sum_.JobCount());
    for (size_t s = 0; s < scenarios_.size(); ++s) {
      if (const absl::Status told = Tell(s, output); !told.ok()) return Fail(told);
    }
    return output.End({}, part, missing, !missing.empty());
  }

 private:
  // A report that does not fit this whorl's runs is as bad as two that differ.
  static int Fail(const absl::Status& status) {
    if (!absl::IsDataLoss(status)) return End(status);
    Complain(std::string(status.message()));
    return kExpectationFailed;
  }

  absl::Status ReadScenarios() {
    for (const ReplayShard::OfScenario& of : sum_.scenarios) {
      absl::StatusOr<sim::Scenario> scenario = ScenarioFrom(of.text, of.path);
      if (!scenario.ok()) return scenario.status();
      scenarios_.push_back(*std::move(scenario));
    }
    return absl::OkStatus();
  }

  absl::Status Tell(size_t s, ReplayOutput& output) {
    const sim::Scenario& scenario = scenarios_[s];
    SeedCounts& counts = sum_.scenarios[s].counts;
    if (counts.runs == 0) return absl::OkStatus();
    const uint64_t first = sum_.seed.value_or(scenario.seed);
    Tally tally(scenario, first, counts.runs, true);
    const uint64_t wanted = sum_.repeat == 1 ? first : scenario.seed;
    const auto run = std::ranges::find(counts.kept, wanted, &SeedCounts::KeptRun::seed);
    if (run != counts.kept.end()) {
      RunOutcome outcome = RunOnce({.scenario = &scenario, .seed = wanted, .unlimited = true});
      if (outcome.result.hash != run->hash) {
        return absl::DataLossError(Cat(Printable(scenario.path, 1000), ": seed ",
                                       std::to_string(wanted),
                                       " ended otherwise in the whorl that wrote the report"));
      }
      tally.Show(std::move(outcome));
    }
    tally.Take(std::move(counts));
    return output.Tell(tally);
  }

  const ReplayRequest& request_;
  ReplayShard sum_;
  std::vector<sim::Scenario> scenarios_;
};

int MergeReplays(const ReplayRequest& request) {
  if (const absl::Status other = CheckOutIsNoInput(request.merged, request.out); !other.ok()) {
    return End(other);
  }
  absl::StatusOr<ReplayShard> sum = LoadReplays(request.merged);
  if (sum.ok()) return ReplaySum(request, *std::move(sum)).Run();
  Complain(std::string(sum.status().message()));
  return absl::IsDataLoss(sum.status()) ? kExpectationFailed : kBadInput;
}

int RunReplay(const CLI::App& app, const ReplayRequest& request) {
  const auto refuse = [](const std::vector<std::string>& contradictions) {
    for (const std::string& error : contradictions) Complain(error);
    return !contradictions.empty();
  };
  if (!request.merged.empty()) {
    if (refuse(NotBeside(
            app, "--merge",
            {"--json", "--out", "--junit", "--exit-code-found", "--accept-incomplete"}))) {
      return kBadInput;
    }
    return MergeReplays(request);
  }
  if (request.paths.empty()) {
    Complain(
        "replay wants scenarios: files, folders, or - for standard input "
        "(whorl replay --help has examples)");
    return kBadInput;
  }
  if (refuse(Contradictions(request))) return kBadInput;
  request.shard.Tell();
  Inputs inputs = LoadInputs(request.paths);
  for (const BadInput& bad : inputs.bad) {
    // Printed unchanged, so that an editor finds file and line.
    for (const std::string& error : bad.errors) std::cerr << error << '\n';
  }
  if (refuse(Contradictions(request, inputs))) return kBadInput;
  // All shards have to be parts of one whole.
  if (request.shard.is_given && !inputs.bad.empty()) return kBadInput;
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
              [app, request, on = grpc.replay_on] {
                return request->on.has_value() ? on(*request) : RunReplay(*app, *request);
              },
          .make_options = [app, request] { AddReplayOptions(*app, request); }};
}

}  // namespace whorl::cli
