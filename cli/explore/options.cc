#include "cli/explore/options.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/exit_options.h"
#include "cli/option_values.h"
#include "sim/scenario/assumptions.h"

namespace whorl::cli {
namespace {

constexpr uint64_t kProcessesMax = 8;
constexpr uint64_t kLocksMax = 9;
constexpr uint64_t kFaultsMax = 100;
constexpr uint64_t kDriftMaxPpm = 1'000'000;
constexpr uint64_t kMemoryMaxMiB = 1'000'000;

constexpr std::string_view kExploreFooter = R"(Examples:
  whorl explore --protocol fenced_lease                    two processes, no fault
  whorl explore --protocol fenced_lease --crashes 1        one may crash and start again
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
with --invariant no_wedge, by a search of its own; paced_calls is judged by replay and hunt only. Ctrl-C and --memory end a search early; it then says
how far it got, and with --checkpoint the same command goes on from there, also on another machine.
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
