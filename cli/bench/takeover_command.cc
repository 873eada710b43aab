#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/bench/page.h"
#include "cli/bench/takeover_options.h"
#include "cli/bench/takeover_report.h"
#include "cli/bench/takeover_shards.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/shards/coverage.h"
#include "cli/shards/report_file.h"

namespace whorl::cli {
namespace {

using sim::BatchStep;
using Clock = std::chrono::steady_clock;

// A file to write, and its content.
struct Wanted {
  const std::string* path;
  std::string (*text)(const TakeoverReport& report);  // null: the lines for programs
  OutputFile file;
};

// Where the report goes: text or JSON to standard output, and files.
class TakeoverOutput {
 public:
  explicit TakeoverOutput(const TakeoverRequest& request) : request_(request) {}

  // Opens the output before the work, so that an error shows before it rather than after.
  absl::Status OpenFiles() {
    if (!request_.html.empty()) {
      if (absl::Status missing = PagesMissing(); !missing.ok()) return missing;
    }
    for (Wanted& wanted : files_) {
      if (wanted.path->empty()) continue;
      if (absl::Status opened = wanted.file.Open(*wanted.path); !opened.ok()) return opened;
    }
    return absl::OkStatus();
  }

  // `lines`: the report for programs. If one output cannot be written, the others get theirs all the same.
  int Tell(const TakeoverReport& report, const std::string& lines, std::string_view missing) {
    absl::Status done = WriteFiles(report, lines);
    if (request_.json) {
      std::cout << lines;
    } else {
      PrintTakeovers(report, std::cout);
      if (!missing.empty()) {
        std::cout << CountText(static_cast<int64_t>(report.results.size()), "case", "cases")
                  << missing << '\n';
      }
    }
    done.Update(FlushStdout());
    return End(done);
  }

 private:
  // The first error, if there is one.
  absl::Status WriteFiles(const TakeoverReport& report, const std::string& lines) {
    absl::Status done;
    for (Wanted& wanted : files_) {
      if (wanted.path->empty()) continue;
      wanted.file.stream() << (wanted.text == nullptr ? lines : wanted.text(report));
      done.Update(wanted.file.Commit());
    }
    return done;
  }

  const TakeoverRequest& request_;
  Wanted files_[3] = {{&request_.out, nullptr, {}},
                      {&request_.csv, TakeoverCsv, {}},
                      {&request_.html, TakeoverPage, {}}};
};

class TakeoverBench {
 public:
  explicit TakeoverBench(const TakeoverRequest& request)
      : request_(request), output_(request), cases_(sim::CasesOf(GridOf(request))) {
    report_.options = {.seed = request.seed, .runs = request.runs};
    report_.left_out = cases_.left_out;
  }

  int Run() {
    const SignalNotice notice;
    if (const absl::Status ready = output_.OpenFiles(); !ready.ok()) return End(ready);
    const Shard& shard = request_.shard;
    if (shard.is_given) {
      places_ = CasesOfShard(cases_, request_.seed, shard.shard, shard.shards);
    } else {
      places_.resize(cases_.cases.size());
      std::iota(places_.begin(), places_.end(), size_t{0});
    }
    if (const absl::Status measured = Measure(); !measured.ok()) return End(measured);
    if (!shard.is_given) return output_.Tell(report_, TakeoverLines(report_), "");
    const TakeoverShard part = PartDone();
    return output_.Tell(ReportOf(part), TakeoverShardText(part),
                        MissingText(part.coverage, cases_.cases.size(), "cases"));
  }

 private:
  absl::Status Measure() {
    const Clock::time_point started = Clock::now();
    Progress progress;
    absl::Status status;
    for (size_t i = 0; i < places_.size() && status.ok() && !report_.interrupted; ++i) {
      status = MeasureOne(i, progress);
    }
    Progress::Clear();
    const std::chrono::duration<double> seconds = Clock::now() - started;
    // On standard error, since the time differs from run to run.
    std::cerr << CountText(static_cast<int64_t>(runs_), "run", "runs") << " in "
              << FormatSeconds({static_cast<int64_t>(seconds.count() * 1e9)}, 1) << " s\n";
    return status;
  }

