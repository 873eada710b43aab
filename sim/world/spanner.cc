// Spanner's side: its clocks, the calls that it serves, and commits that become visible.
#include <algorithm>
#include <utility>

#include "sim/scenario/rules.h"
#include "sim/world/fault_effects.h"
#include "sim/world/turn.h"

namespace whorl::sim {
namespace {

// The least time until a parked transaction is looked at again, so that time moves on in between.
constexpr Duration kLookAgainMin = Milliseconds(1);

Duration TrueTimeShift(const TrueTimeSpec& spec) { return spec.truthful ? Duration{} : spec.error; }

}  // namespace

model::Moment Turn::MomentNow() const {
  const SpannerState& spanner = state_.spanner;
  const Timestamp now = ToTimestamp(state_.now);
  const Timestamp middle = now + TrueTimeShift(spanner.truetime);
  return {.truetime = {.earliest = middle - spanner.truetime.epsilon,
                       .latest = middle + spanner.truetime.epsilon},
          .current_timestamp = (now + spanner.current_timestamp_error).TruncatedToMicros()};
}

// The first instant at which TT.after(commit) holds.
Instant Turn::WhenSurelyPast(Timestamp commit) const {
  const TrueTimeSpec& truetime = state_.spanner.truetime;
  return ToInstant(commit) + truetime.epsilon + -TrueTimeShift(truetime) + Nanoseconds(1);
}

// The first instant at which TT.now().latest, the server's time, is at or after `server_time`.
Instant Turn::WhenServerShows(Timestamp server_time) const {
  const TrueTimeSpec& truetime = state_.spanner.truetime;
  return ToInstant(server_time) + -truetime.epsilon + -TrueTimeShift(truetime);
}

void Turn::ServeAtSpanner(uint32_t place) {
  if (state_.faults.unavailable > 0) return AnswerUnavailable(place);
  // A copy, because serving may add and free calls.
  const CallName name = state_.calls[place].call->name;
  const Request request = std::move(state_.calls[place].call->request);
  out_.database_effects.clear();
  const model::Moment leader = MomentNow();
  if (!IsAnsweredByFault(place, request, leader)) {
    model::Serve(*setup_.catalogue, state_.database, name, request, {&leader, 1},
                 out_.database_effects);
  }
  DoDatabaseEffects(/*waited_for_truetime=*/false);
}

bool Turn::IsAnsweredByFault(uint32_t place, const Request& request, const model::Moment& leader) {
  Call& call = *state_.calls[place].call;
  const int16_t node = call.name.process.node;
  if (!call.struck_by && !ConcernsCalls(state_.faults, node)) return false;
  if (call.name.call == kSessionCall) return false;  // no step's own
  // The model knows whether there is a transaction to abort.
  const PassingCall passing = {
      .node = node, .step = call.step, .can_abort = true, .struck_by = call.struck_by};
  DrawnFaultChance chance(*chance_, Draw::kServiceTime, DrawnForCall(call));
  const auto answer = AnswerByFault(scenario_, state_.faults, passing, chance);
  if (!answer) return false;
  const bool aborts = answer->code == Code::kAborted;
  if (aborts && !model::AbortCall(*setup_.catalogue, state_.database, call.name, request,
                                  {&leader, 1}, out_.database_effects)) {
    return false;
  }
  if (answer->armed) {
    FaultEffects effects;
    TakeArmed(state_.faults, node, *answer->armed, effects);
    CarryOut(effects);
  }
  // The backoff before the next attempt may outlast the fault.
  if (call.awaited) SayHangs(call);
  if (!aborts) {
    model::Replied replied{.call = call.name, .response = {}};
    replied.response.status = Error(answer->code, std::string(kFaultAnswers));
    out_.database_effects.emplace_back(std::move(replied));
  }
  return true;
}

// Answers UNAVAILABLE: the call had no effect, and its transaction is as it was.
void Turn::AnswerUnavailable(uint32_t place) {
  Call& call = *state_.calls[place].call;
  if (call.awaited) SayHangs(call);
  Response response;
  response.status = Error(Code::kUnavailable, "the leader of the split does not answer");
  SendReply(place, std::move(response), Duration{});
}

void Turn::OnCommitVisible(const CommitBecomesVisible& visible) {
  if (setup_.changes_truetime) {
    // The interval may have changed since the wait was computed.
    const auto& all = state_.database.transactions;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& transaction) {
      return transaction.id == visible.transaction;
    });
    const Instant past = WhenSurelyPast(found->commit_timestamp);
    if (past > state_.now) {
      TrueTimeHolds(found->commit_call);
      Schedule(
          past, ChoiceKind::kSettle, -1,
          CommitBecomesVisible{.transaction = visible.transaction, .waited_for_truetime = true});
      return;
    }
  }
  out_.database_effects.clear();
  const model::Moment leader = MomentNow();
  model::CommitVisible(*setup_.catalogue, state_.database, visible.transaction, {&leader, 1},
                       out_.database_effects);
  DoDatabaseEffects(visible.waited_for_truetime);
}

