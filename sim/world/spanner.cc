#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "protocol/spanner/answers.h"
#include "sim/world/call_draws.h"
#include "sim/world/calls.h"
#include "sim/world/fault_effects.h"
#include "sim/world/parts.h"
#include "sim/world/spanner_clocks.h"

namespace whorl::sim {
namespace {

// Operators' transactions belong to no process, and are not observed until they change rows.
bool IsOperator(const CallName& name) { return name.process == ProcessId{}; }

// --- effects of the database -------------------------------------------------------------------

// Observes that the commit hangs if it waits for an interval that a fault has changed: the wait is
// longer than the scenario's own interval requires.
void ObserveTrueTimeWait(WorldContext& work, const CallName& commit) {
  if (IsOperator(commit) || work.state.spanner.truetime == work.scenario.spanner.truetime) return;
  Call& call = work.CallAt(*FindCall(work, commit));
  if (call.awaited) ObserveHanging(work, call);
}

Duration PickReplication(WorldContext& work, const CallName& commit) {
  const LatencyTable& table = work.latencies.replication;
  if (IsOperator(commit)) {
    return Pick(table,
                work.chance->BitsOfFault(commit.request, Draw::kReplicationTime, {.node = -1}));
  }
  const Call& call = work.CallAt(*FindCall(work, commit));
  return work.PickLatency(table, Draw::kReplicationTime, DrawnForCall(call));
}

void OnReplied(WorldContext& work, model::Replied&& replied) {
  if (IsOperator(replied.call)) return OnOperatorHears(work, replied);
  const uint32_t place = *FindCall(work, replied.call);
  const Call& call = work.CallAt(place);
  work.Observe(CallServed{.call = call.name,
                          .step = call.step,
                          .request = static_cast<uint8_t>(call.request.index()),
                          .code = replied.response.status.code});
  Duration service;
  if (call.awaited && !std::holds_alternative<Commit>(call.request)) {
    service = work.PickLatency(work.latencies.service, Draw::kServiceTime, DrawnForCall(call));
  }
  SendReply(work, place, std::move(replied.response), service);
}

void OnParked(WorldContext& work, const model::Parked& parked) {
  if (IsOperator(parked.call)) return;
  const uint32_t place = *FindCall(work, parked.call);
  const Call& call = work.CallAt(place);
  work.Observe(CallWaits{.call = parked.call, .step = call.step});
  if (call.awaited) SetTimeout(work, place, DeadlineOf(work, call));
}

void OnCommitStarted(WorldContext& work, const model::CommitStarted& started) {
  const auto& all = work.state.database.transactions;
  const model::TransactionState& transaction = *std::find_if(
      all.rbegin(), all.rend(), [&](const auto& other) { return other.id == started.transaction; });
  const CallName& name = transaction.commit_call;
  const Instant replicated = work.state.now + PickReplication(work, name);
  const Instant past = WhenSurelyPast(work, started.commit, started.leader);
  if (past > replicated) ObserveTrueTimeWait(work, name);
  work.Schedule(std::max(replicated, past), ChoiceKind::kSettle, -1,
                CommitBecomesVisible{.begun_by = transaction.begun_by,
                                     .waited_for_truetime = past > replicated});
}

// The Commit that wrote the rows that follow it.
struct Writer {
  CallName call;
  StepName step;
  Timestamp commit;
};

void OnCommitted(WorldContext& work, const model::Committed& committed, bool waited_for_truetime,
                 Writer& writer) {
  writer.call = committed.commit_call;
  writer.commit = committed.commit;
  if (IsOperator(writer.call)) return;  // only an operator's rows are observed
  writer.step = work.CallAt(*FindCall(work, writer.call)).step;
  work.Observe(TransactionCommitted{.call = writer.call,
                                    .step = writer.step,
                                    .commit = writer.commit,
                                    .waited_for_truetime = waited_for_truetime});
}

void OnRowChanged(WorldContext& work, const Writer& writer, model::RowChanged&& changed) {
  work.Observe(RowCommitted{.writer = writer.call.process,
                            .lock = writer.call.lock,
                            .step = writer.step,
                            .before = std::move(changed.before),
                            .after = std::move(changed.after),
                            .commit = writer.commit});
}

// Carries out the effects in Outbox::database_effects.
void DoDatabaseEffects(WorldContext& work, bool waited_for_truetime) {
  Writer writer;
  for (model::DatabaseEffect& effect : work.out.database_effects) {
    if (auto* replied = std::get_if<model::Replied>(&effect)) {
      OnReplied(work, std::move(*replied));
    } else if (const auto* parked = std::get_if<model::Parked>(&effect)) {
      OnParked(work, *parked);
    } else if (const auto* started = std::get_if<model::CommitStarted>(&effect)) {
      OnCommitStarted(work, *started);
    } else if (const auto* aborted = std::get_if<model::Aborted>(&effect)) {
      work.Observe(TransactionAbortedBySpanner{.call = aborted->begun_by});
    } else if (const auto* committed = std::get_if<model::Committed>(&effect)) {
      OnCommitted(work, *committed, waited_for_truetime, writer);
    } else if (auto* changed = std::get_if<model::RowChanged>(&effect)) {
      OnRowChanged(work, writer, std::move(*changed));
    } else if (const auto* look = std::get_if<model::RetryAt>(&effect)) {
      ScheduleLook(work, WhenServerShows(work, look->server_time));
    } else {
      CallOffLook(work);
    }
  }
}

// --- calls that Spanner serves -----------------------------------------------------------------

// Answers UNAVAILABLE: the call had no effect, and its transaction is as it was.
void AnswerUnavailable(WorldContext& work, uint32_t place) {
  Call& call = work.CallAt(place);
  if (call.awaited) ObserveHanging(work, call);
  Response response;
  response.status = Error(Code::kUnavailable, "the leader of the split does not answer");
  SendReply(work, place, std::move(response), Duration{});
}

// Answers in Spanner's place, and leaves the database as such an answer would.
void AnswerInItsPlace(WorldContext& work, const CallName& name, const Request& request,
                      const FaultAnswer& answer) {
  model::Replied replied{.call = name, .response = {}};
  replied.response.status = Error(answer.code, std::string(kFaultAnswers));
  if (EndsTransaction().Has(answer.code) && !answer.is_impossible) {
    model::DoomTransactionOf(work.state.database, request, replied.response.status);
  }
  work.out.database_effects.emplace_back(std::move(replied));
}

// Whether an active or armed fault answers the call. If so, the answer is in
// Outbox::database_effects.
bool IsAnsweredByFault(WorldContext& work, uint32_t place, const Request& request,
                       const Leaders& leaders) {
  Call& call = work.CallAt(place);
  const int16_t node = call.name.process.node;
  if (!call.struck_by && !ConcernsCalls(work.state.faults, node)) return false;
  const PassingCall passing = PassingOf(work, call);
  DrawnFaultChance chance(*work.chance, Draw::kServiceTime, DrawnForCall(call));
  const auto answer = AnswerByFault(work.scenario, work.state.faults, passing, chance);
  if (!answer) return false;
  // The model knows whether there is a transaction to abort.
  const bool aborts = answer->code == Code::kAborted && passing.can_abort &&
                      model::AbortCall(*work.setup.catalogue, work.state.database, call.name,
                                       request, leaders, work.out.database_effects);
  const bool could_abort = aborts || !passing.can_abort || answer->is_impossible;
  if (answer->code == Code::kAborted && !could_abort) return false;
  if (answer->armed) TakeArmed(work, node, *answer->armed);
  // The backoff before the next attempt may outlast the fault.
  if (call.awaited) ObserveHanging(work, call);
  if (!aborts) AnswerInItsPlace(work, call.name, request, *answer);
  return true;
}

}  // namespace

void ServeCall(WorldContext& work, uint32_t place) {
  if (work.state.faults.unavailable > 0) return AnswerUnavailable(work, place);
  const CallName name = work.CallAt(place).name;
  const Request& request = work.CallAt(place).request;
  work.out.database_effects.clear();
  const Leaders leaders(work);
  if (!IsAnsweredByFault(work, place, request, leaders)) {
    model::Serve(*work.setup.catalogue, work.state.database, name, request, leaders,
                 work.out.database_effects);
  }
  // Effects add and free calls: `request` may be gone after them.
  DoDatabaseEffects(work, /*waited_for_truetime=*/false);
}

void ServeAtOnce(WorldContext& work, const CallName& name, const Request& request) {
  work.out.database_effects.clear();
  const Leaders leaders(work);
  model::Serve(*work.setup.catalogue, work.state.database, name, request, leaders,
               work.out.database_effects);
  DoDatabaseEffects(work, /*waited_for_truetime=*/false);
}

void OnCommitVisible(WorldContext& work, const CommitBecomesVisible& visible) {
  const auto& all = work.state.database.transactions;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& transaction) {
    return transaction.begun_by == visible.begun_by;
  });
  if (work.setup.changes_truetime) {
    // The interval may have changed since the wait was computed.
    Instant past = work.state.now;
    for (uint32_t leader = 0; leader < work.setup.catalogue->split_count(); ++leader) {
      past = std::max(past, WhenSurelyPast(work, found->commit_timestamp, leader));
    }
    if (past > work.state.now) {
      ObserveTrueTimeWait(work, found->commit_call);
      work.Schedule(
          past, ChoiceKind::kSettle, -1,
          CommitBecomesVisible{.begun_by = visible.begun_by, .waited_for_truetime = true});
      return;
    }
  }
  work.out.database_effects.clear();
  const Leaders leaders(work);
  model::CommitVisible(*work.setup.catalogue, work.state.database, TransactionId(found->id),
                       leaders, work.out.database_effects);
  DoDatabaseEffects(work, visible.waited_for_truetime);
}

void OnSpannerLooksAgain(WorldContext& work) {
  work.out.database_effects.clear();
  const Leaders leaders(work);
  model::LookAgain(*work.setup.catalogue, work.state.database, leaders, work.out.database_effects);
  DoDatabaseEffects(work, /*waited_for_truetime=*/false);
}

}  // namespace whorl::sim
