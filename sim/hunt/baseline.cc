#include "sim/hunt/baseline.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/text.h"
#include "protocol/spanner/fingerprint.h"
#include "sim/hunt/outcome.h"
#include "sim/report/trace.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/writer.h"
#include "sim/world/driver.h"
#include "sim/world/mix.h"

namespace whorl::sim {
namespace {

using Figures = std::map<FigureName, int64_t>;

// --- what one run did --------------------------------------------------------------------------

// What an event says in one word, as a part of the figure's name; empty if it says nothing.
template <typename What>
std::string_view DetailOf(const What& what) {
  if constexpr (std::is_same_v<What, CalledBack>) {
    return what.leader ? "leads" : "lost";
  } else if constexpr (std::is_same_v<What, QuestionAnswered>) {
    return what.answer.yes ? "yes" : "no";
  } else if constexpr (std::is_same_v<What, Noted>) {
    return WordOf(what.note.note);
  } else {
    return {};
  }
}

// Counts calls by their step, and events that belong to no step.
class EventCounts : public ObservationSink {
 public:
  void Hear(const Observation& observation, uint64_t /*ordinal*/, uint64_t /*hash*/) override {
    std::visit(
        [&]<typename What>(const What& what) {
          if constexpr (std::is_same_v<What, CallSent>) {
            ++calls_[what.step];
          } else if constexpr (!requires { what.step; }) {
            OfEvent& event = events_[{observation.what.index(), DetailOf(what)}];
            if (event.count++ == 0) event.word = ObservedEventText(observation.what);
          }
        },
        observation.what);
  }

  void AddTo(Figures& figures) const {
    for (const auto& [step, count] : calls_) {
      figures[{FigureFamily::kCalls, std::string(WordOf(step))}] = count;
    }
    for (const auto& [key, event] : events_) {
      const std::string_view detail = key.second;
      figures[{FigureFamily::kEvents, Cat(event.word, detail.empty() ? "" : " ", detail)}] =
          event.count;
    }
  }

 private:
  struct OfEvent {
    std::string_view word;
    int64_t count = 0;
  };

