// Decides about each call that passes the proxy: applies latencies and faults, and records what
// Spanner answered.
//
// Requests and replies take the latency of the scenario's network in addition to the real one; the
// reply to a Commit also takes the time of its replication.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <future>
#include <utility>

#include "live/coordinator.h"
#include "protocol/spanner/answers.h"

namespace whorl::live {
namespace {

using sim::Instant;
using sim::LinkState;

// Spanner may abort a transaction that was idle for this long. The emulator never does, and runs no
// other transaction meanwhile.
constexpr Duration kIdleLimit = Seconds(10);
constexpr Duration kIdleLook = Milliseconds(500);

live::Interception Answered(Code code, std::string text, Duration delay) {
  live::Interception answered;
  answered.action = live::Interception::Action::kAnswer;
  answered.delay = std::max(delay, Duration{});
  answered.status = Error(code, std::move(text));
  return answered;
}

live::Interception Passes(Duration delay) {
  live::Interception passes;
  passes.delay = delay;
  return passes;
}

live::Interception Dropped() {
  live::Interception dropped;
  dropped.action = live::Interception::Action::kDrop;
  return dropped;
}

std::optional<NamedCall> NameOf(const ProxiedCall& call) {
  const auto found = call.metadata.find(std::string(kCallHeader));
  return found == call.metadata.end() ? std::nullopt : ParseCallHeader(found->second);
}

}  // namespace

// --- on the proxy's threads ----------------------------------------------------------------------

live::Interception Coordinator::Ask(std::function<void(const Answer&)> question) {
  if (closed_) return {};
  auto answer = std::make_shared<std::promise<live::Interception>>();
  std::future<live::Interception> answered = answer->get_future();
  boost::asio::post(context_, [question = std::move(question), answer] {
    question(
        [answer](live::Interception interception) { answer->set_value(std::move(interception)); });
  });
  return answered.get();
}

live::Interception Coordinator::OnRequest(const ProxiedCall& call, const std::string& message) {
  const std::optional<NamedCall> named = NameOf(call);
  if (!named) return {};
  return Ask([this, number = call.number, named,
              wire = ReadCall(call.method, message)](const Answer& answer) {
    InterceptRequest(number, {.call = *named, .wire = wire, .arrived = Now()}, answer);
  });
}

live::Interception Coordinator::OnReply(const ProxiedCall& call, const Status& status,
                                        const std::vector<std::string>& messages) {
  if (!NameOf(call)) return {};
  return Ask([this, number = call.number, status, reply = ReadReply(call.method, messages)](
                 const Answer& answer) { answer(InterceptReply(number, status, reply)); });
}

// --- requests ------------------------------------------------------------------------------------

void Coordinator::InterceptRequest(uint64_t number, Passing arrived, const Answer& answer) {
  if (!running_) return answer(Dropped());
  Passing& passing = passing_[number] = std::move(arrived);
  const int16_t index = passing.call.name.process.node;
  LiveNode& node = NodeAt(index);
  NoticeSession(passing);
  Observe(sim::CallSent{
      .call = passing.call.name, .step = passing.call.step, .request = passing.call.request});
  if (AnswersInItsPlace(passing, answer)) {
    passing_.erase(number);
    return;
  }
  const bool alive =
      node.process != nullptr && node.incarnation == passing.call.name.process.incarnation;
  const LinkState link = faults_.At(index).links.to;
  if (alive && link == LinkState::kBlackHoled) {
    passing.held = answer;
    return;
  }
  if (alive && link == LinkState::kRefused) {
    passing_.erase(number);
    return answer(Dropped());
  }
  NoticeSent(passing);
  answer(Passes(Draw(latencies_.one_way) + AddedLatency(passing, sim::Direction::kTo)));
}

void Coordinator::NoticeSent(Passing& passing) {
  passing.at_spanner = true;
  const WireCall& wire = passing.wire;
  const auto open = open_.find({wire.session, wire.transaction});
  if (open == open_.end()) return;
  ++open->second.calls;
  open->second.committing |= wire.is_commit;
}

// A process that lost its session has a new one as soon as a call names it.
void Coordinator::NoticeSession(const Passing& passing) {
  const ProcessId process = passing.call.name.process;
  LiveNode& node = NodeAt(process.node);
  if (node.lost_sessions.contains(passing.wire.session)) return;
  const bool had_none = node.sessions.empty() && !node.lost_sessions.empty();
  node.sessions.insert(passing.wire.session);
  if (had_none) RecordEvent(sim::SessionCreated{.process = process});
}

// Whether a fault answers the call in Spanner's place; then the call does not reach Spanner.
bool Coordinator::AnswersInItsPlace(Passing& passing, const Answer& answer) {
  const int16_t node = passing.call.name.process.node;
  if (passing.drop_request || HasFaultFor(node, sim::LosesRequest)) {
    Hang(passing);
    answer(Answered(Code::kUnavailable, "the connection timed out",
                    scenario_.network.connection_timeout));
    return true;
  }
  if (faults_.unavailable > 0) {
    Hang(passing);
    answer(Answered(Code::kUnavailable, "the leader of the split does not answer",
                    Draw(latencies_.one_way) + Draw(latencies_.one_way)));
    return true;
  }
  const std::optional<Code> code = AnswerOf(passing);
  if (!code) return false;
  if (*code == Code::kAborted) {
    RecordEvent(sim::TransactionAbortedBySpanner{.call = passing.call.name});
  }
  RecordEvent(sim::CallServed{.call = passing.call.name,
                              .step = passing.call.step,
                              .request = passing.call.request,
                              .code = *code});
  Hang(passing);
  const bool aborted = *code == Code::kAborted;
  answer(Answered(*code, std::string(aborted ? "Transaction was aborted." : sim::kFaultAnswers),
                  Draw(latencies_.one_way) + Draw(latencies_.one_way)));
  return true;
}

// The error with which a fault answers the call. If that is ABORTED, the transaction is rolled back
// at Spanner, too.
std::optional<Code> Coordinator::AnswerOf(Passing& passing) {
  const WireCall& wire = passing.wire;
  const sim::PassingCall call = AtSpanner(passing);
  const auto open = open_.find({wire.session, wire.transaction});
  if (!call.is_applied && open != open_.end() && !wire.is_rollback) {
    if (call.can_abort && open->second.aborted) return Code::kAborted;
    if (open->second.doomed) return open->second.doomed;
  }
  const auto answer = AnswerByFault(scenario_, faults_, call, chance_);
  if (!answer) return std::nullopt;
  if (answer->armed) {
    sim::FaultEffects effects;
    TakeArmed(faults_, call.node, *answer->armed, effects);
    CarryOut(effects);
  }
  if (call.is_applied || answer->is_impossible || wire.transaction.empty()) return answer->code;
  if (answer->code == Code::kAborted) {
    operator_->Rollback(wire.session, wire.transaction);
    open_[{wire.session, wire.transaction}].aborted = true;
  } else if (EndsTransaction().Has(answer->code) && open != open_.end()) {
    open->second.doomed = answer->code;
  }
  return answer->code;
}

// --- replies -------------------------------------------------------------------------------------

live::Interception Coordinator::InterceptReply(uint64_t number, const Status& status,
                                               const WireReply& reply) {
  const auto found = passing_.find(number);
  if (found == passing_.end()) return {};
  NoticeTransaction(found->second, status, reply);
  found->second.is_applied = status.ok() && (!found->second.wire.is_commit || reply.commit);
  NoticeServed(found->second, status, reply);
  Passing passing = std::move(found->second);
  passing_.erase(found);
  if (!running_) return Dropped();
  if (passing.drop_reply || HasFaultFor(passing.call.name.process.node, sim::LosesReply)) {
    Hang(passing);
    return Answered(Code::kUnavailable, "the connection timed out",
                    passing.arrived + scenario_.network.connection_timeout - Now());
  }
  const std::optional<Code> error = passing.is_applied ? AnswerOf(passing) : std::nullopt;
  Duration delay = Draw(latencies_.one_way) + AddedLatency(passing, sim::Direction::kFrom);
  if (reply.commit) delay += Draw(latencies_.replication);
  if (!error) return Passes(delay);
  Hang(passing);
  return Answered(*error, std::string(sim::kFaultAnswersApplied), delay);
}

// Records events in the order of the simulation: first the commit, then that its call was served.
void Coordinator::NoticeServed(const Passing& passing, const Status& status,
                               const WireReply& reply) {
  const NamedCall call = passing.call;
  const bool known = std::ranges::any_of(record_.commits, [&](const SeenCommit& seen) {
    return reply.commit && seen.commit == *reply.commit && seen.call.process == call.name.process;
  });
  if (reply.commit && !known) {
    record_.commits.push_back({.at = Now(),
                               .call = call.name,
                               .step = call.step,
                               .commit = *reply.commit,
                               .before = {},
                               .after = {}});
    Observe(
        sim::TransactionCommitted{.call = call.name, .step = call.step, .commit = *reply.commit});
  }
  if (status.code == Code::kAborted)
    RecordEvent(sim::TransactionAbortedBySpanner{.call = call.name});
  const sim::CallServed served{
      .call = call.name, .step = call.step, .request = call.request, .code = status.code};
  RecordEvent(served);
  Observe(served);
}

void Coordinator::NoticeTransaction(const Passing& passing, const Status& status,
                                    const WireReply& reply) {
  const WireCall& wire = passing.wire;
  if (wire.begins_read_write && !reply.begun.empty()) {
    open_[{wire.session, reply.begun}] = {.last_call = Now()};
  }
  const auto found = open_.find({wire.session, wire.transaction});
  if (found == open_.end()) return;
  found->second.last_call = Now();
  --found->second.calls;
  const bool ends = wire.is_rollback || reply.commit.has_value() || status.code == Code::kAborted;
  if (ends) {
    open_.erase(found);
  } else if (wire.is_commit && !OutcomeUnknown().Has(status.code)) {
    found->second.committing = false;
  }
}

void Coordinator::AbortIdle() {
  for (auto& [name, open] : open_) {
    if (open.aborted || open.calls > 0 || Now() - open.last_call < kIdleLimit) continue;
    operator_->Rollback(name.first, name.second);
    open.aborted = true;
  }
  At(Now() + kIdleLook, [this] { AbortIdle(); });
}

// --- calls that are held -------------------------------------------------------------------------

void Coordinator::Hang(const Passing& passing) {
  RecordEvent(sim::CallHangs{.call = passing.call.name, .step = passing.call.step});
}

Duration Coordinator::AddedLatency(Passing& passing, sim::Direction way) {
  const int16_t node = passing.call.name.process.node;
  const Duration added = sim::AddedLatency(scenario_, faults_, node, way, chance_);
  passing.slowed |= added > Duration{};
  return added;
}

// Forwards the requests that a black hole has held back, or drops them if their process has ended.
void Coordinator::ReleaseHeld(int16_t node, bool passes) {
  std::vector<uint64_t> numbers;
  for (const auto& [number, passing] : passing_) {
    if (passing.held && passing.call.name.process.node == node) numbers.push_back(number);
  }
  for (const uint64_t number : numbers) {
    const Answer answer = std::exchange(passing_.at(number).held, nullptr);
    if (passes) {
      NoticeSent(passing_.at(number));
    } else {
      passing_.erase(number);
    }
    answer(passes ? Passes(Draw(latencies_.one_way)) : Dropped());
  }
}

// The process has given the call up: if its request is held back, it never arrives.
void Coordinator::OnCallEnded(const CallName& call) {
  const auto found = std::ranges::find_if(
      passing_, [&](const auto& one) { return one.second.held && one.second.call.name == call; });
  if (found == passing_.end()) return;
  const Answer answer = std::move(found->second.held);
  passing_.erase(found);
  answer(Dropped());
}

Coordinator::Passing* Coordinator::FindPassing(const CallName& call) {
  const auto found =
      std::ranges::find_if(passing_, [&](const auto& one) { return one.second.call.name == call; });
  return found == passing_.end() ? nullptr : &found->second;
}

}  // namespace whorl::live
