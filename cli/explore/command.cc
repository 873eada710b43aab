#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/parse_duration.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/exit_rules.h"
#include "cli/explore/checkpoint.h"
#include "cli/explore/progress.h"
#include "cli/explore/report.h"
#include "cli/explore/request.h"
#include "cli/interrupt.h"
#include "cli/junit.h"
#include "cli/output.h"
#include "sim/explore/counterexample.h"
#include "sim/explore/engine/model_digest.h"
#include "sim/explore/engine/search.h"
#include "sim/explore/lock_model.h"
#include "sim/explore/memoized_model.h"
#include "sim/explore/prefix.h"
#include "sim/explore/wedge.h"
#include "sim/judge/checkers/setup.h"
#include "sim/report/json_print.h"
#include "sim/scenario/assumptions.h"

namespace whorl::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Result = explore::SearchResult<sim::Move>;
using Violation = explore::Violation<sim::Move>;

// States are whole worlds: limits and Ctrl-C are noticed after each thread has had this number of them.
constexpr size_t kRound = 256;
constexpr size_t kStatesOfDigest = 200;  // that a checkpoint tells worlds apart by

int FaultsMax(const sim::FaultBudget& budget) {
  return budget.crashes + budget.stops + budget.pauses + budget.losses + budget.aborts +
         budget.deletes + budget.announcements + budget.standing_clocks;
}

std::string TextOf(const std::optional<Duration>& time) {
  return time ? FormatDuration(*time) : "none";
}

class Explorer {
 public:
  explicit Explorer(ExploreRequest request)
      : request_(std::move(request)),
        model_(request_.space ? sim::LockModel(request_.space->scenario, request_.bounds)
                              : sim::LockModel(request_.world, request_.bounds)),
        promises_(sim::PromisesThroughout(model_.scenario())) {
    model_.SelectInvariants(Watched());
    if (request_.all) model_.TellKindsApart();
    if (request_.after_schedule) {
      sim::SchedulePrefix prefix = sim::PrefixOf(model_, request_.scenario);
      prefix_problem_ = std::move(prefix.problem);
      model_.BeginAfter(std::move(prefix.moves));
    }
  }

  int Run() {
    if (!prefix_problem_.empty()) {
      return End(absl::InvalidArgumentError(Cat(request_.scenario_path, ": ", prefix_problem_)));
    }
    OutputFile file;
    if (!request_.out.empty()) {
      if (const absl::Status opened = file.Open(request_.out); !opened.ok()) return End(opened);
    }
    JunitFile junit("whorl explore");
    if (const absl::Status opened = junit.Open(request_.junit_path); !opened.ok()) {
      return End(opened);
    }
    if (!request_.save_folder.empty()) {
      if (const absl::Status made = MakeFolder(request_.save_folder); !made.ok()) return End(made);
    }
    if (!request_.checkpoint.empty()) {
      const absl::Status opened = checkpoint_.Open(request_.checkpoint, Settings());
      if (!opened.ok()) return End(opened);
    }
    const absl::StatusOr<Result> searched = Search();
    if (!searched.ok()) return End(searched.status());
    ExploreReport report = {.request = request_,
                            .model = model_,
                            .watched = Watched(),
                            .promised = Promised(),
                            .result = *searched,
                            .findings = {}};
    report.findings = FindingsOf(report.result);
    report.loop_steps = loop_steps_;
    if (const absl::Status saved = Save(report.findings); !saved.ok()) return End(saved);
    if (request_.json || !request_.out.empty()) {
      const std::string text = sim::DumpJson(ExploredDocument(report), 2) + "\n";
      if (request_.json) std::cout << text;
      if (!request_.out.empty()) {
        file.stream() << text;
        if (const absl::Status written = file.Commit(); !written.ok()) return End(written);
      }
    }
    const explore::Ending ending = report.result.ending;
    const CommandResult result = {
        .has_found = AnyDecides(report.findings, true),
        .has_failed = AnyDecides(report.findings, false),
        .is_incomplete = ending == explore::Ending::kMemory || ending == explore::Ending::kStopped};
    if (!request_.json) PrintExplored(report, CodeOf(*request_.exits, result));
    if (junit.is_wanted()) {
      for (JunitTest& test : JunitTestsOf(report)) junit.Add(std::move(test));
    }
    absl::Status done = junit.Commit(result.is_incomplete ? "the search was not complete" : "");
    done.Update(FlushStdout());
    done.Update(checkpoint_.status());
    return EndJudged(done, *request_.exits, result);
  }

 private:
  // What the exact replay did not confirm is neither found nor held.
  static bool AnyDecides(const std::vector<ExploreFinding>& findings, bool confirmed) {
    return std::ranges::any_of(findings, [confirmed](const ExploreFinding& finding) {
      return finding.decides && finding.found.is_confirmed == confirmed;
    });
  }

