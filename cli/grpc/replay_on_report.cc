#include "cli/grpc/replay_on_report.h"

#include <algorithm>
#include <iomanip>
#include <ranges>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "sim/judge/expectations.h"
#include "sim/scenario/loader.h"

namespace whorl::cli {
namespace {

using live::RealRun;
using live::Simulated;
using sim::Metric;

using TextOf = std::string (*)(int64_t);

std::string CountOf(int64_t count) { return std::to_string(count); }
std::string SecondsOf(int64_t ns) { return FormatSeconds({ns}, 2); }

// "2", or "2-3".
std::string RangeText(int64_t least, int64_t most, TextOf text_of) {
  const std::string low = text_of(least);
  const std::string high = text_of(most);
  return low == high ? low : Cat(low, "-", high);
}

// "2 | 2-3": the range over the simulated seeds, and over the real runs.
std::string Beside(const Compared& compared, Metric metric, TextOf text_of) {
  const auto value = [metric](const RealRun& run) { return run.result.checks.metrics[metric]; };
  const auto [least, most] = std::ranges::minmax(compared.runs | std::views::transform(value));
  return Cat(RangeText(compared.simulated.least[metric], compared.simulated.most[metric], text_of),
             " | ", RangeText(least, most, text_of));
}

// Whether every real run violated the invariants that a plain replay violates, and no others.
bool IsAsInPlain(const Compared& compared) {
  const auto violates = [](const RealRun& run, Invariant invariant) {
    return run.result.checks[invariant].verdict == sim::Verdict::kViolated;
  };
  return std::ranges::all_of(compared.runs, [&](const RealRun& run) {
    return std::ranges::all_of(AllOf<Invariant>(), [&](Invariant invariant) {
      const bool in_plain = std::ranges::find(compared.violated_in_plain, invariant) !=
                            compared.violated_in_plain.end();
      return violates(run, invariant) == in_plain;
    });
  });
}

std::string PlainText(const Compared& compared) {
  std::string names;
  for (const Invariant invariant : compared.violated_in_plain) {
    if (!names.empty()) names += ", ";
    names += WordOf(invariant);
  }
  return Cat(names.empty() ? "nothing is violated" : "violated: ", names,
             compared.plain_as_expected ? ", as expected" : ", NOT as expected");
}

// The real verdict, and the number of runs that had it if not all had.
std::string ViolatedText(const std::vector<RealRun>& runs) {
  std::string names;
  for (const Invariant invariant : AllOf<Invariant>()) {
    const auto violated = std::ranges::count_if(runs, [&](const RealRun& run) {
      return run.result.checks[invariant].verdict == sim::Verdict::kViolated;
    });
    if (violated == 0) continue;
    if (!names.empty()) names += ", ";
    names += WordOf(invariant);
    if (static_cast<size_t>(violated) < runs.size()) {
      names += Cat(" ", std::to_string(violated), "/", std::to_string(runs.size()));
    }
  }
  return names.empty() ? "-" : names;
}

std::string_view Conclusion(const Compared& compared) {
  if (compared.agreed() < compared.runs.size()) return "PARTS";
  return compared.good() ? "ok" : "FAILED";
}

// Each sentence once, with the number of runs for which it holds.
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
    out << "         " << what << " in " << CountText(static_cast<int64_t>(count), "run", "runs")
        << ": " << sentence << '\n';
  }
}

sim::Json ResultJson(const sim::RunResult& result) {
  sim::Json json = sim::Json::object();
  sim::Json verdicts = sim::Json::object();
  for (const sim::InvariantResult& invariant : result.checks.invariants) {
    verdicts[std::string(WordOf(invariant.invariant))] = std::string(WordOf(invariant.verdict));
  }
  json["verdicts"] = std::move(verdicts);
  json["metrics"] = sim::MetricsJson(result.checks.metrics);
  json["observations"] = result.observations;
  return json;
}

