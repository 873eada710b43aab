#include "sim/measure/decision.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "sim/judge/batch.h"
#include "sim/judge/run_judge.h"
#include "sim/measure/continuation.h"
#include "sim/report/row_text.h"
#include "sim/report/timeline.h"
#include "sim/report/trace.h"
#include "sim/scenario/names.h"
#include "sim/world/driver.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

constexpr size_t kFewestMoments = 10;
constexpr size_t kSpread = 12;       // moments spread over time, before others are put between
constexpr double kWorthALook = 0.1;  // a difference of shares
constexpr double kJump = 0.15;       // likewise; chance alone makes 0.1 of 200 in one of forty
constexpr size_t kNamedJumps = 5;

// What happened at each of some instants: the line of the timeline, or else the last step.
class Namer final : public EndingSink {
 public:
  Namer(const Scenario& scenario, std::set<Instant> wanted)
      : names_(NamesOf(scenario)), timeline_(scenario), wanted_(std::move(wanted)) {}

  struct Name {
    uint64_t event = 0;
    std::string text;
    bool is_of_timeline = false;
  };

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override {
    const size_t before = timeline_.changes().size();
    timeline_.Hear(observation, ordinal, hash);
    now_ = observation.at;
    if (!wanted_.contains(now_)) return;
    Name& name = named_[now_];
    if (timeline_.changes().size() > before) {
      const TimelineLine& line = timeline_.changes().back();
      const std::string who = line.node >= 0 ? Cat(names_.Node(line.node), ": ") : std::string();
      name = {.event = ordinal, .text = who + line.text, .is_of_timeline = true};
      return;
    }
    if (name.is_of_timeline) return;
    std::string text =
        std::visit([this](const auto& what) { return StepText(what); }, observation.what);
    std::string kind(ObservedEventText(observation.what));
    std::ranges::replace(kind, '_', ' ');
    if (text.empty() && !name.text.empty()) return;
    name = {.event = ordinal,
            .text = text.empty() ? kind : Cat(text, ", ", kind),
            .is_of_timeline = false};
  }
  bool HasEnough() const override { return wanted_.empty() || now_ > *wanted_.rbegin(); }
  const Name& At(Instant at) { return named_[at]; }

 private:
  template <typename What>
  std::string StepText(const What& what) const {
    std::string text;
    if constexpr (requires { what.call.process; }) {
      text = Cat(names_.Node(what.call.process.node), ": ");
    } else if constexpr (requires { what.process.node; }) {
      text = Cat(names_.Node(what.process.node), ": ");
    } else if constexpr (requires { what.writer.node; }) {
      if (what.writer.node < 0) return {};
      text = Cat(names_.Node(what.writer.node), ": ");
    }
    if constexpr (requires { WordOf(what.step); }) return Cat(text, WordOf(what.step));
    return {};
  }

  Names names_;
  Timeline timeline_;
  std::set<Instant> wanted_;
  Instant now_;
  std::map<Instant, Name> named_;
};

std::string PercentText(double share) {
  const int64_t percent = std::llround(share * 100);
  // "all" and "none" are kept for all and none.
  if (share > 0 && percent == 0) return "under 1 %";
  if (share < 1 && percent == 100) return "over 99 %";
  return Cat(std::to_string(percent), " %");
}

class Search {
 public:
  Search(const Scenario& scenario, const RunResult& result, Invariant invariant,
         const DecisionOptions& options)
      : scenario_(scenario),
        result_(result),
        invariant_(invariant),
        options_(options),
        end_{scenario.duration.ns},
        events_left_(options.events) {}

  Decision Find() {
    Decision decision{
        .invariant = invariant_,
        .not_measured = WhyNoContinuations(scenario_, result_, kFewestMoments, options_.events),
        .moments = {},
        .jumps = {}};
    if (!decision.not_measured.empty()) return decision;
    Instants instants(result_.checks[invariant_].first->observation);
    RunWhileHeard(scenario_, result_.seed, instants);
    candidates_ = instants.Candidates();
    const size_t last = candidates_.size() - 1;
    known_[last] = {.at = candidates_[last]};
    Measure(0);
    if (!known_[0].IsCertain()) {
      Spread(last);
      Refine();
    }
    for (const auto& [place, moment] : known_) decision.moments.push_back(moment);
    AddJumps(decision);
    return decision;
  }