  uint32_t Watched() const {
    uint32_t watched = 0;
    for (const Invariant invariant : AllOf<Invariant>()) {
      if (invariant == Invariant::kNoWedge && !JudgesWedges()) continue;
      if (!IsExplored(invariant)) continue;
      if (request_.invariant && *request_.invariant != invariant) continue;
      if (PromiseOf(invariant) == Promise::kNotApplicable) continue;
      if (request_.promised_only && PromiseOf(invariant) != Promise::kPromised) continue;
      watched |= BitOf(invariant);
    }
    return watched;
  }
  uint32_t Promised() const {
    uint32_t promised = 0;
    for (const Invariant invariant : AllOf<Invariant>()) {
      if (PromiseOf(invariant) == Promise::kPromised) promised |= BitOf(invariant);
    }
    return promised;
  }
  // No state shows it, but only a loop of them: a search of another kind.
  bool JudgesWedges() const { return request_.invariant == Invariant::kNoWedge; }
  Promise PromiseOf(Invariant invariant) const { return promises_[static_cast<size_t>(invariant)]; }

  // What another search has to have in common with this one, or its checkpoint is of no use here.
  explore::Settings Settings() const {
    const sim::ExploreWorld& world = request_.world;
    const sim::ExploreBounds& bounds = request_.bounds;
    const auto number = [](int64_t n) { return std::to_string(n); };
    const auto yes = [](bool is_so) { return std::string(is_so ? "yes" : "no"); };
    const explore::Key128 worlds = explore::DigestOf(model_, kStatesOfDigest);
    return {{"--protocol", world.protocol},
            {"--processes", number(world.processes)},
            {"--locks", number(world.locks)},
            {"--lease", FormatDuration(world.lease)},
            {"--constants", world.grid_constants ? "grid" : "shipped"},
            {"--strict-pending-commit-timestamp",
             std::string(WordOf(world.strict_pending_commit_timestamp))},
            {"--epsilon", FormatDuration(bounds.clocks.truetime)},
            {"--current-timestamp-error", FormatDuration(bounds.clocks.current_timestamp)},
            {"--drift", number(bounds.clocks.rate_ppm)},
            {"--crashes", number(bounds.faults.crashes)},
            {"--stops", number(bounds.faults.stops)},
            {"--pauses", number(bounds.faults.pauses)},
            {"--losses", number(bounds.faults.losses)},
            {"--aborts", number(bounds.faults.aborts)},
            {"--deletes", number(bounds.faults.deletes)},
            {"--announcements", number(bounds.faults.announcements)},
            {"--standing-clocks", number(bounds.faults.standing_clocks)},
            {"--announce", yes(world.announces_releases)},
            {"--use", std::string(WordOf(world.use))},
            {"--deadline", TextOf(world.deadline)},
            {"--hold-for", TextOf(world.hold_for)},
            {"--lock-again", TextOf(world.lock_again)},
            {"--commit-timeout", TextOf(world.commit_timeout)},
            {"--grid", FormatDuration(bounds.grid)},
            {"--delay", number(bounds.delay)},
            {"--longest-pause", FormatDuration(bounds.longest_pause)},
            {"--start-within", FormatDuration(bounds.start_within)},
            {"--horizon", TextOf(bounds.horizon)},
            {"invariants", NamesOf(Watched())},
            {"--first", yes(request_.first_only)},
            {"--all", yes(request_.all)},
            {"symmetry", yes(model_.symmetry() != nullptr)},
            {"--plain", yes(request_.plain)},
            {"--after-schedule", yes(request_.after_schedule)},
            {"--scenario", request_.scenario_path.empty() ? "none" : request_.scenario_path},
            {"worlds of digest", HashText(worlds.high) + HashText(worlds.low)}};
  }

  absl::StatusOr<Result> Search() {
    const SignalNotice notice;
    const Clock::time_point started = Clock::now();
    Progress shown;
    ExploreProgress progress(FaultsMax(request_.bounds.faults));
    explore::SearchOptions options;
    options.jobs = static_cast<int>(request_.jobs);
    options.max_bytes = request_.memory_mib << 20;
    options.watched = Watched();
    options.round = kRound;
    options.stop_at_violation = request_.first_only;
    options.each_kind = request_.all;
    options.progress = [&](const explore::Progress& now) {
      progress.Add(now);
      if (shown.IsDue()) shown.Show(progress.Text());
      if (SignalNotice::HasCome()) return explore::Continue::kNo;
      return checkpoint_.IsDue() ? explore::Continue::kSave : explore::Continue::kYes;
    };
    if (checkpoint_.is_open()) {
      options.save = [this](const explore::SearchRecord& record,
                            const explore::WaitingLinks& waiting) {
        checkpoint_.Write(record, waiting, {});
      };
    }
    std::optional<explore::Checkpoint> from = checkpoint_.Take();
    const bool goes_on = from.has_value();
    if (goes_on) {
      const uint64_t states = from->record.known.visited.size();
      Complain(
          Cat(checkpoint_.path(), ": ",
              from->waiting.states() == 0
                  ? "has ended: this is its result"
                  : "goes on from " + CountText(static_cast<int64_t>(states), "state", "states")));
    }
    absl::StatusOr<Result> result;
    try {
      result = JudgesWedges() ? SearchForWedge(options, std::move(from))
                              : sim::ExploreLocks(
                                    model_, options, std::move(from),
                                    request_.plain ? sim::Steps::kTaken : sim::Steps::kRemembered);
    } catch (const explore::BadCheckpoint& error) {
      return absl::InvalidArgumentError(Cat(checkpoint_.path(), ": ", error.what()));
    }
    Progress::Clear();
    const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
    std::cerr << CountsText(*result) << " in "
              << FormatSeconds({static_cast<int64_t>(seconds * 1e9)}, 1) << " s, at most "
              << GroupedText(static_cast<int64_t>(result->peak_bytes >> 20)) << " MiB\n";
    const bool has_ended = result->ending == explore::Ending::kComplete ||
                           result->ending == explore::Ending::kViolation;
    if (!has_ended && (goes_on || checkpoint_.is_written())) {
      std::cerr << "the same command goes on from " << checkpoint_.path() << '\n';
    }
    return result;
  }

