#include "sim/report/page_model.h"

#include <algorithm>
#include <variant>

#include "base/text.h"
#include "sim/judge/expectations.h"
#include "sim/judge/known.h"
#include "sim/report/row_text.h"
#include "sim/report/trace.h"
#include "sim/scenario/rules.h"
#include "sim/scenario/writer.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

constexpr std::string_view kToneWords[] = {"plain", "good", "bad", "warning"};

Json StoryJson(const Story& story) {
  Json lines = Json::array();
  for (const StoryLine& line : story.lines) {
    lines.push_back({{"at", line.at.ns}, {"who", line.who}, {"text", line.text}});
  }
  return {{"invariant", story.invariant}, {"at", story.at.ns},          {"head", story.head},
          {"lines", std::move(lines)},    {"left_out", story.left_out}, {"end", story.end}};
}

// What `expect` says.
std::string_view ExpectedText(const Scenario& scenario, Invariant invariant) {
  switch (ExpectedOf(scenario, invariant)) {
    case Expected::kHolds:
      return "holds";
    case Expected::kViolated:
      return "violated";
    case Expected::kNothing:
      break;
  }
  return "";
}

}  // namespace

Json HeadlineJson(const Headline& headline) {
  return {{"text", headline.text},
          {"tone", kToneWords[static_cast<size_t>(headline.tone)]},
          {"event", headline.event}};
}

PageModel::PageModel(const Scenario& scenario)
    : scenario_(scenario),
      names_(NamesOf(scenario)),
      printer_(names_),
      judge_(scenario, RoundTripP999(scenario.spanner.preset)),
      timeline_(scenario) {}

void PageModel::Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) {
  now_ = observation.at;
  ordinal_ = ordinal;
  spans_.Observing(ordinal);
  timeline_.Hear(observation, ordinal, hash);
  const int64_t before = judge_.violations();
  judge_.Observe(observation);
  for (CountedWrites* of :
       {&writes_.stale_refused, &writes_.stale_accepted, &writes_.rightful_refused}) {
    AddWrite(*of, observation);
  }
  AddEvent(observation);
  if (judge_.violations() != before) AddViolations();
  std::visit([this](const auto& what) { On(what); }, observation.what);
}

void PageModel::AddEvent(const Observation& observation) {
  const std::string_view word = ObservedEventText(observation.what);
  const auto kind = std::ranges::find(kinds_, word);
  tables_.Add("events").Int("at", now_.ns).Int("kind", kind - kinds_.begin());
  if (kind == kinds_.end()) kinds_.push_back(word);
  PageTables::Row row = tables_.Add(word);
  Json fields = Json::object();
  std::visit([&](const auto& what) { printer_.AddFields(what, fields); }, observation.what);
  row.Fields(fields);
}

// If the metric has counted the observation.
void PageModel::AddWrite(CountedWrites& of, const Observation& observation) {
  if (judge_.Counted(of.metric) == static_cast<int64_t>(of.events.size())) return;
  of.events.push_back(ordinal_);
  const auto* write = std::get_if<WriteArrived>(&observation.what);
  if (of.events.size() > 1 || write == nullptr) return;
  const ProcessId owner = judge_.ledger().OwnerOf(write->lock);
  of.at = now_;
  of.writer = names_.ShortProcess(write->process);
  if (owner != ProcessId{}) of.owner = names_.ShortProcess(owner);
}

// --- what lasts ----------------------------------------------------------------------------------

void PageModel::On(const ProcessStarted& x) { spans_.Set(PageSpan::kUp, x.process.node, 0, true); }
void PageModel::On(const ProcessGone& x) { spans_.Gone(x.process.node, scenario_.locks.size()); }
void PageModel::On(const ProcessPaused& x) {
  spans_.Set(PageSpan::kPaused, x.process.node, 0, true);
}
void PageModel::On(const ProcessResumed& x) {
  spans_.Set(PageSpan::kPaused, x.process.node, 0, false);
}
void PageModel::On(const LinkChanged& x) {
  const bool is_cut = x.link != LinkState::kUp;
  if (x.direction != Direction::kFrom) spans_.Set(PageSpan::kCutTo, x.node, 0, is_cut);
  if (x.direction != Direction::kTo) spans_.Set(PageSpan::kCutFrom, x.node, 0, is_cut);
}
void PageModel::On(const BeliefChanged& x) {
  spans_.Set(PageSpan::kBelieves, x.process.node, x.lock, x.believes);
}
void PageModel::On(const WorkChanged& x) {
  spans_.Set(PageSpan::kWorks, x.process.node, x.lock, x.at_work);
}
void PageModel::On(const FaultBegan& x) { spans_.FaultBegins(x.fault); }
void PageModel::On(const FaultEnded& x) { spans_.FaultEnds(x.fault); }
void PageModel::On(const CallSent& x) { spans_.Sent(x.call); }
void PageModel::On(const CallServed& x) { spans_.Served(x.call); }
void PageModel::On(const CallEnded& x) { spans_.Ended(x.call); }

