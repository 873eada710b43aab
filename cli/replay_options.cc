#include "cli/replay_options.h"

#include <filesystem>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/option_values.h"
#include "sim/scenario/error_text.h"

namespace whorl::cli {
namespace {

using sim::Cat;

constexpr uint64_t kRepeatMax = 1'000'000;

constexpr std::string_view kFooter = R"(Examples:
  whorl replay scenarios                                every scenario of a folder
  whorl replay scenarios/insert_race.json --timeline    what happened, on one screen
  whorl replay scenarios/insert_race.json --explain     how it came to its first violation
  whorl replay scenarios/insert_race.json --explain=lease_respected
  whorl replay scenarios/insert_race.json --at 5s       rows, locks, clocks and nodes at that time
  whorl replay scenarios/insert_race.json --perfetto run.json
  whorl replay scenarios/insert_race.json --repeat 100  how often each invariant is violated
  whorl replay scenarios --json --out report.json       for scripts
  whorl replay scenarios --trace traces                 traces/NAME.SEED.jsonl, an event per line
  whorl replay scenarios/insert_race.json --on emulator
  whorl hunt --show 17 | whorl replay -                 a scenario from standard input

`expect` is judged for the file's own seed; other seeds are counted. --at stops there, so that
nothing is judged.
Exit codes: 0 all as expected; 1 an expectation failed, or a run could not be repeated;
2 bad input or usage; 3 the output could not be written; 130 interrupted.)";

sim::Instant TimeOf(const std::string& text) {
  return sim::Instant{} +
         DurationOf("--at", text, "a time since the start of the run, such as 12.5s");
}

void AddWaysToLook(CLI::App& app, const std::shared_ptr<ReplayOptions>& options) {
  app.add_flag("--timeline", options->timeline, "show each run, a line for each transition");
  app.add_flag("--explain", options->explain_text,
               "tell why it came to the first violation: who did what, on which knowledge; "
               "--explain=INVARIANT: to that invariant's first one");
  app.parse_complete_callback([options] {
    options->explain = !options->explain_text.empty();
    // A flag without a value says so.
    if (options->explain && options->explain_text != "true") {
      options->explained = InvariantOf("--explain", options->explain_text);
    }
  });
  app.add_option_function<std::string>(
         "--at", [options](const std::string& text) { options->at = TimeOf(text); },
         "show the state of one run then: rows, locks, clocks, nodes")
      ->type_name("TIME");
  app.add_option("--perfetto", options->perfetto_path,
                 "write one run into FILE, for ui.perfetto.dev and chrome://tracing")
      ->type_name("FILE");
}

// Whether two files that are to be written are one. Devices and pipes can be written twice.
bool IsSamePlace(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  if (a.empty() || b.empty()) return false;
  std::error_code error;  // what cannot be found cannot be written either, which is said later
  // Absolute first: of a relative path that is not there, only "./" would be resolved.
  const auto place_of = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, error), error);
  };
  const fs::path place = place_of(a);
  if (error || place != place_of(b)) return false;
  return !fs::exists(place, error) || fs::is_regular_file(place, error);
}

std::string PathOf(const sim::Scenario& scenario) { return sim::Printable(scenario.path, 1000); }

}  // namespace

void AddReplayOptions(CLI::App& app, const std::shared_ptr<ReplayOptions>& options) {
  options->jobs = DefaultJobs();
  app.add_option("paths", options->paths, "scenarios: files, folders, or - for standard input")
      ->type_name("FILE|DIR|-");
  AddNumber(
      app, "--seed", 0, std::numeric_limits<uint64_t>::max(),
      [options](uint64_t seed) { options->seed = seed; }, "seed of the run, instead of the file's");
  AddNumber(
      app, "--repeat", 1, kRepeatMax, [options](uint64_t n) { options->repeat = n; },
      "run N seeds, counting from --seed, and count what is violated");
  AddNumber(
      app, "--jobs", 1, kJobsMax, [options](uint64_t n) { options->jobs = n; },
      "runs at the same time (default: one for each core); changes no output");
  AddWaysToLook(app, options);
  app.add_option("--trace", options->trace_folder, "write each run's trace into DIR, as JSON lines")
      ->type_name("DIR");
  app.add_flag("--json", options->json, "print one JSON document instead of the table");
  app.add_option("--out", options->out, "write the JSON document into FILE")->type_name("FILE");
  // For whoever reads the help: with it, another program takes the command (live_command.h).
  app.add_option("--on",
                 "run on real processes: on whorl's own server, or the official emulator; "
                 "`whorl replay --on server --help` says more")
      ->type_name("server|emulator");
  app.add_flag("--check-determinism", options->check_determinism,
               "run everything twice; a difference is a failure");
  app.footer(std::string(kFooter));
}

