#include "sim/world/schedule.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text.h"
#include "sim/scenario/writer.h"

namespace whorl::sim {
namespace {

static_assert(kCountOf<ScheduledEvent> == std::variant_size_v<PendingEvent>);

constexpr size_t kMaxShown = 8;

// --- an event with every key that it has ---------------------------------------------------------

void AddProcess(ProcessId process, uint16_t lock, ScheduleEntry& entry) {
  entry.node = process.node;
  entry.incarnation = process.incarnation;
  entry.lock = lock;
}

void AddCall(const CallName& name, ScheduleEntry& entry) {
  AddProcess(name.process, name.lock, entry);
  entry.transaction = name.generation;
  entry.attempt = name.attempt;
  entry.call = name.call;
}

// The call whose transaction commits; null for an operator's.
const Call* FindCommit(const WorldState& state, const CallName& begun_by) {
  const auto& all = state.database.transactions;
  const auto transaction = std::ranges::find_if(
      all, [&](const model::TransactionState& other) { return other.begun_by == begun_by; });
  if (transaction == all.end()) return nullptr;
  const auto call = std::ranges::find_if(state.calls, [&](const CallSlot& slot) {
    return slot.is_taken() && slot.call().name == transaction->commit_call;
  });
  return call == state.calls.end() ? nullptr : &call->call();
}

// The step of the transaction that backs off.
std::optional<StepName> StepOfBackoff(const WorldState& state, const TimerDue& timer) {
  const Node& node = state.nodes[static_cast<size_t>(timer.process.node)];
  for (const Participant& participant : node.participants) {
    if (participant.lock != timer.lock) continue;
    for (const ActiveRunner& runner : participant.runners) {
      if (runner.request == timer.id) return runner.state.transaction.step;
    }
  }
  return std::nullopt;
}

struct KeyAdder {
  const WorldState& state;
  const PendingSlot& slot;
  ScheduleEntry& entry;

