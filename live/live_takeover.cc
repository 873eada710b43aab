#include "live/live_takeover.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/takeover_report.h"
#include "live/history.h"
#include "live/live_options.h"
#include "live/refusals.h"
#include "live/stage.h"
#include "sim/batch.h"
#include "sim/bench/takeover.h"
#include "sim/bench/takeover_bench.h"
#include "sim/error_text.h"

namespace whorl::live {
namespace {

using cli::Complain;
using sim::Cat;
using sim::TakeoverCase;
using sim::TakeoverRun;

constexpr uint64_t kRuns = 20;  // of each case, unless asked for others

// Once a process of another node than the first has written, after the fault, a run has shown what
// it is for.
bool IsNewLeadersWrite(const sim::Happening& what) {
  const auto* arrived = std::get_if<sim::WriteArrived>(&what);
  return arrived != nullptr && arrived->process.node != 0;
}

absl::StatusOr<TakeoverRun> Measure(BackendKind kind, const TakeoverCase& measured,
                                    sim::MedianTimes times, uint64_t seed) {
  const sim::Scenario scenario = AsOn(kind, sim::TakeoverWorld(measured, seed));
  Stage stage(kind, scenario, seed);
  stage.EndWhen(IsNewLeadersWrite);
  absl::StatusOr<Record> record = stage.Run();
  if (!record.ok()) return record.status();
  const std::vector<sim::Observation> history = HistoryOf(scenario, *record);
  if (!record->holes.empty()) return TakeoverRun{.spoilt = 1};
  sim::TakeoverObserver observer(scenario, measured.fault, times);
  uint64_t ordinal = 0;
  for (const sim::Observation& observation : history) {
    if (observer.HasEnough()) break;
    observer.Hear(observation, ++ordinal, 0);
  }
  return observer.Finish();
}

class LiveTakeover {
 public:
  explicit LiveTakeover(const LiveTakeoverRequest& request)
      : on_(request.on),
        request_(*request.request),
        cases_(sim::CasesOf(cli::GridOf(request_))),
        runs_(request_.runs.value_or(kRuns)) {
    simulated_.options = {.seed = request_.seed, .runs = std::nullopt};
    real_.options = {.seed = request_.seed, .runs = runs_};
    simulated_.left_out = real_.left_out = cases_.left_out;
    measured_.resize(std::min<size_t>(cases_.cases.size() * runs_, sim::kBatchWindow));
  }

  int Run() {
    cli::Progress progress;
    const size_t all = cases_.cases.size() * runs_;
    sim::RunBatch(
        all, static_cast<int>(request_.jobs), [&](size_t job) { RunJob(job); },
        [&](size_t job, const std::optional<std::string>& error) {
          if (progress.IsDue()) {
            progress.Show(Cat(std::to_string(job + 1), " of ", std::to_string(all), " runs"));
          }
          return JobDone(job, error);
        });
    cli::Progress::Clear();
    if (!stopped_.ok()) return cli::End(stopped_);
    Print();
    return cli::End(cli::FlushStdout());
  }

 private:
  const TakeoverCase& CaseOf(size_t job) const { return cases_.cases[job / runs_]; }

  // On any thread.
  void RunJob(size_t job) {
    const TakeoverCase& measured = CaseOf(job);
    measured_[job % measured_.size()] =
        Measure(on_, measured, sim::TimesOf(measured),
                sim::SeedOfTakeover(request_.seed, measured, job % runs_));
  }

  // On the main thread, in order.
  sim::BatchStep JobDone(size_t job, const std::optional<std::string>& error) {
    const TakeoverCase& measured = CaseOf(job);
    const std::string whose = Cat(measured.Text(), ": ");
    if (error) return Stop(absl::InternalError(Cat(whose, *error)));
    absl::StatusOr<TakeoverRun> run =
        *std::exchange(measured_[job % measured_.size()], std::nullopt);
    if (!run.ok()) {
      return Stop(absl::UnavailableError(Cat(whose, std::string(run.status().message()))));
    }
    of_case_.push_back(*std::move(run));
    if (of_case_.size() < runs_) return sim::BatchStep::kGoOn;
    real_.results.push_back(sim::ResultOf(measured, sim::TimesOf(measured), of_case_));
    of_case_.clear();
    sim::TakeoverResult simulated;
    const absl::Status status = sim::MeasureCase(
        simulated_.options, measured, 1, [](uint64_t) { return sim::BatchStep::kGoOn; }, simulated);
    simulated_.results.push_back(std::move(simulated));
    return status.ok() ? sim::BatchStep::kGoOn : Stop(status);
  }

  sim::BatchStep Stop(absl::Status status) {
    stopped_ = std::move(status);
    return sim::BatchStep::kStop;
  }

  void Print() const {
    if (request_.json) {
      std::cout << cli::TakeoverLines(simulated_) << cli::TakeoverLines(real_);
      return;
    }
    std::cout << "simulated\n";
    cli::PrintTakeovers(simulated_, std::cout);
    std::cout << "\non the " << BackendText(on_) << ", in real time\n";
    cli::PrintTakeovers(real_, std::cout);
  }

  const BackendKind on_;
  const cli::TakeoverRequest& request_;
  const sim::TakeoverCases cases_;
  const uint64_t runs_;
  cli::TakeoverReport simulated_;
  cli::TakeoverReport real_;
  std::vector<std::optional<absl::StatusOr<TakeoverRun>>> measured_;  // of jobs, by place
  std::vector<TakeoverRun> of_case_;
  absl::Status stopped_;  // why the work was broken off
};

}  // namespace

void AddLiveTakeoverOptions(CLI::App& app, const std::shared_ptr<LiveTakeoverRequest>& request) {
  cli::AddTakeoverOptions(app, request->request);
  AddOnOption(app, [request](BackendKind kind) { request->on = kind; });
}

int RunLiveTakeover(const LiveTakeoverRequest& request) {
  bool refused = false;
  const cli::TakeoverRequest& asked = *request.request;
  for (const std::string& error : cli::Contradictions(asked)) {
    Complain(error);
    refused = true;
  }
  if (!asked.out.empty() || !asked.csv.empty() || !asked.plot.empty()) {
    Complain("--out, --csv and --plot are for simulated takeovers; --json goes with --on");
    refused = true;
  }
  if (refused) return cli::kBadInput;
  for (const TakeoverCase& measured : sim::CasesOf(cli::GridOf(asked)).cases) {
    for (const std::string& refusal :
         RefusalsOf(request.on, sim::TakeoverWorld(measured, asked.seed))) {
      Complain(Cat(measured.Text(), ": ", refusal));
      refused = true;
    }
  }
  return refused ? static_cast<int>(cli::kBadInput) : LiveTakeover(request).Run();
}

}  // namespace whorl::live