 private:
  void Spread(size_t last) {
    for (size_t i = 1; i <= kSpread && known_.size() < options_.moments; ++i) {
      const Instant at = {candidates_[last].ns / static_cast<int64_t>(kSpread) *
                          static_cast<int64_t>(i)};
      const auto after = std::ranges::upper_bound(candidates_, at);
      const auto place = static_cast<size_t>(after - candidates_.begin() - 1);
      // The moment just before the violation is one of them.
      Measure(std::min(i == kSpread ? last - 1 : place, last - 1));
    }
  }

  // Halves the interval in which the share changes most, until that is one instant; then those at whose
  // ends the violation became likely and certain.
  void Refine() {
    while (known_.size() < options_.moments && events_left_ > 0) {
      std::optional<size_t> middle = MiddleOfTheLargestChange();
      if (!middle.has_value()) middle = MiddleBefore(&DecisionMoment::IsLikely);
      if (!middle.has_value()) middle = MiddleBefore(&DecisionMoment::IsCertain);
      if (!middle.has_value()) return;
      Measure(*middle);
    }
  }

  std::optional<size_t> MiddleOfTheLargestChange() const {
    double most = kWorthALook;
    std::optional<size_t> middle;
    for (auto here = known_.begin(); std::next(here) != known_.end(); ++here) {
      const auto next = std::next(here);
      const double difference = std::abs(next->second.Share() - here->second.Share());
      if (next->first - here->first < 2 || difference <= most) continue;
      most = difference;
      middle = (here->first + next->first) / 2;
    }
    return middle;
  }
  // Of the interval before the moments that all are as wanted; nothing if it is one instant.
  std::optional<size_t> MiddleBefore(bool (DecisionMoment::*is_wanted)() const) const {
    auto since = std::prev(known_.end());
    while (since != known_.begin() && (std::prev(since)->second.*is_wanted)()) --since;
    if (since == known_.begin() || since->first - std::prev(since)->first < 2) return std::nullopt;
    return (std::prev(since)->first + since->first) / 2;
  }

  // How many continuations a moment may have, by what is left of the events.
  int64_t Affordable() const {
    const size_t measured = known_.size() - 1;
    const size_t to_come = options_.moments > known_.size() ? options_.moments - measured : 1;
    const uint64_t each = std::max<uint64_t>(
        1, continuations_ == 0 ? result_.events : events_taken_ / continuations_);
    const auto affordable = static_cast<int64_t>(events_left_ / to_come / each);
    return std::clamp(affordable, std::min(kFewestContinuations, options_.continuations),
                      options_.continuations);
  }

  void Measure(size_t place) {
    if (known_.contains(place)) return;
    Watcher before(RunJudge(scenario_, RoundTripP999(scenario_.spanner.preset)), invariant_);
    Driver driver(scenario_, result_.seed, &before);
    driver.Advance(candidates_[place]);
    struct Outcome {
      bool violated = false;
      uint64_t events = 0;
    };
    // The first moment is what the claim "from the start" rests on, so it is never saved on.
    const int64_t count = place == 0 ? options_.continuations : Affordable();
    std::vector<Outcome> outcomes(static_cast<size_t>(count));
    DecisionMoment& moment = known_[place] = {.at = candidates_[place], .continuations = count};
    RunBatch(
        outcomes.size(), options_.threads,
        [&](size_t i) {
          Watcher watcher(before.judge(), invariant_);
          Driver continuation = driver.Fork(ChanceOfContinuation(result_.seed, i), &watcher);
          continuation.Advance(end_, &watcher);
          outcomes[i] = {.violated = watcher.HasViolated(end_),
                         .events = continuation.events() - driver.events()};
        },
        [](size_t, const std::optional<std::string>&) { return BatchStep::kGoOn; });
    for (const Outcome& outcome : outcomes) {
      moment.violated += outcome.violated ? 1 : 0;
      events_taken_ += outcome.events;
      events_left_ -= std::min(events_left_, outcome.events);
    }
    continuations_ += static_cast<uint64_t>(count);
  }

