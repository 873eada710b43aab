#include "cli/replay/options.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "cli/exit_rules.h"
#include "cli/junit.h"
#include "cli/option_values.h"
#include "sim/scenario/add_protocol.h"

namespace whorl::cli {
namespace {

constexpr uint64_t kRepeatMax = 1'000'000;

constexpr uint64_t kRepeatOnMax = 10'000;

constexpr std::string_view kReplayFooter = R"(Examples:
  whorl replay scenarios                                every scenario of a folder
  whorl replay scenarios/insert_race.json --timeline    what happened, on one screen
  whorl replay scenarios/insert_race.json --explain     how it came to its first violation
  whorl replay scenarios/insert_race.json --explain=lease_respected
  whorl replay scenarios/insert_race.json --at 5s       rows, locks, clocks and nodes at that time
  whorl replay scenarios/insert_race.json --perfetto run.json
  whorl replay scenarios/insert_race.json --html run.html
  whorl replay scenarios/insert_race.json --mermaid     the same, to paste into a ticket
  whorl replay scenarios/insert_race.json --repeat 100  how often each invariant is violated
  whorl replay scenarios --json --out report.json       for scripts
  whorl replay scenarios/insert_race.json --repeat 100 --shard 3/8 --out 3.replay
  whorl replay --merge *.replay                         shards, run on any machines, added up
  whorl replay scenarios --trace traces                 traces/NAME.SEED.jsonl, an event per line
  whorl replay scenarios/insert_race.json --on emulator
  whorl hunt --show 17 | whorl replay -                 a scenario from standard input

`expect` is judged for the file's own seed; other seeds are counted. With --at the run stops at that
time, and nothing is judged.

With --on, each node becomes a process of the real client behind a proxy, and each fault a real one:
SIGSTOP, SIGKILL, cut connections, lost and refused calls. The same checkers judge what happened, and
the report compares it with the simulation. What cannot be made real is refused by name. --on server
needs nothing installed; --on emulator needs the official Cloud Spanner emulator ($SPANNER_EMULATOR,
emulator_main on PATH, or the Google Cloud SDK); --on omni needs a Spanner Omni without TLS at
$WHORL_SPANNER_ENDPOINT, and makes and drops a database for each run. Examples:
  whorl replay scenarios/fault_crash.json --on emulator --save surprise.json
  whorl replay scenarios --on emulator --where-possible --repeat 5 --out real.json

Exit codes: 0 all as expected, with --on also as simulated; 1 an expectation failed, a real run
differs from the simulation, or a run could not be repeated; 2 bad input or usage, or what cannot be made
real; 3 no answer: shards are missing (--accept-incomplete), the output could not be written, or real processes
could not run; 130 interrupted. docs/EXIT_CODES.md has all of them.)";

sim::Instant TimeOf(const std::string& text) {
  return sim::Instant{} +
         DurationOf("--at", text, "a time since the start of the run, such as 12.5s");
}

void AddWaysToLook(CLI::App& app, const std::shared_ptr<ReplayRequest>& request) {
  app.add_flag("--timeline", request->timeline,
               "print a timeline of each run, a line for each transition");
  app.add_flag("--unlimited", request->unlimited,
               "run scenarios of more than a billion events, too, which are refused otherwise");
  app.add_flag("--explain", request->explain_text,
               "explain the first violation: who did what, and what each process knew; "
               "--explain=INVARIANT: the first violation of that invariant");
  app.parse_complete_callback([request] {
    request->explain = !request->explain_text.empty();
    // CLI11 gives a flag without a value the text "true".
    if (request->explain && request->explain_text != "true") {
      request->explained = InvariantOf("--explain", request->explain_text);
    }
  });
  app.add_option_function<std::string>(
         "--at", [request](const std::string& text) { request->at = TimeOf(text); },
         "show the state of one run at that time: rows, locks, clocks, nodes")
      ->type_name("TIME");
  app.add_option("--perfetto", request->perfetto_path,
                 "write one run into FILE, for ui.perfetto.dev and chrome://tracing")
      ->type_name("FILE");
  app.add_option("--html", request->html_path,
                 "write one run into FILE as a page, which any browser opens and which needs "
                 "nothing else")
      ->type_name("FILE");
  app.add_option("--jepsen", request->jepsen_path,
                 "write one run into FILE as a history in the form of Jepsen (EDN): acquire, "
                 "release, has-lock, write, faults")
      ->type_name("FILE");
  app.add_flag("--mermaid", request->mermaid,
               "print one run as a Mermaid sequence diagram of at most 60 lines, instead of the "
               "table");
}

void AddRealRuns(CLI::App& app, const std::shared_ptr<ReplayRequest>& request) {
  AddOn(app, request->on,
        "run on real processes: on whorl's own server over the model, or on the official emulator");
  app.add_option_function<std::string>(
         "--longest",
         [request](const std::string& text) {
           request->longest = DurationOf("--longest", text, "a time such as 3m");
         },
         "with --on: leave out scenarios that last longer, and say so (default: 3m)")
      ->type_name("TIME");
  app.add_flag("--where-possible", request->where_possible,
               "with --on: leave out scenarios that cannot be made real, and say so, rather than "
               "refuse all");
  app.add_option_function<std::string>(
         "--program",
         [request](const std::string& text) { request->program = ProgramAt("--program", text); },
         "with --on: each node is a process of PROGRAM, which speaks as live/foreign/README.md "
         "says")
      ->type_name("PROGRAM");
  app.add_option_function<std::string>(
         "--protocol",
         [request](const std::string& text) {
           std::vector<std::string_view> known;
           for (const ProtocolInfo& info : Protocols()) known.push_back(info.name);
           request->protocol = known[PlaceOfWord("--protocol", "protocol", text, known)];
         },
         "with --on: leave out scenarios of other protocols")
      ->type_name("P");
  app.add_option("--save", request->save_path,
                 "with --on: write what happened into FILE, as a scenario with its faults on named "
                 "steps")
      ->type_name("FILE");
}

// Whether two output paths are the same file. Devices and pipes can be written twice.
bool IsSamePlace(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  if (a.empty() || b.empty()) return false;
  std::error_code error;  // what cannot be found cannot be written either, which is said later
  // Makes the path absolute first; weakly_canonical resolves little of a relative path that does not
  // exist.
  const auto place_of = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, error), error);
  };
  const fs::path place = place_of(a);
  if (error || place != place_of(b)) return false;
  return !fs::exists(place, error) || fs::is_regular_file(place, error);
}

