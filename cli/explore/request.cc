#include "cli/explore/request.h"

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

#include "base/parse_duration.h"
#include "base/text.h"
#include "cli/exit_options.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "sim/scenario/assumptions.h"

namespace whorl::cli {
namespace {

constexpr Duration kLeaseByDefault = Seconds(4);
constexpr int64_t kLeasesInGrid = 4;
constexpr int64_t kLeasesByDefault = 3;  // of the longest pause

// --- a scenario's world --------------------------------------------------------------------------

// Options that say what a scenario says itself.
std::vector<std::string> SaidTwice(const CLI::App& app) {
  std::vector<std::string> errors;
  for (const char* option :
       {"--protocol", "--processes", "--locks", "--lease", "--constants",
        "--strict-pending-commit-timestamp", "--epsilon", "--current-timestamp-error", "--drift"}) {
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
  if (request.invariant == Invariant::kPacedCalls) {
    errors.emplace_back(
        "--invariant paced_calls is about how often a process calls, which no state shows; replay "
        "and "
        "hunt judge it");
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

}  // namespace whorl::cli
