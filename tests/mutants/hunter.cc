// Hunts in a protocol, with the mutant that WHORL_MUTANT chooses, until a promise is broken; once
// for each of several seeds. Prints, as a row of a table, what it was and how long it took.
//
// Exit codes: 0 as expected: caught with every seed, or with --expect-nothing with none; 1 not so;
// 2 bad usage; 3 a run could not be run, or the row could not be written.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/parse_duration.h"
#include "base/text.h"
#include "base/time.h"
#include "protocol/protocols.h"
#include "sim/hunt/hunt.h"
#include "tests/mutants/chosen.h"

namespace whorl::sim {
namespace {

struct Request {
  std::string name = mutants::ChosenName();
  std::string protocol = "fenced_lease";
  bool expects_nothing = false;
  bool takes_findings = false;  // what is not promised counts, too
  uint64_t seeds = 3;
  uint64_t first_seed = 1;  // the others follow it
  std::string search = "swarm";
  uint64_t runs = 5'000;  // at most, of each seed
  uint64_t shrunk = 1;    // how many seeds' findings are shrunk
  std::string row_path;
  WorldOptions world;
  std::optional<Invariant> invariant;
  bool guided = false;
  std::string csv_path;
};

// The result of the hunt of one seed.
struct Caught {
  uint64_t runs = 0;  // until a promise was broken; nothing was found: all of them
  Duration time;      // this process's CPU time, which other processes do not lengthen
  std::set<Invariant> broken;
  Size drawn;
  std::optional<Size> shrunk;
};

Duration ProcessTime() {
  return {static_cast<int64_t>(std::clock()) * (1'000'000'000 / CLOCKS_PER_SEC)};
}

HuntOptions OptionsOf(const Request& request, uint64_t seed) {
  HuntOptions options;
  options.protocols = {request.protocol};
  options.world = request.world;
  options.seed = seed;
  options.invariant = request.invariant;
  options.promised_only = !request.takes_findings;
  options.guided = request.guided;
  options.counts_kinds = request.guided;
  return options;
}

// Shrinks the finding of the first kind that the run showed.
absl::Status ShrinkFirst(const HuntOptions& options, HuntTallies& tallies, Caught& caught) {
  std::map<ViolationKind, Finding>& findings = tallies.begin()->second.findings;
  findings.erase(std::next(findings.begin()), findings.end());
  absl::Status status =
      ShrinkFindings(options, 1, [](size_t) { return BatchStep::kGoOn; }, tallies);
  if (status.ok()) caught.shrunk = SizeOf(*findings.begin()->second.shrunk);
  return status;
}

absl::StatusOr<Caught> HuntOnce(const Request& request, uint64_t seed, bool shrinks) {
  const HuntOptions options = OptionsOf(request, seed);
  const Duration started = ProcessTime();
  Caught caught;
  HuntTallies tallies;
  const absl::Status hunted = RunHunt(
      options, 0, request.runs, 1,
      [&](uint64_t done, const RunDigest&, const HuntTallies& so_far) {
        caught.runs = done;
        return FoundAnything(so_far) ? BatchStep::kStop : BatchStep::kGoOn;
      },
      tallies);
  if (!hunted.ok()) return hunted;
  caught.time = ProcessTime() - started;
  const HuntTally& tally = tallies.begin()->second;
  if (!tally.differing.empty())
    return absl::InternalError("a run came out otherwise when repeated");
  for (const auto& [kind, finding] : tally.findings) {
    caught.broken.insert(kind.invariant);
    caught.drawn = finding.size;
  }
  if (caught.broken.empty() || !shrinks) return caught;
  if (absl::Status shrunk = ShrinkFirst(options, tallies, caught); !shrunk.ok()) return shrunk;
  return caught;
}

// --- the row -----------------------------------------------------------------------------------

template <typename Field>
Histogram Collected(const std::vector<Caught>& all, const Field& field) {
  Histogram histogram;
  for (const Caught& caught : all) {
    if (const std::optional<int64_t> value = field(caught)) histogram.Add(*value);
  }
  return histogram;
}

// "12, at most 345"
std::string RunsText(const std::vector<Caught>& all) {
  const Histogram runs =
      Collected(all, [](const Caught& c) { return std::optional(static_cast<int64_t>(c.runs)); });
  return Cat(GroupedText(runs.Quantile(50)), ", at most ", GroupedText(runs.Quantile(100)));
}

std::string MedianTimeText(const std::vector<Caught>& all) {
  const Histogram time = Collected(all, [](const Caught& c) { return std::optional(c.time.ns); });
  return Cat(FormatSeconds({time.Quantile(50)}, 2), ", at most ",
             FormatSeconds({time.Quantile(100)}, 2));
}

// "lease_respected 20, single_leader_belief 12": with how many seeds.
std::string BrokenText(const std::vector<Caught>& all) {
  std::map<Invariant, int64_t> counts;
  for (const Caught& caught : all) {
    for (const Invariant invariant : caught.broken) ++counts[invariant];
  }
  std::string text;
  for (const auto& [invariant, count] : counts) {
    text += Cat(text.empty() ? "" : ", ", WordOf(invariant), " ", GroupedText(count));
  }
  return text.empty() ? "nothing" : text;
}

// "4 faults, 3 nodes, 120 s": the median of each, of the findings that were shrunk.
std::string SizeText(const std::vector<Caught>& all, bool after) {
  const auto median = [&](auto part) {
    return Collected(all,
                     [&](const Caught& c) -> std::optional<int64_t> {
                       if (!c.shrunk) return std::nullopt;
                       return part(after ? *c.shrunk : c.drawn);
                     })
        .Quantile(50);
  };
  if (std::ranges::none_of(all, [](const Caught& c) { return c.shrunk.has_value(); })) return "";
  return Cat(CountText(median([](const Size& s) { return s.faults; }), "fault", "faults"), ", ",
             CountText(median([](const Size& s) { return s.nodes; }), "node", "nodes"), ", ",
             FormatSeconds({median([](const Size& s) { return s.duration.ns; })}, 0), " s");
}

size_t CaughtCount(const std::vector<Caught>& all) {
  return static_cast<size_t>(
      std::ranges::count_if(all, [](const Caught& c) { return !c.broken.empty(); }));
}

// A row of the table in README.md.
std::string RowText(const Request& request, const std::vector<Caught>& all) {
  return Cat("| `", request.name, "` | ", BrokenText(all), " | ", std::to_string(CaughtCount(all)),
             " of ", std::to_string(all.size()), " | ", RunsText(all), " | ", MedianTimeText(all),
             " | ", SizeText(all, false), " | ", SizeText(all, true), " |\n");
}

// "name,search,seed,runs,caught,microseconds" for each seed.
std::string CsvText(const Request& request, const std::vector<Caught>& all) {
  std::string text;
  for (size_t i = 0; i < all.size(); ++i) {
    text += Cat(request.name, ",", request.search, ",", std::to_string(request.first_seed + i), ",",
                std::to_string(all[i].runs), ",", all[i].broken.empty() ? "0" : "1", ",",
                std::to_string(all[i].time.ns / 1'000), "\n");
  }
  return text;
}

// --- the command -------------------------------------------------------------------------------

int Fail(int code, const std::string& what) {
  std::cerr << what << '\n';
  return code;
}

int Conclude(const Request& request, const std::vector<Caught>& all) {
  const std::string row = RowText(request, all);
  std::cout << row;
  if (!request.row_path.empty()) {
    std::ofstream file(request.row_path);
    file << row;
    if (!file.flush()) return Fail(3, Cat(request.row_path, " cannot be written"));
  }
  if (!request.csv_path.empty()) {
    std::ofstream file(request.csv_path, std::ios::app);
    file << CsvText(request, all);
    if (!file.flush()) return Fail(3, Cat(request.csv_path, " cannot be written"));
  }
  if (request.expects_nothing) {
    if (CaughtCount(all) == 0) return 0;
    return Fail(1, Cat(request.name, " breaks a promise, and was said not to"));
  }
  if (CaughtCount(all) == all.size()) return 0;
  return Fail(1, Cat(request.name, " was not caught within ",
                     GroupedText(static_cast<int64_t>(request.runs)), " runs with every seed"));
}

int Hunt(const Request& request) {
  std::vector<Caught> all;
  for (uint64_t i = 0; i < request.seeds; ++i) {
    const uint64_t seed = request.first_seed + i;
    absl::StatusOr<Caught> caught = HuntOnce(request, seed, i < request.shrunk);
    if (!caught.ok()) {
      return Fail(3,
                  Cat("seed ", std::to_string(seed), ": ", std::string(caught.status().message())));
    }
    all.push_back(*std::move(caught));
  }
  return Conclude(request, all);
}

void TakeInvariant(const std::string& word, Request& request) {
  for (const Invariant invariant : AllOf<Invariant>()) {
    if (WordOf(invariant) == word) {
      request.invariant = invariant;
      return;
    }
  }
  throw CLI::ValidationError(Cat("there is no invariant ", Quoted(word)));
}

void TakeSearch(const std::string& word, Request& request) {
  request.search = word;
  request.guided = word == "guided";
  if (word == "swarm" || word == "guided") return;
  if (word == "uniform") {
    request.world.style = Style::kUniform;
  } else if (word == "priorities") {
    request.world.style = Style::kPriorities;
  } else {
    throw CLI::ValidationError(Cat("there is no search ", Quoted(word)));
  }
}

void TakeLease(const std::string& text, Request& request) {
  const auto parsed = ParseDuration(text);
  const auto* lease = std::get_if<Duration>(&parsed);
  if (lease == nullptr) throw CLI::ValidationError(std::get<std::string>(parsed));
  request.world.lease_min = *lease;
}

int Run(int argc, char** argv) {
  Request request;
  CLI::App app("Hunts with the mutant that WHORL_MUTANT names, once for each seed");
  app.add_option("--protocol", request.protocol, "which to hunt in (default: fenced_lease)")
      ->check(CLI::Validator(
          [](const std::string& name) {
            return FindProtocol(name) == nullptr ? Cat("there is no protocol ", Quoted(name)) : "";
          },
          "PROTOCOL"));
  app.add_flag("--findings", request.takes_findings,
               "what the protocol does not promise counts, too");
  app.add_flag("--expect-nothing", request.expects_nothing, "no promise may be broken");
  app.add_option_function<std::string>(
      "--search", [&](const std::string& word) { TakeSearch(word, request); },
      "swarm (default), uniform, priorities or guided");
  app.add_option("--csv", request.csv_path, "a file to append a line for each seed to");
  app.add_option("--first-seed", request.first_seed, "the others follow it (default: 1)");
  app.add_option("--seeds", request.seeds, "how many")->check(CLI::PositiveNumber);
  app.add_option("--runs", request.runs, "at most, of each seed")->check(CLI::PositiveNumber);
  app.add_option("--shrink", request.shrunk, "of how many seeds the finding is shrunk");
  app.add_option("--row", request.row_path, "a file to write the row into, too");
  app.add_option("--rate-ppm-max", request.world.rate_ppm_max, "of the clocks in drawn worlds");
  app.add_option_function<std::string>(
      "--lease-min", [&](const std::string& text) { TakeLease(text, request); },
      "of the leases in drawn worlds, such as 10s");
  app.add_option_function<std::string>(
      "--invariant", [&](const std::string& word) { TakeInvariant(word, request); },
      "look for violations of this one alone");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return Hunt(request);
}

}  // namespace
}  // namespace whorl::sim

int main(int argc, char** argv) { return whorl::sim::Run(argc, argv); }
