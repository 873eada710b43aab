#include "sim/world/driver.h"

#include <algorithm>
#include <variant>

namespace whorl::sim {

Driver::Driver(const Scenario& scenario, uint64_t seed, ObservationSink* sink)
    : end_{scenario.duration.ns},
      sink_(sink),
      chance_(seed, scenario),
      triggers_(scenario),
      struck_(scenario.faults.size(), 0),
      hash_(seed),
      world_(MakeSetup(scenario), out_),
      announced_(scenario.nodes.size()) {
  TakeIn();
}

void Driver::Advance(Instant until, const EndingSink* enough) {
  for (const PendingSlot* next = world_.Next(); next != nullptr && next->due <= until;
       next = world_.Next()) {
    if (enough != nullptr && enough->HasEnough()) return;
    if (!triggers_.empty() && StrikesBefore(*next)) continue;
    CountTaken(next->choice);
    world_.TakeNext(chance_, out_);
    TakeIn();
  }
}

void Driver::Finish() {
  Advance(end_);
  out_.observed.clear();
  out_.observed.emplace_back(end_, RunEnded{});
  TakeIn();
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
bool Driver::StrikesBefore(const PendingSlot& next) {
  if (!std::holds_alternative<ReplyArrives>(next.choice.event)) return false;
  const StepName step = world_.state().calls[next.call].call().step;
  if (!triggers_.WaitsForReply(next.choice.node, step)) return false;
  const auto ends = world_.WouldEnd(next);
  uint64_t& announced = announced_[static_cast<size_t>(next.choice.node)];
  if (!ends || next.id == announced) return false;
  announced = next.id;  // checked once for each reply, however often a pause delays it
  hits_.clear();
  triggers_.Replied(ends->call, ends->step, hits_);
  for (const Triggers::Hit& hit : hits_) StrikeNow(hit);
  return !hits_.empty();
}

// Takes the fault at this instant, before any other event that is due.
void Driver::StrikeNow(const Triggers::Hit& hit) {
  const Choice fault = world_.Trigger(hit.fault, hit.call);
  CountTaken(fault);
  world_.Take(fault, chance_, out_);
  TakeIn();
}

void Driver::CountTaken(const Choice& choice) {
  ++events_;
  hash_.AddWord(static_cast<uint64_t>(choice.kind) << 16 |
                static_cast<uint64_t>(static_cast<uint16_t>(choice.node)));
}

// Hears what could be observed.
void Driver::TakeIn() {
  std::vector<Triggers::Hit> hits;
  for (const Observation& observation : out_.observed) {
    Hear(observation);
    if (!triggers_.empty()) triggers_.Observe(observation, hits);
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