// The checkers' ledger has heard of it before.
void PageModel::On(const RowCommitted& x) {
  const auto lock = judge_.setup().LockOfRow(x.after.has_value() ? *x.after : *x.before);
  if (!lock.has_value()) return;
  const std::optional<Version>& newest = judge_.ledger().Newest(*lock);
  const bool held = newest.has_value() && newest->held && !newest->released;
  tables_.Add("versions")
      .Int("event", static_cast<int64_t>(ordinal_))
      .Int("lock", *lock)
      .Int("held", held ? 1 : 0)
      .Int("node", held ? newest->owner.node : -1)
      .Text("token", "version", held && newest->token ? TokenText(*newest->token) : std::string())
      .Int("lease_until", held && newest->lease_until ? (*newest->lease_until - kStartTime).ns : 0);
}

// --- violations ----------------------------------------------------------------------------------

void PageModel::AddViolations() {
  for (const Invariant invariant : AllOf<Invariant>()) {
    int64_t& shown = violations_[static_cast<size_t>(invariant)];
    const int64_t violations = judge_.violations(invariant);
    if (violations == shown) continue;
    // For a missed deadline, the deadline.
    const Instant at = shown == 0 ? judge_.Finish(now_)[invariant].first->at : now_;
    shown = violations;
    tables_.Add("violations")
        .Int("event", static_cast<int64_t>(ordinal_))
        .Int("at", at.ns)
        .Int("invariant", static_cast<int64_t>(invariant));
  }
}

// --- the head ------------------------------------------------------------------------------------

Json PageModel::ScenarioJson() const {
  Json json = Json::object();
  json["name"] = scenario_.name;
  json["start"] = FormatRfc3339(kStartTime);
  json["about"] = scenario_.about;
  json["protocol"] = scenario_.protocol;
  json["duration"] = scenario_.duration.ns;
  json["epsilon"] = scenario_.spanner.truetime.epsilon.ns;
  json["locks"] = scenario_.locks;
  Json nodes = Json::array();
  for (const NodeSpec& node : scenario_.nodes) {
    nodes.push_back({{"name", node.name},
                     {"lease", FormatDuration(node.lease)},
                     {"clock_offset", node.clock.offset.ns},
                     {"clock_ppm", node.clock.rate_ppm}});
  }
  json["nodes"] = std::move(nodes);
  Json faults = Json::array();
  for (const FaultSpec& fault : scenario_.faults) {
    const std::string keys = FaultKeysText(fault, scenario_);
    faults.push_back({{"text", Cat(FaultKindText(fault.kind()), keys.empty() ? "" : ", ", keys)},
                      {"node", fault.node},
                      {"line", fault.line}});
  }
  json["faults"] = std::move(faults);
  return json;
}

Json PageModel::ResultJson(const RunResult& result, bool is_judged) const {
  Json json = Json::object();
  json["seed"] = std::to_string(result.seed);
  json["hash"] = HashText(result.hash);
  json["simulated"] = result.simulated.ns;
  json["judged"] = is_judged;
  json["failures"] =
      is_judged ? Json(FailuresOf(scenario_, result)) : Json(std::vector<std::string>());
  json["metrics"] = MetricsJson(result.checks.metrics);
  Json invariants = Json::array();
  for (const InvariantResult& of : result.checks.invariants) {
    Json one = {{"name", WordOf(of.invariant)},
                {"verdict", WordOf(of.verdict)},
                {"violations", of.violations},
                {"promised", PromiseWords(of.invariant, of.promise)},
                {"expects", is_judged ? ExpectedText(scenario_, of.invariant) : ""}};
    if (of.first.has_value()) {
      const KnownOfViolation known = KnownOf(scenario_, of.invariant, of.promise);
      one["event"] = of.first->observation;
      one["at"] = of.first->at.ns;
      one["text"] = of.first->text;
      one["promise"] = PromiseText(known);
      one["findings"] = FindingsText(known);
    }
    if (!of.unknown_because.empty()) one["unknown_because"] = of.unknown_because;
    invariants.push_back(std::move(one));
  }
  json["invariants"] = std::move(invariants);
  return json;
}

Json PageModel::TimelineJson(const RunResult& result) const {
  Json lines = Json::array();
  for (const TimelineLine& line : timeline_.Lines(result.checks)) {
    lines.push_back({{"event", line.ordinal},
                     {"at", line.at.ns},
                     {"node", line.node},
                     {"tone", kToneWords[static_cast<size_t>(line.tone)]},
                     {"text", line.text}});
  }
  return lines;
}

PageModel::Data PageModel::Finish(const RunResult& result, const Story& story, const About& about) {
  spans_.AddTo(tables_);
  Json head = Json::object();
  head["format"] = kPageFormat;
  head["whorl"] = about.whorl_version;
  head["command"] = about.command;
  head["on"] = about.on;
  head["scenario"] = ScenarioJson();
  // The seed of a real run is its number.
  head["result"] = ResultJson(result, about.on.empty() && result.seed == scenario_.seed);
  head["headline"] = HeadlineJson(HeadlineOf(scenario_, result.checks, writes_));
  head["story"] = StoryJson(story);
  head["timeline"] = TimelineJson(result);
  head["timeline_left_out"] = timeline_.left_out();
  for (const CountedWrites& of :
       {writes_.stale_refused, writes_.stale_accepted, writes_.rightful_refused}) {
    head["events_of"][std::string(WordOf(of.metric))] = of.events;
  }
  head["kinds"] = kinds_;
  PageTables::Packed packed = tables_.Pack();
  head["data"] = std::move(packed.manifest);
  return {.head = std::move(head), .bytes = std::move(packed.bytes)};
}

}  // namespace whorl::sim
