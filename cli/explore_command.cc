#include "cli/explore_command.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/exit_code.h"
#include "cli/explore_checkpoint.h"
#include "cli/explore_progress.h"
#include "cli/explore_save.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/shell_text.h"
#include "sim/explore/counterexample.h"
#include "sim/explore/engine/model_digest.h"
#include "sim/explore/engine/search.h"
#include "sim/explore/lock_model.h"
#include "sim/explore/remembering_model.h"
#include "sim/explore/scenario_space.h"
#include "sim/explore/wedge.h"
#include "sim/judge/checkers/setup.h"
#include "sim/report/json_print.h"
#include "sim/report/timeline.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/number_text.h"
#include "sim/scenario/units.h"

namespace whorl::cli {
namespace {

using sim::Cat;
using sim::CountText;
using sim::GroupedText;
using sim::Json;
using Clock = std::chrono::steady_clock;
using Result = explore::SearchResult<sim::Move>;
using Violation = explore::Violation<sim::Move>;

constexpr Duration kLeaseByDefault = Seconds(4);
constexpr int64_t kLeasesInGrid = 4;
constexpr int64_t kLeasesByDefault = 3;  // of the longest pause
constexpr uint64_t kProcessesMax = 8;
constexpr uint64_t kLocksMax = 9;
constexpr uint64_t kFaultsMax = 100;
constexpr uint64_t kDriftMaxPpm = 1'000'000;
// States are whole worlds: limits and Ctrl-C are noticed after so many of each thread.
constexpr size_t kRound = 256;
constexpr size_t kStatesOfDigest = 200;  // that a checkpoint tells worlds apart by
constexpr uint64_t kMemoryMaxMiB = 1'000'000;
constexpr uint64_t kMemoryByDefaultMiB = 4'096;

struct ExploreRequest {
  std::string scenario_path;
  std::optional<sim::ScenarioSpace> space;  // of that scenario
  sim::ExploreWorld world;
  sim::ExploreBounds bounds;
  std::optional<Duration> lease;
  std::optional<Duration> grid;
  std::optional<Duration> longest_pause;
  std::optional<Duration> horizon;
  std::optional<Invariant> invariant;
  bool promised_only = false;
  bool first_only = false;
  bool all = false;  // each kind of violation
  bool plain = false;
  bool timeline = false;
  bool json = false;
  std::string out;
  std::string checkpoint;  // the file; empty: none
  std::string save_folder;
  std::string command;  // how this command was called
  uint64_t memory_mib = kMemoryByDefaultMiB;
  uint64_t jobs = 1;
};

constexpr std::string_view kExploreFooter = R"(Examples:
  whorl explore --protocol fenced_lease                    two processes, no fault
  whorl explore --protocol fenced_lease --crashes 1        one may crash and start again
  whorl explore --protocol spindle_v3 --pauses 1 --timeline
  whorl explore --protocol spindle_v2 --invariant token_monotonic --crashes 1 --pauses 1
  whorl explore --protocol fenced_lease --processes 3 --losses 1 --memory 8G
  whorl explore --protocol fenced_lease --deletes 1 --invariant no_wedge --constants grid
  whorl explore --protocol fenced_lease --aborts 1 --checkpoint aborts.search
  whorl explore --protocol spindle_v3 --pauses 1 --all --save found   found/*.json, for whorl replay
  whorl explore --protocol spindle_v3 --current-timestamp-error 4s --horizon 10s
  whorl explore --protocol fenced_lease --constants grid --drift 250000 --horizon 4s
  whorl explore --scenario scenarios/semaphore_row_deleted.json --horizon 10s

A search takes every order of what can happen at one time, every fault of the budget at every moment,
and every length of a pause on the grid. What clocks may be off by (--epsilon, --drift,
--current-timestamp-error), each of them is off by in turn, either way, or not at all. So "holds" is a
proof within the bounds that the first line names, and a violation comes with a shortest way to it,
which is run again in exact time. What is not tried: other draws of random numbers than the greatest,
and whatever lies between two points of the grid. A lock that nobody can ever take again is looked for
with --invariant no_wedge, by a search of its own. Ctrl-C and --memory end a search early; it then says
how far it got, and with --checkpoint the same command goes on from there, also on another machine.
Exit codes: 0 nothing was violated; 1 something was; 2 bad input or usage; 3 the output could not be
written.)";

// --- options -------------------------------------------------------------------------------------

void TakeProtocol(const std::string& text, ExploreRequest& request) {
  std::vector<std::string_view> known;
  for (const ProtocolInfo& info : Protocols()) known.push_back(info.name);
  request.world.protocol = std::string(known[PlaceOfWord("--protocol", "protocol", text, known)]);
}

void AddBudget(CLI::App& app, const std::string& name,
               const std::shared_ptr<ExploreRequest>& request, uint8_t sim::FaultBudget::* budget,
               const std::string& help) {
  AddNumber(
      app, name, 0, kFaultsMax,
      [request, budget](uint64_t n) { request->bounds.faults.*budget = static_cast<uint8_t>(n); },
      Cat(help, " (default: 0)"));
}

// An option that is a time.
void AddTime(CLI::App& app, const std::string& name, const std::shared_ptr<ExploreRequest>& request,
             std::optional<Duration> ExploreRequest::* time, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [name, request, time](const std::string& text) {
           const Duration taken = DurationOf(name, text, "a time, such as 4s");
           if (taken <= Duration{}) throw CLI::ValidationError(Cat(name, " wants more than 0s"));
           (*request).*time = taken;
         },
         help)
      ->type_name("TIME");
}

void AddWorldOptions(CLI::App& app, const std::shared_ptr<ExploreRequest>& request) {
  app.add_option(
         "--scenario", request->scenario_path,
         "explore its world; its faults are the menu and the budget, and strike at any time")
      ->type_name("FILE");
  AddText(app, "--protocol", "P", request, TakeProtocol, "whose locks to explore");
  AddNumber(
      app, "--processes", 1, kProcessesMax,
      [request](uint64_t n) { request->world.processes = static_cast<int>(n); },
      "how many processes (default: 2)");
  AddNumber(
      app, "--locks", 1, kLocksMax,
      [request](uint64_t n) { request->world.locks = static_cast<int>(n); },
      "how many locks each of them wants (default: 1)");
  AddTime(app, "--lease", request, &ExploreRequest::lease,
          "(default: 4s, or the shortest that the protocol allows)");
  AddText(
      app, "--constants", "shipped|grid", request,
      [](const std::string& text, ExploreRequest& r) {
        constexpr std::array<std::string_view, 2> kKnown = {"shipped", "grid"};
        r.world.grid_constants = PlaceOfWord("--constants", "kind of constants", text, kKnown) == 1;
      },
      "the protocol's numbers: as shipped, or whole quarters of the lease, which make fewer states "
      "(default: shipped)");
}

void AddClockOptions(CLI::App& app, const std::shared_ptr<ExploreRequest>& request) {
  AddText(
      app, "--epsilon", "TIME", request,
      [](const std::string& text, ExploreRequest& r) {
        r.bounds.clocks.truetime =
            DurationOf("--epsilon", text, "TrueTime's uncertainty, such as 100us");
      },
      "TrueTime's uncertainty: a commit timestamp lies anywhere in it (default: 0s)");
  AddText(
      app, "--current-timestamp-error", "TIME", request,
      [](const std::string& text, ExploreRequest& r) {
        r.bounds.clocks.current_timestamp = DurationOf(
            "--current-timestamp-error", text, "how far CURRENT_TIMESTAMP may be off, such as 6ms");
      },
      "how far CURRENT_TIMESTAMP may be off, either way, each time that it is read (default: 0s)");
  AddNumber(
      app, "--drift", 0, kDriftMaxPpm,
      [request](uint64_t n) { request->bounds.clocks.rate_ppm = static_cast<int64_t>(n); },
      "by how many ppm a process's clock may be fast, or slow by the reciprocal, for the whole run "
      "(default: 0)");
}

void AddBoundOptions(CLI::App& app, const std::shared_ptr<ExploreRequest>& request) {
  AddBudget(app, "--crashes", request, &sim::FaultBudget::crashes,
            "crashes in one run; who crashed may start again");
  AddBudget(app, "--pauses", request, &sim::FaultBudget::pauses, "pauses of a process");
  AddBudget(app, "--losses", request, &sim::FaultBudget::losses, "lost requests or replies");
  AddBudget(app, "--aborts", request, &sim::FaultBudget::aborts, "transactions that are ABORTED");
  AddBudget(app, "--deletes", request, &sim::FaultBudget::deletes, "rows that an operator deletes");
  AddTime(app, "--grid", request, &ExploreRequest::grid,
          "pauses end, and late messages arrive, at its multiples (default: lease/4)");
  AddNumber(
      app, "--delay", 0, kFaultsMax,
      [request](uint64_t n) { request->bounds.delay = static_cast<int64_t>(n); },
      "how many steps of the grid a message may be late (default: 0)");
  AddTime(app, "--longest-pause", request, &ExploreRequest::longest_pause, "(default: 3 leases)");
  AddTime(app, "--horizon", request, &ExploreRequest::horizon,
          "the time at which every run ends (default: never)");
}

void AddRunOptions(CLI::App& app, const std::shared_ptr<ExploreRequest>& request) {
  AddText(
      app, "--invariant", "NAME", request,
      [](const std::string& text, ExploreRequest& r) {
        r.invariant = InvariantOf("--invariant", text);
      },
      "judge this one alone");
  app.add_flag("--promised", request->promised_only, "judge what the protocol promises alone");
  app.add_flag("--first", request->first_only, "end at the first violation");
  app.add_flag("--all", request->all,
               "find each kind of violation: by what shows it, and by the kinds of its faults");
  app.add_flag("--plain", request->plain,
               "take each step in a copy of the world, and remember none: slow, to check a result");
  app.add_flag("--timeline", request->timeline, "show a shortest run to each violation");
  AddText(
      app, "--memory", "SIZE", request,
      [](const std::string& text, ExploreRequest& r) {
        r.memory_mib = MebibytesOf("--memory", text, kMemoryMaxMiB);
      },
      Cat("end when the search holds so many MiB, or GiB as in 8G (default: ",
          GroupedText(kMemoryByDefaultMiB), ")"));
  app.add_option("--checkpoint", request->checkpoint,
                 "save the search into FILE now and then, and go on from it if it is there")
      ->type_name("FILE");
  request->jobs = DefaultJobs();
  AddNumber(
      app, "--jobs", 1, kJobsMax, [request](uint64_t n) { request->jobs = n; },
      "threads (default: one for each core); changes no output");
  app.add_flag("--json", request->json, "print JSON instead of text");
  app.add_option("--out", request->out, "write the JSON into FILE")->type_name("FILE");
  app.add_option("--save", request->save_folder,
                 "write a scenario of each violation into DIR, for whorl replay; no file there is "
                 "overwritten")
      ->type_name("DIR");
}

// --- a scenario's world --------------------------------------------------------------------------

// Options that say what a scenario says itself.
std::vector<std::string> SaidTwice(const CLI::App& app) {
  std::vector<std::string> errors;
  for (const char* option : {"--protocol", "--processes", "--locks", "--lease", "--constants",
                             "--epsilon", "--current-timestamp-error", "--drift"}) {
    if (app.get_option(option)->count() == 0) continue;
    errors.push_back(Cat(option, " does not go with --scenario, which says it"));
  }
  return errors;
}

// The request's world, as the scenario has it.
void DescribeWorld(const sim::Scenario& scenario, sim::ExploreWorld& world) {
  world.protocol = scenario.protocol;
  world.grid_constants = scenario.constants == sim::Constants::kGrid;
  world.processes = static_cast<int>(scenario.nodes.size());
  world.locks = static_cast<int>(scenario.locks.size());
  const auto shortest = std::ranges::min_element(scenario.nodes, {}, &sim::NodeSpec::lease);
  world.lease = shortest->lease;
}

// Takes the world, the menu and the budget. False if it has said what is wrong.
bool TakeScenario(const CLI::App& app, ExploreRequest& request) {
  std::vector<std::string> errors = SaidTwice(app);
  const Inputs inputs = LoadInputs({request.scenario_path});
  for (const BadInput& bad : inputs.bad) {
    // Printed unchanged, so that an editor finds file and line.
    for (const std::string& error : bad.errors) std::cerr << error << '\n';
  }
  if (inputs.bad.empty() && inputs.scenarios.size() != 1) {
    errors.emplace_back("--scenario takes one file, and this is a folder of several scenarios");
  }
  for (const std::string& error : errors) Complain(error);
  if (!errors.empty() || !inputs.bad.empty()) return false;
  const sim::Scenario& scenario = inputs.scenarios.front();
  sim::ScenarioSpace space = sim::SpaceOf(scenario);
  for (const std::string& error : space.errors) Complain(error);
  if (!space.errors.empty()) return false;
  if (!scenario.schedule.empty()) {
    Complain(Cat(sim::Printable(scenario.path, 1000),
                 ": its schedule is left out: a search tries every one"));
  }
  DescribeWorld(space.scenario, request.world);
  request.lease = request.world.lease;
  sim::FaultBudget& budget = request.bounds.faults;
  for (const auto kind :
       {&sim::FaultBudget::crashes, &sim::FaultBudget::pauses, &sim::FaultBudget::losses,
        &sim::FaultBudget::aborts, &sim::FaultBudget::deletes}) {
    budget.*kind = std::max(budget.*kind, space.faults.*kind);
  }
  request.bounds.menu = space.menu;
  request.space = std::move(space);
  return true;
}

// The scenario's longest pause, up to the next point of the grid.
std::optional<Duration> LongestPauseOf(const ExploreRequest& request, Duration grid) {
  if (!request.space || request.space->longest_pause == Duration{}) return std::nullopt;
  return grid * ((request.space->longest_pause.ns + grid.ns - 1) / grid.ns);
}

void AddErrorsOfDrift(const ExploreRequest& request, std::vector<std::string>& errors) {
  const int64_t drift = request.bounds.clocks.rate_ppm;
  if (drift == 0) return;
  const std::string& protocol = request.world.protocol;
  const int64_t with_grid = sim::RateAssumedBy(protocol, sim::Constants::kGrid);
  const int64_t most = request.world.grid_constants
                           ? with_grid
                           : sim::RateAssumedBy(protocol, sim::Constants::kShipped);
  if (drift > most) {
    const bool helps = with_grid > most;
    errors.push_back(Cat("--drift ", std::to_string(drift), ": ", protocol,
                         " assumes that clocks run ", "at most ", GroupedText(most),
                         " ppm fast or slow",
                         helps ? Cat("; --constants grid allows ", GroupedText(with_grid)) : ""));
  } else if (!sim::SlowRate(drift)) {
    errors.push_back(Cat("--drift ", std::to_string(drift),
                         ": its reciprocal is no whole number of ",
                         "ppm, so that instants would leave every grid; 250000 has one, with "
                         "--constants grid"));
  }
}

// Fills in what was not said. Returns what cannot be meant.
std::vector<std::string> Complete(ExploreRequest& request) {
  std::vector<std::string> errors;
  if (request.world.protocol.empty()) {
    errors.emplace_back(
        "explore needs --protocol or --scenario; `whorl protocols` lists the protocols");
    return errors;
  }
  const ProtocolInfo& protocol = *FindProtocol(request.world.protocol);
  const Duration lease = request.lease.value_or(std::max(kLeaseByDefault, protocol.lease_min));
  if (lease < protocol.lease_min || lease > protocol.lease_max) {
    errors.push_back(Cat("--lease: ", protocol.name, " has leases of at least ",
                         FormatDuration(protocol.lease_min), ", and got ", FormatDuration(lease)));
  }
  sim::ExploreBounds& bounds = request.bounds;
  request.world.lease = lease;
  bounds.grid = request.grid.value_or(lease / kLeasesInGrid);
  bounds.horizon = request.horizon;
  bounds.longest_pause = request.longest_pause.value_or(
      LongestPauseOf(request, bounds.grid).value_or(lease * kLeasesByDefault));
  for (const auto& [name, time] :
       {std::pair("the lease", lease), std::pair("--longest-pause", bounds.longest_pause)}) {
    if (time.ns % bounds.grid.ns == 0) continue;
    errors.push_back(Cat("--grid ", FormatDuration(bounds.grid), " does not divide ", name, " (",
                         FormatDuration(time), "); ", FormatDuration(lease / kLeasesInGrid),
                         " would divide the lease"));
  }
  const Duration epsilon = bounds.clocks.truetime;
  if (epsilon > sim::kEpsilonWithinAnInstant && epsilon.ns % bounds.grid.ns != 0) {
    errors.push_back(Cat(
        "--epsilon ", FormatDuration(epsilon), ": commits would wait for times off ", "the grid (",
        FormatDuration(bounds.grid), "); at most ", FormatDuration(sim::kEpsilonWithinAnInstant),
        ", which passes within an instant, or a multiple of --grid would do"));
  }
  AddErrorsOfDrift(request, errors);
  if (request.world.grid_constants && protocol.make_grid_config == nullptr) {
    errors.push_back(Cat("--constants grid: ", protocol.name, " has none but those that ship"));
  }
  if (request.world.locks > 1 && protocol.takes_one_lock) {
    errors.push_back(Cat("--locks: a table of ", protocol.name, " has room for one lock"));
  }
  if (!request.checkpoint.empty() && request.checkpoint == request.out) {
    errors.emplace_back("--out would write over the file of --checkpoint; name another file");
  }
  if (request.invariant == Invariant::kNoWedge) {
    if (bounds.horizon) {
      errors.emplace_back("--invariant no_wedge is about runs that never end; leave --horizon out");
    }
    if (!request.checkpoint.empty()) {
      errors.emplace_back(
          "--checkpoint: the file has no room for the graph of a search for no_wedge; leave it "
          "out");
    }
    if (request.all) {
      errors.emplace_back(
          "--all: a search for no_wedge shows the shortest way there; leave it out");
    }
  }
  return errors;
}

uint32_t BitOf(Invariant invariant) { return 1U << static_cast<uint32_t>(invariant); }

int FaultsMax(const sim::FaultBudget& budget) {
  return budget.crashes + budget.pauses + budget.losses + budget.aborts + budget.deletes;
}

// --- the report ----------------------------------------------------------------------------------

std::string BudgetText(const sim::ExploreBounds& bounds) {
  const sim::FaultBudget& budget = bounds.faults;
  std::string text;
  const auto add = [&text](uint8_t count, std::string_view one, std::string_view many) {
    if (count == 0) return;
    text += Cat(text.empty() ? "at most " : ", ", CountText(count, one, many));
  };
  add(budget.crashes, "crash", "crashes");
  add(budget.pauses, "pause", "pauses");
  if (budget.pauses > 0) text += Cat(" of at most ", FormatDuration(bounds.longest_pause));
  add(budget.losses, "lost message", "lost messages");
  add(budget.aborts, "abort", "aborts");
  add(budget.deletes, "deleted row", "deleted rows");
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

// What the search is about, as one sentence without its end.
std::string BoundsText(const ExploreRequest& request) {
  const sim::ExploreWorld& world = request.world;
  const sim::ExploreBounds& bounds = request.bounds;
  std::string text = Cat(world.protocol, ", ", CountText(world.processes, "process", "processes"));
  if (request.space) text = Cat("the world of ", request.space->scenario.name, ": ", text);
  if (world.locks > 1) text += Cat(", ", CountText(world.locks, "lock", "locks"));
  text += Cat(", ", BudgetText(bounds));
  if (world.grid_constants) text += ", grid constants";
  text += Cat(", lease ", FormatDuration(world.lease), ", grid ", FormatDuration(bounds.grid));
  text += bounds.delay == 0
              ? ", messages on time"
              : Cat(", messages up to ", FormatDuration(bounds.grid * bounds.delay), " late");
  text += ClocksText(request);
  return bounds.horizon ? Cat(text, ", up to ", FormatDuration(*bounds.horizon))
                        : Cat(text, ", no horizon");
}

std::string CountsText(const Result& result) {
  return Cat(CountText(static_cast<int64_t>(result.states), "state", "states"), ", ",
             CountText(static_cast<int64_t>(result.transitions), "transition", "transitions"));
}

// Which runs a search that was not complete has taken.
std::string ExploredText(const Result& result) {
  const std::string steps = CountText(result.explored_steps, "step", "steps");
  if (result.explored_faults == 0) return Cat("all runs without a fault of up to ", steps);
  const std::string faults = CountText(result.explored_faults, "fault", "faults");
  return Cat("all runs with fewer than ", faults, ", and those with ", faults, " of up to ", steps);
}

// How the search ended, as a sentence.
std::string EndingText(const ExploreRequest& request, const Result& result) {
  if (result.ending == explore::Ending::kComplete) {
    return Cat("complete: ", BoundsText(request), ": ", CountsText(result));
  }
  std::string_view why = "interrupted";
  if (result.ending == explore::Ending::kMemory) why = "out of memory (--memory)";
  if (result.ending == explore::Ending::kViolation) why = "ended at the first violation";
  return Cat(why, ": ", BoundsText(request), ": ", ExploredText(result),
             " were taken: ", CountsText(result), ", ",
             GroupedText(static_cast<int64_t>(result.frontier)), " more to go on from");
}

std::string NamesOf(uint32_t invariants) {
  std::string names;
  for (const Invariant invariant : AllOf<Invariant>()) {
    if ((invariants & BitOf(invariant)) == 0) continue;
    names += Cat(names.empty() ? "" : ", ", WordOf(invariant));
  }
  return names;
}

struct Finding {
  Invariant invariant = Invariant::kOneLiveToken;
  const Violation* violation = nullptr;
  uint64_t states = 0;  // that violate it
  bool promised = false;
  sim::Counterexample found;
  std::string saved;  // the path of its scenario
};

// What the exact run says of the violation.
std::string ExactText(const Finding& finding) {
  if (finding.found.is_confirmed) return finding.found.run.checks[finding.invariant].first->text;
  const std::string& problem = finding.found.run.schedule_problem;
  return Cat("not confirmed by an exact replay: it may be an accident of the grid",
             problem.empty() ? "" : Cat("; ", problem));
}

class Explorer {
 public:
  explicit Explorer(ExploreRequest request)
      : request_(std::move(request)),
        model_(request_.space ? sim::LockModel(request_.space->scenario, request_.bounds)
                              : sim::LockModel(request_.world, request_.bounds)),
        promises_(sim::PromisesIn(model_.scenario())) {
    if (request_.all) model_.TellKindsApart();
  }

  int Run() {
    OutputFile file;
    if (!request_.out.empty()) {
      if (const absl::Status opened = file.Open(request_.out); !opened.ok()) return End(opened);
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
    const Result& result = *searched;
    std::vector<Finding> findings = FindingsOf(result);
    if (const absl::Status saved = Save(findings); !saved.ok()) return End(saved);
    const int code = findings.empty() ? kAsExpected : kExpectationFailed;
    if (request_.json || !request_.out.empty()) {
      const std::string text = sim::DumpJson(JsonOf(result, findings), 2) + "\n";
      if (request_.json) std::cout << text;
      if (!request_.out.empty()) {
        file.stream() << text;
        if (const absl::Status written = file.Commit(); !written.ok()) return End(written);
      }
    }
    if (!request_.json) Print(result, findings);
    const absl::Status printed = FlushStdout();
    return End(printed.ok() ? checkpoint_.status() : printed, code);
  }

 private:
  uint32_t Watched() const {
    uint32_t watched = 0;
    for (const Invariant invariant : AllOf<Invariant>()) {
      if (invariant == Invariant::kNoWedge && !JudgesWedges()) continue;
      if (request_.invariant && *request_.invariant != invariant) continue;
      if (PromiseOf(invariant) == Promise::kNotApplicable) continue;
      if (request_.promised_only && PromiseOf(invariant) != Promise::kPromised) continue;
      watched |= BitOf(invariant);
    }
    return watched;
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
            {"--epsilon", FormatDuration(bounds.clocks.truetime)},
            {"--current-timestamp-error", FormatDuration(bounds.clocks.current_timestamp)},
            {"--drift", number(bounds.clocks.rate_ppm)},
            {"--crashes", number(bounds.faults.crashes)},
            {"--pauses", number(bounds.faults.pauses)},
            {"--losses", number(bounds.faults.losses)},
            {"--aborts", number(bounds.faults.aborts)},
            {"--deletes", number(bounds.faults.deletes)},
            {"--grid", FormatDuration(bounds.grid)},
            {"--delay", number(bounds.delay)},
            {"--longest-pause", FormatDuration(bounds.longest_pause)},
            {"--horizon", bounds.horizon ? FormatDuration(*bounds.horizon) : "none"},
            {"invariants", NamesOf(Watched())},
            {"--first", yes(request_.first_only)},
            {"--all", yes(request_.all)},
            {"--plain", yes(request_.plain)},
            {"--scenario", request_.scenario_path.empty() ? "none" : request_.scenario_path},
            {"worlds of digest", sim::HashText(worlds.high) + sim::HashText(worlds.low)}};
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
        checkpoint_.Write(record, waiting);
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
      result = JudgesWedges() ? SearchForWedge(options)
                              : sim::ExploreLocks(
                                    model_, options, std::move(from),
                                    request_.plain ? sim::Steps::kTaken : sim::Steps::kRemembered);
    } catch (const explore::BadCheckpoint& error) {
      return absl::InvalidArgumentError(Cat(checkpoint_.path(), ": ", error.what()));
    }
    Progress::Clear();
    const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
    std::cerr << CountsText(*result) << " in "
              << sim::SecondsText({static_cast<int64_t>(seconds * 1e9)}, 1) << " s, at most "
              << GroupedText(static_cast<int64_t>(result->peak_bytes >> 20)) << " MiB\n";
    const bool has_ended = result->ending == explore::Ending::kComplete ||
                           result->ending == explore::Ending::kViolation;
    if (!has_ended && (goes_on || checkpoint_.is_written())) {
      std::cerr << "the same command goes on from " << checkpoint_.path() << '\n';
    }
    return result;
  }

  // The first lock for which there is one. The way to the loop is the violation.
  Result SearchForWedge(const explore::SearchOptions& options) {
    Result result;
    for (uint16_t lock = 0; lock < model_.scenario().locks.size(); ++lock) {
      auto found = sim::FindWedge(model_, lock, options);
      result = std::move(found.search);
      if (found.lasso) {
        constexpr auto kProperty = static_cast<int>(Invariant::kNoWedge);
        wedged_for_steps_ = found.lasso->loop.size();
        result.violating[kProperty] = found.bad_states;
        result.violations.push_back({.property = kProperty,
                                     .kind = 0,
                                     .faults = found.lasso->faults,
                                     .path = std::move(found.lasso->stem)});
        break;
      }
      if (result.ending != explore::Ending::kComplete) break;
    }
    return result;
  }

  std::vector<Finding> FindingsOf(const Result& result) const {
    std::vector<Finding> findings;
    for (const Violation& violation : result.violations) {
      const auto invariant = static_cast<Invariant>(violation.property);
      findings.push_back({.invariant = invariant,
                          .violation = &violation,
                          .states = result.violating[static_cast<size_t>(violation.property)],
                          .promised = PromiseOf(invariant) == Promise::kPromised,
                          .found = sim::CounterexampleOf(model_, violation),
                          .saved = {}});
    }
    // Of two kinds, one may be the other one and a fault that it does not need.
    std::vector<Finding> minimal;
    for (const Finding& finding : findings) {
      const bool needs_more = std::ranges::any_of(findings, [&](const Finding& other) {
        return other.invariant == finding.invariant && sim::NeedsLess(other.found, finding.found);
      });
      if (!needs_more) minimal.push_back(finding);
    }
    return minimal;
  }

  // One that the exact replay does not confirm is no scenario of a violation.
  absl::Status Save(std::vector<Finding>& findings) const {
    if (request_.save_folder.empty()) return absl::OkStatus();
    for (Finding& finding : findings) {
      if (!finding.found.is_confirmed) continue;
      const absl::StatusOr<std::string> path =
          SaveCounterexample(finding.found.scenario, request_.save_folder);
      if (!path.ok()) return path.status();
      finding.saved = *path;
    }
    return absl::OkStatus();
  }

  void Print(const Result& result, const std::vector<Finding>& findings) const {
    std::cout << EndingText(request_, result) << '\n';
    uint32_t holding = Watched();
    for (const Finding& finding : findings) {
      holding &= ~BitOf(finding.invariant);
      PrintFinding(finding);
    }
    const std::string names = NamesOf(holding);
    if (names.empty()) return;
    std::cout << (result.ending == explore::Ending::kComplete ? "holds: " : "no violation so far: ")
              << names << '\n';
  }

  void PrintFinding(const Finding& finding) const {
    std::cout << "violated: " << WordOf(finding.invariant)
              << (finding.promised ? " (promised)" : " (not promised)") << ", "
              << CountText(finding.violation->faults, "fault", "faults") << " and "
              << CountText(static_cast<int64_t>(finding.violation->path.choices.size()), "step",
                           "steps")
              << '\n';
    std::cout << "  " << ExactText(finding) << '\n';
    if (finding.invariant == Invariant::kNoWedge) {
      std::cout << "  from there on "
                << CountText(static_cast<int64_t>(wedged_for_steps_), "step", "steps")
                << " can repeat for ever, and nobody holds the lock\n";
    }
    if (!finding.saved.empty()) {
      std::cout << "  " << ShellQuoted(request_.command) << " replay " << ShellQuoted(finding.saved)
                << " --explain=" << WordOf(finding.invariant) << '\n';
    }
    if (!request_.timeline) return;
    sim::Timeline timeline(finding.found.scenario);
    sim::RunAgain(model_, finding.found, timeline);
    std::cout << '\n';
    timeline.Print(finding.found.run.checks, {.width = ScreenWidth(), .colour = WantsColour()},
                   std::cout);
    std::cout << '\n';
  }

  Json JsonOf(const Result& result, const std::vector<Finding>& findings) const {
    Json document = Json::object();
    document["format"] = "whorl-explore";
    document["version"] = 1;
    document["bounds"] = BoundsText(request_);
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
      const bool watched = (Watched() & BitOf(invariant)) != 0;
      const bool complete = result.ending == explore::Ending::kComplete;
      verdict["verdict"] = !watched ? "not_judged" : complete ? "holds" : "unknown";
    }
    for (const Finding& finding : findings) {
      Json& verdict = verdicts[std::string(WordOf(finding.invariant))];
      verdict["verdict"] = "violated";
      verdict["promised"] = finding.promised;
      verdict["states"] = finding.states;
      Json counterexample = {{"faults", finding.violation->faults},
                             {"steps", finding.violation->path.choices.size()},
                             {"confirmed", finding.found.is_confirmed},
                             {"text", ExactText(finding)}};
      if (!finding.saved.empty()) counterexample["scenario"] = finding.saved;
      verdict["counterexamples"].push_back(std::move(counterexample));
    }
    return document;
  }

  const ExploreRequest request_;
  sim::LockModel model_;
  const std::array<Promise, kCountOf<Invariant>> promises_;
  CheckpointFile checkpoint_;
  size_t wedged_for_steps_ = 0;  // the length of the loop that SearchForWedge found
};

int RunExplore(const CLI::App& app, ExploreRequest request) {
  if (!request.scenario_path.empty() && !TakeScenario(app, request)) return kBadInput;
  const std::vector<std::string> errors = Complete(request);
  for (const std::string& error : errors) Complain(error);
  if (!errors.empty()) return kBadInput;
  return Explorer(std::move(request)).Run();
}

void AddExploreOptions(CLI::App& app, const std::shared_ptr<ExploreRequest>& request) {
  AddWorldOptions(app, request);
  AddClockOptions(app, request);
  AddBoundOptions(app, request);
  AddRunOptions(app, request);
  app.footer(std::string(kExploreFooter));
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