  void OfCall(const CallName& call) const {
    AddCall(call, entry);
    entry.step = state.calls[slot.call].call().step;
  }
  void operator()(const CallArrives& x) const { OfCall(x.call); }
  void operator()(const ReplyArrives& x) const { OfCall(x.call); }
  void operator()(const CallTimesOut& x) const { OfCall(x.call); }
  void operator()(const TimerDue& x) const {
    AddProcess(x.process, x.lock, entry);
    entry.timer = x.owner;
    entry.id = x.id;
    if (x.owner == TimerOwner::kRunner) entry.step = StepOfBackoff(state, x);
  }
  void operator()(const CommitBecomesVisible& x) const {
    if (x.begun_by.process == ProcessId{}) {
      entry.fault = x.begun_by.request;  // an operator's
      return;
    }
    AddCall(x.begun_by, entry);
    entry.call.reset();
    if (const Call* commit = FindCommit(state, x.begun_by)) entry.step = commit->step;
  }
  void operator()(const SpannerLooksAgain& /*x*/) const {}
  void operator()(const ResourceWrite& x) const { AddProcess(x.process, x.lock, entry); }
  void operator()(const NodeStarts& /*x*/) const { entry.node = slot.choice.node; }
  void operator()(const FaultBegins& x) const { entry.fault = x.fault; }
  void operator()(const FaultEnds& x) const { entry.fault = x.fault; }
  void operator()(const OperatorActs& x) const { entry.fault = x.fault; }
  void operator()(const ReleaseHeard& x) const {
    entry.node = slot.choice.node;
    entry.lock = x.lock;
  }
};

ScheduleEntry AllKeysOf(const World& world, const PendingSlot& slot) {
  ScheduleEntry entry;
  entry.event = static_cast<ScheduledEvent>(slot.choice.event.index());
  std::visit(KeyAdder{.state = world.state(), .slot = slot, .entry = entry}, slot.choice.event);
  return entry;
}

// --- which events an entry fits ------------------------------------------------------------------

template <typename T>
bool Agrees(const std::optional<T>& named, const std::optional<T>& is) {
  return !named || named == is;
}

bool Fits(const ScheduleEntry& entry, const ScheduleEntry& all) {
  return entry.event == all.event && Agrees(entry.node, all.node) &&
         Agrees(entry.incarnation, all.incarnation) && Agrees(entry.lock, all.lock) &&
         Agrees(entry.step, all.step) && Agrees(entry.transaction, all.transaction) &&
         Agrees(entry.attempt, all.attempt) && Agrees(entry.call, all.call) &&
         Agrees(entry.timer, all.timer) && Agrees(entry.id, all.id) &&
         Agrees(entry.fault, all.fault);
}

struct Candidate {
  const PendingSlot* slot = nullptr;
  ScheduleEntry all;
};

// The events that can happen. A fault that begins by itself is not among them: entries make faults begin.
std::vector<Candidate> CandidatesOf(const World& world) {
  std::vector<Candidate> candidates;
  world.state().pending.ForEach([&](const PendingSlot& slot, uint32_t) {
    if (slot.queued == PendingSlot::kNone || world.IsHeldUp(slot)) return;
    if (std::holds_alternative<FaultBegins>(slot.choice.event)) return;
    candidates.push_back({.slot = &slot, .all = AllKeysOf(world, slot)});
  });
  return candidates;
}

// The calls that the fault can strike on their way, named as the fault that begins.
std::vector<Candidate> StrikesOf(const World& world, uint32_t fault) {
  const FaultSpec& spec = world.setup().scenario.faults[fault];
  std::vector<Candidate> strikes;
  for (Candidate& candidate : CandidatesOf(world)) {
    const bool is_of_kind = spec.As<DropReplyFault>() != nullptr
                                ? candidate.all.event == ScheduledEvent::kReplyArrives
                                : candidate.all.event == ScheduledEvent::kCallArrives;
    if (!is_of_kind || candidate.all.node != spec.node) continue;
    if (!world.state().calls[candidate.slot->call].call().awaited) continue;
    candidate.all.event = ScheduledEvent::kFaultBegins;
    candidate.all.node.reset();
    candidate.all.fault = fault;
    strikes.push_back(std::move(candidate));
  }
  return strikes;
}

const PendingSlot* FirstThatFits(const std::vector<Candidate>& candidates,
                                 const ScheduleEntry& entry) {
  const PendingSlot* first = nullptr;
  for (const Candidate& candidate : candidates) {
    if (!Fits(entry, candidate.all)) continue;
    const PendingSlot& slot = *candidate.slot;
    if (first == nullptr || std::pair(slot.due, slot.id) < std::pair(first->due, first->id)) {
      first = &slot;
    }
  }
  return first;
}

// --- names ---------------------------------------------------------------------------------------

// The keys of `all` that are needed beside those that are always there.
ScheduleEntry Shortest(const std::vector<Candidate>& candidates, const ScheduleEntry& all) {
  ScheduleEntry name = {.event = all.event,
                        .node = all.node,
                        .step = all.step,
                        .timer = all.timer,
                        .fault = all.fault};
  const auto others = [&] {
    return std::ranges::count_if(candidates, [&](const Candidate& candidate) {
      return candidate.all != all && Fits(name, candidate.all);
    });
  };
  auto left = others();
  const auto add = [&](auto key) {
    if (left == 0) return;
    name.*key = all.*key;
    const auto now = others();
    if (now == left) (name.*key).reset();
    left = now;
  };
  add(&ScheduleEntry::lock);
  add(&ScheduleEntry::incarnation);
  add(&ScheduleEntry::id);
  add(&ScheduleEntry::transaction);
  add(&ScheduleEntry::attempt);
  add(&ScheduleEntry::call);
  return name;
}

}  // namespace

const PendingSlot* FindScheduled(const World& world, const ScheduleEntry& entry) {
  return FirstThatFits(CandidatesOf(world), entry);
}

std::optional<CallName> CallStruckBy(const World& world, const ScheduleEntry& entry) {
  const FaultSpec& fault = world.setup().scenario.faults[*entry.fault];
  if (!StrikesOneCall(fault.what)) return CallName{};
  const PendingSlot* slot = FirstThatFits(StrikesOf(world, *entry.fault), entry);
  if (slot == nullptr) return std::nullopt;
  return world.state().calls[slot->call].call().name;
}

ScheduleEntry EntryOf(const World& world, const PendingSlot& slot) {
  return Shortest(CandidatesOf(world), AllKeysOf(world, slot));
}

ScheduleEntry EntryOfStrike(const World& world, uint32_t fault, const CallName& call) {
  const std::vector<Candidate> strikes = StrikesOf(world, fault);
  const auto struck = std::ranges::find_if(strikes, [&](const Candidate& strike) {
    return world.state().calls[strike.slot->call].call().name == call;
  });
  if (StrikesOneCall(world.setup().scenario.faults[fault].what) && struck != strikes.end()) {
    return Shortest(strikes, struck->all);
  }
  return {.event = ScheduledEvent::kFaultBegins, .fault = fault};
}

std::string WhatCanHappen(const World& world) {
  const std::vector<Candidate> candidates = CandidatesOf(world);
  std::string text;
  for (size_t i = 0; i < std::min(candidates.size(), kMaxShown); ++i) {
    text += Cat(text.empty() ? "" : ", ",
                EntryText(Shortest(candidates, candidates[i].all), world.setup().scenario));
  }
  if (candidates.size() > kMaxShown) {
    text += Cat(", and ", std::to_string(candidates.size() - kMaxShown), " more");
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace whorl::sim