  // The way to the loop is the violation.
  Result SearchForWedge(const explore::SearchOptions& options,
                        std::optional<explore::Checkpoint> from) {
    explore::SaveLasso save;
    if (checkpoint_.is_open()) {
      save = [this](const explore::SearchRecord& record, const explore::WaitingLinks& waiting,
                    const explore::BadGraph& bad) { checkpoint_.Write(record, waiting, bad); };
    }
    auto found = sim::FindWedge(model_, options, std::move(save), std::move(from));
    if (found.lasso) {
      constexpr auto kProperty = static_cast<int>(Invariant::kNoWedge);
      loop_steps_ = found.lasso->loop.size();
      found.search.violating[kProperty] = found.bad_states;
      found.search.violations.push_back({.property = kProperty,
                                         .kind = 0,
                                         .faults = found.lasso->faults,
                                         .path = std::move(found.lasso->stem)});
    }
    return std::move(found.search);
  }

  std::vector<ExploreFinding> FindingsOf(const Result& result) const {
    std::vector<ExploreFinding> findings;
    for (const Violation& violation : result.violations) {
      const auto invariant = static_cast<Invariant>(violation.property);
      sim::Counterexample found = sim::CounterexampleOf(model_, violation);
      // The exact run says whether the promise was void at that moment.
      const Promise promise =
          found.is_confirmed ? found.run.checks[invariant].promise : PromiseOf(invariant);
      const bool promised = promise == Promise::kPromised;
      findings.push_back(
          {.invariant = invariant,
           .violation = &violation,
           .states = result.violating[static_cast<size_t>(violation.property)],
           .promised = promised,
           .decides = request_.exits->Decides({.invariant = invariant, .is_promised = promised}),
           .found = std::move(found),
           .saved = {}});
    }
    // Of two kinds, one may be the other one and a fault that it does not need.
    std::vector<ExploreFinding> minimal;
    for (const bool decides : {true, false}) {
      for (const ExploreFinding& finding : findings) {
        const bool needs_more = std::ranges::any_of(findings, [&](const ExploreFinding& other) {
          return other.invariant == finding.invariant && sim::NeedsLess(other.found, finding.found);
        });
        if (finding.decides == decides && !needs_more) minimal.push_back(finding);
      }
    }
    return minimal;
  }

  // One that the exact replay does not confirm is no scenario of a violation.
  absl::Status Save(std::vector<ExploreFinding>& findings) const {
    if (request_.save_folder.empty()) return absl::OkStatus();
    for (ExploreFinding& finding : findings) {
      if (!finding.found.is_confirmed) continue;
      const absl::StatusOr<std::string> path =
          SaveCounterexample(finding.found.scenario, request_.save_folder);
      if (!path.ok()) return path.status();
      finding.saved = *path;
    }
    return absl::OkStatus();
  }

  const ExploreRequest request_;
  sim::LockModel model_;
  const std::array<Promise, kCountOf<Invariant>> promises_;
  CheckpointFile checkpoint_;
  std::string prefix_problem_;
  size_t loop_steps_ = 0;  // the length of the loop that SearchForWedge found
};

int RunExplore(const CLI::App& app, ExploreRequest request) {
  if (!CompleteRequest(app, request)) return kBadInput;
  return Explorer(std::move(request)).Run();
}

}  // namespace

SubCommand AddExploreCommand(CLI::App& root, const std::string& command) {
  CLI::App* app = root.add_subcommand("explore", "Try every schedule of a protocol within bounds");
  const auto request = std::make_shared<ExploreRequest>();
  request->command = command;
  return {.app = app,
          .run = [app, request] { return RunExplore(*app, *request); },
          .make_options = [app, request] { AddExploreOptions(*app, request); }};
}

}  // namespace whorl::cli
