#include "cli/diff/nearest.h"

#include <iostream>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text.h"
#include "cli/diff/text.h"
#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/version.h"
#include "sim/judge/run.h"
#include "sim/measure/nearest_run.h"
#include "sim/report/explain.h"
#include "sim/report/page_model.h"
#include "sim/report/row_text.h"
#include "sim/report/trace.h"
#include "sim/report/trace_diff.h"

namespace whorl::cli {
namespace {

using sim::Json;

// A run's trace, and its page's data.
class Record final : public sim::ObservationSink {
 public:
  Record(const sim::Scenario& scenario, uint64_t seed)
      : writer_(trace_, scenario, seed, kVersion), page_(scenario) {}

  void Hear(const sim::Observation& observation, uint64_t ordinal, uint64_t hash) override {
    writer_.Hear(observation, ordinal, hash);
    page_.Hear(observation, ordinal, hash);
  }
  std::istringstream Trace() const { return std::istringstream(trace_.str()); }
  sim::PageModel::Data Page(const sim::RunResult& result, const sim::Story& story) {
    return page_.Finish(result, story, {.whorl_version = kVersion, .command = {}, .on = {}});
  }

 private:
  std::ostringstream trace_;
  sim::TraceWriter writer_;
  sim::PageModel page_;
};

// "31.995000 s", "the start".
std::string MomentText(sim::Instant after) {
  return after.ns < 0 ? std::string("the start") : Cat(sim::InstantText(after), " s");
}

// What the nearest run is, in a sentence without its full stop.
std::string FoundText(const sim::NearestRun& found) {
  const std::string tried = GroupedText(found.continuations);
  const std::string text =
      Cat("the nearest run that passes draws chance anew from ", MomentText(found.branch.after),
          " on (", GroupedText(found.passed), " of ", tried, " such runs pass)");
  if (!found.certain.has_value()) return Cat(text, "; the next instant is that of the violation");
  return Cat(text, "; from ", MomentText(*found.certain), " on none of ", tried,
             " does: chance has no part in it any more");
}

class NearestDiff {
 public:
  NearestDiff(const NearestRequest& request, const sim::Scenario& scenario)
      : request_(request),
        scenario_(scenario),
        seed_(request.seed.value_or(scenario.seed)),
        record_(scenario, seed_),
        other_record_(scenario, seed_) {}

  int Run() {
    if (!request_.html.empty()) {
      if (const absl::Status missing = PagesMissing(); !missing.ok()) return End(missing);
      if (const absl::Status opened = file_.Open(request_.html); !opened.ok()) return End(opened);
    }
    result_ = sim::RunScenario(scenario_, seed_, &record_);
    const sim::InvariantResult* violated = sim::FirstViolated(result_.checks, request_.invariant);
    if (violated == nullptr) return TellNoViolation();
    invariant_ = violated->invariant;
    search_ = sim::FindNearestRun(scenario_, result_, invariant_,
                                  {.threads = static_cast<int>(request_.jobs)});
    violation_ = Cat(Where(), ": ", WordOf(invariant_), " violated at ",
                     sim::InstantText(violated->first->at), " s: ", violated->first->text);
    if (!search_.found.has_value()) return TellNone();
    other_ = sim::RunScenario(scenario_, search_.found->branch, &other_record_);
    return TellFound();
  }

 private:
  std::string Where() const {
    return Cat(Printable(scenario_.name), ", seed ", std::to_string(seed_));
  }
  std::string Word() const { return std::string(WordOf(invariant_)); }
  DiffNames Names() const { return {Cat(Word(), " is violated"), Cat(Word(), " holds")}; }

  // No page is written.
  int TellNoViolation() const {
    const std::string what = request_.invariant.has_value()
                                 ? Cat(WordOf(*request_.invariant), " is not violated")
                                 : std::string("no invariant is violated");
    if (request_.json) {
      Print({{"format", "whorl-nearest"},
             {"scenario", scenario_.name},
             {"seed", std::to_string(seed_)},
             {"violated", nullptr}});
    } else {
      std::cout << Where() << ": " << what << '\n';
    }
    return End(FlushStdout());
  }

  int TellNone() const {
    if (request_.json) {
      Print(HeadJson());
    } else {
      std::cout << violation_ << "\nthere is no run beside it that passes: " << search_.none
                << '\n';
    }
    return End(FlushStdout(), kExpectationFailed);
  }

