#include "cli/explore/report.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/parse_duration.h"
#include "base/text.h"
#include "cli/exit_rules.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/shell_text.h"
#include "sim/judge/known.h"
#include "sim/report/timeline.h"
#include "sim/scenario/writer.h"

namespace whorl::cli {

namespace {

using sim::Json;
using Result = explore::SearchResult<sim::Move>;

// --- sentences -----------------------------------------------------------------------------------

std::string BudgetText(const sim::ExploreBounds& bounds) {
  const sim::FaultBudget& budget = bounds.faults;
  std::string text;
  const auto add = [&text](uint8_t count, std::string_view one, std::string_view many) {
    if (count == 0) return;
    text += Cat(text.empty() ? "at most " : ", ", CountText(count, one, many));
  };
  add(budget.crashes, "crash", "crashes");
  add(budget.stops, "stop", "stops");
  const std::string at_most = Cat(" of at most ", FormatDuration(bounds.longest_pause));
  add(budget.pauses, "pause", "pauses");
  if (budget.pauses > 0) text += at_most;
  add(budget.standing_clocks, "standing clock", "standing clocks");
  if (budget.standing_clocks > 0) text += at_most;
  add(budget.losses, "lost message", "lost messages");
  add(budget.aborts, "abort", "aborts");
  add(budget.deletes, "deleted row", "deleted rows");
  add(budget.announcements, "false announcement", "false announcements");
  return text.empty() ? "no fault" : text;
}

// How far clocks may be off, or are in the scenario's world.
std::string ClocksText(const ExploreRequest& request) {
  std::string text;
  if (request.space) {
    const sim::SpannerSpec& spanner = request.space->scenario.spanner;
    if (spanner.truetime.epsilon > Duration{}) {
      text += Cat(", epsilon ", FormatDuration(spanner.truetime.epsilon));
    }
    if (spanner.current_timestamp_error != Duration{}) {
      text += Cat(", CURRENT_TIMESTAMP off by ", FormatDuration(spanner.current_timestamp_error));
    }
    return text;
  }
  const sim::ClockBounds& clocks = request.bounds.clocks;
  if (clocks.truetime > Duration{}) {
    text += Cat(", TrueTime within ", FormatDuration(clocks.truetime));
  }
  if (clocks.current_timestamp > Duration{}) {
    text += Cat(", CURRENT_TIMESTAMP within ", FormatDuration(clocks.current_timestamp));
  }
  if (clocks.rate_ppm > 0) {
    text += Cat(", clocks of processes within ", GroupedText(clocks.rate_ppm), " ppm");
  }
  return text;
}

// How applications use the lock, if not by callbacks alone.
std::string UseText(const sim::ExploreWorld& world) {
  std::string text;
  if (world.use == sim::Use::kLock) text += ", applications call Lock()";
  if (world.use == sim::Use::kHasLock) text += ", applications ask has_lock before each write";
  const auto add = [&text](std::string_view what, const std::optional<Duration>& time) {
    if (time) text += Cat(", ", what, " ", FormatDuration(*time));
  };
  const bool locks = world.use == sim::Use::kLock;
  add(locks ? "each call with a deadline of" : "with a deadline of", world.deadline);
  add("held for", world.hold_for);
  add("locked again after", world.lock_again);
  add("Commits given up after", world.commit_timeout);
  return text;
}

// What the search is about, as one sentence without its end.
std::string BoundsText(const ExploreReport& report) {
  const ExploreRequest& request = report.request;
  const sim::ExploreWorld& world = request.world;
  const sim::ExploreBounds& bounds = request.bounds;
  const bool equal = report.model.symmetry() != nullptr;
  std::string text =
      Cat(world.protocol, ", ",
          CountText(world.processes, "process", equal ? "equal processes" : "processes"));
  if (request.space) {
    text = Cat("the world of ", request.space->scenario.name,
               request.after_schedule ? " after its schedule: " : ": ", text);
  }
  if (world.locks > 1) text += Cat(", ", CountText(world.locks, "lock", "locks"));
  text += Cat(", ", BudgetText(bounds));
  if (world.grid_constants) text += ", grid constants";
  if (world.announces_releases) text += ", releases announced";
  text += UseText(world);
  if (world.strict_pending_commit_timestamp == sim::PendingCommitTimestampRule::kColumn) {
    text += ", pending commit timestamps strict by column";
  }
  text += Cat(", lease ", FormatDuration(world.lease), ", grid ", FormatDuration(bounds.grid));
  if (bounds.start_within > Duration{}) {
    text += Cat(", started within ", FormatDuration(bounds.start_within));
  }
  text += bounds.delay == 0
              ? ", messages on time"
              : Cat(", messages up to ", FormatDuration(bounds.grid * bounds.delay), " late");
  text += ClocksText(request);
  return bounds.horizon ? Cat(text, ", up to ", FormatDuration(*bounds.horizon))
                        : Cat(text, ", no horizon");
}

// Which runs a search that was not complete has taken.
std::string ExploredText(const Result& result) {
  const std::string steps = CountText(result.explored_steps, "step", "steps");
  if (result.explored_faults == 0) return Cat("all runs without a fault of up to ", steps);
  const std::string faults = CountText(result.explored_faults, "fault", "faults");
  return Cat("all runs with fewer than ", faults, ", and those with ", faults, " of up to ", steps);
}

// How the search ended, as a sentence.
std::string EndingText(const ExploreReport& report) {
  const Result& result = report.result;
  if (result.ending == explore::Ending::kComplete) {
    return Cat("complete: ", BoundsText(report), ": ", CountsText(result));
  }
  std::string_view why = "interrupted";
  if (result.ending == explore::Ending::kMemory) why = "out of memory (--memory)";
  if (result.ending == explore::Ending::kViolation) why = "ended at the first violation";
  return Cat(why, ": ", BoundsText(report), ": ", ExploredText(result),
             " were taken: ", CountsText(result), ", ",
             GroupedText(static_cast<int64_t>(result.frontier)), " more to go on from");
}

// How to search where fewer events fall into one millisecond, in which a search takes them in every order.
std::string_view RemedyOfCoincidence(const ExploreRequest& request) {
  if (!request.world.grid_constants) {
    return request.space ? "try another --grid" : "try another --grid, or --start-within";
  }
  return request.space ? "explore the scenario without \"constants\": \"grid\""
                       : "explore with the shipped constants (--constants shipped)";
}

// What the exact run says of the violation.
std::string ExactText(const ExploreReport& report, const ExploreFinding& finding) {
  if (finding.found.is_confirmed) return finding.found.run.checks[finding.invariant].first->text;
  return Cat("neither found nor held: the search came to a violation, and the exact replay of its ",
             "steps, in which events within one millisecond keep their order, does not; ",
             RemedyOfCoincidence(report.request));
}

void PrintFinding(const ExploreReport& report, const ExploreFinding& finding) {
  std::cout << (finding.found.is_confirmed ? "violated: " : "not confirmed: ")
            << WordOf(finding.invariant) << " ("
            << sim::PromiseWords(finding.invariant,
                                 finding.promised ? Promise::kPromised : Promise::kNotPromised)
            << "), " << CountText(finding.violation->faults, "fault", "faults") << " and "
            << CountText(static_cast<int64_t>(finding.violation->path.choices.size()), "step",
                         "steps")
            << '\n';
  std::cout << "  " << ExactText(report, finding) << '\n';
  if (finding.invariant == Invariant::kNoWedge) {
    std::cout << "  from there on "
              << CountText(static_cast<int64_t>(report.loop_steps), "step", "steps")
              << " can repeat for ever, and nobody holds the lock\n";
  }
  if (!finding.saved.empty()) {
    std::cout << "  " << ShellQuoted(report.request.command) << " replay "
              << ShellQuoted(finding.saved) << " --explain=" << WordOf(finding.invariant) << '\n';
  }
  if (!report.request.timeline) return;
  sim::Timeline timeline(finding.found.scenario);
  sim::RunAgain(report.model, finding.found, timeline);
  std::cout << '\n';
  timeline.Print(finding.found.run.checks, {.width = ScreenWidth(), .colour = WantsColour()},
                 std::cout);
  std::cout << '\n';
}

}  // namespace

std::string NamesOf(uint32_t invariants) {
  std::string names;
  for (const Invariant invariant : AllOf<Invariant>()) {
    if ((invariants & BitOf(invariant)) == 0) continue;
    names += Cat(names.empty() ? "" : ", ", WordOf(invariant));
  }
  return names;
}

std::string CountsText(const Result& result) {
  return Cat(CountText(static_cast<int64_t>(result.states), "state", "states"), ", ",
             CountText(static_cast<int64_t>(result.transitions), "transition", "transitions"));
}

namespace {

// A space in which work begins and ends at one instant says little of work side by side.
bool WorkTakesNoTime(const ExploreReport& report) {
  return report.model.scenario().workload.work_for == Duration{};
}

// A process gives a lock back when it is told to stop, or after Unlock.
bool NobodyGivesBack(const ExploreReport& report) {
  const std::vector<sim::NodeSpec>& nodes = report.model.scenario().nodes;
  return report.request.bounds.faults.stops == 0 &&
         std::ranges::none_of(nodes, [](const sim::NodeSpec& node) {
           return node.deadline.has_value() || node.use == sim::Use::kLock;
         });
}

// Invariants in which no violation was found, as bits.
struct Unviolated {
  uint32_t promised = 0;
  uint32_t not_promised = 0;
  uint32_t untried =
      0;  // those that nothing in this space could have violated; they are in neither
};

Unviolated UnviolatedOf(const ExploreReport& report) {
  uint32_t holding = report.watched;
  for (const ExploreFinding& finding : report.findings) holding &= ~BitOf(finding.invariant);
  Unviolated unviolated;
  if (WorkTakesNoTime(report)) unviolated.untried |= BitOf(Invariant::kSingleWorker);
  if (NobodyGivesBack(report)) unviolated.untried |= BitOf(Invariant::kNoWorkAfterRelease);
  unviolated.untried &= holding;
  holding &= ~unviolated.untried;
  unviolated.promised = holding & report.promised;
  unviolated.not_promised = holding & ~report.promised;
  return unviolated;
}

// Processes that start at once, and act at quarters of the lease, act in the same instants.
void PrintWhatGridConstantsHide(const ExploreRequest& request) {
  const sim::ExploreBounds& bounds = request.bounds;
  if (!request.world.grid_constants || request.space || bounds.delay > 0) return;
  const Duration quarter = request.world.lease / 4;
  if (bounds.start_within > Duration{} && bounds.grid < quarter) return;
  std::cout << "not seen: what lasts less than " << FormatDuration(quarter)
            << ", since with grid constants all processes act in the same instants; --start-within "
            << FormatDuration(quarter) << " --grid " << FormatDuration(quarter / 2)
            << " moves them apart\n";
}

void PrintUnviolated(const ExploreReport& report) {
  const Unviolated unviolated = UnviolatedOf(report);
  const bool complete = report.result.ending == explore::Ending::kComplete;
  const std::string_view verb = complete ? "holds" : "no violation so far";
  if (unviolated.promised != 0) std::cout << verb << ": " << NamesOf(unviolated.promised) << '\n';
  if (unviolated.not_promised != 0) {
    std::cout << verb << ", within these bounds alone, since it is not promised: "
              << NamesOf(unviolated.not_promised) << '\n';
  }
  // Names what was not searched, so that it is not taken for searched.
  std::string unjudged;
  const auto add_untried = [&](Invariant invariant, std::string_view why) {
    if ((unviolated.untried & BitOf(invariant)) == 0) return;
    unjudged += Cat(unjudged.empty() ? "" : ", ", WordOf(invariant), " (", why, ")");
  };
  add_untried(Invariant::kSingleWorker, "work takes no time here; whorl hunt");
  add_untried(Invariant::kNoWorkAfterRelease, "nobody is told to stop; --stops 1");
  if (!report.request.invariant && (unviolated.promised | unviolated.not_promised) != 0) {
    unjudged += Cat(unjudged.empty() ? "" : ", ", "no_wedge (--invariant no_wedge)");
    for (const Invariant invariant : AllOf<Invariant>()) {
      if (!IsExplored(invariant)) unjudged += Cat(", ", WordOf(invariant));
    }
    unjudged += " (whorl hunt)";
  }
  if (!unjudged.empty()) std::cout << "not judged: " << unjudged << '\n';
  if ((unviolated.promised | unviolated.not_promised) != 0)
    PrintWhatGridConstantsHide(report.request);
}

// How an ending that is no answer is told; empty if the search came to its end.
std::string_view NoAnswerText(const ExploreReport& report) {
  const explore::Ending ending = report.result.ending;
  if (ending == explore::Ending::kMemory) return "since memory was used up before its end";
  if (ending == explore::Ending::kStopped) return "since it was interrupted";
  return "";
}

// How many promises were broken, what else was found, and why the exit code is what it is.
void PrintSummary(const ExploreReport& report, int code) {
  std::vector<Invariant> broken;
  size_t outside = 0;
  size_t unconfirmed = 0;
  bool decides = false;  // something that is not promised
  for (const ExploreFinding& finding : report.findings) {
    if (!finding.found.is_confirmed) {
      ++unconfirmed;
    } else if (!finding.promised) {
      ++outside;
      decides |= finding.decides;
    } else if (std::ranges::find(broken, finding.invariant) == broken.end()) {
      broken.push_back(finding.invariant);
    }
  }
  const auto count = [](size_t number, std::string_view one, std::string_view many) {
    return CountText(static_cast<int64_t>(number), one, many);
  };
  std::cout << count(broken.size(), "promise", "promises") << " broken";
  if (outside > 0) {
    std::cout << "; " << count(outside, "violation", "violations")
              << " outside of what is promised";
  }
  if (unconfirmed > 0) {
    std::cout << "; " << count(unconfirmed, "violation", "violations") << " not confirmed";
  }
  std::string_view why = NoAnswerText(report);
  if (why.empty() && unconfirmed > 0) why = "since what is not confirmed is no answer";
  if (why.empty() && outside > 0) {
    why = "since nothing that was found is promised (--any, --expect INVARIANT)";
  }
  if (decides) why = "since --any or --expect names what was found";
  if (!broken.empty()) why = "since a promise was broken";
  if (code == kAsExpected && !NoAnswerText(report).empty()) why = "by --accept-incomplete";
  std::cout << "; exit code " << code << (why.empty() ? "" : ", ") << why << '\n';
}

}  // namespace

void PrintExplored(const ExploreReport& report, int code) {
  std::cout << EndingText(report) << '\n';
  bool has_head = false;
  for (const ExploreFinding& finding : report.findings) {
    if (!finding.decides && !std::exchange(has_head, true)) std::cout << kUndecidingHead << '\n';
    PrintFinding(report, finding);
  }
  PrintUnviolated(report);
  PrintSummary(report, code);
}

Json ExploredDocument(const ExploreReport& report) {
  const Result& result = report.result;
  Json document = Json::object();
  document["format"] = "whorl-explore";
  document["version"] = 1;
  document["bounds"] = BoundsText(report);
  document["equal_processes"] = report.model.symmetry() != nullptr;
  document["ending"] = std::string(explore::EndingName(result.ending));
  document["states"] = result.states;
  document["transitions"] = result.transitions;
  document["frontier"] = result.frontier;
  document["faults_explored"] = result.explored_faults;
  document["steps_explored"] = result.explored_steps;
  document["expected_omissions"] = result.expected_omissions;
  Json& verdicts = document["invariants"] = Json::object();
  for (const Invariant invariant : AllOf<Invariant>()) {
    Json& verdict = verdicts[std::string(WordOf(invariant))] = Json::object();
    const bool watched = (report.watched & BitOf(invariant)) != 0;
    const bool complete = result.ending == explore::Ending::kComplete;
    const bool is_told =
        complete && !(invariant == Invariant::kSingleWorker && WorkTakesNoTime(report));
    verdict["verdict"] = !watched ? "not_judged" : is_told ? "holds" : "unknown";
  }
  for (const ExploreFinding& finding : report.findings) {
    Json& verdict = verdicts[std::string(WordOf(finding.invariant))];
    if (finding.found.is_confirmed) {
      verdict["verdict"] = "violated";
    } else if (verdict["verdict"] != "violated") {
      verdict["verdict"] = "unknown";
    }
    verdict["promised"] = finding.promised;
    verdict["decides"] = finding.decides;
    verdict["states"] = finding.states;
    Json counterexample = {{"faults", finding.violation->faults},
                           {"steps", finding.violation->path.choices.size()},
                           {"confirmed", finding.found.is_confirmed},
                           {"text", ExactText(report, finding)}};
    if (!finding.saved.empty()) counterexample["scenario"] = finding.saved;
    verdict["counterexamples"].push_back(std::move(counterexample));
  }
  return document;
}

std::vector<JunitTest> JunitTestsOf(const ExploreReport& report) {
  std::vector<JunitTest> tests;
  for (const Invariant invariant : AllOf<Invariant>()) {
    if ((report.watched & BitOf(invariant)) == 0) continue;
    JunitTest test{.group = report.request.world.protocol,
                   .name = std::string(WordOf(invariant)),
                   .text = EndingText(report)};
    for (const ExploreFinding& finding : report.findings) {
      if (finding.invariant != invariant) continue;
      const bool is_confirmed = finding.found.is_confirmed;
      if (finding.decides && is_confirmed) test.outcome = JunitOutcome::kFailed;
      if (finding.decides && !is_confirmed && test.outcome == JunitOutcome::kPassed) {
        test.outcome = JunitOutcome::kError;
      }
      test.text = Cat(ExactText(report, finding), "\n", test.text);
      if (!finding.saved.empty()) test.text += Cat("\n", finding.saved);
    }
    tests.push_back(std::move(test));
  }
  return tests;
}

absl::StatusOr<std::string> SaveCounterexample(const sim::Scenario& scenario,
                                               const std::string& folder) {
  const std::string text = sim::ScenarioText(scenario);
  for (int number = 1;; ++number) {
    const std::string name =
        number == 1 ? scenario.name : Cat(scenario.name, "-", std::to_string(number));
    const std::string path = (std::filesystem::path(folder) / (name + ".json")).string();
    std::error_code ignored;  // opening the file says it better
    if (!std::filesystem::exists(path, ignored)) {
      OutputFile file;
      if (const absl::Status opened = file.Open(path); !opened.ok()) return opened;
      file.stream() << text;
      if (const absl::Status written = file.Commit(); !written.ok()) return written;
      return path;
    }
    std::ifstream stream;
    if (const absl::Status opened = OpenInput(path, stream); !opened.ok()) return opened;
    const std::string there{std::istreambuf_iterator<char>(stream),
                            std::istreambuf_iterator<char>()};
    if (there == text) return path;
  }
}

}  // namespace whorl::cli
