#include "cli/bench/takeover_options.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/option_values.h"
#include "sim/scenario/add_protocol.h"

namespace whorl::cli {
namespace {

using Words = std::vector<std::string_view>;

constexpr uint64_t kTakeoverRunsMax = 1'000'000;
constexpr uint64_t kFollowersMax = 1'000;
constexpr Duration kLeaseMin = Seconds(1);
constexpr Duration kLeaseMax = Seconds(3600);

constexpr std::string_view kTakeoverFooter = R"(Faults:
{faults}
Examples:
  whorl bench takeover                               every protocol and fault
  whorl bench takeover --protocol fenced_lease --fault crash,graceful_stop --lease 5s,10s
  whorl bench takeover --fault crash --lease 10s --html takeover.html --csv takeover.csv
  whorl bench takeover --all --json > takeovers.jsonl
  whorl bench takeover --protocol spindle_v2 --followers 1 --preset none
  whorl bench takeover --runs 20 --shard 3/80 --out 3.takeover
  whorl bench takeover --merge *.takeover --html merged.html
  whorl bench takeover --on emulator                 in real time
  whorl bench takeover --on server --protocol fenced_lease --fault crash,cut_off --lease 2s

A run is a world in virtual time: a leader in its steady state, its followers, and a fault at an
instant drawn by the seed. The time is from the fault to the arrival of the new leader's first
write, which it sends as soon as it is told that it leads, at a resource that does not fence. Each
is compared with T*, the shortest time possible for a protocol that respects the lease. For crash,
pause and cut_off, T* is the rest of the lease when the fault strikes, one Commit, and the way to the
resource; for a stop, two Commits and that way. Standard output depends on the options alone, not on
--jobs. Ctrl-C ends the bench early, which then reports what it has; a second one ends the command.

Columns: `kept` counts runs in which the old leader kept the lock, so that there was no takeover;
`p99 s (95 %)` is the 99th percentile with its confidence interval; `p50 / T*` is of the ratios of
each time to its T*, and `p50 - T* ms` of the differences.

With --on a few of the same worlds run on real processes, and are compared with 1,000 simulated runs.
A real run takes up to twelve leases.
Exit codes: 0 measured; 2 bad input or usage, or what cannot be made real; 3 the output could not be
written, or real processes could not run; 130 interrupted, with --on.)";

template <typename T>
void AddOnce(std::vector<T>& all, T value) {
  if (std::ranges::find(all, value) == all.end()) all.push_back(std::move(value));
}

void TakeProtocols(const std::string& text, TakeoverRequest& request) {
  Words known;
  for (const ProtocolInfo& info : Protocols()) known.push_back(info.name);
  request.protocols.clear();
  if (text == "all") {
    request.protocols.assign(known.begin(), known.end());
    return;
  }
  known.emplace_back("all");
  for (const std::string& word : CommaSeparated(text)) {
    const std::string_view name = known[PlaceOfWord("--protocol", "protocol", word, known)];
    if (name == "all") throw CLI::ValidationError("--protocol all does not go with others");
    AddOnce(request.protocols, std::string(name));
  }
}

void TakeFaults(const std::string& text, TakeoverRequest& request) {
  constexpr auto kKnown = AllWords<sim::TakeoverFault>();
  request.faults.clear();
  for (const std::string& word : CommaSeparated(text)) {
    AddOnce(request.faults,
            static_cast<sim::TakeoverFault>(PlaceOfWord("--fault", "fault", word, kKnown)));
  }
}

void TakeLeases(const std::string& text, TakeoverRequest& request) {
  request.leases.clear();
  for (const std::string& word : CommaSeparated(text)) {
    const Duration lease = DurationOf("--lease", word, "leases such as 5s,10s");
    if (lease < kLeaseMin || lease > kLeaseMax) {
      throw CLI::ValidationError(Cat("--lease wants leases from ", FormatDuration(kLeaseMin),
                                     " to ", FormatDuration(kLeaseMax), ", and got ",
                                     Quoted(word)));
    }
    AddOnce(request.leases, lease);
  }
}

void TakeFollowers(const std::string& text, TakeoverRequest& request) {
  request.followers.clear();
  for (const std::string& word : CommaSeparated(text)) {
    AddOnce(request.followers,
            static_cast<int64_t>(NumberOf("--followers", word, 1, kFollowersMax)));
  }
}

void TakePresets(const std::string& text, TakeoverRequest& request) {
  constexpr auto kKnown = AllWords<sim::Preset>();
  request.presets.clear();
  for (const std::string& word : CommaSeparated(text)) {
    AddOnce(request.presets,
            static_cast<sim::Preset>(PlaceOfWord("--preset", "preset", word, kKnown)));
  }
}

std::string Footer() {
  std::string faults;
  for (const auto fault : AllOf<sim::TakeoverFault>()) {
    std::string name(WordOf(fault));
    name.resize(22, ' ');
    faults += Cat("  ", name, TakeoverFaultMeaning(fault), "\n");
  }
  std::string footer(kTakeoverFooter);
  constexpr std::string_view kPlace = "{faults}\n";
  return footer.replace(footer.find(kPlace), kPlace.size(), faults + "\n");
}

}  // namespace

uint64_t TakeoverRequest::Jobs() const {
  return jobs.value_or(on.has_value() ? DefaultJobsOn() : DefaultJobs());
}