std::vector<std::string> Contradictions(const ReplayOptions& options) {
  std::vector<std::string> errors;
  if (options.timeline && options.json) {
    errors.emplace_back("--timeline is for people; it does not go with --json");
  }
  const std::pair<std::string_view, bool> of_one_seed[] = {
      {"--timeline", options.timeline},
      {"--explain", options.explain},
      {"--at", options.at.has_value()},
      {"--perfetto", !options.perfetto_path.empty()}};
  for (const auto& [name, is_given] : of_one_seed) {
    if (!is_given || options.repeat == 1) continue;
    errors.push_back(
        Cat(name, " shows one run, which --seed chooses; it does not go with --repeat"));
  }
  const std::pair<std::string_view, bool> of_a_whole_run[] = {
      {"--timeline", options.timeline},
      {"--explain", options.explain},
      {"--perfetto", !options.perfetto_path.empty()},
      {"--trace", !options.trace_folder.empty()},
      {"--check-determinism", options.check_determinism}};
  for (const auto& [name, is_given] : of_a_whole_run) {
    if (!is_given || !options.at.has_value()) continue;
    errors.push_back(Cat("--at stops the run at that time; it does not go with ", name));
  }
  return errors;
}

std::vector<std::string> Contradictions(const ReplayOptions& options, const Inputs& inputs) {
  std::vector<std::string> errors;
  if (options.ShowsOneRun() && inputs.scenarios.size() + inputs.bad.size() > 1) {
    errors.push_back(Cat(options.at.has_value() ? "--at" : "--perfetto",
                         " shows one run of one scenario, and here are ",
                         std::to_string(inputs.scenarios.size() + inputs.bad.size())));
  }
  const std::pair<std::string_view, const std::string&> written[] = {
      {"--out", options.out}, {"--perfetto", options.perfetto_path}};
  for (const auto& [name, path] : written) {
    const std::string same = SameInput(inputs, path);
    if (same.empty()) continue;
    errors.push_back(Cat(name, " ", sim::Printable(path, 1000), " would write over the scenario ",
                         sim::Printable(same, 1000)));
  }
  if (IsSamePlace(options.out, options.perfetto_path)) {
    errors.push_back(
        Cat("--out and --perfetto would both write ", sim::Printable(options.out, 1000)));
  }
  std::map<std::string, std::string> traced;  // path by name
  for (const sim::Scenario& scenario : inputs.scenarios) {
    const uint64_t first = options.seed.value_or(scenario.seed);
    if (first > std::numeric_limits<uint64_t>::max() - (options.repeat - 1)) {
      errors.push_back(Cat(PathOf(scenario), ": --repeat goes beyond the last seed, ",
                           std::to_string(std::numeric_limits<uint64_t>::max())));
    }
    if (options.at.has_value() && *options.at - sim::Instant{} > scenario.duration) {
      errors.push_back(
          Cat(PathOf(scenario), ": --at ", FormatDuration(*options.at - sim::Instant{}),
              " is after the end: the scenario's duration is ", FormatDuration(scenario.duration)));
    }
    if (options.trace_folder.empty()) continue;
    const auto [other, is_new] = traced.try_emplace(scenario.name, scenario.path);
    if (is_new) continue;
    errors.push_back(Cat(PathOf(scenario), ": would write the same trace as ",
                         sim::Printable(other->second, 1000), ": both are named ",
                         sim::Printable(scenario.name)));
  }
  return errors;
}

}  // namespace whorl::cli