std::string PathOf(const sim::Scenario& scenario) { return Printable(scenario.path, 1000); }

// An option, and whether it was given.
using Given = std::pair<std::string_view, bool>;

// Checks without --on: options that need real runs, and displays that do not go together.
std::vector<std::string> OfRealRunsOnly(const ReplayRequest& request) {
  std::vector<std::string> errors;
  const Given real_only[] = {{"--longest", request.longest.has_value()},
                             {"--where-possible", request.where_possible},
                             {"--program", !request.program.empty()},
                             {"--protocol", !request.protocol.empty()},
                             {"--save", !request.save_path.empty()}};
  for (const auto& [name, is_given] : real_only) {
    if (is_given) errors.push_back(Cat(name, " is for real runs; it wants --on"));
  }
  const Given of_one_seed[] = {
      {"--timeline", request.timeline},       {"--explain", request.explain},
      {"--at", request.at.has_value()},       {"--perfetto", !request.perfetto_path.empty()},
      {"--html", !request.html_path.empty()}, {"--jepsen", !request.jepsen_path.empty()},
      {"--mermaid", request.mermaid}};
  for (const auto& [name, is_given] : of_one_seed) {
    if (!is_given || (request.repeat == 1 && !request.shard.is_given)) continue;
    errors.push_back(Cat(name, " shows one run, which --seed chooses; it does not go with ",
                         request.shard.is_given ? "--shard" : "--repeat"));
  }
  const Given of_a_whole_run[] = {{"--timeline", request.timeline},
                                  {"--explain", request.explain},
                                  {"--perfetto", !request.perfetto_path.empty()},
                                  {"--html", !request.html_path.empty()},
                                  {"--jepsen", !request.jepsen_path.empty()},
                                  {"--mermaid", request.mermaid},
                                  {"--trace", !request.trace_folder.empty()},
                                  {"--junit", !request.junit_path.empty()},
                                  {"--check-determinism", request.check_determinism}};
  for (const auto& [name, is_given] : of_a_whole_run) {
    if (!is_given || !request.at.has_value()) continue;
    errors.push_back(Cat("--at stops the run at that time; it does not go with ", name));
  }
  return errors;
}

