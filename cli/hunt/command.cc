#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/exit_rules.h"
#include "cli/hunt/baseline.h"
#include "cli/hunt/checkpoint.h"
#include "cli/hunt/compare.h"
#include "cli/hunt/corpus.h"
#include "cli/hunt/draws.h"
#include "cli/hunt/merge.h"
#include "cli/hunt/options.h"
#include "cli/hunt/report.h"
#include "cli/hunt/save.h"
#include "cli/hunt/text.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/junit.h"
#include "cli/output.h"
#include "cli/shards/report_file.h"
#include "sim/judge/run.h"
#include "sim/scenario/waypoints.h"
#include "sim/scenario/writer.h"

namespace whorl::cli {
namespace {

using sim::BatchStep;
using Clock = std::chrono::steady_clock;

size_t FindingCount(const sim::HuntTallies& tallies) {
  size_t count = 0;
  for (const auto& [protocol, tally] : tallies) count += tally.findings.size();
  return count;
}

// Where a report goes: text or JSON lines to standard output, lines into a file, scenarios into a
// folder.
class Reporter {
 public:
  explicit Reporter(const HuntRequest& request) : request_(request) {}

  // What would fail at the end of all the work fails before it.
  absl::Status Prepare() {
    if (!request_.out.empty()) {
      if (absl::Status opened = file_.Open(request_.out); !opened.ok()) return opened;
    }
    if (absl::Status opened = junit_.Open(request_.junit_path); !opened.ok()) return opened;
    if (!request_.table_folder.empty()) scenarios_ = LoadInputs({request_.table_folder});
    if (!scenarios_.bad.empty()) {
      return absl::InvalidArgumentError(scenarios_.bad.front().errors.front());
    }
    return request_.save_folder.empty() ? absl::OkStatus() : MakeFolder(request_.save_folder);
  }

  // How the command ends. If one output cannot be written, the others get the report all the same.
  int Tell(const HuntReport& report, bool is_incomplete) {
    const std::string& folder = request_.save_folder;
    const CommandResult result = {.has_found = HasDecided(report, *request_.exits),
                                  .is_incomplete = is_incomplete};
    absl::Status done = SaveFindings(request_, report);
    if (request_.json || !request_.out.empty()) {
      const std::string lines = ReportLines(report, request_.command, folder);
      if (request_.json) std::cout << lines;
      if (!request_.out.empty()) {
        file_.stream() << lines;
        done.Update(file_.Commit());
      }
    }
    if (junit_.is_wanted()) {
      for (JunitTest& test : JunitTestsOf(report, *request_.exits, request_.command, folder)) {
        junit_.Add(std::move(test));
      }
    }
    done.Update(junit_.Commit(is_incomplete ? "runs that were asked for were not made" : ""));
    if (request_.goals) {
      PrintGoals(report, std::cout);
    } else if (!request_.table_folder.empty()) {
      PrintHuntTable(report, scenarios_, request_.table_folder, std::cout);
    } else if (!request_.json) {
      PrintHunt(report, *request_.exits, result, request_.command, folder, std::cout);
    }
    done.Update(FlushStdout());
    return EndJudged(done, *request_.exits, result);
  }

 private:
  const HuntRequest& request_;
  Inputs scenarios_;  // that a table links
  OutputFile file_;
  JunitFile junit_{"whorl hunt"};
};

class Hunter {
 public:
  explicit Hunter(const HuntRequest& request)
      : request_(request), reporter_(request), hunt_(request.hunt) {}

  int Run() {
    const SignalNotice notice;
    if (const absl::Status ready = reporter_.Prepare(); !ready.ok()) return End(ready);
    if (const absl::Status ready = digests_.Open(request_.digests); !ready.ok()) return End(ready);
    if (const absl::Status ready = OpenCorpus(); !ready.ok()) return End(ready);
    if (const absl::Status ready = OpenCheckpoint(); !ready.ok()) return End(ready);
    if (const absl::Status caught = CatchCanary(); !caught.ok()) return End(caught);
    if (const absl::Status begun = RunEntries(); !begun.ok()) return End(begun);
    if (const absl::Status hunted = HuntWorlds(); !hunted.ok()) return End(hunted);
    if (const absl::Status written = digests_.Commit(); !written.ok()) return End(written);
    const absl::Status saved = Save();
    const bool goes_on = checkpoint_.is_open() && saved.ok();
    if (goes_on && SignalNotice::HasCome()) return EndSaved();
    if (const absl::Status shrunk = Shrink(); !shrunk.ok()) return End(shrunk);
    if (goes_on && SignalNotice::HasCome()) return EndSaved();
    const bool is_incomplete =
        SignalNotice::HasCome() && !is_time_over_ &&
        static_cast<uint64_t>(sim::RunCount(tallies_)) < RunsOfShard(request_);
    const int code = reporter_.Tell(ReportOf(std::move(tallies_)), is_incomplete);
    return is_kept_ ? code : static_cast<int>(kCannotRun);
  }

