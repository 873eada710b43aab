#include "live/foreign/call_recognizer.h"

#include <algorithm>

namespace whorl::live {
namespace {

// Requests are numbered from 1 to this, and again.
constexpr uint32_t kRequests = 0x3fff;

Outcome OutcomeOf(const Status& status) {
  switch (status.code) {
    case Code::kOk:
      return Outcome::kCommitted;
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    case Code::kCancelled:
    case Code::kUnknown:
    case Code::kInternal:
      return Outcome::kUnknown;
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kAlreadyExists:
    case Code::kPermissionDenied:
    case Code::kResourceExhausted:
    case Code::kFailedPrecondition:
    case Code::kAborted:
    case Code::kOutOfRange:
    case Code::kUnimplemented:
    case Code::kDataLoss:
    case Code::kUnauthenticated:
      break;
  }
  return Outcome::kAborted;
}

}  // namespace

std::optional<CallRecognizer::Sent> CallRecognizer::OnRequest(uint64_t number, const WireCall& call,
                                                              StepOccasion occasion) {
  const auto of_id = by_id_.find({call.session, call.transaction});
  const bool is_known = !call.transaction.empty() && of_id != by_id_.end();
  const StepStatement* statement =
      call.sql.empty() ? nullptr : steps_.Find(call.sql, call.IsOfReadWrite(), occasion);
  // A statement or a mutation that no protocol has belongs to its transaction's step.
  if (statement == nullptr && !is_known) return std::nullopt;

  Sent sent{.call = {}, .begins = !is_known};
  const uint32_t transaction = is_known ? of_id->second : ++last_;
  Open& open = open_[transaction];
  if (is_known) {
    ++open.name.call;
  } else {
    open.name.process = process_;
    open.name.lock = LockOf(call);
    open.name.request = static_cast<uint16_t>(transaction % kRequests + 1);
    open.name.generation = transaction;
    open.step = statement->step;
    if (!call.transaction.empty()) by_id_[{call.session, call.transaction}] = transaction;
  }
  if (statement != nullptr && statement->token != TokenSource::kNone) {
    open.token = statement->token;
    open.parameter = call.token;
  }
  sent.call = {.name = open.name,
               .step = statement == nullptr ? open.step : statement->step,
               .request = call.request};
  under_way_[number] = {.call = sent.call, .wire = call, .transaction = transaction};
  return sent;
}

// Keys of rows that a protocol keeps beside the lock's begin with its name.
bool CallRecognizer::IsFor(const Lock& lock, const WireCall& call) const {
  const auto names = [&](const std::string& text) {
    return text == lock.name || text.starts_with(lock.name + "_");
  };
  const auto is_named = [&](const auto& parameter) { return names(parameter.second); };
  return std::ranges::any_of(call.parameters, is_named) ||
         std::ranges::any_of(TextsIn(call.sql), names);
}

uint16_t CallRecognizer::LockOf(const WireCall& call) const {
  const Lock* found = nullptr;
  for (const Lock& lock : locks_) {
    const bool is_longer = found == nullptr || lock.name.size() > found->name.size();
    if (is_longer && IsFor(lock, call)) found = &lock;
  }
  return found == nullptr ? locks_.front().index : found->index;
}

bool CallRecognizer::IsUnknown(const WireCall& call) const {
  const std::string words = " " + NormalizedSql(call.sql);
  return words.find(" " + NormalizedSql(table_)) != std::string::npos &&
         steps_.Find(call.sql, call.IsOfReadWrite(), StepOccasion::kAnyTime) == nullptr;
}

std::optional<Token> CallRecognizer::TokenOf(const Open& open, const WireReply& reply) const {
  if (open.token == TokenSource::kCommit && reply.commit) return Token(*reply.commit);
  if (open.token == TokenSource::kParameter && open.parameter) return Token(*open.parameter);
  return std::nullopt;
}

std::optional<CallRecognizer::Heard> CallRecognizer::OnReply(uint64_t number, const Status& status,
                                                             const WireReply& reply) {
  const auto found = under_way_.extract(number);
  if (found.empty()) return std::nullopt;
  const UnderWay& call = found.mapped();
  Open& open = open_[call.transaction];
  if (!reply.begun.empty()) by_id_[{call.wire.session, reply.begun}] = call.transaction;
  Heard heard{.call = call.call, .transaction = open.step, .outcome = {}, .own_token = {}};
  heard.ends_statement = std::ranges::find(info_.steps_within_others, call.call.step) !=
                         info_.steps_within_others.end();
  // A read by itself, an attempt that did not even begin, and one that Spanner has ended.
  const bool ends = call.wire.is_commit || call.wire.is_rollback || !call.wire.IsOfReadWrite() ||
                    status.code == Code::kAborted ||
                    (!status.ok() && call.wire.begins_read_write && reply.begun.empty());
  if (!ends) return heard;
  heard.outcome = call.wire.is_rollback ? Outcome::kAborted : OutcomeOf(status);
  // Without a Commit nothing has happened.
  if (!call.wire.is_commit && heard.outcome == Outcome::kUnknown) heard.outcome = Outcome::kAborted;
  if (call.wire.is_commit && status.ok()) heard.own_token = TokenOf(open, reply);
  // A Commit without an answer may be sent again.
  if (call.wire.is_commit && heard.outcome == Outcome::kUnknown) return heard;
  open_.erase(call.transaction);
  std::erase_if(by_id_, [&](const auto& one) { return one.second == call.transaction; });
  return heard;
}

}  // namespace whorl::live
