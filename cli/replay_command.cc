#include "cli/replay_command.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/replay_json.h"
#include "cli/replay_run.h"
#include "cli/replay_tally.h"
#include "cli/replay_text.h"
#include "sim/batch.h"
#include "sim/error_text.h"

namespace whorl::cli {
namespace {

using sim::Cat;

constexpr uint64_t kRepeatMax = 1'000'000;
constexpr uint64_t kJobsMax = 256;

struct Options {
  std::vector<std::string> paths;
  std::optional<uint64_t> seed;
  uint64_t repeat = 1;
  uint64_t jobs = std::max(1U, std::thread::hardware_concurrency());
  bool timeline = false;
  std::string trace_folder;
  bool json = false;
  std::string out;
  bool check_determinism = false;
  std::string command;
};

// --- the work ----------------------------------------------------------------------------------

class Replay {
 public:
  Replay(const Options& options, Inputs inputs)
      : options_(options),
        inputs_(std::move(inputs)),
        table_(std::cout, NameWidth(inputs_), options.command, WantsColour()) {
    for (const sim::Scenario& scenario : inputs_.scenarios) {
      tallies_.emplace_back(scenario, FirstSeed(scenario), options_.repeat, WantsJson());
    }
    outcomes_.resize(std::min(JobCount(), sim::kBatchWindow));
    summary_.bad_inputs = inputs_.bad.size();
  }

