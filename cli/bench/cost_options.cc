#include "cli/bench/cost_options.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/option_values.h"
#include "sim/scenario/add_protocol.h"

namespace whorl::cli {
namespace {

using Words = std::vector<std::string_view>;

constexpr uint64_t kCostRunsMax = 10'000;
constexpr uint64_t kHerdMax = 1'000'000;
constexpr uint64_t kLocksMax = 1'000'000'000;
constexpr uint64_t kLargestMax = 20'000;
constexpr Duration kShortestLease = Milliseconds(100);
constexpr Duration kLongestLease = Seconds(3600);

constexpr std::string_view kCostFooter = R"(Examples:
  whorl bench cost                                     every protocol, all tables
  whorl bench cost --protocol fenced_lease --lease 10s --followers 2
  whorl bench cost --herd 100,1000,10000 --largest 10000   nothing extrapolated; takes minutes
  whorl bench cost --preset multi_region --csv cost.csv
  whorl bench cost --html cost.html

Costs are per lock-hour, while the leader renews its lease and the followers watch. Calls for the
application's own questions (HasLock) are left out. The cost of a takeover is what it adds to the
steady state, from the crash of the leader until one lease after the next grant.
Figures are simulated, and depend on the options alone, not on --jobs. A figure after "~" is not
simulated but extrapolated: figures grow along a line with followers, and in proportion to locks. The
report says how far these rules were from the simulated figures.
Columns: `busiest s` is the number of calls in the busiest second, of the steady state or of a
takeover; `first s` that in the second after the first attempt to take over; `units` are the
processing units of Spanner that the rate of reads and writes needs, and `instance` the smallest
instance that has them.
Ctrl-C ends the bench early, which then reports what it has; a second one ends the command.
Exit codes: 0 measured; 2 bad input or usage; 3 the output could not be written.)";

// Sorts the values and removes duplicates.
template <typename T>
void SortAndDeduplicate(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

void TakeProtocols(const std::string& text, CostRequest& request) {
  Words known;
  for (const ProtocolInfo& info : Protocols()) known.push_back(info.name);
  if (text == "all") return;
  Words asked = known;
  asked.emplace_back("all");
  std::vector<size_t> places;
  for (const std::string& word : CommaSeparated(text)) {
    const size_t place = PlaceOfWord("--protocol", "protocol", word, asked);
    if (place == known.size()) {
      throw CLI::ValidationError("--protocol: \"all\" goes with no other");
    }
    places.push_back(place);
  }
  SortAndDeduplicate(places);
  request.cost.protocols.clear();
  for (const size_t place : places) request.cost.protocols.emplace_back(known[place]);
}

void TakeLeases(const std::string& text, CostRequest& request) {
  request.cost.leases.clear();
  for (const std::string& word : CommaSeparated(text)) {
    const Duration lease = DurationOf("--lease", word, "a lease such as 10s");
    if (lease < kShortestLease || lease > kLongestLease) {
      throw CLI::ValidationError(Cat("--lease wants ", FormatDuration(kShortestLease), " to ",
                                     FormatDuration(kLongestLease), ", and got ", Quoted(word)));
    }
    request.cost.leases.push_back(lease);
  }
  SortAndDeduplicate(request.cost.leases);
}

void TakePreset(const std::string& text, CostRequest& request) {
  static constexpr std::array<std::string_view, 2> kPresets = {"regional", "multi_region"};
  request.cost.preset = static_cast<sim::Preset>(PlaceOfWord("--preset", "preset", text, kPresets));
}

// Adds an option for a list of positive integers, such as 1,10,100.
void AddNumbers(CLI::App& app, const std::string& name, uint64_t max,
                const std::shared_ptr<CostRequest>& request,
                std::vector<int64_t> sim::CostOptions::* numbers, const std::string& help) {
  const auto take = [name, max, numbers, request](const std::string& text) {
    std::vector<int64_t>& taken = request->cost.*numbers;
    taken.clear();
    for (const std::string& word : CommaSeparated(text)) {
      taken.push_back(static_cast<int64_t>(NumberOf(name, word, 1, max)));
    }
    SortAndDeduplicate(taken);
  };
  app.add_option_function<std::string>(name, take, help)->type_name("N,...");
}

void AddWhatToMeasure(CLI::App& app, const std::shared_ptr<CostRequest>& request) {
  AddText(app, "--protocol", "P,...|all", request, TakeProtocols,
          "whose locks to measure (default: all)");
  AddText(app, "--lease", "TIME,...", request, TakeLeases, "leases (default: 1s,5s,10s,30s)");
  AddNumbers(app, "--followers", kLargestMax, request, &sim::CostOptions::followers,
             "processes besides the leader (default: 1,2,10,100)");
  AddNumbers(app, "--herd", kHerdMax, request, &sim::CostOptions::herd,
             "followers of one lock whose leader crashes, at one lease (default: "
             "10,100,1000,10000)");
  AddNumbers(app, "--locks", kLocksMax, request, &sim::CostOptions::locks,
             "numbers of locks, at each lease (default: 1 to 100000)");
  AddNumber(
      app, "--largest", 1, kLargestMax,
      [request](uint64_t n) { request->cost.largest = static_cast<int64_t>(n); },
      "simulate the numbers of --herd and --locks up to N (default: 1000), and extrapolate larger "
      "ones");
  AddText(app, "--preset", "NAME", request, TakePreset,
          "latencies: regional or multi_region (default: regional)");
}

}  // namespace

void AddCostOptions(CLI::App& app, const std::shared_ptr<CostRequest>& request) {
  for (const ProtocolInfo& info : Protocols()) request->cost.protocols.emplace_back(info.name);
  AddWhatToMeasure(app, request);
  AddNumber(
      app, "--runs", 1, kCostRunsMax,
      [request](uint64_t n) { request->cost.runs = static_cast<int64_t>(n); },
      "runs of each case, fewer above 100 processes (default: 8)");
  AddNumber(
      app, "--takeovers", 0, kCostRunsMax, [request](uint64_t n) { request->takeovers = n; },
      "crashes of each protocol and lease, for the last table (default: 1000; 0: no such times)");
  AddNumber(
      app, "--seed", 0, std::numeric_limits<uint64_t>::max(),
      [request](uint64_t seed) { request->cost.seed = seed; }, "seed of all runs (default: 1)");
  request->jobs = DefaultJobs();
  AddNumber(
      app, "--jobs", 1, kJobsMax, [request](uint64_t n) { request->jobs = n; },
      "runs at the same time (default: one for each core); changes no output");
  app.add_flag("--json", request->json, "print JSON lines instead of text");
  app.add_flag("--markdown", request->markdown, "print the tables in Markdown");
  app.add_option("--out", request->out, "write the JSON lines into FILE")->type_name("FILE");
  app.add_option("--csv", request->csv, "write all figures into FILE, a case to a line")
      ->type_name("FILE");
  app.add_option("--html", request->html,
                 "write a page with cost against takeovers into FILE, which any browser opens")
      ->type_name("FILE");
  app.footer(std::string(kCostFooter));
}

std::vector<std::string> Contradictions(const CostRequest& request) {
  std::vector<std::string> errors;
  if (request.json && request.markdown) {
    errors.emplace_back("--json prints no tables; it does not go with --markdown");
  }
  const std::pair<std::string_view, const std::string*> files[] = {
      {"--out", &request.out}, {"--csv", &request.csv}, {"--html", &request.html}};
  for (size_t a = 0; a < std::size(files); ++a) {
    for (size_t b = a + 1; b < std::size(files); ++b) {
      if (files[a].second->empty() || *files[a].second != *files[b].second) continue;
      errors.push_back(Cat(files[a].first, " and ", files[b].first, " name the same file"));
    }
  }
  // Extrapolation along a line needs two points.
  const auto& herd = request.cost.herd;
  const auto is_simulated = [&](int64_t n) { return n <= request.cost.largest; };
  if (std::ranges::count_if(herd, is_simulated) < 2 && !std::ranges::all_of(herd, is_simulated)) {
    errors.push_back(Cat("--herd: a number above --largest ", std::to_string(request.cost.largest),
                         " is extrapolated, which needs two smaller ones beside it"));
  }
  return errors;
}

}  // namespace whorl::cli
