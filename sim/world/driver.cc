#include "sim/world/driver.h"

#include <algorithm>

namespace whorl::sim {

void Driver::Agenda::Add(const Scheduled& scheduled) {
  heap_.push_back({.at = scheduled.at.ns, .order = next_order_++, .choice = scheduled.choice});
  std::push_heap(heap_.begin(), heap_.end(), Later{});
}

void Driver::Agenda::Pop() {
  std::pop_heap(heap_.begin(), heap_.end(), Later{});
  heap_.pop_back();
}

Driver::Driver(const Scenario& scenario, uint64_t seed, ObservationSink* sink)
    : end_{scenario.duration.ns},
      sink_(sink),
      chance_(seed, scenario),
      triggers_(scenario),
      struck_(scenario.faults.size(), 0),
      hash_(seed),
      world_(MakeSetup(scenario), out_) {
  TakeIn();
}

void Driver::Advance(Instant until, const EndingSink* enough) {
  while (!agenda_.empty() && agenda_.due() <= until) {
    if (enough != nullptr && enough->HasEnough()) return;
    const Choice choice = agenda_.next();
    if (!world_.IsPending(choice)) {
      agenda_.Pop();
      continue;
    }
    if (StrikesBefore(choice)) continue;
    agenda_.Pop();
    Take(choice);
  }
}

void Driver::Finish() {
  Advance(end_);
  Hear({.at = end_, .what = RunEnded{}});
}

std::vector<uint32_t> Driver::UnfiredFaults() const {
  std::vector<uint32_t> unfired;
  for (uint32_t i = 0; i < struck_.size(); ++i) {
    if (struck_[i] == 0) unfired.push_back(i);
  }
  return unfired;
}

// Whether a fault strikes between the reply's arrival and the process's next step. Such a fault is
// taken before the reply.
bool Driver::StrikesBefore(const Choice& choice) {
  if (triggers_.empty() || choice.node < 0 || !triggers_.WaitsForReply(choice.node)) {
    return false;
  }
  const auto ends = world_.WouldEnd(choice);
  if (!ends || choice == announced_) return false;
  announced_ = choice;  // checked once for each reply, however often a pause delays it
  hits_.clear();
  triggers_.Replied(ends->call, ends->step, hits_);
  for (const Triggers::Hit& hit : hits_) StrikeNow(hit);
  return !hits_.empty();
}

// Takes the fault at this instant, before any other event that is due.
void Driver::StrikeNow(const Triggers::Hit& hit) {
  out_.scheduled.clear();
  world_.Trigger(hit.fault, hit.call, out_);
  const Choice fault = out_.scheduled.front().choice;
  Take(fault);
}

void Driver::Take(const Choice& choice) {
  world_.Take(choice, chance_, out_);
  ++events_;
  hash_.AddWord(static_cast<uint64_t>(choice.kind) << 16 |
                static_cast<uint64_t>(static_cast<uint16_t>(choice.node)));
  TakeIn();
}

// Adds what the world scheduled to the agenda, and hears what could be observed.
void Driver::TakeIn() {
  for (const Scheduled& scheduled : out_.scheduled) agenda_.Add(scheduled);
  if (triggers_.empty()) {
    for (const Observation& observation : out_.observed) Hear(observation);
    return;
  }
  std::vector<Triggers::Hit> hits;
  for (const Observation& observation : out_.observed) {
    Hear(observation);
    triggers_.Observe(observation, hits);
  }
  for (const Triggers::Hit& hit : hits) StrikeNow(hit);
}

void Driver::Hear(const Observation& observation) {
  hash_.Add(observation);
  ++observations_;
  if (const auto* began = std::get_if<FaultBegan>(&observation.what)) struck_[began->fault] = 1;
  if (sink_ != nullptr) sink_->Hear(observation, observations_, hash_.value());
}

World RunUntil(const Scenario& scenario, uint64_t seed, Instant until, ObservationSink* sink) {
  Driver driver(scenario, seed, sink);
  driver.Advance(std::min(until, Instant{scenario.duration.ns}));
  return std::move(driver).TakeWorld();
}

void RunWhileHeard(const Scenario& scenario, uint64_t seed, EndingSink& sink) {
  Driver(scenario, seed, &sink).Advance({scenario.duration.ns}, &sink);
}

}  // namespace whorl::sim
