#include "cli/explore/request.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse_duration.h"
#include "base/text.h"
#include "cli/exit_rules.h"
#include "cli/inputs.h"
#include "cli/junit.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "sim/scenario/assumptions.h"

namespace whorl::cli {

namespace {

constexpr Duration kLeaseByDefault = Seconds(4);
constexpr int64_t kLeasesInGrid = 4;
constexpr int64_t kLeasesByDefault = 3;  // of the longest pause
constexpr int64_t kStartsMax = 10'000;   // ways in which processes can start, each an initial state

// --- a scenario's world --------------------------------------------------------------------------

// Options that say what a scenario says itself.
std::vector<std::string> SaidTwice(const CLI::App& app) {
  std::vector<std::string> errors;
  for (const char* option : {"--protocol", "--processes", "--locks", "--lease", "--constants",
                             "--announce", "--use", "--deadline", "--hold-for", "--lock-again",
                             "--commit-timeout", "--strict-pending-commit-timestamp", "--epsilon",
                             "--current-timestamp-error", "--drift", "--start-within"}) {
    if (app.get_option(option)->count() == 0) continue;
    errors.push_back(Cat(option, " does not go with --scenario, which says it"));
  }
  return errors;
}

// The request's world, as the scenario has it.
void DescribeWorld(const sim::Scenario& scenario, sim::ExploreWorld& world) {
  world.protocol = scenario.protocol;
  world.grid_constants = scenario.constants == sim::Constants::kGrid;
  world.strict_pending_commit_timestamp = scenario.spanner.strict_pending_commit_timestamp;
  world.processes = static_cast<int>(scenario.nodes.size());
  world.locks = static_cast<int>(scenario.locks.size());
  world.announces_releases = scenario.network.announce_releases;
  world.commit_timeout = scenario.network.commit_timeout;
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
  const std::string path = Printable(scenario.path, 1000);
  if (request.after_schedule && scenario.schedule.empty()) {
    Complain(Cat(path, ": --after-schedule: it has no schedule"));
    return false;
  }
  if (request.after_schedule) request.scenario = scenario;
  if (!request.after_schedule && !scenario.schedule.empty()) {
    Complain(Cat(path,
                 ": its schedule is left out: a search tries every one (--after-schedule begins "
                 "where it ends)"));
  }
  DescribeWorld(space.scenario, request.world);
  request.lease = request.world.lease;
  sim::FaultBudget& budget = request.bounds.faults;
  for (const auto kind :
       {&sim::FaultBudget::crashes, &sim::FaultBudget::stops, &sim::FaultBudget::pauses,
        &sim::FaultBudget::losses, &sim::FaultBudget::aborts, &sim::FaultBudget::deletes,
        &sim::FaultBudget::announcements, &sim::FaultBudget::standing_clocks}) {
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

// Whether a process that is told of a release does anything then.
void AddErrorsOfAnnouncements(const ExploreRequest& request, const ProtocolInfo& protocol,
                              std::vector<std::string>& errors) {
  if (request.space || protocol.announces_releases) return;
  for (const auto& [option, is_given] :
       {std::pair("--announce", request.world.announces_releases),
        std::pair("--announcements", request.bounds.faults.announcements > 0)}) {
    if (!is_given) continue;
    errors.push_back(Cat(option, ": processes of ", protocol.name,
                         " do not listen to announcements; leave the option out"));
  }
}

// Whether applications can use the lock so, and whether a time that only some applications have is given for others.
void AddErrorsOfUse(const ExploreRequest& request, const ProtocolInfo& protocol,
                    std::vector<std::string>& errors) {
  const sim::ExploreWorld& world = request.world;
  if (request.space) return;
  if (world.use == sim::Use::kLock && !protocol.has_blocking_wrapper) {
    errors.push_back(Cat("--use lock: ", protocol.name,
                         " has no blocking Lock(); its uses: has_lock, callback"));
  } else if (world.use == sim::Use::kLock && world.lock_again && !world.hold_for &&
             !world.deadline) {
    errors.emplace_back(
        "--lock-again: no Lock() fails, and nobody calls Unlock(); add --hold-for or --deadline");
  }
  for (const auto& [option, time] :
       {std::pair("--hold-for", world.hold_for), std::pair("--lock-again", world.lock_again)}) {
    if (!time || world.use == sim::Use::kLock) continue;
    errors.push_back(Cat(option, " is of applications that call Lock(); add --use lock"));
  }
}

// Whether times of applications and of clients would move instants off the grid, where each further one adds states.
void AddErrorsOfTimesOffGrid(const ExploreRequest& request, std::vector<std::string>& errors) {
  if (request.space) return;
  const sim::ExploreWorld& world = request.world;
  const Duration grid = request.bounds.grid;
  for (const auto& [option, time] :
       {std::pair("--deadline", world.deadline), std::pair("--hold-for", world.hold_for),
        std::pair("--lock-again", world.lock_again),
        std::pair("--commit-timeout", world.commit_timeout)}) {
    if (!time || time->ns % grid.ns == 0) continue;
    errors.push_back(Cat(option, " ", FormatDuration(*time), " is no multiple of --grid (",
                         FormatDuration(grid), "); give one, or a lesser --grid"));
  }
}

// Whether clients would give up no Commit sooner than without the option.
void AddErrorsOfCommitTimeout(const ExploreRequest& request, const ProtocolInfo& protocol,
                              std::vector<std::string>& errors) {
  if (request.space || !request.world.commit_timeout) return;
  const Duration anyway = protocol.retry_policy.commit_timeout;
  if (*request.world.commit_timeout < anyway) return;
  errors.push_back(Cat("--commit-timeout: the client of ", protocol.name,
                       " gives a Commit up after ", FormatDuration(anyway),
                       " anyway; give less, or leave the option out"));
}

// --- what was not said ---------------------------------------------------------------------------

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
  // A loop of states has to lead back to itself, not to a state in which processes have changed places.
  bounds.symmetry = request.symmetry && request.invariant != Invariant::kNoWedge;
  bounds.longest_pause = request.longest_pause.value_or(
      LongestPauseOf(request, bounds.grid).value_or(lease * kLeasesByDefault));
  for (const auto& [name, time] :
       {std::pair("the lease", lease), std::pair("--longest-pause", bounds.longest_pause),
        std::pair("--start-within", bounds.start_within)}) {
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
  const auto starts = static_cast<double>(1 + bounds.start_within.ns / bounds.grid.ns);
  if (std::pow(starts, request.world.processes) > kStartsMax) {
    errors.push_back(Cat("--start-within ", FormatDuration(bounds.start_within), ": ",
                         std::to_string(request.world.processes),
                         " processes could start in more than ", GroupedText(kStartsMax),
                         " ways; give less, or a greater --grid"));
  }
  if (request.world.grid_constants && protocol.make_grid_config == nullptr) {
    errors.push_back(Cat("--constants grid: ", protocol.name,
                         " has only the constants that ship; leave the option out, or give its "
                         "ProtocolInfo a make_grid_config (protocol/ADDING.md)"));
  }
  AddErrorsOfAnnouncements(request, protocol, errors);
  AddErrorsOfUse(request, protocol, errors);
  AddErrorsOfCommitTimeout(request, protocol, errors);
  AddErrorsOfTimesOffGrid(request, errors);
  if (request.world.locks > 1 && protocol.takes_one_lock) {
    errors.push_back(Cat("--locks: a table of ", protocol.name, " has room for one lock"));
  }
  const std::vector<std::string> unlooked =
      ContradictionsOfExpect(*request.exits, request.promised_only, request.invariant);
  errors.insert(errors.end(), unlooked.begin(), unlooked.end());
  const auto& expected = request.exits->expected;
  if (std::ranges::find(expected, Invariant::kNoWedge) != expected.end() && !request.invariant) {
    errors.emplace_back("--expect no_wedge: it is looked for with --invariant no_wedge alone");
  }
  if (!request.checkpoint.empty() && request.checkpoint == request.out) {
    errors.emplace_back("--out would write over the file of --checkpoint; name another file");
  }
  if (request.invariant && !IsExplored(*request.invariant)) {
    errors.push_back(Cat("--invariant ", WordOf(*request.invariant),
                         " is about what happens in time, which no state shows; replay and hunt "
                         "judge it"));
  }
  if (request.invariant == Invariant::kNoWedge) {
    if (bounds.horizon) {
      errors.emplace_back("--invariant no_wedge is about runs that never end; leave --horizon out");
    }
    if (request.all) {
      errors.emplace_back(
          "--all: a search for no_wedge shows the shortest way there; leave it out");
    }
  }
  return errors;
}

}  // namespace

bool CompleteRequest(const CLI::App& app, ExploreRequest& request) {
  if (request.after_schedule && request.scenario_path.empty()) {
    Complain("--after-schedule wants --scenario, whose schedule it begins after");
    return false;
  }
  if (!request.scenario_path.empty() && !TakeScenario(app, request)) return false;
  const std::vector<std::string> errors = Complete(request);
  for (const std::string& error : errors) Complain(error);
  return errors.empty();
}

namespace {

constexpr uint64_t kProcessesMax = 8;
constexpr uint64_t kLocksMax = 9;
constexpr uint64_t kFaultsMax = 100;
constexpr uint64_t kDriftMaxPpm = 1'000'000;
constexpr uint64_t kMemoryMaxMiB = 1'000'000;

constexpr std::string_view kExploreFooter = R"(Examples:
  whorl explore --protocol fenced_lease                    two processes, no fault
  whorl explore --protocol fenced_lease --crashes 1        one may crash and start again
  whorl explore --protocol fenced_lease --stops 1          one may be told to stop at any moment
  whorl explore --protocol fenced_lease --stops 1 --announce --announcements 1
  whorl explore --protocol fenced_lease --standing-clocks 1 --any
  whorl explore --protocol spindle_v2 --use lock --deadline 10s --hold-for 1s --horizon 13s
  whorl explore --protocol fenced_lease --constants grid --delay 2 --commit-timeout 1s --horizon 6s
  whorl explore --protocol spindle_v3 --pauses 1 --timeline --any
  whorl explore --protocol spindle_v2 --invariant token_monotonic --crashes 1 --pauses 1
  whorl explore --protocol fenced_lease --processes 3 --losses 1 --memory 8G
  whorl explore --protocol fenced_lease --deletes 1 --invariant no_wedge --constants grid
  whorl explore --protocol fenced_lease --aborts 1 --checkpoint aborts.search
  whorl explore --protocol spindle_v3 --pauses 1 --all --save found   found/*.json, for whorl replay
  whorl explore --protocol spindle_v3 --current-timestamp-error 4s --horizon 10s
  whorl explore --protocol fenced_lease --constants grid --drift 250000 --horizon 4s
  whorl explore --scenario scenarios/semaphore_row_deleted.json --horizon 10s
  whorl explore --scenario scenarios/s4_with_two_processes.json --after-schedule --horizon 13s --first

A search takes every order of what can happen at one time, every fault of the budget at every moment,
and every length of a pause on the grid. What clocks may be off by (--epsilon, --drift,
--current-timestamp-error), each of them is off by in turn, either way, or not at all. So "holds" is a
proof within the bounds that the first line names, and a violation comes with a shortest way to it,
which is run again in exact time. What is not tried: other draws of random numbers than the greatest,
and whatever lies between two points of the grid. A lock that nobody can ever take again is looked for
with --invariant no_wedge, by a search of its own; replay and hunt alone judge what is about times:
paced_calls, told_of_leadership, answered_in_time, reasoned_step_down, prompt_handover. Ctrl-C and
--memory end a search early; it then says how far it got, and with --checkpoint the same command goes on
from there, also on another machine.
Exit codes: 0 no promise was broken; 1 one was, or something that --expect names, with --any anything; 2 bad
input or usage; 3 no answer: out of memory or interrupted (--accept-incomplete), or the output could not be
written. --horizon and --first are bounds that were asked for. docs/EXIT_CODES.md has all of them.)";

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

// An option that is a time, in a place that lives as long as the request.
void AddTime(CLI::App& app, const std::string& name, const std::shared_ptr<ExploreRequest>& request,
             std::optional<Duration>& time, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [name, request, &time](const std::string& text) {
           const Duration taken = DurationOf(name, text, "a time, such as 4s");
           if (taken <= Duration{}) throw CLI::ValidationError(Cat(name, " wants more than 0s"));
           time = taken;
         },
         help)
      ->type_name("TIME");
}

void AddWorldOptions(CLI::App& app, const std::shared_ptr<ExploreRequest>& request) {
  app.add_option(
         "--scenario", request->scenario_path,
         "explore its world; its faults are the menu and the budget, and strike at any time")
      ->type_name("FILE");
  app.add_flag(
      "--after-schedule", request->after_schedule,
      "begin where the scenario's schedule ends; its faults that struck by then are spent");
  AddText(app, "--protocol", "P", request, TakeProtocol, "whose locks to explore");
  AddNumber(
      app, "--processes", 1, kProcessesMax,
      [request](uint64_t n) { request->world.processes = static_cast<int>(n); },
      "how many processes (default: 2)");
  AddNumber(
      app, "--locks", 1, kLocksMax,
      [request](uint64_t n) { request->world.locks = static_cast<int>(n); },
      "how many locks each of them wants (default: 1)");
  AddTime(app, "--lease", request, request->lease,
          "(default: 4s, or the shortest that the protocol allows)");
  AddText(
      app, "--constants", "shipped|grid", request,
      [](const std::string& text, ExploreRequest& r) {
        constexpr std::array<std::string_view, 2> kKnown = {"shipped", "grid"};
        r.world.grid_constants = PlaceOfWord("--constants", "kind of constants", text, kKnown) == 1;
      },
      "the protocol's numbers: as shipped, or whole quarters of the lease, which make fewer states "
      "(default: shipped)");
  app.add_flag("--announce", request->world.announces_releases,
               "a process that has given the lock back tells the others, who look at once");
  AddText(
      app, "--use", "has_lock|callback|lock", request,
      [](const std::string& text, ExploreRequest& r) {
        r.world.use =
            static_cast<sim::Use>(PlaceOfWord("--use", "use", text, AllWords<sim::Use>()));
      },
      "how applications use the lock, as in a scenario: lock calls Lock() (default: callback)");
  AddTime(app, "--deadline", request, request->world.deadline,
          "the time from the start, or from each call of Lock(), to the end of its context "
          "(default: never)");
  AddTime(app, "--hold-for", request, request->world.hold_for,
          "with --use lock: from the return of Lock() to Unlock() (default: until told to stop)");
  AddTime(app, "--lock-again", request, request->world.lock_again,
          "with --use lock: from Unlock(), or a Lock() that failed, to the next Lock() (default: "
          "never)");
  AddTime(app, "--commit-timeout", request, request->world.commit_timeout,
          "the time after which a client gives a Commit up, and does not know its outcome "
          "(default: as the protocol's client library)");
  AddText(
      app, "--strict-pending-commit-timestamp", "table|column", request,
      [](const std::string& text, ExploreRequest& r) {
        using Rule = sim::PendingCommitTimestampRule;
        r.world.strict_pending_commit_timestamp = static_cast<Rule>(
            PlaceOfWord("--strict-pending-commit-timestamp", "rule", text, AllWords<Rule>()));
      },
      "what cannot be read once PENDING_COMMIT_TIMESTAMP was written in the same transaction: the "
      "table, as documented, or the column, as the emulator does (default: table)");
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
  AddBudget(app, "--stops", request, &sim::FaultBudget::stops,
            "processes told to stop in one run; each may start again, at any moment");
  AddBudget(app, "--pauses", request, &sim::FaultBudget::pauses, "pauses of a process");
  AddBudget(app, "--losses", request, &sim::FaultBudget::losses, "lost requests or replies");
  AddBudget(app, "--aborts", request, &sim::FaultBudget::aborts, "transactions that are ABORTED");
  AddBudget(app, "--deletes", request, &sim::FaultBudget::deletes, "rows that an operator deletes");
  AddBudget(app, "--announcements", request, &sim::FaultBudget::announcements,
            "times that a process is told of a release that was none");
  AddBudget(app, "--standing-clocks", request, &sim::FaultBudget::standing_clocks,
            "suspended machines: nothing runs there, and the clock stands still");
  AddTime(app, "--grid", request, request->grid,
          "pauses end, clocks that stood still go on, and late messages arrive, at its multiples "
          "(default: lease/4)");
  AddNumber(
      app, "--delay", 0, kFaultsMax,
      [request](uint64_t n) { request->bounds.delay = static_cast<int64_t>(n); },
      "how many steps of the grid a message may be late (default: 0)");
  AddTime(app, "--longest-pause", request, request->longest_pause,
          "for how long a process is paused, or a clock stands still, at most (default: 3 leases)");
  AddText(
      app, "--start-within", "TIME", request,
      [](const std::string& text, ExploreRequest& r) {
        r.bounds.start_within =
            DurationOf("--start-within", text, "within which processes start, such as 1s");
      },
      "each process starts at any point of the grid within TIME (default: 0s, all at once)");
  AddTime(app, "--horizon", request, request->horizon,
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
  AddExpectAndAny(app, request->exits);
  AddAcceptIncomplete(app, request->exits);
  app.add_flag("--first", request->first_only, "end at the first violation");
  app.add_flag("--all", request->all,
               "find each kind of violation: by what shows it, and by the kinds of its faults");
  app.add_flag_callback(
      "--no-symmetry", [request] { request->symmetry = false; },
      "visit all states that differ only by which of equal processes is which: to check a result");
  app.add_flag("--plain", request->plain,
               "take each step in a copy of the world, and remember none: slow, to check a result");
  app.add_flag("--timeline", request->timeline, "show a shortest run to each violation");
  AddText(
      app, "--memory", "SIZE", request,
      [](const std::string& text, ExploreRequest& r) {
        r.memory_mib = MebibytesOf("--memory", text, kMemoryMaxMiB);
      },
      Cat("end when the search holds so many MiB, or GiB as in 8G (default: ",
          GroupedText(kExploreMemoryByDefaultMiB), ")"));
  app.add_option("--checkpoint", request->checkpoint,
                 "save the search into FILE now and then, and go on from it if it is there")
      ->type_name("FILE");
  request->jobs = DefaultJobs();
  AddNumber(
      app, "--jobs", 1, kJobsMax, [request](uint64_t n) { request->jobs = n; },
      "threads (default: one for each core); changes no output");
  app.add_flag("--json", request->json, "print JSON instead of text");
  app.add_option("--out", request->out, "write the JSON into FILE")->type_name("FILE");
  AddJunit(app, request->junit_path);
  app.add_option("--save", request->save_folder,
                 "write a scenario of each violation into DIR, for whorl replay; no file there is "
                 "overwritten")
      ->type_name("DIR");
}

}  // namespace

void AddExploreOptions(CLI::App& app, const std::shared_ptr<ExploreRequest>& request) {
  AddWorldOptions(app, request);
  AddClockOptions(app, request);
  AddBoundOptions(app, request);
  AddRunOptions(app, request);
  app.footer(std::string(kExploreFooter));
}

}  // namespace whorl::cli