// The verdict of the file's own seed, and how many seeds had each verdict.
sim::Json SimulatedJson(const Simulated& simulated) {
  sim::Json json = ResultJson(simulated.own);
  sim::Json seeds = sim::Json::object();
  for (const sim::InvariantResult& invariant : simulated.own.checks.invariants) {
    sim::Json counts = sim::Json::object();
    for (const sim::Verdict verdict : AllOf<sim::Verdict>()) {
      const uint64_t count = simulated.Count(invariant.invariant, verdict);
      if (count == 0) continue;
      counts[std::string(WordOf(verdict))] = count;
    }
    seeds[std::string(WordOf(invariant.invariant))] = std::move(counts);
  }
  json["verdicts_of_seeds"] = std::move(seeds);
  json["metrics_least"] = sim::MetricsJson(simulated.least);
  json["metrics_most"] = sim::MetricsJson(simulated.most);
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

void ReplayOnReport::PrintHead() {
  // As AsOn() has it.
  const bool emulator = kind_ == live::BackendKind::kEmulator;
  out_ << "simulated"
       << (emulator ? ", with an epsilon of 0 and a pending commit timestamp that blocks its column"
                    : "")
       << " | on the " << WordOf(kind_) << '\n';
  out_ << std::left << std::setw(9) << "verdict" << std::setw(static_cast<int>(name_width_) + 2)
       << "scenario" << std::right << std::setw(8) << "agreed" << std::setw(12) << "grants"
       << std::setw(12) << "takeovers" << std::setw(26) << "longest no holder s"
       << "  violated for real\n";
}

void ReplayOnReport::Print(const Compared& compared) {
  const std::string agreed =
      Cat(std::to_string(compared.agreed()), "/", std::to_string(compared.runs.size()));
  out_ << std::left << std::setw(9) << Conclusion(compared)
       << std::setw(static_cast<int>(name_width_) + 2) << Printable(compared.scenario->name)
       << std::right << std::setw(8) << agreed << std::setw(12)
       << Beside(compared, Metric::kGrants, CountOf) << std::setw(12)
       << Beside(compared, Metric::kTakeovers, CountOf) << std::setw(26)
       << Beside(compared, Metric::kWithoutHolderMax, SecondsOf) << "  "
       << ViolatedText(compared.runs) << '\n';
  for (const std::string& warning : sim::WarningsOf(*compared.scenario)) {
    out_ << "         warning: " << warning << '\n';
  }
  PrintSentences(out_, compared.runs, &RealRun::parts, "parts");
  PrintSentences(out_, compared.runs, &RealRun::failures, "not as expected");
  PrintSentences(out_, compared.runs, &RealRun::holes, "hole");
  PrintSentences(out_, compared.runs, &RealRun::chances, "by chance");
  if (!IsAsInPlain(compared)) out_ << "         without --on: " << PlainText(compared) << '\n';
}

void ReplayOnReport::PrintSkipped(const sim::Scenario& scenario, const std::string& why) {
  out_ << std::left << std::setw(9) << "skipped" << std::setw(static_cast<int>(name_width_) + 2)
       << Printable(scenario.name) << why << '\n';
}

void ReplayOnReport::PrintSummary(const std::vector<Compared>& compared, size_t skipped) {
  const auto good = std::ranges::count_if(compared, &Compared::good);
  const auto plain = std::ranges::count_if(compared, &Compared::plain_as_expected);
  out_ << '\n'
       << CountText(std::ssize(compared), "scenario", "scenarios") << " on the " << WordOf(kind_)
       << ": " << good << " as expected and as simulated in every run";
  if (skipped > 0) out_ << "; " << skipped << " skipped";
  out_ << "\nwithout --on: " << plain << " of " << compared.size() << " as expected\n";
}

sim::Json ComparedJson(const Compared& compared) {
  sim::Json json = sim::Json::object();
  json["scenario"] = compared.scenario->name;
  json["path"] = compared.scenario->path;
  json["protocol"] = compared.scenario->protocol;
  json["warnings"] = sim::WarningsOf(*compared.scenario);
  json["changed_by_backend"] = compared.changes;
  json["agreed"] = compared.agreed();
  json["runs"] = compared.runs.size();
  sim::Json plain = sim::Json::object();
  plain["as_expected"] = compared.plain_as_expected;
  plain["violated"] = sim::Json::array();
  for (const Invariant invariant : compared.violated_in_plain) {
    plain["violated"].push_back(std::string(WordOf(invariant)));
  }
  json["without_on"] = std::move(plain);
  json["simulated"] = SimulatedJson(compared.simulated);
  json["real"] = sim::Json::array();
  for (const RealRun& run : compared.runs) {
    sim::Json one = ResultJson(run.result);
    one["agrees"] = run.agrees();
    one["parts"] = run.parts;
    one["not_as_expected"] = run.failures;
    one["by_chance"] = run.chances;
    one["holes"] = run.holes;
    json["real"].push_back(std::move(one));
  }
  return json;
}

}  // namespace whorl::cli