// Checks with --on: options that a real run cannot satisfy.
std::vector<std::string> OfSimulationOnly(const ReplayRequest& request) {
  std::vector<std::string> errors;
  const Given simulated_only[] = {
      {"--seed", request.seed.has_value()}, {"--at", request.at.has_value()},
      {"--mermaid", request.mermaid},       {"--shard", request.shard.is_given},
      {"--merge", !request.merged.empty()}, {"--check-determinism", request.check_determinism}};
  for (const auto& [name, is_given] : simulated_only) {
    if (is_given) errors.push_back(Cat(name, " is for simulated runs; it does not go with --on"));
  }
  if (request.repeat > kRepeatOnMax) {
    errors.push_back(Cat("--repeat wants at most ", std::to_string(kRepeatOnMax),
                         " with --on, and got ", std::to_string(request.repeat)));
  }
  return errors;
}

// Checks options that show one run if there are several.
std::vector<std::string> OfManyRuns(const ReplayRequest& request, const Inputs& inputs) {
  if (request.on.has_value()) {
    const size_t runs = inputs.scenarios.size() * request.repeat;
    const bool shows_one = request.timeline || request.explain || !request.perfetto_path.empty() ||
                           !request.html_path.empty() || !request.jepsen_path.empty() ||
                           !request.save_path.empty();
    if (!shows_one || runs <= 1) return {};
    return {
        Cat("--timeline, --explain, --perfetto, --html, --jepsen and --save show one run of one "
            "scenario, and here are ",
            std::to_string(runs))};
  }
  const size_t files = inputs.scenarios.size() + inputs.bad.size();
  if (files <= 1) return {};
  std::vector<std::string> errors;
  const Given of_one_run[] = {{"--at", request.at.has_value()},
                              {"--perfetto", !request.perfetto_path.empty()},
                              {"--html", !request.html_path.empty()},
                              {"--jepsen", !request.jepsen_path.empty()},
                              {"--mermaid", request.mermaid}};
  for (const auto& [name, is_given] : of_one_run) {
    if (!is_given) continue;
    errors.push_back(
        Cat(name, " shows one run of one scenario, and here are ", std::to_string(files)));
  }
  return errors;
}

void AddFilesWrittenTwice(const ReplayRequest& request, const Inputs& inputs,
                          std::vector<std::string>& errors) {
  const std::pair<std::string_view, const std::string&> written[] = {
      {"--out", request.out},
      {"--junit", request.junit_path},
      {"--perfetto", request.perfetto_path},
      {"--html", request.html_path},
      {"--jepsen", request.jepsen_path},
      {"--save", request.save_path}};
  for (const auto& [name, path] : written) {
    const std::string same = SameInput(inputs, path);
    if (same.empty()) continue;
    errors.push_back(Cat(name, " ", Printable(path, 1000), " would write over the scenario ",
                         Printable(same, 1000)));
  }
  for (size_t a = 0; a < std::size(written); ++a) {
    for (size_t b = a + 1; b < std::size(written); ++b) {
      if (!IsSamePlace(written[a].second, written[b].second)) continue;
      errors.push_back(Cat(written[a].first, " and ", written[b].first, " would both write ",
                           Printable(written[a].second, 1000)));
    }
  }
}

}  // namespace

uint64_t ReplayRequest::Jobs() const {
  return jobs.value_or(on.has_value() ? DefaultJobsOn() : DefaultJobs());
}

