#include "cli/hunt/draws.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/keep_ties.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/text_table.h"
#include "sim/hunt/draw_table.h"
#include "sim/judge/batch.h"
#include "sim/judge/run.h"

namespace whorl::cli {
namespace {

using Json = nlohmann::ordered_json;
using sim::DrawnEvent;

constexpr size_t kRarestPairs = 12;

// "12.34 %"
std::string PercentOfRuns(int64_t runs, int64_t all) {
  const int64_t hundredths = all == 0 ? 0 : (runs * 10'000 + all / 2) / all;
  const std::string rest = std::to_string(hundredths % 100);
  return Cat(std::to_string(hundredths / 100), ".", rest.size() < 2 ? "0" : "", rest, " %");
}

absl::Status FillDraws(const HuntRequest& request, sim::DrawTable& table) {
  sim::HuntOptions hunt = request.hunt;
  hunt.counts_kinds = false;
  const auto count = static_cast<size_t>(RunsOfShard(request));
  std::vector<std::unique_ptr<sim::EventsOfRun>> runs(sim::kBatchWindow);
  std::string failure;
  sim::RunBatch(
      count, static_cast<int>(request.jobs),
      [&](size_t i) {
        const uint64_t number = hunt.shard + i * hunt.shards;
        const sim::Scenario world = sim::WorldOfRun(hunt, number);
        auto& events = runs[i % runs.size()];
        events = std::make_unique<sim::EventsOfRun>(world);
        sim::RunScenario(world, world.seed, events.get());
      },
      [&](size_t i, const std::optional<std::string>& error) {
        if (error) {
          failure = Cat("run ", std::to_string(i), ": ", *error);
          return sim::BatchStep::kStop;
        }
        table.Add(*runs[i % runs.size()]);
        return SignalNotice::HasCome() ? sim::BatchStep::kStop : sim::BatchStep::kGoOn;
      });
  return failure.empty() ? absl::OkStatus() : absl::InternalError(failure);
}

// The steps at which the event strikes, those of most runs first.
std::vector<std::pair<std::string, int64_t>> StepsOf(const sim::DrawTable& table,
                                                     DrawnEvent event) {
  std::vector<std::pair<std::string, int64_t>> steps;
  for (const auto& [key, runs] : table.steps) {
    if (key.first == event) steps.emplace_back(key.second, runs);
  }
  SortKeepingTies(steps, [](const auto& step) { return -step.second; });
  return steps;
}

void PrintDrawsText(const sim::DrawTable& table, std::ostream& out) {
  TextTable events({"event", "it strikes most at", "runs", "share", "steps", "followed by"}, 2);
  for (size_t i = 0; i < sim::kDrawnEvents; ++i) {
    const auto event = static_cast<DrawnEvent>(i);
    const auto steps = StepsOf(table, event);
    const auto after = std::ranges::count_if(
        table.pairs, [event](const auto& pair) { return pair.first.first == event; });
    events.Add({sim::DrawnEventText(event), steps.empty() ? "" : steps.front().first,
                GroupedText(table.events[i]), PercentOfRuns(table.events[i], table.runs),
                std::to_string(steps.size()), std::to_string(after)});
  }
  events.Print(out);
  std::vector<std::pair<std::pair<DrawnEvent, DrawnEvent>, int64_t>> faults;
  int64_t never = 0;
  for (size_t first = 0; first < sim::kFaultKindCount; ++first) {
    for (size_t second = 0; second < sim::kFaultKindCount; ++second) {
      const std::pair pair(static_cast<DrawnEvent>(first), static_cast<DrawnEvent>(second));
      const auto found = table.pairs.find(pair);
      if (found == table.pairs.end()) {
        ++never;
      } else {
        faults.emplace_back(*found);
      }
    }
  }
  SortKeepingTies(faults, [](const auto& pair) { return pair.second; });
  const size_t shown = std::min(kRarestPairs, faults.size());
  out << "\npairs of faults that follow each other within " << FormatDuration(sim::kSoonAfter)
      << ": " << GroupedText(static_cast<int64_t>(faults.size())) << " of "
      << GroupedText(static_cast<int64_t>(faults.size()) + never)
      << " are in a run; the rarest of them:\n";
  for (size_t i = 0; i < shown; ++i) {
    out << sim::DrawnEventText(faults[i].first.first) << ", then "
        << sim::DrawnEventText(faults[i].first.second) << ": "
        << CountText(faults[i].second, "run", "runs") << "\n";
  }
}

void PrintDrawsJson(const sim::DrawTable& table, std::ostream& out) {
  for (size_t i = 0; i < sim::kDrawnEvents; ++i) {
    const auto event = static_cast<DrawnEvent>(i);
    Json json = {{"kind", "draw"},
                 {"event", sim::DrawnEventText(event)},
                 {"runs", table.events[i]},
                 {"of", table.runs}};
    Json& steps = json["steps"] = Json::object();
    for (const auto& [step, runs] : StepsOf(table, event)) steps[step] = runs;
    Json& after = json["followed_by"] = Json::object();
    for (size_t j = 0; j < sim::kDrawnEvents; ++j) {
      const auto second = static_cast<DrawnEvent>(j);
      const auto found = table.pairs.find({event, second});
      after[sim::DrawnEventText(second)] = found == table.pairs.end() ? 0 : found->second;
    }
    out << json.dump() << '\n';
  }
}

}  // namespace

int PrintDraws(const HuntRequest& request) {
  const SignalNotice notice;
  sim::DrawTable table;
  if (const absl::Status filled = FillDraws(request, table); !filled.ok()) return End(filled);
  const bool is_incomplete = table.runs < static_cast<int64_t>(RunsOfShard(request));
  if (request.json) {
    PrintDrawsJson(table, std::cout);
  } else {
    PrintDrawsText(table, std::cout);
  }
  const int code = End(FlushStdout());
  return is_incomplete ? static_cast<int>(kCannotRun) : code;
}

}  // namespace whorl::cli