  // Names the largest changes that happened at one instant each.
  void AddJumps(Decision& decision) const {
    struct Change {
      double size = 0;
      size_t moment = 0;
    };
    std::vector<Change> changes;
    size_t moment = 1;
    for (auto here = known_.begin(); std::next(here) != known_.end(); ++here, ++moment) {
      const auto next = std::next(here);
      const double size = std::abs(next->second.Share() - here->second.Share());
      if (next->first - here->first == 1 && size >= kJump) changes.push_back({size, moment});
    }
    std::ranges::sort(changes, {},
                      [](const Change& change) { return std::pair(-change.size, change.moment); });
    changes.resize(std::min(changes.size(), kNamedJumps));
    for (const size_t key : {decision.Likely(), decision.Certain()}) {
      if (key == 0 || std::ranges::find(changes, key, &Change::moment) != changes.end()) continue;
      const Instant at = decision.moments[key].at;
      const auto place = std::ranges::lower_bound(candidates_, at) - candidates_.begin();
      if (known_.contains(static_cast<size_t>(place - 1))) changes.push_back({0, key});
    }
    std::ranges::sort(changes, {}, &Change::moment);
    std::set<Instant> wanted;
    for (const Change& change : changes) wanted.insert(decision.moments[change.moment].at);
    Namer namer(scenario_, wanted);
    RunWhileHeard(scenario_, result_.seed, namer);
    for (const Change& change : changes) {
      const Namer::Name& name = namer.At(decision.moments[change.moment].at);
      decision.jumps.push_back({.moment = change.moment, .event = name.event, .text = name.text});
    }
  }

  const Scenario& scenario_;
  const RunResult& result_;
  const Invariant invariant_;
  const DecisionOptions& options_;
  const Instant end_;
  std::vector<Instant> candidates_;         // the last one is the violation's
  std::map<size_t, DecisionMoment> known_;  // by place in candidates_
  uint64_t events_left_;
  uint64_t events_taken_ = 0;
  uint64_t continuations_ = 0;
};

// "from 12.345678 s on (b: takeover_insert sent)".
std::string SinceText(const Decision& decision, size_t moment) {
  std::string text = Cat("from ", InstantText(decision.moments[moment].at), " s on");
  for (const DecisionJump& jump : decision.jumps) {
    if (jump.moment == moment) text += Cat(" (", jump.text, ")");
  }
  return text;
}

// The first moment from which on all are as wanted; the last moment always is.
template <typename IsWanted>
size_t Since(const std::vector<DecisionMoment>& moments, IsWanted is_wanted) {
  size_t since = moments.size() - 1;
  while (since > 0 && is_wanted(moments[since - 1])) --since;
  return since;
}

}  // namespace

size_t Decision::Likely() const {
  return Since(moments, [](const DecisionMoment& moment) { return moment.IsLikely(); });
}
size_t Decision::Certain() const {
  return Since(moments, [](const DecisionMoment& moment) { return moment.IsCertain(); });
}

std::string Decision::Text() const {
  constexpr std::string_view kBegin = "when it was decided: ";
  if (!not_measured.empty()) return Cat(kBegin, "not measured, for ", not_measured);
  const std::string tried = Cat(GroupedText(moments.front().continuations),
                                " other runs of the scenario, with chance drawn anew");
  if (Certain() == 0) {
    return Cat(kBegin,
               "by the scenario, not by chance; certain from 0 s on, the start of the run: all of ",
               tried, ", violate ", WordOf(invariant), " as well");
  }
  std::string text = Cat(kBegin, "chance has a part in it; of ", tried, ", ",
                         PercentText(moments.front().Share()), " violate ", WordOf(invariant));
  const size_t certain = Certain();
  const size_t likely = Likely();
  if (likely > 0 && likely < certain) text += Cat("; likely ", SinceText(*this, likely));
  if (certain + 1 < moments.size()) return Cat(text, "; certain ", SinceText(*this, certain));
  return Cat(text, "; certain only when it happened");
}

Decision DecisionOf(const Scenario& scenario, const RunResult& result, Invariant invariant,
                    const DecisionOptions& options) {
  return Search(scenario, result, invariant, options).Find();
}

Json DecisionJson(const Decision& decision) {
  Json json = Json::object();
  json["invariant"] = WordOf(decision.invariant);
  json["text"] = decision.Text();
  Json moments = Json::array();
  for (const DecisionMoment& moment : decision.moments) {
    moments.push_back({{"at", std::max<int64_t>(0, moment.at.ns)},
                       {"continuations", moment.continuations},
                       {"violated", moment.violated}});
  }
  json["moments"] = std::move(moments);
  Json jumps = Json::array();
  for (const DecisionJump& jump : decision.jumps) {
    jumps.push_back({{"moment", jump.moment}, {"event", jump.event}, {"text", jump.text}});
  }
  json["jumps"] = std::move(jumps);
  return json;
}

}  // namespace whorl::sim
