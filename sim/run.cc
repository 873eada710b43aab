#include "sim/run.h"

#include <algorithm>
#include <utility>

#include "protocol/spanner/fingerprint.h"
#include "sim/chance.h"
#include "sim/latency.h"
#include "sim/run_until.h"
#include "sim/triggers.h"
#include "sim/world.h"

namespace whorl::sim {
namespace {

// Earliest first; among equals, the one that was scheduled first.
struct HeapEntry {
  int64_t at = 0;
  uint64_t order = 0;
  Choice choice;
};

class Agenda {
 public:
  bool empty() const { return heap_.empty(); }
  const HeapEntry& top() const { return heap_.front(); }

  void Add(const Scheduled& scheduled) {
    heap_.push_back({.at = scheduled.at.ns, .order = next_order_++, .choice = scheduled.choice});
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }
  void Pop() {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    heap_.pop_back();
  }

 private:
  static bool Later(const HeapEntry& a, const HeapEntry& b) {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
  std::vector<HeapEntry> heap_;
  uint64_t next_order_ = 0;
};

class Driver {
 public:
  Driver(const Scenario& scenario, uint64_t seed, ObservationSink* sink)
      : end_{scenario.duration.ns},
        sink_(sink),
        chance_(seed, scenario),
        checkers_(scenario, RoundTripP999(scenario.spanner.preset)),
        triggers_(scenario),
        struck_(scenario.faults.size(), 0),
        hash_(seed),
        world_(MakeSetup(scenario), out_) {
    result_.seed = seed;
    TakeIn();
  }

  // Takes what is due until then, or until `enough`, where that is given, says so.
  void Advance(Instant until, const EndingSink* enough = nullptr) {
    while (!agenda_.empty() && agenda_.top().at <= until.ns) {
      if (enough != nullptr && enough->HasEnough()) return;
      const Choice choice = agenda_.top().choice;
      if (!world_.IsPending(choice)) {
        agenda_.Pop();
        continue;
      }
      if (StrikesBefore(choice)) continue;
      agenda_.Pop();
      Take(choice);
    }
  }

  World TakeWorld() && { return std::move(world_); }

  RunResult Run() {
    Advance(end_);
    Hear({.at = end_, .what = RunEnded{}});
    result_.hash = hash_.value();
    result_.simulated = end_ - Instant{};
    result_.checks = checkers_.Finish(end_);
    for (uint32_t i = 0; i < struck_.size(); ++i) {
      if (struck_[i] == 0) result_.unfired_faults.push_back(i);
    }
    return std::move(result_);
  }

 private:
  // A fault that strikes between a reply's arrival and the process's next step comes first.
  bool StrikesBefore(const Choice& choice) {
    if (triggers_.empty() || choice.node < 0 || !triggers_.WaitsForReply(choice.node)) {
      return false;
    }
    const auto ends = world_.WouldEnd(choice);
    if (!ends || choice == announced_) return false;
    announced_ = choice;  // once for each reply, however often a pause puts it off
    hits_.clear();
    triggers_.Replied(ends->call, ends->step, hits_);
    for (const Triggers::Hit& hit : hits_) StrikeNow(hit);
    return !hits_.empty();
  }

  // The fault happens at this instant, before all else that is due.
  void StrikeNow(const Triggers::Hit& hit) {
    out_.scheduled.clear();
    world_.Trigger(hit.fault, hit.call, out_);
    const Choice fault = out_.scheduled.front().choice;
    Take(fault);
  }

  void Take(const Choice& choice) {
    world_.Take(choice, chance_, out_);
    ++result_.events;
    hash_.AddWord(static_cast<uint64_t>(choice.kind) << 16 |
                  static_cast<uint64_t>(static_cast<uint16_t>(choice.node)));
    TakeIn();
  }

  // What the world scheduled and what could be observed.
  void TakeIn() {
    for (const Scheduled& scheduled : out_.scheduled) agenda_.Add(scheduled);
    std::vector<Triggers::Hit> hits;
    for (const Observation& observation : out_.observed) {
      Hear(observation);
      triggers_.Observe(observation, hits);
    }
    for (const Triggers::Hit& hit : hits) StrikeNow(hit);
  }

  void Hear(const Observation& observation) {
    hash_.Add(observation);
    ++result_.observations;
    if (const auto* began = std::get_if<FaultBegan>(&observation.what)) struck_[began->fault] = 1;
    checkers_.Observe(observation);
    if (sink_ != nullptr) sink_->Hear(observation, result_.observations, hash_.value());
  }

  Instant end_;
  ObservationSink* sink_;
  Chance chance_;
  Checkers checkers_;
  Triggers triggers_;
  std::vector<uint8_t> struck_;
  Fingerprint hash_;
  Outbox out_;
  World world_;
  Agenda agenda_;
  Choice announced_;
  std::vector<Triggers::Hit> hits_;
  RunResult result_;
};

}  // namespace

RunResult RunScenario(const Scenario& scenario, uint64_t seed, ObservationSink* sink) {
  return Driver(scenario, seed, sink).Run();
}

void RunWhileHeard(const Scenario& scenario, uint64_t seed, EndingSink& sink) {
  Driver(scenario, seed, &sink).Advance({scenario.duration.ns}, &sink);
}

World RunUntil(const Scenario& scenario, uint64_t seed, Instant until, ObservationSink* sink) {
  Driver driver(scenario, seed, sink);
  driver.Advance(std::min(until, Instant{scenario.duration.ns}));
  return std::move(driver).TakeWorld();
}

}  // namespace whorl::sim