void Turn::OnSpannerLooksAgain() {
  out_.database_effects.clear();
  const model::Moment leader = MomentNow();
  model::LookAgain(*setup_.catalogue, state_.database, {&leader, 1}, out_.database_effects);
  DoDatabaseEffects(/*waited_for_truetime=*/false);
}

void Turn::DoDatabaseEffects(bool waited_for_truetime) {
  CallName writer;  // the Commit that wrote the rows that follow
  StepName step;
  Timestamp commit;
  for (model::DatabaseEffect& effect : out_.database_effects) {
    if (auto* replied = std::get_if<model::Replied>(&effect)) {
      OnReplied(std::move(*replied));
    } else if (const auto* parked = std::get_if<model::Parked>(&effect)) {
      if (parked->call.process == ProcessId{}) continue;  // waits of an operator are not observed
      const uint32_t place = *FindCall(parked->call);
      Observe(CallWaits{.call = parked->call, .step = state_.calls[place].call->step});
      if (state_.calls[place].call->awaited) {
        SetTimeout(place, DeadlineOf(*state_.calls[place].call));
      }
    } else if (const auto* started = std::get_if<model::CommitStarted>(&effect)) {
      OnCommitStarted(*started);
    } else if (const auto* aborted = std::get_if<model::Aborted>(&effect)) {
      Observe(TransactionAbortedBySpanner{.call = aborted->begun_by});
    } else if (const auto* committed = std::get_if<model::Committed>(&effect)) {
      writer = committed->commit_call;
      commit = committed->commit;
      if (writer.process == ProcessId{}) continue;  // only an operator's rows are observed
      step = state_.calls[*FindCall(writer)].call->step;
      Observe(TransactionCommitted{.call = writer,
                                   .step = step,
                                   .commit = commit,
                                   .waited_for_truetime = waited_for_truetime});
    } else if (auto* changed = std::get_if<model::RowChanged>(&effect)) {
      Observe(RowCommitted{.writer = writer.process,
                           .lock = writer.lock,
                           .step = step,
                           .before = std::move(changed->before),
                           .after = std::move(changed->after),
                           .commit = commit});
    } else {
      const Instant at = WhenServerShows(std::get<model::LookAgainAt>(effect).server_time);
      Schedule(std::max(at, state_.now + kLookAgainMin), ChoiceKind::kSettle, -1,
               SpannerLooksAgain{});
    }
  }
}