 private:
  absl::Status OpenCorpus() {
    if (request_.corpus.empty()) return absl::OkStatus();
    learnt_.corpus.emplace();
    const absl::Status opened = corpus_.Open(request_.corpus, hunt_);
    began_with_ = corpus_.Hash();
    return opened;
  }

  absl::Status OpenCheckpoint() {
    if (request_.checkpoint.empty()) return absl::OkStatus();
    const HuntReport begun = ReportOf({});
    if (absl::Status opened = checkpoint_.Open(request_.checkpoint, begun); !opened.ok()) {
      return opened;
    }
    const HuntReport& read = checkpoint_.report();
    const auto done = static_cast<uint64_t>(sim::RunCount(read.tallies));
    if (done > 0) {
      tallies_ = read.tallies;
      last_ = read.last;
      learnt_.guides = read.guides;
      began_with_ = read.corpus;
      // Some may have been taken out since.
      hunt_.entries.worlds.insert(read.hunt.entries.worlds.begin(), read.hunt.entries.worlds.end());
      std::cerr << "going on after " << GroupedText(static_cast<int64_t>(done)) << " runs of "
                << Printable(request_.checkpoint, 1'000) << '\n';
    }
    // A place that cannot be written shows before the work.
    return checkpoint_.Write(SoFar());
  }

  // Hunts a known violation in worlds of its own: a hunt that does not find it proves nothing.
  absl::Status CatchCanary() const {
    if (request_.canary.empty() || SignalNotice::HasCome()) return absl::OkStatus();
    // Every few worlds of spindle_v2 break it.
    constexpr uint64_t kCanaryRuns = 500;
    sim::HuntOptions hunt;
    hunt.protocols = {request_.canary};
    hunt.seed = request_.hunt.seed;
    hunt.shard = request_.hunt.shard;
    hunt.shards = request_.hunt.shards;
    hunt.invariant = Invariant::kLeaseRespected;
    hunt.counts_kinds = false;
    sim::HuntTallies tallies;
    uint64_t runs = 0;
    const absl::Status status = sim::RunHunt(
        hunt, 0, kCanaryRuns, static_cast<int>(request_.jobs),
        [&](uint64_t done, const sim::RunDigest&, const sim::HuntTallies& so_far) {
          runs = done;
          return sim::FoundAnything(so_far) || SignalNotice::HasCome() ? BatchStep::kStop
                                                                       : BatchStep::kGoOn;
        },
        tallies);
    if (!status.ok() || SignalNotice::HasCome()) return status;
    const std::string text = Cat("the canary, lease_respected of ", request_.canary, ",");
    if (sim::FoundAnything(tallies)) {
      std::cerr << text << " was caught after "
                << CountText(static_cast<int64_t>(runs), "run", "runs") << '\n';
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(
        Cat("void: ", text, " was not caught in ", std::to_string(kCanaryRuns),
            " runs, so finding nothing would mean nothing; no report is written"));
  }

  // What is in the corpus comes first.
  absl::Status RunEntries() {
    const size_t count = hunt_.entries.worlds.size();
    if (count == 0 || SignalNotice::HasCome()) return absl::OkStatus();
    std::cerr << "the corpus has " << CountText(static_cast<int64_t>(count), "run", "runs") << '\n';
    return sim::RunEntries(hunt_, static_cast<int>(request_.jobs), sim::RunCount(tallies_) == 0,
                           tallies_, learnt_);
  }

  HuntReport ReportOf(sim::HuntTallies tallies) const {
    HuntReport report = MakeReport(hunt_, RunsAsked(request_), std::move(tallies));
    report.corpus = began_with_;
    return report;
  }

  HuntReport SoFar() const {
    HuntReport report = ReportOf(tallies_);
    report.last = last_;
    report.guides = learnt_.guides;
    return report;
  }

  // A failure is told. Runs whose worlds could not be kept are not in the checkpoint: a hunt that goes on
  // from there does them again.
  absl::Status Save() {
    const SaveTimes::Clock::time_point started = SaveTimes::Clock::now();
    absl::Status saved;
    if (corpus_.is_open()) saved = corpus_.Write(*learnt_.corpus);
    is_kept_ = saved.ok();
    if (is_kept_ && checkpoint_.is_open()) saved = checkpoint_.Write(SoFar());
    saves_.Saved(started);
    return saved;
  }

  int EndSaved() const {
    std::cerr << "interrupted: " << CountText(sim::RunCount(tallies_), "run is", "runs are")
              << " in " << Printable(request_.checkpoint, 1'000) << "; the same command goes on\n";
    return kInterrupted;
  }

  absl::Status HuntWorlds() {
    const Clock::time_point started = Clock::now();
    const auto before = static_cast<uint64_t>(sim::RunCount(tallies_));
    uint64_t runs = 0;
    Progress progress;
    const sim::HuntStep step = [&](uint64_t done, const sim::RunDigest& last,
                                   const sim::HuntTallies& so_far) {
      runs = done - before;
      digests_.Add(last);
      last_ = {.name = last.name, .hash = last.hash};
      // A guided hunt goes on from the ends of its generations.
      if (hunt_.guided && done % sim::Guide::kGeneration != 0) return BatchStep::kGoOn;
      if (saves_.IsDue()) Save().IgnoreError();  // it has told
      if (progress.IsDue()) {
        progress.Show(Cat(SpeedText(runs, SecondsSince(started)), ", ",
                          CountText(static_cast<int64_t>(FindingCount(so_far)), "kind of violation",
                                    "kinds of violations")));
      }
      return IsOver(started) ? BatchStep::kStop : BatchStep::kGoOn;
    };
    const auto jobs = static_cast<int>(request_.jobs);
    const absl::Status status =
        sim::RunHunt(hunt_, before, RunsOfShard(request_), jobs, step, tallies_, learnt_);
    Progress::Clear();
    std::cerr << SpeedText(runs, SecondsSince(started)) << '\n';
    return status;
  }

  bool IsOver(Clock::time_point started) {
    is_time_over_ =
        request_.time && Clock::now() - started >= std::chrono::nanoseconds(request_.time->ns);
    return is_time_over_ || SignalNotice::HasCome();
  }

  absl::Status Shrink() {
    const size_t count = FindingCount(tallies_);
    const bool is_told =
        (request_.table_folder.empty() && !request_.goals) || !request_.out.empty();
    if (count == 0 || !is_told || SignalNotice::HasCome()) return absl::OkStatus();
    const Clock::time_point started = Clock::now();
    Progress progress;
    const absl::Status status = sim::ShrinkFindings(
        hunt_, static_cast<int>(request_.jobs),
        [&](size_t done) {
          if (progress.IsDue()) {
            progress.Show(
                Cat(std::to_string(done), " of ", std::to_string(count), " findings shrunk"));
          }
          return SignalNotice::HasCome() ? BatchStep::kStop : BatchStep::kGoOn;
        },
        tallies_);
    Progress::Clear();
    std::cerr << CountText(static_cast<int64_t>(count), "finding", "findings") << " shrunk in "
              << FormatSeconds({static_cast<int64_t>(SecondsSince(started) * 1e9)}, 1) << " s\n";
    return status;
  }

  const HuntRequest& request_;
  Reporter reporter_;
  sim::HuntOptions hunt_;  // with the entries of its corpus
  DigestFile digests_;
  CorpusFolder corpus_;
  std::string began_with_;  // which entries, as a hash
  bool is_kept_ = true;     // the corpus has all that is worth it
  bool is_time_over_ = false;
  HuntCheckpoint checkpoint_;
  SaveTimes saves_;  // of corpus and checkpoint
  sim::HuntTallies tallies_;
  sim::GuidanceState learnt_;
  std::optional<RunMark> last_;  // of the runs in the tallies
};

absl::StatusOr<ReportFile> LoadReport(const std::string& path, bool accepts_partial) {
  std::ifstream stream;
  if (absl::Status opened = OpenInput(path, stream); !opened.ok()) return opened;
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  absl::StatusOr<HuntReport> report = ReadReport(text, path, accepts_partial);
  if (!report.ok()) return report.status();
  return ReportFile{.path = path, .report = *std::move(report)};
}

absl::StatusOr<HuntReport> LoadSum(const HuntRequest& request) {
  if (absl::Status other = CheckOutIsNoInput(request.merged, request.out); !other.ok()) {
    return other;
  }
  std::vector<ReportFile> files;
  for (const std::string& path : request.merged) {
    absl::StatusOr<ReportFile> file = LoadReport(path, request.partial);
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  absl::StatusOr<HuntReport> sum = SumOf(files);
  if (!sum.ok()) return sum;
  for (const ReportFile& file : files) {
    if (!file.report.is_partial) continue;
    Complain(Cat(Printable(file.path, 1'000), ": partial; merged what is there"));
  }
  return sum;
}

int Merge(const HuntRequest& request) {
  const absl::StatusOr<HuntReport> sum = LoadSum(request);
  if (!sum.ok()) {
    Complain(std::string(sum.status().message()));
    return absl::IsDataLoss(sum.status()) ? kExpectationFailed : kBadInput;
  }
  Reporter reporter(request);
  if (const absl::Status ready = reporter.Prepare(); !ready.ok()) return End(ready);
  return reporter.Tell(*sum, IsIncomplete(*sum));
}

// Takes in the corpus whose entry is to be shown.
absl::Status FindEntry(const HuntRequest& request, sim::HuntOptions& hunt) {
  const std::string& entry = request.shown_run->entry;
  if (request.corpus.empty()) {
    return absl::InvalidArgumentError(
        Cat(entry, " is an entry of a corpus; name its folder by --corpus"));
  }
  std::error_code error;
  if (!std::filesystem::is_directory(request.corpus, error)) {
    return absl::InvalidArgumentError(CannotRead(request.corpus, "it is no folder"));
  }
  CorpusFolder folder;
  if (absl::Status opened = folder.Open(request.corpus, hunt); !opened.ok()) return opened;
  if (hunt.entries.worlds.contains(entry)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat(Printable(request.corpus, 1'000), ": has no entry ", entry));
}

int Show(const HuntRequest& request) {
  sim::HuntOptions hunt = request.hunt;
  if (!request.shown_run->entry.empty()) {
    if (absl::Status found = FindEntry(request, hunt); !found.ok()) return End(found);
  }
  sim::Scenario world = sim::WorldOf(hunt, *request.shown_run);
  world.expect.faults_may_miss = true;  // it was drawn, and nobody has seen what its faults strike
  std::cout << sim::ScenarioText(world);
  return End(FlushStdout());
}

// Takes the waypoints; of a hunt around a scenario, those of the scenario if none is named. Complains, and
// returns false, if one cannot be meant.
bool TakeReach(HuntRequest& request) {
  sim::HuntOptions& hunt = request.hunt;
  std::vector<std::string_view> nodes;
  if (hunt.from) {
    for (const sim::NodeSpec& node : hunt.from->nodes) nodes.emplace_back(node.name);
    if (request.reach.empty()) hunt.reach = hunt.from->expect.reach;
  }
  for (const std::string& text : request.reach) {
    for (const std::string& protocol : hunt.protocols) {
      const auto parsed = sim::ParseWaypoint(text, nodes, FindProtocol(protocol));
      if (const auto* problem = std::get_if<std::string>(&parsed)) {
        Complain(Cat("--reach ", Quoted(text), ", of ", protocol, ": ", *problem));
        return false;
      }
      if (protocol == hunt.protocols.front()) hunt.reach.push_back(std::get<sim::Waypoint>(parsed));
    }
  }
  return true;
}

// Takes the scenario that the hunt starts from. Complains, and returns false, if it cannot.
bool TakeFrom(HuntRequest& request) {
  Inputs inputs = LoadInputs({request.from});
  for (const BadInput& bad : inputs.bad) {
    // Printed unchanged, so that an editor finds file and line.
    for (const std::string& error : bad.errors) std::cerr << error << '\n';
  }
  if (!inputs.bad.empty()) return false;
  if (inputs.scenarios.size() != 1) {
    Complain("--from takes one file, and this is a folder of several scenarios");
    return false;
  }
  sim::Scenario& scenario = inputs.scenarios.front();
  const sim::RunResult result = sim::RunScenario(scenario, scenario.seed, nullptr);
  if (!result.schedule_problem.empty()) {
    Complain(result.schedule_problem);  // which names the file
    return false;
  }
  request.hunt.protocols = {scenario.protocol};
  request.hunt.world.duration = scenario.duration;
  request.hunt.from = std::move(scenario);
  return true;
}

int RunHuntCommand(const CLI::App& app, HuntRequest request) {
  const std::vector<std::string> contradictions = Contradictions(app, request);
  for (const std::string& error : contradictions) Complain(error);
  if (!contradictions.empty()) return kBadInput;
  request.shard.Tell();
  if (!request.save_baseline.empty()) return SaveBaseline(request);
  if (!request.baseline.empty()) return CompareWithBaseline(app, request);
  if (!request.compared_commands.empty()) return CompareCommands(request);
  if (!request.from.empty() && !TakeFrom(request)) return kBadInput;
  if (request.compared.empty() && !TakeReach(request)) return kBadInput;
  if (!request.compared.empty()) {
    request.hunt.protocols = {request.compared[0]};
    request.hunt.beside = {request.compared[1]};
  }
  if (request.shown_run) return Show(request);
  if (request.draws) return PrintDraws(request);
  if (!request.compared.empty()) return Compare(request);
  if (!request.merged.empty()) return Merge(request);
  return Hunter(request).Run();
}

}  // namespace

SubCommand AddHuntCommand(CLI::App& root, const std::string& command) {
  CLI::App* app =
      root.add_subcommand("hunt", "Look for violations in drawn worlds, and shrink what is found");
  const auto request = std::make_shared<HuntRequest>();
  request->command = command;
  return {.app = app,
          .run = [app, request] { return RunHuntCommand(*app, *request); },
          .make_options = [app, request] { AddHuntOptions(*app, request); }};
}

}  // namespace whorl::cli