  std::map<StepName, int64_t> calls_;
  std::map<std::pair<size_t, std::string_view>, OfEvent> events_;
};

void AddVerdicts(const RunOutcome& outcome, Figures& figures) {
  for (const Breakage& breakage : outcome.breakages) {
    const std::string invariant(WordOf(breakage.kind.invariant));
    figures[{FigureFamily::kViolated, invariant}] = 1;
    figures[{FigureFamily::kViolatedAt, Cat(invariant, " ", breakage.kind.WhereText())}] = 1;
    if (breakage.promised) figures[{FigureFamily::kBroken, invariant}] = 1;
  }
  for (const Invariant invariant : AllOf<Invariant>()) {
    if (outcome.digest.verdicts[static_cast<size_t>(invariant)] != Verdict::kUnknown) continue;
    figures[{FigureFamily::kUnknown, std::string(WordOf(invariant))}] = 1;
  }
}

void AddMetrics(const Metrics& metrics, Figures& figures) {
  for (const Metric metric : AllOf<Metric>()) {
    constexpr int64_t kNanosInMilli = 1'000'000;
    const int64_t value = metrics[metric];
    figures[{FigureFamily::kMetric, std::string(WordOf(metric))}] =
        IsTime(metric) ? (value + kNanosInMilli - 1) / kNanosInMilli : value;
  }
  for (const Sometimes goal : AllOf<Sometimes>()) {
    figures[{FigureFamily::kGoal, std::string(WordOf(goal))}] = metrics[goal];
  }
}

struct RunRecord {
  std::string protocol;
  uint32_t world = 0;
  uint64_t hash = 0;
  bool differs = false;
  Figures figures;
};

uint32_t ShortHash(uint64_t hash) { return static_cast<uint32_t>(hash) & kShortHashMax; }

RunRecord RecordOf(const HuntOptions& hunt, uint64_t run) {
  const Scenario world = WorldOfRun(hunt, run);
  EventCounts counts;
  const RunOutcome outcome = OutcomeOf(hunt, {.run = run}, world, &counts);
  Fingerprint text;
  text.Add(ScenarioLine(world));
  RunRecord record{.protocol = outcome.protocol,
                   .world = ShortHash(Mix(text.value())),
                   .hash = outcome.digest.hash,
                   .differs = outcome.differs,
                   .figures = {}};
  AddVerdicts(outcome, record.figures);
  AddMetrics(outcome.metrics, record.figures);
  counts.AddTo(record.figures);
  return record;
}

// --- all runs ----------------------------------------------------------------------------------

void AddRecord(uint64_t run, const RunRecord& record, ProtocolRecord& protocol) {
  const size_t before = protocol.numbers.size();
  protocol.hash += Combine(Mix(run), record.hash);
  protocol.numbers.push_back(run);
  protocol.worlds.push_back(record.world);
  protocol.events.push_back(ShortHash(Mix(record.hash)));
  if (record.differs) protocol.unrepeatable.push_back(run);
  for (const auto& [name, value] : record.figures) {
    if (value <= 0) continue;
    FigureColumn& column = protocol.columns[name];
    ++column.runs;
    column.sum += value;
    column.levels.resize(before);  // it was 0 in the runs before
    column.levels.push_back(LevelOf(value));
  }
}

template <typename Enum>
void AddEach(FigureFamily family, std::set<FigureName>& names) {
  for (const Enum one : AllOf<Enum>()) names.insert({family, std::string(WordOf(one))});
}

}  // namespace

bool IsTime(const FigureName& name) {
  if (name.family != FigureFamily::kMetric) return false;
  const std::optional<Metric> metric = ParseWord<Metric>(name.word);
  return metric.has_value() && IsTime(*metric);
}

bool IsYesOrNo(const FigureName& name) {
  switch (name.family) {
    case FigureFamily::kBroken:
    case FigureFamily::kViolated:
    case FigureFamily::kViolatedAt:
    case FigureFamily::kUnknown:
      return true;
    case FigureFamily::kMetric:
    case FigureFamily::kGoal:
    case FigureFamily::kCalls:
    case FigureFamily::kEvents:
      return false;
  }
  return false;
}

std::set<FigureName> FiguresOfEnumerations() {
  std::set<FigureName> names;
  for (const FigureFamily family :
       {FigureFamily::kBroken, FigureFamily::kViolated, FigureFamily::kUnknown}) {
    AddEach<Invariant>(family, names);
  }
  AddEach<Metric>(FigureFamily::kMetric, names);
  AddEach<Sometimes>(FigureFamily::kGoal, names);
  return names;
}

uint8_t LevelOf(int64_t value) {
  constexpr int64_t kExact = 8;
  if (value < kExact) return static_cast<uint8_t>(value);
  const auto octave = static_cast<int>(std::bit_width(static_cast<uint64_t>(value))) - 1;
  const auto quarter = static_cast<int>(value >> (octave - 2)) & 3;
  return static_cast<uint8_t>(kExact + (octave - 3) * 4 + quarter);
}

Baseline BaselineOf(const HuntOptions& hunt) {
  Baseline baseline{
      .hunt = hunt, .runs = 0, .enumerated = FiguresOfEnumerations(), .protocols = {}};
  // What is recorded is that of all runs, whatever a hunt would report of them.
  baseline.hunt.counts_kinds = false;
  for (const std::string& protocol : hunt.protocols) baseline.protocols[protocol];
  return baseline;
}

std::vector<uint64_t> RunsOf(const HuntOptions& hunt, const std::string& protocol, uint64_t runs) {
  std::vector<uint64_t> numbers;
  for (uint64_t run = 0; run < runs; ++run) {
    if (ProtocolOfRun(hunt, run).name == protocol) numbers.push_back(run);
  }
  return numbers;
}

absl::Status RecordRuns(uint64_t count, int threads,
                        const std::function<BatchStep(uint64_t done)>& go_on, Baseline& baseline) {
  std::vector<RunRecord> records(std::min<uint64_t>(count, kBatchWindow));
  absl::Status status;
  RunBatch(
      count, threads, [&](size_t i) { records[i % kBatchWindow] = RecordOf(baseline.hunt, i); },
      [&](size_t i, const std::optional<std::string>& error) {
        if (error.has_value()) {
          status = absl::InternalError(Cat("run ", std::to_string(i), " cannot be run: ", *error));
          return BatchStep::kStop;
        }
        const RunRecord& record = records[i % kBatchWindow];
        AddRecord(i, record, baseline.protocols[record.protocol]);
        ++baseline.runs;
        return go_on(i + 1);
      });
  for (auto& [name, protocol] : baseline.protocols) {
    for (auto& [figure, column] : protocol.columns) column.levels.resize(protocol.numbers.size());
  }
  return status;
}

}  // namespace whorl::sim
