#include "sim/hunt/draw_table.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "base/text.h"
#include "sim/world/reached_phase.h"

namespace whorl::sim {
namespace {

constexpr size_t kFirstQuestion = kFaultKindCount;
constexpr size_t kFirstOther = kFirstQuestion + kCountOf<Question>;
static_assert(kDrawnEvents <= 256);

constexpr size_t kCrowdAtLeast = 10;
constexpr Duration kLongAtLeast = Seconds(20 * 60);
constexpr Duration kHourAtLeast = Seconds(3600);

DrawnEvent EventOf(FaultKind kind) { return static_cast<DrawnEvent>(kind); }
DrawnEvent EventOf(Question question) {
  return static_cast<DrawnEvent>(kFirstQuestion + static_cast<size_t>(question));
}
DrawnEvent EventOf(OtherEvent event) {
  return static_cast<DrawnEvent>(kFirstOther + static_cast<size_t>(event));
}

std::string_view TextOf(OtherEvent event) {
  switch (event) {
    case OtherEvent::kLockFailed:
      return "Lock() fails";
    case OtherEvent::kDeadline:
      return "a context's deadline";
    case OtherEvent::kStoppedAtWork:
      return "stopped at work";
    case OtherEvent::kAskedWhileStopping:
      return "a question while stopping";
    case OtherEvent::kCrowd:
      return "ten nodes or more";
    case OtherEvent::kLong:
      return "20 min or more";
    case OtherEvent::kQuietHour:
      return "an hour or more";
  }
  return {};
}

}  // namespace

std::string DrawnEventText(DrawnEvent event) {
  if (event < kFirstQuestion) return std::string(FaultKindText(static_cast<FaultKind>(event)));
  if (event >= kFirstOther) {
    return std::string(TextOf(static_cast<OtherEvent>(event - kFirstOther)));
  }
  return Cat(WordOf(static_cast<Question>(event - kFirstQuestion)), "()");
}

EventsOfRun::EventsOfRun(const Scenario& scenario)
    : scenario_(&scenario),
      protocol_(FindProtocol(scenario.protocol)),
      reached_(scenario.nodes.size(), {StepName(), Phase::kEnded}),
      is_stopping_(scenario.nodes.size()),
      is_at_work_(scenario.nodes.size()) {
  if (scenario.nodes.size() >= kCrowdAtLeast) events_.insert(EventOf(OtherEvent::kCrowd));
  if (scenario.duration >= kLongAtLeast) events_.insert(EventOf(OtherEvent::kLong));
  if (scenario.duration >= kHourAtLeast) events_.insert(EventOf(OtherEvent::kQuietHour));
}

void EventsOfRun::Hear(const Observation& observation, uint64_t /*ordinal*/, uint64_t /*hash*/) {
  HearOf(observation.what, observation.at);
  const std::optional<ReachedPhase> reached = PhaseReachedBy(observation.what, *protocol_);
  if (!reached) return;
  reached_[static_cast<size_t>(reached->call.process.node)] = {reached->step, reached->phase};
}

void EventsOfRun::HearOf(const ObservedEvent& what, Instant at) {
  const auto place = [](ProcessId process) { return static_cast<size_t>(process.node); };
  if (const auto* began = std::get_if<FaultBegan>(&what)) {
    const FaultSpec& fault = scenario_->faults[began->fault];
    Note(EventOf(fault.kind()), std::max(fault.node, kNoNode), at);
  } else if (const auto* asked = std::get_if<QuestionAsked>(&what)) {
    Note(EventOf(asked->question), asked->process.node, at);
    if (is_stopping_[place(asked->process)]) {
      NoteOther(OtherEvent::kAskedWhileStopping, asked->process.node, at);
    }
  } else if (const auto* answered = std::get_if<QuestionAnswered>(&what)) {
    const bool failed = answered->answer.question == Question::kLock && !answered->answer.yes;
    if (failed) NoteOther(OtherEvent::kLockFailed, answered->process.node, at);
  } else if (const auto* ended = std::get_if<ParticipationEnded>(&what)) {
    if (ended->reason == StopReason::kDeadline) {
      NoteOther(OtherEvent::kDeadline, ended->process.node, at);
    }
  } else if (const auto* work = std::get_if<WorkChanged>(&what)) {
    is_at_work_[place(work->process)] = work->at_work;
  } else if (const auto* started = std::get_if<ProcessStarted>(&what)) {
    is_stopping_[place(started->process)] = false;
    is_at_work_[place(started->process)] = false;
  } else if (const auto* stopped = std::get_if<ProcessStopped>(&what)) {
    is_stopping_[place(stopped->process)] = true;
    if (is_at_work_[place(stopped->process)]) {
      NoteOther(OtherEvent::kStoppedAtWork, stopped->process.node, at);
    }
  }
}

void EventsOfRun::NoteOther(OtherEvent event, int16_t node, Instant at) {
  Note(EventOf(event), node, at);
}

std::string EventsOfRun::StepOf(int16_t node) const {
  if (node == kNoNode) return "at Spanner";
  const auto [step, phase] = reached_[static_cast<size_t>(node)];
  if (phase == Phase::kEnded) return "between steps";
  return Cat(WordOf(step), " ", WordOf(phase));
}

void EventsOfRun::Note(DrawnEvent event, int16_t node, Instant at) {
  events_.insert(event);
  steps_.insert({event, StepOf(node)});
  std::erase_if(recent_, [at](const Last& last) { return at - last.at > kSoonAfter; });
  for (const Last& last : recent_) {
    const bool meet = last.node == node || last.node == kNoNode || node == kNoNode;
    if (meet) pairs_.insert({last.event, event});
  }
  const auto known = std::ranges::find_if(
      recent_, [&](const Last& last) { return last.event == event && last.node == node; });
  if (known != recent_.end()) {
    known->at = at;
  } else {
    recent_.push_back({.event = event, .node = node, .at = at});
  }
}

void DrawTable::Add(const EventsOfRun& run) {
  ++runs;
  for (const DrawnEvent event : run.events()) ++events[event];
  for (const auto& pair : run.pairs()) ++pairs[pair];
  for (const auto& step : run.steps()) ++steps[step];
}

}  // namespace whorl::sim
