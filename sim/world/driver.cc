#include "sim/world/driver.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "base/text.h"
#include "sim/scenario/writer.h"
#include "sim/world/schedule.h"

namespace whorl::sim {
namespace {

std::unique_ptr<Chance> ChanceOf(const Scenario& scenario, uint64_t seed) {
  if (!scenario.schedule.empty()) return std::make_unique<FixedChance>();
  return std::make_unique<SeededChance>(seed, scenario);
}

}  // namespace

Driver::Driver(const Scenario& scenario, uint64_t seed, ObservationSink* sink,
               ConfigMaker make_config)
    : end_{scenario.duration.ns},
      sink_(sink),
      chance_(ChanceOf(scenario, seed)),
      triggers_(scenario),
      struck_(scenario.faults.size(), 0),
      hash_(seed),
      world_(MakeSetup(scenario, make_config), out_),
      announced_(scenario.nodes.size()),
      branch_at_(scenario.branches.empty() ? kNoBranch : scenario.branches.front().event) {
  DrainOutbox();
}

Driver::Driver(const Driver& other, std::unique_ptr<Chance> chance, ObservationSink* sink)
    : end_(other.end_),
      sink_(sink),
      chance_(std::move(chance)),
      triggers_(other.triggers_),
      struck_(other.struck_),
      hash_(other.hash_),
      events_(other.events_),
      observations_(other.observations_),
      world_(other.world_),
      announced_(other.announced_),
      next_entry_(other.next_entry_),
      failed_entry_(other.failed_entry_),
      schedule_problem_(other.schedule_problem_) {}

Driver Driver::Fork(uint64_t seed, ObservationSink* sink) const {
  return {*this, ChanceOf(world_.setup().scenario, seed), sink};
}

void Driver::Advance(Instant until, const EndingSink* enough) {
  if (!TakeSchedule(until, enough)) return;
  for (const PendingSlot* next = world_.Next(); next != nullptr && next->due <= until;
       next = world_.Next()) {
    if (enough != nullptr && enough->HasEnough()) return;
    TakeDue(*next);
  }
}

void Driver::TakeEvents(uint64_t count) {
  for (const PendingSlot* next = world_.Next();
       events_ < count && next != nullptr && next->due <= end_; next = world_.Next()) {
    TakeDue(*next);
  }
}

// Takes the event that is due next, or what strikes before it.
void Driver::TakeDue(const PendingSlot& next) {
  if (events_ >= branch_at_) StartBranches();
  if (!triggers_.empty() && StrikesBefore(next)) return;
  CountTaken(next.choice);
  world_.TakeNext(*chance_, out_);
  DrainOutbox();
}

void Driver::StartBranches() {
  const std::vector<BranchSpec>& branches = world_.setup().scenario.branches;
  while (next_branch_ < branches.size() && events_ >= branches[next_branch_].event) {
    chance_ = ChanceOf(world_.setup().scenario, branches[next_branch_++].seed);
  }
  branch_at_ = next_branch_ < branches.size() ? branches[next_branch_].event : kNoBranch;
}

void Driver::Finish() {
  Advance(end_);
  const std::vector<ScheduleEntry>& schedule = world_.setup().scenario.schedule;
  if (next_entry_ < schedule.size()) EndSchedule("comes after the end of the run");
  out_.observed.clear();
  out_.observed.emplace_back(end_, RunEnded{});
  DrainOutbox();
}

std::vector<uint32_t> Driver::UnfiredFaults() const {
  std::vector<uint32_t> unfired;
  for (uint32_t i = 0; i < struck_.size(); ++i) {
    if (struck_[i] == 0) unfired.push_back(i);
  }
  return unfired;
}

// Takes the entries that happen at or before `until`. False if the schedule goes on.
bool Driver::TakeSchedule(Instant until, const EndingSink* enough) {
  const std::vector<ScheduleEntry>& schedule = world_.setup().scenario.schedule;
  while (next_entry_ < schedule.size()) {
    if (enough != nullptr && enough->HasEnough()) return false;
    if (!TakeEntry(schedule[next_entry_], until)) return false;
  }
  return true;
}

// Takes the entry, or what a `when` fault has to do before it, or ends the schedule. False if it
// happens after `until`.
bool Driver::TakeEntry(const ScheduleEntry& entry, Instant until) {
  const Instant at = std::max(world_.now(), entry.at.value_or(Instant{}));
  if (at > until) return false;
  if (entry.event == ScheduledEvent::kFaultBegins) {
    const std::optional<CallName> call = CallStruckBy(world_, entry);
    if (!call) {
      EndSchedule("strikes no call that is on its way");
      return true;
    }
    world_.AdvanceTo(at);
    FixedChance chance(entry.clocks);
    TakeStrike({.fault = *entry.fault, .call = *call}, chance);
    ++next_entry_;
    return true;
  }
  const PendingSlot* slot = FindScheduled(world_, entry);
  if (slot == nullptr) {
    EndSchedule("cannot happen");
    return true;
  }
  if (slot->due > until) return false;
  world_.AdvanceTo(std::max(at, slot->due));
  if (!triggers_.empty() && StrikesBefore(*slot)) return true;
  const Choice choice = slot->choice;
  CountTaken(choice);
  FixedChance chance(entry.clocks);
  world_.TakeEarly(choice, chance, out_);
  DrainOutbox();
  ++next_entry_;
  return true;
}

void Driver::EndSchedule(std::string_view why) {
  const Scenario& scenario = world_.setup().scenario;
  const ScheduleEntry& entry = scenario.schedule[next_entry_];
  const std::string pointer = Cat("/schedule/", std::to_string(next_entry_));
  const std::string file = Printable(scenario.path, 1000);
  schedule_problem_ =
      Cat("the entry ",
          file.empty() ? pointer
                       : Cat("at ", file, ":", std::to_string(entry.line), " (", pointer, ")"),
          " ", why, ": ", EntryText(entry, scenario), "; at ",
          FormatDuration(world_.now() - Instant{}), " there can happen: ", WhatCanHappen(world_));
  failed_entry_ = static_cast<uint32_t>(next_entry_);
  next_entry_ = scenario.schedule.size();
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
void Driver::StrikeNow(const Triggers::Hit& hit) { TakeStrike(hit, *chance_); }

void Driver::TakeStrike(const Triggers::Hit& hit, Chance& chance) {
  const Choice fault = world_.Trigger(hit.fault, hit.call);
  CountTaken(fault);
  world_.Take(fault, chance, out_);
  DrainOutbox();
}

void Driver::CountTaken(const Choice& choice) {
  ++events_;
  hash_.AddWord(static_cast<uint64_t>(choice.kind) << 16 |
                static_cast<uint64_t>(static_cast<uint16_t>(choice.node)));
}

// Hears what could be observed.
void Driver::DrainOutbox() {
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
