#include "cli/hunt/options.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/exit_rules.h"
#include "cli/junit.h"
#include "cli/option_values.h"
#include "cli/shards/coverage.h"
#include "cli/shards/option.h"
#include "sim/hunt/baseline.h"
#include "sim/scenario/language.h"

namespace whorl::cli {
namespace {

using Words = std::vector<std::string_view>;

constexpr uint64_t kHuntRunsMax = 1'000'000'000'000;
constexpr uint64_t kComparedRunsMax = 1'000'000;  // it keeps what each run took
constexpr uint64_t kRunsByDefault = 10'000;
constexpr Duration kShortestRun = Seconds(10);
constexpr Duration kLongestRun = Seconds(int64_t{24} * 3600);

constexpr std::string_view kHuntFooter = R"(Examples:
  whorl hunt                                      10,000 runs of every protocol
  whorl hunt --protocol spindle_v2 --for 60s      for a minute, on all cores
  whorl hunt --promised                           only what a protocol promises to hold
  whorl hunt --runs 500 --expect single_worker    ends with 1 for this one, too, promised or not
  whorl hunt --invariant no_wedge --save found    found/*.json, ready for whorl replay, and *.html
  whorl hunt --faults pause,partition --runs 500  no other kinds of faults
  whorl hunt --show 17 | whorl replay -           the world of run 17, as it was drawn
  whorl hunt --protocol fenced_lease --guide --corpus kept     branches, too; the best stay in kept/
  whorl hunt --protocol spindle_v2 --guide --reach "takeover_insert replied" --reach "old leader resumed"
  whorl hunt --from scenarios/s4_token_goes_back.json --runs 1        that scenario, made smaller
  whorl hunt --from scenarios/s4_token_goes_back.json --runs 500      and worlds like it
  whorl hunt --compare spindle_v3 fenced_lease --runs 500             the same worlds for both
  whorl hunt --protocol spindle_v3 --runs 2000 --save-baseline v3.baseline    what its runs do now
  whorl hunt --runs 1000000 --shard 3/8 --json > 3.hunt
  whorl hunt --draws --runs 1000                  what its runs contain, and how many have it
  whorl hunt --merge *.hunt                       shards, run on any machines, added up

A run is a world drawn from the seed and its number, and mostly lasts 120 simulated seconds: faults, then
time to recover. What is found is grouped by invariant and by the step at which it broke, and the
smallest scenario of each group is shrunk. With --from, run 0 is the scenario of FILE, and the others are
it with other seeds, with a part of its schedule, and with faults left out and added. With --compare,
each world is run by A and by B. With --baseline, and with --compare-commands, the runs of two revisions are
compared, those of a file that --save-baseline wrote with those of now. Output depends on
the options alone, neither on --jobs nor (but for how many runs there were) on --for. Ctrl-C ends a hunt
early, which then reports what it has; a second one ends the command. docs/HUNTING.md tells how engines
run shards.
Exit codes: 0 no promise was broken; 1 one was, or something that --expect names, with --any anything
(--exit-code-found names another code), or a run could not be repeated; 2 bad input or usage; 3 no answer: the
hunt was interrupted, or shards are missing (--accept-incomplete), the canary was not caught, or the output
could not be written; 130 interrupted with --checkpoint. With --compare, 1 means that B breaks an invariant that A
keeps, or a promise of its own; with --baseline and --compare-commands that something moved beyond chance, better or
worse, or that a promise is broken. docs/EXIT_CODES.md has all of them.)";

void TakeProtocols(const std::string& text, HuntRequest& request) {
  Words known;
  for (const ProtocolInfo& info : Protocols()) known.push_back(info.name);
  if (text == "all") {
    request.hunt.protocols.assign(known.begin(), known.end());
    return;
  }
  known.emplace_back("all");
  request.hunt.protocols = {std::string(known[PlaceOfWord("--protocol", "protocol", text, known)])};
}

void TakeKinds(const std::string& text, HuntRequest& request) {
  Words known;
  for (const sim::FaultInfo& info : sim::Faults()) known.push_back(info.word);
  std::vector<sim::FaultKind>& kinds = request.hunt.world.kinds;
  kinds.clear();
  for (const std::string& word : CommaSeparated(text)) {
    kinds.push_back(static_cast<sim::FaultKind>(PlaceOfWord("--faults", "fault", word, known)));
  }
  // The order in which they are named changes no world.
  std::ranges::sort(kinds);
  kinds.erase(std::ranges::unique(kinds).begin(), kinds.end());
}

void TakeCanary(const std::string& text, HuntRequest& request) {
  Words known;
  for (const ProtocolInfo& info : Protocols()) known.push_back(info.name);
  request.canary = known[PlaceOfWord("--canary", "protocol", text, known)];
}

void TakeCompared(const std::vector<std::string>& names, HuntRequest& request) {
  Words known;
  for (const ProtocolInfo& info : Protocols()) known.push_back(info.name);
  request.compared.clear();
  for (const std::string& name : names) {
    request.compared.emplace_back(known[PlaceOfWord("--compare", "protocol", name, known)]);
  }
}

void TakeInvariant(const std::string& text, HuntRequest& request) {
  request.hunt.invariant = InvariantOf("--invariant", text);
}

void TakeShard(const std::string& text, HuntRequest& request) {
  request.shard = ShardOf(text);
  request.hunt.shards = request.shard.shards;
  request.hunt.shard = request.shard.shard;
}

void TakeFoundCode(const std::string& text, HuntRequest& request) {
  request.exits->found_code = FoundCodeOf(text);
}

void TakeShown(const std::string& text, HuntRequest& request) {
  request.shown_run = sim::ParseRunName(text);
  if (request.shown_run && request.shown_run->run <= kHuntRunsMax) return;
  throw CLI::ValidationError(
      Cat("--show wants the number of a run, or the name of a branch such as 17@1200:903, and got ",
          Quoted(text)));
}

void TakeDuration(const std::string& text, HuntRequest& request) {
  const Duration duration =
      DurationOf("--duration", text, "the simulated time of a run, such as 120s");
  if (duration < kShortestRun || duration > kLongestRun) {
    throw CLI::ValidationError(Cat("--duration wants ", FormatDuration(kShortestRun), " to ",
                                   FormatDuration(kLongestRun), ", and got ", Quoted(text)));
  }
  request.hunt.world.duration = duration;
}

void AddWhatToHunt(CLI::App& app, const std::shared_ptr<HuntRequest>& request) {
  AddText(app, "--protocol", "P|all", request, TakeProtocols,
          "whose locks to hunt in (default: all)");
  app.add_option_function<std::vector<std::string>>(
         "--compare",
         [request](const std::vector<std::string>& names) { TakeCompared(names, *request); },
         "run both protocols in the same worlds, and say what only one of them breaks, and what "
         "each "
         "takes")
      ->type_name("A B")
      ->expected(2);
  app.add_option("--from", request->from,
                 "start from this scenario: it is run 0, and the other worlds are like it")
      ->type_name("FILE");
  AddText(app, "--faults", "KINDS", request, TakeKinds,
          "which kinds of faults may strike, such as pause,partition (default: all but error)");
  AddText(app, "--invariant", "NAME", request, TakeInvariant,
          "look for violations of this one alone");
  app.add_flag("--promised", request->hunt.promised_only,
               "look for violations of what the protocol promises alone");
  app.add_flag("--guide", request->hunt.guided,
               "a mixture of runs: as ever, with some nodes always slower than others, and such "
               "that leave an "
               "earlier run where it was rare");
  app.add_option("--reach", request->reach,
                 "count the runs that pass this waypoint, such as \"take replied\" or \"old leader "
                 "resumed\", after those named before it; with --guide, branch where runs came "
                 "furthest")
      ->type_name("WAYPOINT")
      ->allow_extra_args(false);
  app.add_flag("--beyond-assumptions", request->hunt.world.beyond_assumptions,
               "worlds may break what the promises rest on: clocks that run wild, TrueTime that "
               "lies");
  AddText(app, "--duration", "TIME", request, TakeDuration,
          "simulated time of each run (default: 120s, and of a few runs 20 min or an hour more)");
}

void AddHowMuch(CLI::App& app, const std::shared_ptr<HuntRequest>& request) {
  AddNumber(
      app, "--runs", 1, kHuntRunsMax, [request](uint64_t n) { request->runs = n; },
      Cat("how many runs (default: ", std::to_string(kRunsByDefault), ", without --for)"));
  AddText(
      app, "--for", "TIME", request,
      [](const std::string& text, HuntRequest& r) {
        r.time = DurationOf("--for", text, "the time to hunt, such as 60s");
      },
      "hunt so long, in real time; shrinking comes on top");
  AddNumber(
      app, "--seed", 0, std::numeric_limits<uint64_t>::max(),
      [request](uint64_t seed) { request->hunt.seed = seed; }, "of all worlds (default: 1)");
  request->jobs = DefaultJobs();
  AddNumber(
      app, "--jobs", 1, kJobsMax, [request](uint64_t n) { request->jobs = n; },
      "runs at the same time (default: one for each core); changes no output");
  AddText(app, "--shard", std::string(kShardType), request, TakeShard,
          "do the I-th of N equal parts of the hunt; auto: the one that Kubernetes, Slurm, AWS "
          "Batch, Cloud Run, GCP Batch, Bazel or GitLab says; --merge adds them up");
}

using OptionAndRemedy = std::pair<const char*, std::string_view>;

// Refuses those of `others` that were given beside `mode`.
void AddContradictionsOf(const CLI::App& app, std::string_view mode,
                         std::span<const OptionAndRemedy> others,
                         std::vector<std::string>& errors) {
  for (const auto& [option, remedy] : others) {
    if (app.get_option(option)->count() == 0) continue;
    errors.push_back(Cat(mode, " does not go with ", option, ": ", remedy));
  }
}

void AddContradictionsOfComparison(const CLI::App& app, const HuntRequest& request,
                                   std::vector<std::string>& errors) {
  constexpr std::array<OptionAndRemedy, 14> kOthers = {{
      {"--guide", "what is new to one of them is not to the other; hunt each by itself"},
      {"--protocol", "it names the protocols itself; leave --protocol out"},
      {"--from", "a scenario is of one protocol; replay it with either name in it"},
      {"--shard", "it is done in one piece; give fewer --runs"},
      {"--checkpoint", "it is done in one piece; give fewer --runs"},
      {"--corpus", "what is worth keeping is so for one of them; hunt each by itself"},
      {"--reach", "waypoints are passed by one of them; hunt each by itself"},
      {"--goals", "it prints a table of its own"},
      {"--canary", "compare with spindle_v2 to see that violations are found"},
      {"--table", "it prints a table of its own"},
      {"--digests", "they are of one protocol; hunt each by itself"},
      {"--junit", "what differs is no test of either; hunt each by itself"},
      {"--expect", "what decides is what only the second one breaks, and its promises"},
      {"--any", "what decides is what only the second one breaks, and its promises"},
  }};
  AddContradictionsOf(app, "--compare", kOthers, errors);
  if (request.runs.value_or(0) > kComparedRunsMax) {
    errors.push_back(Cat("--compare keeps what each run took; give --runs of at most ",
                         std::to_string(kComparedRunsMax)));
  }
}

// What records or compares runs goes with what says which worlds, and with few options besides.
void AddContradictionsOfBaseline(const CLI::App& app, const HuntRequest& request,
                                 std::vector<std::string>& errors) {
  constexpr std::string_view kOfAll = "all invariants are recorded, promised or not";
  constexpr std::string_view kNoFindings = "it reports no findings; hunt without it";
  constexpr std::string_view kInOnePiece = "it is done in one piece; give fewer --runs";
  constexpr std::string_view kDrawn = "runs have to be drawn by their numbers alone";
  constexpr std::string_view kDecides = "what decides is what moved, and broken promises";
  constexpr std::array<OptionAndRemedy, 19> kOthers = {{
      {"--compare", "it compares two protocols; this compares two revisions"},
      {"--invariant", kOfAll},
      {"--promised", kOfAll},
      {"--from", kDrawn},
      {"--guide", kDrawn},
      {"--reach", kDrawn},
      {"--corpus", kDrawn},
      {"--for", "the number of runs has to be the same each time; give --runs"},
      {"--shard", kInOnePiece},
      {"--checkpoint", kInOnePiece},
      {"--save", kNoFindings},
      {"--table", kNoFindings},
      {"--goals", kNoFindings},
      {"--canary", kNoFindings},
      {"--digests", "hashes of all runs are recorded"},
      {"--expect", kDecides},
      {"--any", kDecides},
      {"--accept-incomplete", "fewer runs than were asked for are compared with nothing"},
      {"--no-pages", kNoFindings},
  }};
  constexpr std::array<OptionAndRemedy, 3> kOfPrinting = {{
      {"--json", "it prints nothing; read FILE"},
      {"--out", "it writes nothing else; read FILE"},
      {"--exit-code-found", "it looks for nothing"},
  }};
  const std::array<std::pair<const char*, bool>, 3> modes = {{
      {"--save-baseline", !request.save_baseline.empty()},
      {"--baseline", !request.baseline.empty()},
      {"--compare-commands", !request.compared_commands.empty()},
  }};
  std::vector<std::string_view> chosen;
  for (const auto& [mode, is_chosen] : modes) {
    if (is_chosen) chosen.emplace_back(mode);
  }
  if (chosen.empty()) return;
  if (chosen.size() > 1) errors.push_back(Cat("give one of ", ListOf(chosen)));
  AddContradictionsOf(app, chosen.front(), kOthers, errors);
  if (chosen.front() == "--save-baseline")
    AddContradictionsOf(app, chosen.front(), kOfPrinting, errors);
  if (request.runs.value_or(0) > sim::kBaselineRunsMax) {
    errors.push_back(Cat(chosen.front(), " keeps what each run did; give --runs of at most ",
                         std::to_string(sim::kBaselineRunsMax)));
  }
}

// What goes on the command line of its own, and with what.
struct Mode {
  std::string_view name;
  bool is_chosen = false;
  std::vector<std::string> others;  // that change something in it
};

void AddBaselineOptions(CLI::App& app, const std::shared_ptr<HuntRequest>& request) {
  app.add_option(
         "--save-baseline", request->save_baseline,
         "record in FILE what the runs do, promised or not, instead of looking for violations")
      ->type_name("FILE");
  app.add_option("--baseline", request->baseline,
                 "make the runs that FILE records, and say what moved beyond chance since")
      ->type_name("FILE");
  app.add_option(
         "--compare-commands", request->compared_commands,
         "let two commands, such as old/whorl and build/whorl, make the same runs, and say what "
         "moved beyond chance from the first to the second")
      ->type_name("A B")
      ->expected(2);
}

}  // namespace

void AddHuntOptions(CLI::App& app, const std::shared_ptr<HuntRequest>& request) {
  for (const ProtocolInfo& info : Protocols()) request->hunt.protocols.emplace_back(info.name);
  AddWhatToHunt(app, request);
  AddHowMuch(app, request);
  app.add_option("--merge", request->merged,
                 "add up the reports of shards (--json) instead of hunting")
      ->type_name("FILE...");
  app.add_flag("--partial", request->partial,
               "with --merge: take what is there of reports that are cut off");
  AddText(app, "--show", "N", request, TakeShown,
          "print the world of run N as a scenario instead of hunting; a branch has a name such as "
          "17@1200:903");
  app.add_option("--save", request->save_folder,
                 "write a scenario for each finding into DIR, ready to be committed, and its page "
                 "beside it")
      ->type_name("DIR");
  app.add_flag_callback(
      "--no-pages", [request] { request->pages = false; }, "with --save: write no pages");
  app.add_option(
         "--table", request->table_folder,
         "print a Markdown table of protocols and invariants, which links scenarios of DIR, "
         "instead of findings")
      ->type_name("DIR");
  app.add_flag("--goals", request->goals,
               "print a Markdown table of the goals that scenarios may name, and of the first run "
               "that met each, instead of findings");
  app.add_flag("--draws", request->draws,
               "print a table of what the runs contain: events, the steps at which they strike, "
               "and which follow "
               "each other; nothing is judged");
  app.add_flag("--json", request->json, "print JSON lines instead of text");
  app.add_option("--out", request->out, "write the JSON lines into FILE")->type_name("FILE");
  AddJunit(app, request->junit_path);
  app.add_option("--checkpoint", request->checkpoint,
                 "save the hunt into FILE now and then, and go on from it if it is there")
      ->type_name("FILE");
  app.add_option(
         "--corpus", request->corpus,
         "begin with the runs that earlier hunts kept in DIR, and keep there what no simpler "
         "run shows")
      ->type_name("DIR");
  AddText(
      app, "--canary", "P", request, TakeCanary,
      "first catch P, which breaks lease_respected (spindle_v2 does): a hunt that cannot is void");
  AddText(app, "--exit-code-found", "N", request, TakeFoundCode,
          "exit code where something was found that decides, for engines that retry what fails "
          "(default: 1)");
  AddExpectAndAny(app, request->exits);
  AddAcceptIncomplete(app, request->exits);
  app.add_option("--digests", request->digests,
                 "write hash and verdicts of every run into FILE, to compare two builds run by run")
      ->type_name("FILE");
  AddBaselineOptions(app, request);
  app.footer(std::string(kHuntFooter));
}

std::vector<std::string> Contradictions(const CLI::App& app, const HuntRequest& request) {
  const std::array<Mode, 3> modes = {{
      {.name = "--draws",
       .is_chosen = request.draws,
       .others = {"--protocol", "--from", "--faults", "--beyond-assumptions", "--duration",
                  "--runs", "--seed", "--jobs", "--shard", "--json"}},
      {.name = "--merge",
       .is_chosen = !request.merged.empty(),
       .others = {"--partial", "--save", "--no-pages", "--table", "--goals", "--json", "--out",
                  "--junit", "--exit-code-found", "--expect", "--any", "--accept-incomplete"}},
      {.name = "--show",
       .is_chosen = request.shown_run.has_value(),
       .others = {"--protocol", "--compare", "--from", "--faults", "--beyond-assumptions",
                  "--duration", "--seed", "--guide", "--reach", "--corpus"}},
  }};
  std::vector<std::string> errors;
  for (const Mode& mode : modes) {
    if (!mode.is_chosen) continue;
    const std::vector<std::string> more = NotBeside(app, mode.name, mode.others);
    errors.insert(errors.end(), more.begin(), more.end());
  }
  if (request.partial && request.merged.empty()) {
    errors.emplace_back("--partial says how to merge; it does not go without --merge");
  }
  if (!request.pages && request.save_folder.empty()) {
    errors.emplace_back("--no-pages says what not to save; it does not go without --save");
  }
  for (const char* option : {"--protocol", "--duration", "--shard", "--table", "--corpus"}) {
    if (request.from.empty() || app.get_option(option)->count() == 0) continue;
    errors.push_back(Cat(option,
                         " does not go with --from: the scenario says what to run, and a hunt "
                         "around it is no part of another"));
  }
  if (!request.checkpoint.empty()) {
    const std::array<std::pair<const char*, const char*>, 3> others = {{
        {"--for", "a hunt that goes on would take the time anew; give --runs"},
        {"--digests", "those of the runs before would be missing"},
        {"--from", "a hunt around a scenario has no report to go on from"},
    }};
    for (const auto& [option, reason] : others) {
      if (app.get_option(option)->count() == 0) continue;
      errors.push_back(Cat("--checkpoint does not go with ", option, ": ", reason));
    }
  }
  const std::vector<std::string> unlooked =
      ContradictionsOfExpect(*request.exits, request.hunt.promised_only, request.hunt.invariant);
  errors.insert(errors.end(), unlooked.begin(), unlooked.end());
  if (!request.compared.empty()) AddContradictionsOfComparison(app, request, errors);
  AddContradictionsOfBaseline(app, request, errors);
  const bool prints = request.json || !request.save_folder.empty();
  if (!request.table_folder.empty() && prints) {
    errors.emplace_back("--table prints no findings; it does not go with --json and --save");
  }
  if (request.goals && (prints || !request.table_folder.empty())) {
    errors.emplace_back(
        "--goals prints no findings; it does not go with --json, --save and --table");
  }
  return errors;
}

std::optional<uint64_t> RunsAsked(const HuntRequest& request) {
  if (!request.runs && request.time) return std::nullopt;
  return request.runs.value_or(kRunsByDefault);
}

uint64_t RunsOfComparison(const HuntRequest& request) {
  return RunsAsked(request).value_or(kComparedRunsMax);
}

uint64_t RunsOfShard(const HuntRequest& request) {
  const sim::HuntOptions& hunt = request.hunt;
  return RunsOfShard(RunsAsked(request).value_or(kHuntRunsMax), hunt.shard, hunt.shards);
}

}  // namespace whorl::cli
