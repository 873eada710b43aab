// Hosts an application beside its protocol's machine: carries the effects of each to the other one,
// to timers and to the resource, and observes them. The simulated world (participant.cc) and real
// processes (live/participant.cc) share this code.
//
// Invariants:
//   1. A question, the end of the context and a write are observed before they are passed on, and
//      an answer and a callback before the application gets them.
//   2. Events for the protocol's machine are queued (Host::Queue): no machine takes a step inside a
//      step of the other one.
//   3. Work is observed to begin before what it does, and to end after that. Work that takes no
//      time, because a write is sent as soon as there is an answer, begins and ends at once.
// Deliberately left out: the protocol's own timers and transactions, which each host handles in its
// own way.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/machine.h"
#include "protocol/names.h"
#include "sim/scenario/instant.h"
#include "sim/world/application.h"
#include "sim/world/observation.h"
#include "sim/world/resource.h"

namespace whorl::sim {

// What a host provides for one process's part in one lock.
template <typename Host>
concept ApplicationHost = requires(Host& host, ApplicationTimer timer, LocalInstant at) {
  { host.process() } -> std::convertible_to<ProcessId>;
  { host.lock() } -> std::convertible_to<uint16_t>;
  { host.Now() } -> std::convertible_to<Instant>;             // true time, as an observer knows it
  { host.Monotonic() } -> std::convertible_to<LocalInstant>;  // what the process's clock shows
  { host.application_config() } -> std::convertible_to<const ApplicationConfig&>;
  { host.application() } -> std::same_as<ApplicationState&>;
  // When the question of this id was asked last; only kAskHasLock and those from kAskMore on have it.
  { host.asked_at(AskId{}) } -> std::same_as<Instant&>;
  // Scratch space, kept between steps to avoid allocation.
  { host.application_effects() } -> std::same_as<std::vector<ApplicationEffect>&>;
  host.Observe(WriteSent{});  // or another ObservedEvent
  host.Queue(Event{});        // for the protocol's machine, after the events queued before
  host.SetTimer(timer, at);
  host.CancelTimer(timer);
  host.SendWrite(WriteToResource{});
};

namespace hosting_internal {

void Apply(ApplicationHost auto& host, const Started& started) { host.Queue(started); }
void Apply(ApplicationHost auto& host, const WorkStopped& stopped) { host.Queue(stopped); }
constexpr bool IsTimed(AskId ask) { return ask == kAskHasLock || ask >= kAskMore; }

void Apply(ApplicationHost auto& host, const Asked& asked) {
  host.Observe(QuestionAsked{.process = host.process(),
                             .lock = host.lock(),
                             .ask = asked.ask,
                             .question = asked.question});
  if (IsTimed(asked.ask)) host.asked_at(asked.ask) = host.Now();
  host.Queue(asked);
}
void Apply(ApplicationHost auto& host, const StopRequested& stop) {
  host.Observe(
      ParticipationEnded{.process = host.process(), .lock = host.lock(), .reason = stop.reason});
  host.Queue(stop);
}
void Apply(ApplicationHost auto& host, const SetApplicationTimer& set) {
  host.SetTimer(set.timer, set.at);
}
void Apply(ApplicationHost auto& host, const CancelApplicationTimer& cancel) {
  host.CancelTimer(cancel.timer);
}
void Apply(ApplicationHost auto& host, const WriteToResource& write) {
  for (const bool fenced : {true, false}) {
    if (!WritesTo(write.resource, fenced)) continue;
    host.Observe(WriteSent{
        .process = host.process(), .lock = host.lock(), .fenced = fenced, .token = write.token});
  }
  host.SendWrite(write);
}

}  // namespace hosting_internal

// Takes a step of the application and carries its effects.
void GiveApplication(ApplicationHost auto& host, const ApplicationEvent& event) {
  std::vector<ApplicationEffect>& effects = host.application_effects();
  effects.clear();
  const bool was_at_work = AtWork(host.application_config(), host.application());
  Step(host.application_config(), host.application(), host.Monotonic(), event, effects);
  const bool is_at_work = AtWork(host.application_config(), host.application());
  const bool wrote = std::ranges::any_of(effects, [](const ApplicationEffect& effect) {
    return std::holds_alternative<WriteToResource>(effect);
  });
  const auto observe_work = [&host](bool at_work) {
    host.Observe(WorkChanged{.process = host.process(), .lock = host.lock(), .at_work = at_work});
  };
  if (!was_at_work && (is_at_work || wrote)) observe_work(true);
  for (const ApplicationEffect& effect : effects) {
    std::visit([&host](const auto& what) { hosting_internal::Apply(host, what); }, effect);
  }
  if (!is_at_work && (was_at_work || wrote)) observe_work(false);
}

// --- effects of the protocol's machine that concern the application ------------------------------

void Apply(ApplicationHost auto& host, const LeadershipChanged& changed) {
  host.Observe(
      CalledBack{.process = host.process(), .lock = host.lock(), .leader = changed.leader});
  GiveApplication(host, changed);
}

void Apply(ApplicationHost auto& host, Answer&& answer) {
  const ApplicationAnswered answered{
      .ask = answer.ask, .question = answer.question, .yes = answer.yes, .token = answer.token};
  const bool is_timed = hosting_internal::IsTimed(answer.ask);
  const Instant asked_at = is_timed ? host.asked_at(answer.ask) : host.Now();
  host.Observe(QuestionAnswered{.process = host.process(),
                                .lock = host.lock(),
                                .answer = std::move(answer),
                                .asked_at = asked_at});
  GiveApplication(host, answered);
}

void Apply(ApplicationHost auto& host, Note&& note) {
  host.Observe(Noted{.process = host.process(), .lock = host.lock(), .note = std::move(note)});
}

}  // namespace whorl::sim
