// Sessions, and the precommit tokens of multiplexed ones.
#include <array>

#include "spanner_model/database_work.h"

namespace whorl::model {
namespace {

SessionInfo* Find(Work& work, const SessionName& name) {
  auto& all = work.database.sessions;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const SessionInfo& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool IsExpired(const Work& work, const SessionInfo& session) {
  const Options& options = work.catalogue.options();
  const Duration limit =
      session.multiplexed ? options.multiplexed_idle_limit : options.session_idle_limit;
  return ServerTime(work) - session.last_used > limit;
}

Status SessionNotFound(const SessionName& name) {
  return Error(Code::kNotFound, "Session not found: " + name);
}

// Deletes the session and ends its transactions: parked calls are answered NOT_FOUND, commits under
// way go on.
void Remove(Work& work, const SessionName& name) {
  for (TransactionState& transaction : work.database.transactions) {
    if (transaction.session != name || transaction.phase != TransactionPhase::kActive) continue;
    if (transaction.parked) {
      ReplyError(work, transaction.parked->call, SessionNotFound(name));
      transaction.parked.reset();
    }
    Release(work, transaction, TransactionPhase::kRolledBack);
  }
  std::erase_if(work.database.sessions,
                [&](const SessionInfo& session) { return session.name == name; });
}

// The call's name in digits, which is unique.
SessionName MakeSessionName(const CallName& call) {
  std::string name = "s";
  for (const auto part :
       std::array<uint64_t, 6>{static_cast<uint64_t>(call.process.node), call.process.incarnation,
                               call.lock, call.request, call.generation, call.attempt}) {
    if (name.size() > 1) name += "-";
    name += std::to_string(part);
  }
  return name;
}

}  // namespace

Status UseSession(Work& work, const SessionName& name) {
  if (name.empty()) return {};
  SessionInfo* session = Find(work, name);
  if (session != nullptr && IsExpired(work, *session)) {
    Remove(work, name);
    session = nullptr;
  }
  if (session == nullptr) return SessionNotFound(name);
  session->last_used = ServerTime(work);
  return {};
}

bool IsMultiplexed(const Work& work, const SessionName& name) {
  const auto& all = work.database.sessions;
  return std::any_of(all.begin(), all.end(),
                     [&](const SessionInfo& one) { return one.name == name && one.multiplexed; });
}

std::string PrecommitToken(const TransactionState& transaction) {
  return transaction.id + "#" + std::to_string(transaction.precommit_sequence);
}

void GivePrecommitToken(const Work& work, TransactionState& transaction, Response& response) {
  if (transaction.kind == TransactionKind::kReadOnly) return;
  if (transaction.session.empty() || !IsMultiplexed(work, transaction.session)) return;
  ++transaction.precommit_sequence;
  response.precommit_token = PrecommitToken(transaction);
  response.precommit_sequence = transaction.precommit_sequence;
}

void ServeCreateSession(Work& work, const CallName& call, const CreateSession& request) {
  std::erase_if(work.database.sessions,
                [&](const SessionInfo& session) { return IsExpired(work, session); });
  const Timestamp now = ServerTime(work);
  work.database.sessions.push_back({.name = MakeSessionName(call),
                                    .multiplexed = request.multiplexed,
                                    .created = now,
                                    .last_used = now});
  Response response;
  response.sessions.push_back(work.database.sessions.back());
  Reply(work, call, std::move(response));
}

void ServeGetSession(Work& work, const CallName& call, const GetSession& request) {
  Response response;
  response.status = UseSession(work, request.session);
  if (const SessionInfo* session = Find(work, request.session)) {
    response.sessions.push_back(*session);
  } else {
    response.status = SessionNotFound(request.session);
  }
  Reply(work, call, std::move(response));
}

// Deleting an unknown session is no error.
void ServeDeleteSession(Work& work, const CallName& call, const DeleteSession& request) {
  if (!request.session.empty()) Remove(work, request.session);
  Reply(work, call, {});
}

}  // namespace whorl::model