  int Run() {
    if (const absl::Status ready = Prepare(); !ready.ok()) return End(ready, kCannotRun);
    if (JobCount() > 0) {
      if (!options_.json) table_.PrintHead();
      Progress progress(JobCount());
      sim::RunBatch(
          JobCount(), static_cast<int>(options_.jobs), [&](size_t i) { RunJob(i); },
          [&](size_t i, const std::optional<std::string>& error) {
            const sim::BatchStep step = JobDone(i, error);
            progress.Show(i + 1);
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

  bool WantsJson() const { return options_.json || !options_.out.empty(); }
  uint64_t FirstSeed(const sim::Scenario& scenario) const {
    return options_.seed.value_or(scenario.seed);
  }
  // A job is a seed of a scenario; those of a scenario stand together.
  size_t JobCount() const { return tallies_.size() * options_.repeat; }
  Tally& TallyOf(size_t job) { return tallies_[job / options_.repeat]; }
  uint64_t SeedOf(size_t job) { return TallyOf(job).first_seed() + job % options_.repeat; }

  // What would fail at the end of all the work fails before it.
  absl::Status Prepare() {
    if (!options_.out.empty()) {
      if (absl::Status opened = document_.Open(options_.out); !opened.ok()) return opened;
    }
    if (options_.trace_folder.empty()) return absl::OkStatus();
    std::error_code error;
    std::filesystem::create_directories(options_.trace_folder, error);
    if (!error) return absl::OkStatus();
    return absl::UnavailableError(
        Cat(options_.trace_folder, ": cannot be created: ", error.message()));
  }

  std::string TracePath(const sim::Scenario& scenario, uint64_t seed) const {
    if (options_.trace_folder.empty()) return {};
    const std::string name = Cat(scenario.name, ".", std::to_string(seed), ".jsonl");
    return (std::filesystem::path(options_.trace_folder) / name).string();
  }

  // On any thread.
  void RunJob(size_t job) {
    const sim::Scenario& scenario = TallyOf(job).scenario();
    const uint64_t seed = SeedOf(job);
    outcomes_[job % sim::kBatchWindow] = RunOnce({.scenario = &scenario,
                                                  .seed = seed,
                                                  .trace_path = TracePath(scenario, seed),
                                                  .timeline = options_.timeline,
                                                  .check_determinism = options_.check_determinism});
  }

  // On the main thread, in order.
  sim::BatchStep JobDone(size_t job, const std::optional<std::string>& error) {
    Tally& tally = TallyOf(job);
    if (error.has_value()) {
      return Stop(
          absl::InternalError(Cat(tally.scenario().path, ", seed ", std::to_string(SeedOf(job)),
                                  ": cannot be run: ", *error)));
    }
    RunOutcome outcome = *std::exchange(outcomes_[job % sim::kBatchWindow], std::nullopt);
    if (!outcome.written.ok()) return Stop(outcome.written);
    tally.Add(std::move(outcome));
    if (!tally.IsComplete()) return sim::BatchStep::kGoOn;
    summary_.Add(tally.conclusion());
    if (WantsJson()) documents_.push_back(TallyJson(tally));
    if (options_.json) return sim::BatchStep::kGoOn;
    Progress::Clear();
    table_.PrintTally(tally);
    PrintTimeline(tally);
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

  sim::BatchStep Stop(absl::Status status) {
    stopped_ = std::move(status);
    return sim::BatchStep::kStop;
  }

  int Finish() {
    Progress::Clear();
    if (!stopped_.ok()) return End(stopped_, kCannotRun);
    if (WantsJson()) {
      const std::string text =
          sim::DumpJson(ReplayJson(std::move(documents_), inputs_.bad, summary_), 2) + "\n";
      if (options_.json) std::cout << text;
      if (!options_.out.empty()) {
        document_.stream() << text;
        if (const absl::Status written = document_.Commit(); !written.ok()) {
          return End(written, kCannotRun);
        }
      }
    }
    if (!options_.json && summary_.scenarios() > 0) table_.PrintSummary(summary_);
    int code = summary_.failed > 0 ? kExpectationFailed : kAsExpected;
    if (summary_.bad_inputs > 0) code = kBadInput;
    return End(FlushStdout(), code);
  }

  static int End(const absl::Status& status, int code) {
    if (status.ok()) return code;
    Complain(std::string(status.message()));
    return kCannotRun;
  }

  const Options& options_;
  Inputs inputs_;
  ReplayTable table_;
  OutputFile document_;
  std::vector<Tally> tallies_;                       // one for each scenario
  std::vector<std::optional<RunOutcome>> outcomes_;  // of jobs, by place
  std::vector<sim::Json> documents_;
  Summary summary_;
  absl::Status stopped_;  // why the work was broken off
};

// --- the command line --------------------------------------------------------------------------

// CLI11 would take -1 for the greatest of all numbers.
uint64_t NumberOf(const std::string& option, const std::string& text, uint64_t min, uint64_t max) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end && number >= min && number <= max) return number;
  throw CLI::ValidationError(Cat(option, " wants a whole number from ", std::to_string(min), " to ",
                                 std::to_string(max), ", and got ", sim::Quoted(text)));
}

// Two runs that would write the same trace, or a seed that does not exist.
std::vector<std::string> Contradictions(const Options& options, const Inputs& inputs) {
  std::vector<std::string> errors;
  std::map<std::string, std::string> traced;  // path by name
  for (const sim::Scenario& scenario : inputs.scenarios) {
    const uint64_t first = options.seed.value_or(scenario.seed);
    if (first > std::numeric_limits<uint64_t>::max() - (options.repeat - 1)) {
      errors.push_back(Cat(sim::Printable(scenario.path, 1000), ": --repeat goes beyond the last ",
                           "seed, ", std::to_string(std::numeric_limits<uint64_t>::max())));
    }
    if (options.trace_folder.empty()) continue;
    const auto [other, is_new] = traced.try_emplace(scenario.name, scenario.path);
    if (is_new) continue;
    errors.push_back(Cat(sim::Printable(scenario.path, 1000), ": would write the same trace as ",
                         sim::Printable(other->second, 1000), ": both are named ",
                         sim::Printable(scenario.name)));
  }
  return errors;
}

int RunReplay(const Options& options) {
  if (options.paths.empty()) {
    Complain(
        "replay wants scenarios: files, folders, or - for standard input "
        "(whorl replay --help has examples)");
    return kBadInput;
  }
  if (options.timeline && (options.json || options.repeat > 1)) {
    Complain(options.json ? "--timeline is for people; it does not go with --json"
                          : "--timeline shows one run, which --seed chooses; it does not go with "
                            "--repeat");
    return kBadInput;
  }
  Inputs inputs = LoadInputs(options.paths);
  for (const BadInput& bad : inputs.bad) {
    // As they are, so that an editor finds file and line.
    for (const std::string& error : bad.errors) std::cerr << error << '\n';
  }
  std::vector<std::string> contradictions = Contradictions(options, inputs);
  if (const std::string same = SameInput(inputs, options.out); !same.empty()) {
    contradictions.push_back(Cat("--out ", sim::Printable(options.out, 1000),
                                 " would write over the scenario ", sim::Printable(same, 1000)));
  }
  for (const std::string& error : contradictions) Complain(error);
  if (!contradictions.empty()) return kBadInput;
  return Replay(options, std::move(inputs)).Run();
}

constexpr std::string_view kFooter = R"(Examples:
  whorl replay scenarios                          every scenario of a folder
  whorl replay scenarios/gc_pause.json --timeline what happened, on one screen
  whorl replay scenarios --repeat 100             how often what is violated, over 100 seeds
  whorl replay scenarios --json --out report.json for machines
  whorl replay scenarios --trace traces           traces/NAME.SEED.jsonl, an event a line
  generate | whorl replay -                       a scenario from standard input

`expect` is judged for the file's own seed; other seeds are counted.
Exit codes: 0 all as expected; 1 an expectation failed, or a run could not be repeated;
2 bad input or usage; 3 the output could not be written; 130 interrupted.)";

void AddNumber(CLI::App& app, const std::string& name, uint64_t min, uint64_t max,
               std::function<void(uint64_t)> take, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [name, min, max, take = std::move(take)](const std::string& text) {
           take(NumberOf(name, text, min, max));
         },
         help)
      ->type_name("N");
}

void AddOptions(CLI::App& app, const std::shared_ptr<Options>& options) {
  app.add_option("paths", options->paths, "scenarios: files, folders, or - for standard input")
      ->type_name("FILE|DIR|-");
  AddNumber(
      app, "--seed", 0, std::numeric_limits<uint64_t>::max(),
      [options](uint64_t seed) { options->seed = seed; }, "seed of the run, instead of the file's");
  AddNumber(
      app, "--repeat", 1, kRepeatMax, [options](uint64_t n) { options->repeat = n; },
      "run N seeds, counting from --seed, and count what is violated");
  AddNumber(
      app, "--jobs", 1, kJobsMax, [options](uint64_t n) { options->jobs = n; },
      "runs at the same time (default: one for each core); changes no output");
  app.add_flag("--timeline", options->timeline, "show each run, a line for each transition");
  app.add_option("--trace", options->trace_folder, "write each run's trace into DIR, as JSON lines")
      ->type_name("DIR");
  app.add_flag("--json", options->json, "print one JSON document instead of the table");
  app.add_option("--out", options->out, "write the JSON document into FILE")->type_name("FILE");
  app.add_flag("--check-determinism", options->check_determinism,
               "run everything twice; a difference is a failure");
}

}  // namespace

SubCommand AddReplayCommand(CLI::App& root, const std::string& command) {
  CLI::App* app = root.add_subcommand(
      "replay", "Run scenarios, and say what happened and whether it was as expected");
  const auto options = std::make_shared<Options>();
  options->command = command;
  AddOptions(*app, options);
  app->footer(std::string(kFooter));
  return {.app = app, .run = [options] { return RunReplay(*options); }};
}

}  // namespace whorl::cli
