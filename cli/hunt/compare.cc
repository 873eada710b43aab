#include "cli/hunt/compare.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/text.h"
#include "cli/exit_rules.h"
#include "cli/hunt/compare_report.h"
#include "cli/hunt/save.h"
#include "cli/hunt/text.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "sim/hunt/compare.h"

namespace whorl::cli {
namespace {

using sim::BatchStep;

class Comparer {
 public:
  explicit Comparer(const HuntRequest& request)
      : request_(request),
        comparison_(
            sim::ComparisonOf(request.hunt, {request.compared.at(0), request.compared.at(1)})) {}

  int Run() {
    const SignalNotice notice;
    // What would fail at the end of all the work fails before it.
    if (!request_.out.empty()) {
      if (const absl::Status opened = file_.Open(request_.out); !opened.ok()) return End(opened);
    }
    if (!request_.save_folder.empty()) {
      if (const absl::Status made = MakeFolder(request_.save_folder); !made.ok()) return End(made);
    }
    if (const absl::Status ran = RunWorlds(); !ran.ok()) return End(ran);
    ComparisonReport report =
        MakeComparisonReport(std::move(comparison_), RunsAsked(request_).value_or(0));
    for (HuntReport& side : report.told) {
      if (const absl::Status shrunk = Shrink(side); !shrunk.ok()) return End(shrunk);
    }
    return Tell(report);
  }

 private:
  absl::Status RunWorlds() {
    const auto started = std::chrono::steady_clock::now();
    uint64_t done = 0;
    Progress progress;
    const absl::Status status = sim::RunComparison(
        RunsOfComparison(request_), static_cast<int>(request_.jobs),
        [&](uint64_t worlds) {
          done = worlds;
          const double seconds = SecondsSince(started);
          if (progress.IsDue()) progress.Show(SpeedText(worlds * sim::kSides, seconds));
          is_over_ = request_.time && seconds * 1e9 >= static_cast<double>(request_.time->ns);
          return is_over_ || SignalNotice::HasCome() ? BatchStep::kStop : BatchStep::kGoOn;
        },
        comparison_);
    Progress::Clear();
    is_over_ |= done >= RunsOfComparison(request_) || !SignalNotice::HasCome();
    std::cerr << SpeedText(done * sim::kSides, SecondsSince(started)) << '\n';
    return status;
  }

  absl::Status Shrink(HuntReport& side) const {
    if (SignalNotice::HasCome()) return absl::OkStatus();
    Progress progress;
    const absl::Status status = sim::ShrinkFindings(
        side.hunt, static_cast<int>(request_.jobs),
        [&](size_t done) {
          if (progress.IsDue()) {
            progress.Show(Cat(std::to_string(done), " findings shrunk"));
          }
          return SignalNotice::HasCome() ? BatchStep::kStop : BatchStep::kGoOn;
        },
        side.tallies);
    Progress::Clear();
    return status;
  }

  // If one output cannot be written, the others get the report all the same.
  int Tell(const ComparisonReport& report) {
    const std::string& folder = request_.save_folder;
    absl::Status done;
    for (const HuntReport& side : report.told) done.Update(SaveFindings(request_, side));
    if (request_.json || !request_.out.empty()) {
      const std::string lines = ComparisonLines(report, request_.command, folder);
      if (request_.json) std::cout << lines;
      if (!request_.out.empty()) {
        file_.stream() << lines;
        done.Update(file_.Commit());
      }
    }
    if (!request_.json) PrintComparison(report, request_.command, folder, std::cout);
    done.Update(FlushStdout());
    return EndJudged(done, *request_.exits,
                     {.has_found = SecondIsWorse(report), .is_incomplete = !is_over_});
  }

  const HuntRequest& request_;
  sim::ProtocolComparison comparison_;
  bool is_over_ = false;  // all worlds were run, or the time that was given is over
  OutputFile file_;
};

}  // namespace

int Compare(const HuntRequest& request) { return Comparer(request).Run(); }

}  // namespace whorl::cli