void Turn::OnCommitStarted(const model::CommitStarted& started) {
  const model::TransactionState& transaction =
      *std::find_if(state_.database.transactions.rbegin(), state_.database.transactions.rend(),
                    [&](const auto& other) { return other.id == started.transaction; });
  const CallName& name = transaction.commit_call;
  Duration replication;
  if (name.process == ProcessId{}) {
    replication = Pick(latencies_.replication,
                       chance_->BitsOfFault(name.request, Draw::kReplicationTime, {.node = -1}));
  } else {
    const Call& call = *state_.calls[*FindCall(name)].call;
    replication = PickLatency(latencies_.replication, Draw::kReplicationTime, DrawnForCall(call));
  }
  const Instant replicated = state_.now + replication;
  const Instant past = WhenSurelyPast(started.commit);
  if (past > replicated) TrueTimeHolds(name);
  Schedule(std::max(replicated, past), ChoiceKind::kSettle, -1,
           CommitBecomesVisible{.transaction = started.transaction,
                                .waited_for_truetime = past > replicated});
}

// Observes that the commit hangs if it waits for an interval that a fault has changed: the wait is
// longer than the scenario's own interval requires.
void Turn::TrueTimeHolds(const CallName& commit) {
  if (commit.process == ProcessId{} || state_.spanner.truetime == scenario_.spanner.truetime)
    return;
  Call& call = *state_.calls[*FindCall(commit)].call;
  if (call.awaited) SayHangs(call);
}

void Turn::OnReplied(model::Replied&& replied) {
  if (replied.call.process == ProcessId{}) return OnOperatorHears(replied);
  const uint32_t place = *FindCall(replied.call);
  const Call& call = *state_.calls[place].call;
  Observe(CallServed{.call = call.name,
                     .step = call.step,
                     .request = static_cast<uint8_t>(call.request.index()),
                     .code = replied.response.status.code});
  Duration service;
  if (call.awaited && !std::holds_alternative<Commit>(call.request)) {
    service = PickLatency(latencies_.service, Draw::kServiceTime, DrawnForCall(call));
  }
  SendReply(place, std::move(replied.response), service);
}

// --- effects of faults at Spanner --------------------------------------------------------------

// Runs an operator's transaction, without a network in between.
void Turn::DeleteRow(const OperatorDeletes& deletes) {
  const RowOfLock& target = scenario_.faults[deletes.fault].As<DeleteRowFault>()->target;
  const CallName name = {.process = {},
                         .lock = target.lock,
                         .request = static_cast<RequestId>(deletes.fault),
                         .attempt = deletes.attempt};
  Mutation deletion;
  deletion.kind = MutationKind::kDelete;
  deletion.table = setup_.catalogue->schema().tables.front().name;
  deletion.keys.keys.push_back({KeyOfRow(scenario_, target)});
  Commit commit;
  commit.transaction = SingleUseWrite{};
  commit.mutations.push_back(std::move(deletion));
  out_.database_effects.clear();
  const model::Moment leader = MomentNow();
  model::Serve(*setup_.catalogue, state_.database, name, commit, {&leader, 1},
               out_.database_effects);
  DoDatabaseEffects(/*waited_for_truetime=*/false);
}

void Turn::OnOperatorHears(const model::Replied& replied) {
  if (replied.call.call == kSessionCall) return;
  const uint32_t fault = replied.call.request;
  if (replied.response.status.code != Code::kAborted) return Observe(FaultEnded{.fault = fault});
  Schedule(
      state_.now + replied.response.status.retry_after.value_or(kLookAgainMin), ChoiceKind::kFault,
      -1,
      OperatorDeletes{.fault = fault, .attempt = static_cast<uint16_t>(replied.call.attempt + 1)});
}

void Turn::SetClocksOfSpanner(const SetSpannerClocks& set) {
  SpannerState& spanner = state_.spanner;
  spanner.truetime = set.truetime;
  spanner.current_timestamp_error = set.current_timestamp_error;
  Observe(SpannerClocksChanged{.epsilon = spanner.truetime.epsilon,
                               .truetime_error = TrueTimeShift(spanner.truetime),
                               .current_timestamp_error = spanner.current_timestamp_error});
  // The events that Spanner waits for by its own clock are due at other times now.
  if (state_.database.look_again) {
    Schedule(state_.now + kLookAgainMin, ChoiceKind::kSettle, -1, SpannerLooksAgain{});
  }
}

}  // namespace whorl::sim
