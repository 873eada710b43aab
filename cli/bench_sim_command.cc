#include "cli/bench_sim_command.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/text_table.h"
#include "sim/hunt/hunt.h"
#include "sim/hunt/speed_worlds.h"
#include "sim/judge/run.h"
#include "sim/report/json_print.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/number_text.h"
#include "sim/world/driver.h"

namespace whorl::cli {
namespace {

using sim::BatchStep;
using sim::Cat;
using sim::Json;
using Clock = std::chrono::steady_clock;

constexpr std::array<int64_t, 4> kNodes = {3, 10, 100, 500};

constexpr std::string_view kFooter = R"(Examples:
  whorl bench sim
  whorl bench sim --rounds 10 --json

Measured are a quiet time of spindle_v2 (lease 10 s, the leader asks HasLock and writes once a
second, checkers and hash on, one core), and a hunt in drawn worlds of fenced_lease of 120 simulated
seconds each. Of several rounds the fastest counts, since whatever else the machine does only slows
one down. Figures are this machine's: ./dev bench --compare is for telling two versions apart.
Exit codes: 0 measured; 2 bad input or usage; 3 the output could not be written.)";

struct SimRequest {
  uint64_t rounds = 3;
  uint64_t runs = 2'000;  // of the hunt
  uint64_t jobs = 1;
  bool json = false;
  std::string out;
};

struct NodesSpeed {
  int64_t nodes = 0;
  double simulated = 0;  // seconds
  double wall = 0;       // seconds, of the fastest round
  uint64_t events = 0;
  int64_t bytes = 0;  // of the heap, of a world that is copied; 0 where nobody counts them
};

struct HuntSpeed {
  int64_t runs = 0;
  double wall = 0;
};

double SecondsSince(Clock::time_point started) {
  return std::chrono::duration<double>(Clock::now() - started).count();
}

// In use at this moment. A sanitizer's heap is not counted.
int64_t HeapBytes() {
  const auto info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

int64_t BytesOf(const sim::Scenario& scenario) {
  const sim::World world =
      sim::RunUntil(scenario, scenario.seed, {scenario.duration.ns / 2}, nullptr);
  const int64_t before = HeapBytes();
  const sim::World copy = world;
  return HeapBytes() - before;
}

// Rounds until there are enough, or somebody interrupts; at least one.
template <typename Round>
double Fastest(uint64_t rounds, const Round& round) {
  double fastest = 0;
  for (uint64_t i = 0; i < rounds && (i == 0 || !SignalNotice::HasCome()); ++i) {
    const Clock::time_point started = Clock::now();
    round();
    const double seconds = SecondsSince(started);
    fastest = i == 0 ? seconds : std::min(fastest, seconds);
  }
  return fastest;
}

NodesSpeed MeasureNodes(int64_t nodes, uint64_t rounds) {
  const sim::Scenario scenario = sim::QuietWorld(nodes, sim::QuietDuration(nodes));
  NodesSpeed speed = {.nodes = nodes,
                      .simulated = static_cast<double>(scenario.duration.ns) / 1e9,
                      .bytes = BytesOf(scenario)};
  speed.wall = Fastest(
      rounds, [&] { speed.events = sim::RunScenario(scenario, scenario.seed, nullptr).events; });
  return speed;
}

HuntSpeed MeasureHunt(const SimRequest& request, absl::Status& status) {
  HuntSpeed speed;
  sim::HuntOptions hunt;
  hunt.protocols = {"fenced_lease"};
  hunt.world.duration = Seconds(120);
  speed.wall = Fastest(request.rounds, [&] {
    sim::HuntTallies tallies;
    const absl::Status hunted = sim::RunHunt(
        hunt, request.runs, static_cast<int>(request.jobs),
        [](uint64_t, const sim::HuntTallies&) {
          return SignalNotice::HasCome() ? BatchStep::kStop : BatchStep::kGoOn;
        },
        tallies);
    if (!hunted.ok()) status = hunted;
    speed.runs = sim::RunCount(tallies);
  });
  return speed;
}

std::string RateText(double count, double seconds) {
  return sim::GroupedText(std::llround(count / std::max(seconds, 1e-9)));
}

void PrintText(const std::vector<NodesSpeed>& nodes, const std::optional<HuntSpeed>& hunt,
               uint64_t jobs, std::ostream& out) {
  TextTable table({"nodes", "simulated s", "wall s", "ratio", "events/s", "bytes/node"}, 0);
  for (const NodesSpeed& speed : nodes) {
    table.Add({sim::GroupedText(speed.nodes), RateText(speed.simulated, 1),
               sim::SecondsText({std::llround(speed.wall * 1e9)}, 3),
               RateText(speed.simulated, speed.wall) + ":1",
               RateText(static_cast<double>(speed.events), speed.wall),
               speed.bytes == 0 ? "-" : sim::GroupedText(speed.bytes / speed.nodes)});
  }
  table.Print(out);
  if (!hunt) return;
  out << "hunt of fenced_lease: " << sim::CountText(hunt->runs, "run", "runs")
      << " of 120 simulated seconds in " << sim::SecondsText({std::llround(hunt->wall * 1e9)}, 3)
      << " s on " << sim::CountText(static_cast<int64_t>(jobs), "thread", "threads") << ": "
      << RateText(static_cast<double>(hunt->runs), hunt->wall) << " runs a second\n";
}

void PrintLines(const std::vector<NodesSpeed>& nodes, const std::optional<HuntSpeed>& hunt,
                uint64_t jobs, std::ostream& out) {
  for (const NodesSpeed& speed : nodes) {
    const Json line = {{"sim", "nodes"},
                       {"nodes", speed.nodes},
                       {"simulated_seconds", speed.simulated},
                       {"wall_seconds", speed.wall},
                       {"events", speed.events},
                       {"bytes", speed.bytes}};
    out << sim::DumpJson(line) << '\n';
  }
  if (!hunt) return;
  const Json line = {
      {"sim", "hunt"}, {"runs", hunt->runs}, {"wall_seconds", hunt->wall}, {"jobs", jobs}};
  out << sim::DumpJson(line) << '\n';
}

int RunSimCommand(const SimRequest& request) {
  const SignalNotice notice;
  OutputFile file;
  if (!request.out.empty()) {
    if (const absl::Status opened = file.Open(request.out); !opened.ok()) return End(opened);
  }
  Progress progress;
  std::vector<NodesSpeed> nodes;
  for (const int64_t count : kNodes) {
    if (SignalNotice::HasCome()) break;
    if (progress.IsDue()) progress.Show(Cat("a world of ", std::to_string(count), " nodes"));
    nodes.push_back(MeasureNodes(count, request.rounds));
  }
  absl::Status status;
  std::optional<HuntSpeed> hunt;
  if (!SignalNotice::HasCome()) hunt = MeasureHunt(request, status);
  Progress::Clear();
  if (!status.ok()) return End(status);
  if (!request.out.empty()) {
    PrintLines(nodes, hunt, request.jobs, file.stream());
    if (const absl::Status written = file.Commit(); !written.ok()) return End(written);
  }
  if (request.json) {
    PrintLines(nodes, hunt, request.jobs, std::cout);
  } else {
    PrintText(nodes, hunt, request.jobs, std::cout);
  }
  return End(FlushStdout());
}

}  // namespace

SubCommand AddSimCommand(CLI::App& bench) {
  CLI::App* app = bench.add_subcommand("sim", "Measure how fast this testbed is on this machine");
  const auto request = std::make_shared<SimRequest>();
  AddNumber(
      *app, "--rounds", 1, 1'000, [request](uint64_t n) { request->rounds = n; },
      "of each measure, of which the fastest counts (default: 3)");
  AddNumber(
      *app, "--runs", 1, 1'000'000, [request](uint64_t n) { request->runs = n; },
      "runs of the hunt (default: 2000)");
  request->jobs = DefaultJobs();
  AddNumber(
      *app, "--jobs", 1, kJobsMax, [request](uint64_t n) { request->jobs = n; },
      "threads of the hunt (default: one for each core)");
  app->add_flag("--json", request->json, "print JSON lines instead of text");
  app->add_option("--out", request->out, "write the JSON lines into FILE")->type_name("FILE");
  app->footer(std::string(kFooter));
  return {.app = app, .run = [request] { return RunSimCommand(*request); }};
}

}  // namespace whorl::cli
