#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/text.h"
#include "cli/bench/cost_options.h"
#include "cli/bench/cost_text.h"
#include "cli/bench/page.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/page.h"
#include "sim/judge/batch.h"
#include "sim/measure/cost_report.h"
#include "sim/measure/cost_tradeoff.h"

namespace whorl::cli {
namespace {

using sim::BatchStep;

class CostBench {
 public:
  explicit CostBench(const CostRequest& request) : request_(request) {}

  int Run() {
    const SignalNotice notice;
    // Opens the output before the work, so that an error shows before it rather than after.
    if (const absl::Status opened = Open(request_.out, lines_); !opened.ok()) return End(opened);
    if (const absl::Status opened = Open(request_.csv, csv_); !opened.ok()) return End(opened);
    if (!request_.html.empty()) {
      if (const absl::Status missing = PagesMissing(); !missing.ok()) return End(missing);
    }
    if (const absl::Status opened = Open(request_.html, page_); !opened.ok()) return End(opened);
    sim::CostReport report;
    Progress progress;
    const absl::Status measured = sim::MeasureCostReport(
        request_.cost, static_cast<int>(request_.jobs),
        [&](size_t done, size_t all) {
          if (progress.IsDue()) {
            progress.Show(Cat(GroupedText(static_cast<int64_t>(done)), " of ",
                              CountText(static_cast<int64_t>(all), "run", "runs")));
          }
          return SignalNotice::HasCome() ? BatchStep::kStop : BatchStep::kGoOn;
        },
        report);
    if (!measured.ok()) return End(measured);
    std::vector<sim::Tradeoff> tradeoffs = sim::TradeoffsOf(report);
    if (const absl::Status joined = Join(progress, tradeoffs); !joined.ok()) return End(joined);
    Progress::Clear();
    if (SignalNotice::HasCome()) report.interrupted = true;
    return Tell(report, tradeoffs);
  }

 private:
  absl::Status Join(Progress& progress, std::vector<sim::Tradeoff>& tradeoffs) const {
    if (request_.takeovers == 0 || SignalNotice::HasCome()) return absl::OkStatus();
    int64_t done = 0;
    return sim::MeasureTakeovers(
        request_.cost, request_.takeovers, static_cast<int>(request_.jobs),
        [&] {
          ++done;
          if (progress.IsDue()) progress.Show(CountText(done, "takeover", "takeovers"));
          return SignalNotice::HasCome() ? BatchStep::kStop : BatchStep::kGoOn;
        },
        tradeoffs);
  }

  static absl::Status Open(const std::string& path, OutputFile& file) {
    return path.empty() ? absl::OkStatus() : file.Open(path);
  }

  // If one output cannot be written, the others get theirs all the same.
  int Tell(const sim::CostReport& report, const std::vector<sim::Tradeoff>& tradeoffs) {
    absl::Status done;
    if (!request_.out.empty()) {
      PrintCostLines(report, tradeoffs, lines_.stream());
      done.Update(lines_.Commit());
    }
    if (!request_.csv.empty()) {
      PrintCostCsv(report, csv_.stream());
      done.Update(csv_.Commit());
    }
    if (!request_.html.empty()) {
      page_.stream() << CostPage(report, tradeoffs);
      done.Update(page_.Commit());
    }
    if (request_.json) {
      PrintCostLines(report, tradeoffs, std::cout);
    } else {
      PrintCost(report, tradeoffs, request_.markdown, std::cout);
    }
    done.Update(FlushStdout());
    return End(done);
  }

  const CostRequest& request_;
  OutputFile lines_;
  OutputFile csv_;
  OutputFile page_;
};

int RunCostCommand(const CostRequest& request) {
  const std::vector<std::string> contradictions = Contradictions(request);
  for (const std::string& error : contradictions) Complain(error);
  return contradictions.empty() ? CostBench(request).Run() : static_cast<int>(kBadInput);
}

}  // namespace

SubCommand AddCostCommand(CLI::App& bench) {
  CLI::App* app = bench.add_subcommand("cost", "Measure what a lock costs to keep");
  const auto request = std::make_shared<CostRequest>();
  AddCostOptions(*app, request);
  return {.app = app, .run = [request] { return RunCostCommand(*request); }};
}

}  // namespace whorl::cli