  absl::Status MeasureOne(size_t i, Progress& progress) {
    const sim::TakeoverCase& measured = cases_.cases[places_[i]];
    sim::TakeoverResult result;
    const absl::Status status = MeasureCase(
        report_.options, measured, static_cast<int>(request_.Jobs()),
        [&](uint64_t runs) {
          if (progress.IsDue()) {
            progress.Show(Cat(std::to_string(i), " of ", std::to_string(places_.size()), " cases; ",
                              measured.Text(), ": ", std::to_string(runs), " runs"));
          }
          return SignalNotice::HasCome() ? BatchStep::kStop : BatchStep::kGoOn;
        },
        result);
    runs_ += result.runs;
    report_.interrupted = SignalNotice::HasCome() && i + 1 < places_.size();
    report_.results.push_back(std::move(result));
    return status;
  }

  // The cases that were measured to their end: another report has to be able to add the others.
  TakeoverShard PartDone() const {
    TakeoverShard part{.grid = GridOf(request_), .options = report_.options};
    for (size_t i = 0; i < report_.results.size(); ++i) {
      if (!report_.results[i].interrupted) part.results[places_[i]] = report_.results[i];
    }
    part.coverage = {.shards = request_.shard.shards,
                     .runs = {{request_.shard.shard, part.results.size()}}};
    return part;
  }

  const TakeoverRequest& request_;
  TakeoverOutput output_;
  const sim::TakeoverCases cases_;
  std::vector<size_t> places_;  // of the cases to measure, in that order
  TakeoverReport report_;       // whose results are those of the first places
  uint64_t runs_ = 0;
};

int MergeTakeovers(const TakeoverRequest& request) {
  if (const absl::Status other = CheckOutIsNoInput(request.merged, request.out); !other.ok()) {
    return End(other);
  }
  const absl::StatusOr<TakeoverShard> sum = LoadTakeovers(request.merged);
  if (!sum.ok()) {
    Complain(std::string(sum.status().message()));
    return absl::IsDataLoss(sum.status()) ? kExpectationFailed : kBadInput;
  }
  TakeoverOutput output(request);
  if (const absl::Status ready = output.OpenFiles(); !ready.ok()) return End(ready);
  const TakeoverReport report = ReportOf(*sum);
  // A report of a part is to be merged with the others.
  const std::string lines = sum->IsWhole() ? TakeoverLines(report) : TakeoverShardText(*sum);
  return output.Tell(report, lines, MissingText(sum->coverage, sum->CaseCount(), "cases"));
}

int RunTakeoverCommand(const CLI::App& app, const TakeoverRequest& request) {
  std::vector<std::string> contradictions = Contradictions(request);
  if (!request.merged.empty()) {
    const auto others = NotBeside(app, "--merge", {"--json", "--out", "--csv", "--html"});
    contradictions.insert(contradictions.end(), others.begin(), others.end());
  }
  for (const std::string& error : contradictions) Complain(error);
  if (!contradictions.empty()) return kBadInput;
  request.shard.Tell();
  return request.merged.empty() ? TakeoverBench(request).Run() : MergeTakeovers(request);
}

}  // namespace

SubCommand AddTakeoverCommand(CLI::App& bench, const GrpcCommands& grpc) {
  CLI::App* app =
      bench.add_subcommand("takeover", "Measure how long it takes until another process leads");
  const auto request = std::make_shared<TakeoverRequest>();
  AddTakeoverOptions(*app, request);
  return {.app = app, .run = [app, request, on = grpc.takeover_on] {
            return request->on.has_value() ? on(*request) : RunTakeoverCommand(*app, *request);
          }};
}

}  // namespace whorl::cli