void AddReplayOptions(CLI::App& app, const std::shared_ptr<ReplayRequest>& request) {
  app.add_option("paths", request->paths, "scenarios: files, folders, or - for standard input")
      ->type_name("FILE|DIR|-");
  AddNumber(
      app, "--seed", 0, std::numeric_limits<uint64_t>::max(),
      [request](uint64_t seed) { request->seed = seed; }, "seed of the run, instead of the file's");
  AddNumber(
      app, "--repeat", 1, kRepeatMax, [request](uint64_t n) { request->repeat = n; },
      "run N seeds, counting from --seed, and count what is violated; with --on, run N times, and "
      "count how often it agrees with the simulation");
  AddNumber(
      app, "--jobs", 1, kJobsMax, [request](uint64_t n) { request->jobs = n; },
      "runs at the same time (default: one for each core; with --on two); changes no output");
  AddText(
      app, "--shard", std::string(kShardType), request,
      [](const std::string& text, ReplayRequest& r) { r.shard = ShardOf(text); },
      "make every N-th of the runs, from the I-th on; auto: the part that an engine says, as for "
      "whorl hunt; --merge adds them up");
  app.add_option("--merge", request->merged,
                 "add up the reports of shards (--json, --out) instead of running scenarios")
      ->type_name("FILE...");
  AddText(
      app, "--exit-code-found", "N", request,
      [](const std::string& text, ReplayRequest& r) { r.exits->found_code = FoundCodeOf(text); },
      "exit code where an expectation failed, for engines that retry what fails (default: 1)");
  AddAcceptIncomplete(app, request->exits);
  AddWaysToLook(app, request);
  app.add_option("--trace", request->trace_folder,
                 "write each run's trace into DIR, as JSON lines; with --on the simulation's, too")
      ->type_name("DIR");
  app.add_flag("--json", request->json, "print one JSON document instead of the table");
  app.add_option("--out", request->out, "write the JSON document into FILE")->type_name("FILE");
  AddJunit(app, request->junit_path);
  app.add_flag("--check-determinism", request->check_determinism,
               "run everything twice; a difference is a failure");
  AddRealRuns(app, request);
  app.footer(std::string(kReplayFooter));
}

std::vector<std::string> Contradictions(const ReplayRequest& request) {
  std::vector<std::string> errors;
  if (request.timeline && request.json) {
    errors.emplace_back("--timeline is for people; it does not go with --json");
  }
  const Given beside_the_table[] = {
      {"--json", request.json}, {"--timeline", request.timeline}, {"--explain", request.explain}};
  for (const auto& [name, is_given] : beside_the_table) {
    if (!is_given || !request.mermaid) continue;
    errors.push_back(
        Cat("--mermaid prints the diagram and nothing else; it does not go with ", name));
  }
  const std::vector<std::string> others =
      request.on.has_value() ? OfSimulationOnly(request) : OfRealRunsOnly(request);
  errors.insert(errors.end(), others.begin(), others.end());
  return errors;
}

std::vector<std::string> Contradictions(const ReplayRequest& request, const Inputs& inputs) {
  std::vector<std::string> errors = OfManyRuns(request, inputs);
  AddFilesWrittenTwice(request, inputs, errors);
  for (const BadInput& bad : inputs.bad) {
    const bool is_invariant = std::ranges::any_of(
        AllOf<Invariant>(), [&bad](Invariant invariant) { return WordOf(invariant) == bad.path; });
    if (!request.explain || !is_invariant) continue;
    errors.push_back(
        Cat("--explain takes its invariant after an equals sign: --explain=", bad.path));
  }
  std::map<std::string, std::string> traced;  // path by name
  for (const sim::Scenario& scenario : inputs.scenarios) {
    const uint64_t first = request.seed.value_or(scenario.seed);
    if (!request.on.has_value() &&
        first > std::numeric_limits<uint64_t>::max() - (request.repeat - 1)) {
      errors.push_back(Cat(PathOf(scenario), ": --repeat goes beyond the last seed, ",
                           std::to_string(std::numeric_limits<uint64_t>::max())));
    }
    if (request.at.has_value() && *request.at - sim::Instant{} > scenario.duration) {
      errors.push_back(
          Cat(PathOf(scenario), ": --at ", FormatDuration(*request.at - sim::Instant{}),
              " is after the end: the scenario's duration is ", FormatDuration(scenario.duration)));
    }
    if (request.trace_folder.empty()) continue;
    const auto [other, is_new] = traced.try_emplace(scenario.name, scenario.path);
    if (is_new) continue;
    errors.push_back(Cat(PathOf(scenario), ": would write the same trace as ",
                         Printable(other->second, 1000), ": both are named ",
                         Printable(scenario.name)));
  }
  return errors;
}

}  // namespace whorl::cli