void AddTakeoverOptions(CLI::App& app, const std::shared_ptr<TakeoverRequest>& request) {
  AddText(app, "--protocol", "P,P|all", request, TakeProtocols,
          "whose locks (default: all; with --on fenced_lease,spindle_v2)");
  AddText(app, "--fault", "F,F", request, TakeFaults,
          "what strikes, see below (default: all; with --on crash)");
  AddText(app, "--lease", "TIME,TIME", request, TakeLeases,
          "leases; those that a protocol does not allow are left out (default: 1s,5s,10s,30s; with "
          "--on 5s)");
  AddText(app, "--followers", "N,N", request, TakeFollowers,
          "how many wait for the lock (default: 2); a deployment has its own");
  AddText(app, "--preset", "R,R", request, TakePresets,
          "latencies: regional (the default), multi_region, or none (calls take no time, to "
          "compare with closed forms)");
  app.add_flag("--all", request->all,
               "where nothing else is given: 1, 2, 10 and 100 followers, and both regions' "
               "latencies");
  AddNumber(
      app, "--runs", 1, kTakeoverRunsMax, [request](uint64_t n) { request->runs = n; },
      "runs of each case (default: as many as make p99 stable to 2 %; with --on 20)");
  AddNumber(
      app, "--seed", 0, std::numeric_limits<uint64_t>::max(),
      [request](uint64_t seed) { request->seed = seed; }, "seed of all runs (default: 1)");
  AddNumber(
      app, "--jobs", 1, kJobsMax, [request](uint64_t n) { request->jobs = n; },
      "runs at the same time (default: one for each core; with --on two); changes no output");
  app.add_flag("--json", request->json, "print JSON lines instead of text");
  app.add_option("--out", request->out, "write the JSON lines into FILE")->type_name("FILE");
  app.add_option("--csv", request->csv, "write a table into FILE")->type_name("FILE");
  app.add_option("--html", request->html,
                 "write a page with the distributions beside T* into FILE, which any browser opens")
      ->type_name("FILE");
  AddText(
      app, "--shard", std::string(kShardType), request,
      [](const std::string& text, TakeoverRequest& r) { r.shard = ShardOf(text); },
      "measure the I-th of N parts of the cases; auto: the one that an engine says, as for whorl "
      "hunt; --merge adds them up");
  app.add_option("--merge", request->merged,
                 "add up the reports of shards (--json, --out) instead of measuring")
      ->type_name("FILE...");
  AddOn(app, request->on,
        "measure on real processes, too: on whorl's own server over the model, or on the official "
        "emulator");
  app.add_option_function<std::string>(
         "--program",
         [request](const std::string& text) { request->program = ProgramAt("--program", text); },
         "with --on: each process is one of PROGRAM, which speaks as live/foreign/README.md says")
      ->type_name("PROGRAM");
  app.footer(Footer());
}

std::vector<std::string> Contradictions(const TakeoverRequest& request) {
  std::vector<std::string> errors;
  const std::pair<std::string_view, bool> of_all_cases[] = {{"--csv", !request.csv.empty()},
                                                            {"--html", !request.html.empty()}};
  for (const auto& [name, is_given] : of_all_cases) {
    if (!is_given || !request.shard.is_given) continue;
    errors.push_back(
        Cat(name, " shows all cases; it does not go with --shard: give it to --merge"));
  }
  const std::pair<std::string_view, bool> simulated_only[] = {{"--all", request.all},
                                                              {"--csv", !request.csv.empty()},
                                                              {"--html", !request.html.empty()},
                                                              {"--shard", request.shard.is_given},
                                                              {"--merge", !request.merged.empty()}};
  for (const auto& [name, is_given] : simulated_only) {
    if (!is_given || !request.on.has_value()) continue;
    errors.push_back(Cat(name, " is for simulated runs; it does not go with --on"));
  }
  if (!request.program.empty() && !request.on.has_value()) {
    errors.emplace_back("--program is for real runs; it wants --on");
  }
  if (!request.program.empty() && request.protocols.size() != 1) {
    errors.emplace_back("--program wants one --protocol: that of the program");
  }
  const std::pair<std::string_view, const std::string*> files[] = {
      {"--out", &request.out}, {"--csv", &request.csv}, {"--html", &request.html}};
  std::map<std::filesystem::path, std::string_view> written;
  for (const auto& [option, file] : files) {
    if (file->empty() || *file == "/dev/null") continue;
    const auto [other, is_new] =
        written.emplace(std::filesystem::path(*file).lexically_normal(), option);
    if (is_new) continue;
    errors.push_back(Cat(other->second, " and ", option, " would both write ", Printable(*file)));
  }
  if (errors.empty() && sim::CasesOf(GridOf(request)).cases.empty()) {
    const sim::LeftOut first = sim::CasesOf(GridOf(request)).left_out.front();
    errors.push_back(Cat("nothing is left to measure: ", first.left_out.Text(), ": ", first.why));
  }
  return errors;
}

sim::TakeoverGrid GridOf(const TakeoverRequest& request) {
  sim::TakeoverGrid grid = request.all ? sim::AllTakeovers() : sim::UsualTakeovers();
  if (!request.protocols.empty()) grid.protocols = request.protocols;
  if (!request.faults.empty()) grid.faults = request.faults;
  if (!request.leases.empty()) grid.leases = request.leases;
  if (!request.followers.empty()) grid.followers = request.followers;
  if (!request.presets.empty()) grid.presets = request.presets;
  return grid;
}

}  // namespace whorl::cli
