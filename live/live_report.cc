#include "live/live_report.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>

#include "sim/error_text.h"
#include "sim/expectations.h"
#include "sim/report_text.h"

namespace whorl::live {
namespace {

using sim::Cat;
using sim::Metric;

// "2", or "2-3" over all runs.
template <typename TextOf>
std::string RangeText(const std::vector<RealRun>& runs, Metric metric, TextOf text_of) {
  const auto value = [metric](const RealRun& run) { return run.result.checks.metrics[metric]; };
  const auto [least, most] = std::ranges::minmax_element(runs, {}, value);
  const std::string low = text_of(value(*least));
  const std::string high = text_of(value(*most));
  return low == high ? low : Cat(low, "-", high);
}

std::string CountOf(int64_t count) { return std::to_string(count); }
std::string SecondsOf(int64_t ns) { return sim::SecondsText({ns}, 3); }

// "2 | 2-3": simulated and real.
template <typename TextOf>
std::string Beside(const Compared& compared, Metric metric, TextOf text_of) {
  return Cat(text_of(compared.simulated.checks.metrics[metric]), " | ",
             RangeText(compared.runs, metric, text_of));
}

std::string ViolatedIn(const sim::RunResult& result) {
  std::string names;
  for (const sim::InvariantResult& invariant : result.checks.invariants) {
    if (invariant.verdict != sim::Verdict::kViolated) continue;
    if (!names.empty()) names += ", ";
    names += InvariantText(invariant.invariant);
  }
  return names.empty() ? "-" : names;
}

// Each sentence once, with in how many runs it was so.
void PrintSentences(std::ostream& out, const std::vector<RealRun>& runs,
                    std::vector<std::string> RealRun::* sentences, std::string_view what) {
  std::vector<std::pair<std::string, size_t>> counted;
  for (const RealRun& run : runs) {
    for (const std::string& sentence : run.*sentences) {
      const auto known =
          std::ranges::find(counted, sentence, &std::pair<std::string, size_t>::first);
      if (known == counted.end()) {
        counted.emplace_back(sentence, 1);
      } else {
        ++known->second;
      }
    }
  }
  for (const auto& [sentence, count] : counted) {
    out << "         " << what << " in "
        << sim::CountText(static_cast<int64_t>(count), "run", "runs") << ": " << sentence << '\n';
  }
}

sim::Json ResultJson(const sim::RunResult& result) {
  sim::Json json = sim::Json::object();
  sim::Json verdicts = sim::Json::object();
  for (const sim::InvariantResult& invariant : result.checks.invariants) {
    verdicts[std::string(InvariantText(invariant.invariant))] =
        std::string(VerdictText(invariant.verdict));
  }
  json["verdicts"] = std::move(verdicts);
  json["metrics"] = sim::MetricsJson(result.checks.metrics);
  json["observations"] = result.observations;
  return json;
}

}  // namespace

size_t Compared::agreed() const {
  return static_cast<size_t>(std::ranges::count_if(runs, &RealRun::agrees));
}

size_t Compared::as_expected() const {
  return static_cast<size_t>(
      std::ranges::count_if(runs, [](const RealRun& run) { return run.failures.empty(); }));
}

void LiveReport::PrintHead() {
  out_ << "simulated | on the " << BackendText(kind_) << '\n';
  out_ << std::left << std::setw(9) << "verdict" << std::setw(static_cast<int>(name_width_) + 2)
       << "scenario" << std::right << std::setw(8) << "agreed" << std::setw(10) << "grants"
       << std::setw(12) << "takeovers" << std::setw(24) << "longest no holder s"
       << "  violated\n";
}

void LiveReport::Print(const Compared& compared) {
  const std::string agreed =
      Cat(std::to_string(compared.agreed()), "/", std::to_string(compared.runs.size()));
  out_ << std::left << std::setw(9) << (compared.good() ? "ok" : "PARTS")
       << std::setw(static_cast<int>(name_width_) + 2) << sim::Printable(compared.scenario->name)
       << std::right << std::setw(8) << agreed << std::setw(10)
       << Beside(compared, Metric::kGrants, CountOf) << std::setw(12)
       << Beside(compared, Metric::kTakeovers, CountOf) << std::setw(24)
       << Beside(compared, Metric::kWithoutHolderMax, SecondsOf) << "  "
       << ViolatedIn(compared.simulated) << '\n';
  PrintSentences(out_, compared.runs, &RealRun::parts, "parts");
  PrintSentences(out_, compared.runs, &RealRun::failures, "not as expected");
  PrintSentences(out_, compared.runs, &RealRun::holes, "hole");
}

void LiveReport::PrintSkipped(const sim::Scenario& scenario, Duration longest) {
  out_ << std::left << std::setw(9) << "skipped" << std::setw(static_cast<int>(name_width_) + 2)
       << sim::Printable(scenario.name) << "it lasts " << FormatDuration(scenario.duration)
       << ", and --longest is " << FormatDuration(longest) << '\n';
}

void LiveReport::PrintSummary(size_t scenarios, size_t good, size_t skipped) {
  out_ << '\n'
       << sim::CountText(static_cast<int64_t>(scenarios), "scenario", "scenarios") << " on the "
       << BackendText(kind_) << ": " << good << " as expected and as simulated in every run";
  if (skipped > 0) out_ << "; " << skipped << " skipped";
  out_ << '\n';
}

sim::Json ComparedJson(const Compared& compared) {
  sim::Json json = sim::Json::object();
  json["scenario"] = compared.scenario->name;
  json["path"] = compared.scenario->path;
  json["protocol"] = compared.scenario->protocol;
  json["changed_by_backend"] = compared.changes;
  json["agreed"] = compared.agreed();
  json["runs"] = compared.runs.size();
  json["simulated"] = ResultJson(compared.simulated);
  json["real"] = sim::Json::array();
  for (const RealRun& run : compared.runs) {
    sim::Json one = ResultJson(run.result);
    one["agrees"] = run.agrees();
    one["parts"] = run.parts;
    one["not_as_expected"] = run.failures;
    one["holes"] = run.holes;
    json["real"].push_back(std::move(one));
  }
  return json;
}

}  // namespace whorl::live
