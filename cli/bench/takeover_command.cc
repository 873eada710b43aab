#include "cli/bench/takeover_command.h"

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/bench/page.h"
#include "cli/bench/takeover_options.h"
#include "cli/bench/takeover_plot.h"
#include "cli/bench/takeover_report.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/page.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/number_text.h"

namespace whorl::cli {
namespace {

using sim::BatchStep;
using sim::Cat;
using Clock = std::chrono::steady_clock;

// A file to write, and its content.
struct Wanted {
  const std::string* path;
  std::string (*text)(const TakeoverReport& report);
  OutputFile file;
};

class TakeoverBench {
 public:
  explicit TakeoverBench(const TakeoverRequest& request)
      : request_(request), cases_(sim::CasesOf(GridOf(request))) {
    report_.options = {.seed = request.seed, .runs = request.runs};
    report_.left_out = cases_.left_out;
  }

  int Run() {
    const SignalNotice notice;
    if (const absl::Status ready = OpenFiles(); !ready.ok()) return End(ready);
    if (const absl::Status measured = Measure(); !measured.ok()) return End(measured);
    if (const absl::Status written = WriteFiles(); !written.ok()) return End(written);
    if (request_.json) {
      std::cout << TakeoverLines(report_);
    } else {
      PrintTakeovers(report_, std::cout);
    }
    return End(FlushStdout());
  }

 private:
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

  absl::Status WriteFiles() {
    for (Wanted& wanted : files_) {
      if (wanted.path->empty()) continue;
      wanted.file.stream() << wanted.text(report_);
      if (absl::Status written = wanted.file.Commit(); !written.ok()) return written;
    }
    return absl::OkStatus();
  }

  absl::Status Measure() {
    const Clock::time_point started = Clock::now();
    Progress progress;
    absl::Status status;
    for (size_t i = 0; i < cases_.cases.size() && status.ok() && !report_.interrupted; ++i) {
      status = MeasureOne(i, progress);
    }
    Progress::Clear();
    const std::chrono::duration<double> seconds = Clock::now() - started;
    // On standard error, since the time differs from run to run.
    std::cerr << sim::CountText(static_cast<int64_t>(runs_), "run", "runs") << " in "
              << sim::SecondsText({static_cast<int64_t>(seconds.count() * 1e9)}, 1) << " s\n";
    return status;
  }

  absl::Status MeasureOne(size_t i, Progress& progress) {
    const sim::TakeoverCase& measured = cases_.cases[i];
    sim::TakeoverResult result;
    const absl::Status status = MeasureCase(
        report_.options, measured, static_cast<int>(request_.Jobs()),
        [&](uint64_t runs) {
          if (progress.IsDue()) {
            progress.Show(Cat(std::to_string(i), " of ", std::to_string(cases_.cases.size()),
                              " cases; ", measured.Text(), ": ", std::to_string(runs), " runs"));
          }
          return SignalNotice::HasCome() ? BatchStep::kStop : BatchStep::kGoOn;
        },
        result);
    runs_ += result.runs;
    report_.interrupted = SignalNotice::HasCome() && i + 1 < cases_.cases.size();
    report_.results.push_back(std::move(result));
    return status;
  }

  const TakeoverRequest& request_;
  const sim::TakeoverCases cases_;
  TakeoverReport report_;
  uint64_t runs_ = 0;
  Wanted files_[4] = {{&request_.out, TakeoverLines, {}},
                      {&request_.csv, TakeoverCsv, {}},
                      {&request_.plot, TakeoverPlot, {}},
                      {&request_.html, TakeoverPage, {}}};
};

int RunTakeoverCommand(const TakeoverRequest& request) {
  const std::vector<std::string> contradictions = Contradictions(request);
  for (const std::string& error : contradictions) Complain(error);
  if (!contradictions.empty()) return kBadInput;
  return TakeoverBench(request).Run();
}

}  // namespace

SubCommand AddTakeoverCommand(CLI::App& bench, const GrpcCommands& grpc) {
  CLI::App* app =
      bench.add_subcommand("takeover", "Measure how long it takes until another process leads");
  const auto request = std::make_shared<TakeoverRequest>();
  AddTakeoverOptions(*app, request);
  return {.app = app, .run = [request, on = grpc.takeover_on] {
            return request->on.has_value() ? on(*request) : RunTakeoverCommand(*request);
          }};
}

}  // namespace whorl::cli
