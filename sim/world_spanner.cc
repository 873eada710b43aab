// Spanner's side: its clocks, the calls that it serves, and commits that become visible.
#include <algorithm>
#include <utility>

#include "sim/world_turn.h"

namespace whorl::sim {
namespace {

// A parked transaction is looked at again no sooner than this: time has to move on in between.
constexpr Duration kLookAgainMin = Milliseconds(1);

Duration TrueTimeShift(const TrueTimeSpec& spec) { return spec.truthful ? Duration{} : spec.error; }

}  // namespace

model::Moment Turn::MomentNow() const {
  const SpannerSpec& spanner = scenario_.spanner;
  const Timestamp now = ToTimestamp(state_.now);
  const Timestamp middle = now + TrueTimeShift(spanner.truetime);
  return {.truetime = {.earliest = middle - spanner.truetime.epsilon,
                       .latest = middle + spanner.truetime.epsilon},
          .current_timestamp = (now + spanner.current_timestamp_error).TruncatedToMicros()};
}

// The first instant at which TT.after(commit) holds.
Instant Turn::WhenSurelyPast(Timestamp commit) const {
  const TrueTimeSpec& truetime = scenario_.spanner.truetime;
  return ToInstant(commit) + truetime.epsilon + -TrueTimeShift(truetime) + Nanoseconds(1);
}

// The first instant at which TT.now().latest, the server's own time, is not before `server_time`.
Instant Turn::WhenServerShows(Timestamp server_time) const {
  const TrueTimeSpec& truetime = scenario_.spanner.truetime;
  return ToInstant(server_time) + -truetime.epsilon + -TrueTimeShift(truetime);
}

void Turn::ServeAtSpanner(uint32_t place) {
  // By value: serving may add and free calls.
  const CallName name = state_.calls[place].call->name;
  const Request request = std::move(state_.calls[place].call->request);
  out_.database_effects.clear();
  const model::Moment leader = MomentNow();
  model::Serve(setup_.catalogue, state_.database, name, request, {&leader, 1},
               out_.database_effects);
  DoDatabaseEffects(/*waited_for_truetime=*/false);
}

void Turn::OnCommitVisible(const CommitBecomesVisible& visible) {
  out_.database_effects.clear();
  const model::Moment leader = MomentNow();
  model::CommitVisible(setup_.catalogue, state_.database, visible.transaction, {&leader, 1},
                       out_.database_effects);
  DoDatabaseEffects(visible.waited_for_truetime);
}

void Turn::OnSpannerLooksAgain() {
  out_.database_effects.clear();
  const model::Moment leader = MomentNow();
  model::LookAgain(setup_.catalogue, state_.database, {&leader, 1}, out_.database_effects);
  DoDatabaseEffects(/*waited_for_truetime=*/false);
}

void Turn::DoDatabaseEffects(bool waited_for_truetime) {
  CallName writer;  // of the rows that follow its Committed
  StepName step = StepName::kCheck;
  Timestamp commit;
  for (model::DatabaseEffect& effect : out_.database_effects) {
    if (auto* replied = std::get_if<model::Replied>(&effect)) {
      OnReplied(std::move(*replied));
    } else if (const auto* parked = std::get_if<model::Parked>(&effect)) {
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
  const model::ServerTransaction& transaction =
      *std::find_if(state_.database.transactions.rbegin(), state_.database.transactions.rend(),
                    [&](const auto& other) { return other.id == started.transaction; });
  const Call& call = *state_.calls[*FindCall(transaction.commit_call)].call;
  const Instant replicated =
      state_.now + PickLatency(latencies_.replication, Draw::kReplicationTime, DrawnForCall(call));
  const Instant past = WhenSurelyPast(started.commit);
  Schedule(std::max(replicated, past), ChoiceKind::kSettle, -1,
           CommitBecomesVisible{.transaction = started.transaction,
                                .waited_for_truetime = past > replicated});
}

void Turn::OnReplied(model::Replied replied) {
  const uint32_t place = *FindCall(replied.call);
  Call& call = *state_.calls[place].call;
  const int16_t node = call.name.process.node;
  Observe(CallServed{.call = call.name,
                     .step = call.step,
                     .request = static_cast<uint8_t>(call.request.index()),
                     .code = replied.response.status.code});
  if (!call.awaited) {
    Observe(LateReplyIgnored{.call = call.name});
    call.at_spanner = false;
    return FreeIfDone(place);
  }
  if (call.drop_reply || NodeAt(node).drop_next_reply) {
    NodeAt(node).drop_next_reply = false;
    call.at_spanner = false;
    return MarkHanging(place);
  }
  const DrawnFor whom = DrawnForCall(call);
  Duration way = PickLatency(latencies_.one_way, Draw::kReplyLatency, whom);
  if (!std::holds_alternative<Commit>(call.request)) {
    way += PickLatency(latencies_.service, Draw::kServiceTime, whom);
  }
  Schedule(
      state_.now + way, ChoiceKind::kDeliver, node,
      ReplyArrives{.call = place, .from_spanner = true, .response = std::move(replied.response)});
}

}  // namespace whorl::sim
