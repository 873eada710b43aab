#include "live/live_options.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/option_values.h"
#include "sim/scenario/error_text.h"

namespace whorl::live {
namespace {

using cli::AddNumber;
using sim::Cat;

constexpr uint64_t kRepeatMax = 10'000;
// Runs at the same time for each core: they mostly wait, but what they wait for is to be in time.
constexpr uint64_t kJobsOfCore = 2;

constexpr std::string_view kFooter =
    R"(Each node becomes a process of the real client behind a proxy, each fault a real one: SIGSTOP,
SIGKILL, cut connections, lost and refused calls. The same checkers judge what happened, and the
report puts the simulation beside it. What cannot be made real is refused by name.
--on server needs nothing installed; --on emulator needs the official Cloud Spanner emulator
($SPANNER_EMULATOR, emulator_main on PATH, or the Google Cloud SDK).

Examples:
  whorl replay scenarios/s1_*.json --on server
  whorl replay scenarios/gc_pause_stale_token.json --on emulator --timeline
  whorl replay scenarios/fault_crash.json --on emulator --save surprise.json
  whorl replay scenarios --on emulator --where-possible --repeat 5 --out real.json

Exit codes: 0 verdicts are as expected, and those of the simulation; 1 they are not;
2 bad input or usage, or what cannot be made real; 3 could not run; 130 interrupted.)";

void AddWaysToLook(CLI::App& app, const std::shared_ptr<LiveOptions>& options) {
  app.add_flag("--timeline", options->timeline, "show the run, a line for each transition");
  app.add_flag("--explain", options->explain_text,
               "tell why it came to the first violation; --explain=INVARIANT: to that one's");
  app.parse_complete_callback([options] {
    options->explain = !options->explain_text.empty();
    if (options->explain && options->explain_text != "true") {
      options->explained = cli::InvariantOf("--explain", options->explain_text);
    }
  });
  app.add_option("--perfetto", options->perfetto_path,
                 "write the run into FILE, for ui.perfetto.dev and chrome://tracing")
      ->type_name("FILE");
  app.add_option("--save", options->save_path,
                 "write what happened into FILE, as a scenario with its faults on named steps")
      ->type_name("FILE");
}

}  // namespace

void AddOnOption(CLI::App& app, std::function<void(BackendKind)> take) {
  app.add_option_function<std::string>(
         "--on",
         [take = std::move(take)](const std::string& text) {
           take(static_cast<BackendKind>(
               cli::PlaceOfWord("--on", "backend", text, AllWords<BackendKind>())));
         },
         "run for real, on whorl's own server over the model, or on the official emulator")
      ->type_name("server|emulator")
      ->required();
}

void AddLiveOptions(CLI::App& app, const std::shared_ptr<LiveOptions>& options) {
  options->jobs = std::max<uint64_t>(1, cli::DefaultJobs() * kJobsOfCore);
  app.add_option("paths", options->paths, "scenarios: files, folders, or - for standard input")
      ->type_name("FILE|DIR|-");
  AddOnOption(app, [options](BackendKind kind) { options->on = kind; });
  AddNumber(
      app, "--repeat", 1, kRepeatMax, [options](uint64_t n) { options->repeat = n; },
      "run each scenario N times, and count how often it agrees");
  AddNumber(
      app, "--jobs", 1, cli::kJobsMax, [options](uint64_t n) { options->jobs = n; },
      "runs at the same time, each with a Spanner of its own (default: two for each core)");
  app.add_option_function<std::string>(
         "--longest",
         [options](const std::string& text) {
           options->longest = cli::DurationOf("--longest", text, "a time such as 3m");
         },
         "leave out scenarios that last longer, and say so (default: 3m)")
      ->type_name("TIME");
  app.add_flag("--where-possible", options->where_possible,
               "leave out scenarios that cannot be made real, and say so, rather than refuse all");
  AddWaysToLook(app, options);
  app.add_option("--trace", options->trace_folder,
                 "write each run's trace into DIR, as JSON lines, and the simulation's")
      ->type_name("DIR");
  app.add_flag("--json", options->json, "print one JSON document instead of the table");
  app.add_option("--out", options->out, "write the JSON document into FILE")->type_name("FILE");
  app.footer(std::string(kFooter));
}

std::vector<std::string> Contradictions(const LiveOptions& options, size_t scenarios) {
  std::vector<std::string> errors;
  if (options.timeline && options.json) {
    errors.emplace_back("--timeline is for people; it does not go with --json");
  }
  if (options.ShowsOneRun() && (scenarios > 1 || options.repeat > 1)) {
    errors.push_back(
        Cat("--timeline, --explain, --perfetto and --save show one run of one scenario, and here "
            "are ",
            std::to_string(scenarios * options.repeat)));
  }
  return errors;
}

}  // namespace whorl::live
