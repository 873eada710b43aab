#include "cli/replay/run.h"

#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/version.h"
#include "sim/report/explain.h"
#include "sim/report/jepsen.h"
#include "sim/report/needed_faults.h"
#include "sim/report/page_model.h"
#include "sim/report/perfetto.h"
#include "sim/report/sequence_diagram.h"
#include "sim/report/trace.h"

namespace whorl::cli {
namespace {

class Listeners : public sim::ObservationSink {
 public:
  void Add(sim::ObservationSink* sink) {
    if (sink != nullptr) sinks_.push_back(sink);
  }
  // Null if there are no listeners.
  sim::ObservationSink* get() { return sinks_.empty() ? nullptr : this; }

  void Hear(const sim::Observation& observation, uint64_t ordinal, uint64_t hash) override {
    for (sim::ObservationSink* sink : sinks_) sink->Hear(observation, ordinal, hash);
  }

 private:
  std::vector<sim::ObservationSink*> sinks_;
};

// A listener's file, which appears only after the whole run was written; none if the path is empty.
template <typename Writer>
class ListenersFile {
 public:
  ListenersFile(const std::string& path, const RunRequest& request) {
    if (path.empty()) return;
    status_ = file_.Open(path);
    if (!status_.ok()) return;
    writer_.emplace(file_.stream(), *request.scenario, request.seed, kVersion);
  }

  sim::ObservationSink* writer() { return writer_.has_value() ? &*writer_ : nullptr; }
  absl::Status Finish() { return writer_.has_value() ? file_.Commit() : status_; }

 private:
  OutputFile file_;
  absl::Status status_;
  std::optional<Writer> writer_;
};

// Of the first violation, or the first one of `wanted`; nothing if there is none.
std::optional<sim::Decision> DecisionOf(const RunRequest& request, const sim::RunResult& result,
                                        std::optional<Invariant> wanted) {
  const sim::InvariantResult* violated = sim::FirstViolated(result.checks, wanted);
  if (violated == nullptr) return std::nullopt;
  return sim::DecisionOf(*request.scenario, result, violated->invariant,
                         {.threads = request.threads});
}

// The page of the run, whose file is opened before the run so that an error shows before the work.
class PageFile {
 public:
  explicit PageFile(const RunRequest& request) : request_(request) {
    if (request.html_path.empty()) return;
    status_ = file_.Open(request.html_path);
    if (status_.ok()) model_.emplace(*request.scenario);
  }

  sim::ObservationSink* model() { return model_.has_value() ? &*model_ : nullptr; }
  absl::Status Finish(const sim::RunResult& result) {
    if (!model_.has_value()) return status_;
    const sim::Story story = sim::Explain(*request_.scenario, result);
    sim::PageModel::Data data = model_->Finish(
        result, story, {.whorl_version = kVersion, .command = request_.page_command, .on = {}});
    if (const auto decision = DecisionOf(request_, result, std::nullopt)) {
      data.head["decision"] = sim::DecisionJson(*decision);
    }
    WritePage(PageKind::kRun, data.head, data.bytes, file_.stream());
    return file_.Commit();
  }

 private:
  const RunRequest& request_;
  OutputFile file_;
  absl::Status status_;
  std::optional<sim::PageModel> model_;
};

// Shows how far a run is, and ends one that would take too many events.
class LengthWatch final : public sim::RunWatch {
 public:
  explicit LengthWatch(const RunRequest& request)
      : request_(request), started_(std::chrono::steady_clock::now()) {}

  bool GoesOn(sim::Instant at, uint64_t events) override {
    // The first events, which start the processes, say nothing about the rest.
    constexpr uint64_t kEnoughToTell = 100'000;
    constexpr double kManyEvents = 1e9;
    const double share = static_cast<double>(at.ns) / Whole();
    const double in_all = static_cast<double>(events) / share;
    if (!request_.unlimited && events > kEnoughToTell && in_all > kManyEvents) {
      refused_ =
          Cat("would take about ", GroupedText(std::llround(in_all / 1e6)), " million events, and ",
              Left(share), " on this machine; ", "--unlimited runs it all the same");
      return false;
    }
    if (request_.progress != nullptr && request_.progress->IsDue()) {
      request_.progress->Show(Cat(FormatSeconds({at.ns}, 0), " of ",
                                  FormatSeconds(request_.scenario->duration, 0), " s simulated, ",
                                  Left(share), " left"));
    }
    return true;
  }

  const std::string& refused() const { return refused_; }

 private:
  double Whole() const { return static_cast<double>(request_.scenario->duration.ns); }
  std::string Left(double share) const {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    return FormatDuration(Seconds(std::llround(seconds / share * (1 - share))));
  }

  const RunRequest& request_;
  std::chrono::steady_clock::time_point started_;
  std::string refused_;
};

}  // namespace

RunOutcome RunOnce(const RunRequest& request) {
  const sim::Scenario& scenario = *request.scenario;
  RunOutcome outcome;
  ListenersFile<sim::TraceWriter> trace(request.trace_path, request);
  ListenersFile<sim::PerfettoWriter> picture(request.perfetto_path, request);
  sim::Recording recording;
  Listeners listeners;
  listeners.Add(trace.writer());
  listeners.Add(picture.writer());
  ListenersFile<sim::JepsenWriter> history(request.jepsen_path, request);
  listeners.Add(history.writer());
  PageFile page(request);
  listeners.Add(page.model());
  if (request.timeline) outcome.timeline = std::make_unique<sim::Timeline>(scenario);
  listeners.Add(outcome.timeline.get());
  std::optional<sim::SequenceDiagram> diagram;
  if (request.mermaid) listeners.Add(&diagram.emplace(scenario));
  if (request.check_determinism) listeners.Add(&recording);

  const auto started = std::chrono::steady_clock::now();
  LengthWatch watch(request);
  auto result = sim::RunScenario(scenario, request.seed, listeners.get(), watch);
  if (!result) {
    outcome.refused = watch.refused();
    return outcome;
  }
  outcome.result = *std::move(result);
  outcome.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  outcome.written = trace.Finish();
  outcome.written.Update(picture.Finish());
  outcome.written.Update(history.Finish());
  outcome.written.Update(page.Finish(outcome.result));
  if (diagram.has_value()) outcome.mermaid = diagram->Text(outcome.result);
  if (request.explain) {
    outcome.story = sim::Explain(scenario, outcome.result, request.explained);
    const sim::InvariantResult* violated =
        sim::FirstViolated(outcome.result.checks, request.explained);
    if (request.decides && violated != nullptr) {
      outcome.needed_faults = sim::NeededFaultsText(scenario, outcome.result, violated->invariant);
      outcome.decision = DecisionOf(request, outcome.result, request.explained);
    }
  }
  if (request.check_determinism) {
    sim::Comparison comparison(recording, scenario);
    const sim::RunResult second = sim::RunScenario(scenario, request.seed, &comparison);
    outcome.difference = comparison.Finish(second == outcome.result);
  }
  return outcome;
}

absl::Status WritePageOf(const sim::Scenario& scenario, const std::string& command,
                         const std::string& path, int threads) {
  return RunOnce({.scenario = &scenario,
                  .seed = scenario.seed,
                  .html_path = path,
                  .page_command = command,
                  .threads = threads,
                  .unlimited = true})
      .written;
}

}  // namespace whorl::cli