  int TellFound() {
    std::istringstream a = record_.Trace();
    std::istringstream b = other_record_.Trace();
    const absl::StatusOr<sim::TraceDifference> difference =
        sim::DiffTraces({.stream = &a, .name = Names()[0]}, {.stream = &b, .name = Names()[1]});
    if (!difference.ok()) return End(difference.status());
    if (!request_.html.empty()) {
      if (const absl::Status written = WriteBoth(*difference); !written.ok()) return End(written);
    }
    if (request_.json) {
      Json json = HeadJson();
      json["difference"] = DifferenceJson(*difference, Names());
      Print(json);
    } else {
      for (const std::string& line : Told()) std::cout << line << '\n';
      PrintDifference(*difference, Names());
    }
    return End(FlushStdout(), kExpectationFailed);
  }

  // What failed, what the other run is, and what it violates all the same: sentences without their
  // full stops.
  std::vector<std::string> Told() const {
    std::vector<std::string> told = {violation_, FoundText(*search_.found)};
    std::string others;
    for (const std::string& word : OthersViolated())
      others += Cat(others.empty() ? "" : ", ", word);
    if (!others.empty()) told.push_back(Cat("what that run violates all the same: ", others));
    return told;
  }

  std::vector<std::string> OthersViolated() const {
    std::vector<std::string> others;
    for (const sim::InvariantResult& of : other_.checks.invariants) {
      if (of.first.has_value()) others.emplace_back(WordOf(of.invariant));
    }
    return others;
  }

  Json HeadJson() const {
    Json json = {{"format", "whorl-nearest"},
                 {"scenario", scenario_.name},
                 {"seed", std::to_string(seed_)},
                 {"violated", WordOf(invariant_)},
                 {"none", search_.none}};
    Json& found = json["nearest"] = nullptr;
    if (!search_.found.has_value()) return json;
    const sim::NearestRun& run = *search_.found;
    found = {{"after", run.branch.after.ns},
             {"chance", std::to_string(run.branch.chance)},
             {"common", run.common},
             {"continuations", run.continuations},
             {"passed", run.passed},
             {"certain", run.certain.has_value() ? Json(run.certain->ns) : Json(nullptr)},
             {"violated", OthersViolated()}};
    return json;
  }
  static void Print(const Json& json) { std::cout << sim::DumpJson(json, 2) << '\n'; }

  absl::Status WriteBoth(const sim::TraceDifference& difference) {
    Json head = Json::object();
    head["names"] = Names();
    head["told"] = Told();
    head["difference"] = DifferenceJson(difference, Names());
    const sim::PageModel::Data a =
        record_.Page(result_, sim::Explain(scenario_, result_, invariant_));
    const sim::PageModel::Data b = other_record_.Page(other_, {});
    head["heads"] = {a.head, b.head};
    head["bytes"] = a.bytes.size();
    WritePage(PageKind::kCompare, head, a.bytes + b.bytes, file_.stream());
    return file_.Commit();
  }

  const NearestRequest& request_;
  const sim::Scenario& scenario_;
  const uint64_t seed_;
  OutputFile file_;
  Record record_;
  Record other_record_;
  sim::RunResult result_;
  sim::RunResult other_;
  Invariant invariant_ = Invariant::kNoWedge;
  sim::NearestSearch search_;
  std::string violation_;  // what failed, in a sentence without its full stop
};

}  // namespace

int DiffNearest(const NearestRequest& request) {
  if (request.paths.size() != 1) {
    Complain("diff --nearest wants one scenario (whorl diff --help has examples)");
    return kBadInput;
  }
  const Inputs inputs = LoadInputs(request.paths);
  for (const BadInput& bad : inputs.bad) {
    // Printed unchanged, so that an editor finds file and line.
    for (const std::string& error : bad.errors) std::cerr << error << '\n';
  }
  if (!inputs.bad.empty()) return kBadInput;
  if (inputs.scenarios.size() != 1) {
    Complain(Cat("diff --nearest wants one scenario, and here are ",
                 std::to_string(inputs.scenarios.size())));
    return kBadInput;
  }
  if (const std::string same = SameInput(inputs, request.html); !same.empty()) {
    Complain(Cat("--html ", Printable(request.html, 1'000), " would write over the scenario ",
                 Printable(same, 1'000)));
    return kBadInput;
  }
  return NearestDiff(request, inputs.scenarios.front()).Run();
}

}  // namespace whorl::cli
