// google.spanner.v1.Spanner: the calls to the sessions of a database.
#include "spanner_model/server/backend.h"
#include "spanner_model/server/methods.h"
#include "spanner_model/server/resource_names.h"
#include "wire/transactions.h"

namespace whorl::server {

namespace v1 = ::google::spanner::v1;

void Backend::Handle(const Method& method, const MessagePtr& request, CallTag tag, Timestamp now,
                     std::vector<CallOutcome>& out, PlannedRequest* planned) {
  method.serve(*this, {.method = method,
                       .request = request,
                       .tag = tag,
                       .now = now,
                       .out = out,
                       .planned = planned});
}

std::shared_ptr<const model::Schema> Backend::SchemaOf(const std::string& session) const {
  const auto path = ParseSessionName(session);
  if (!path) return nullptr;
  const auto found = databases_.find(path->database);
  return found == databases_.end() ? nullptr : found->second->served.SharedSchema();
}

Backend::Entry* Backend::FindForCall(const std::string& database, const BackendCall& call) {
  const auto found = databases_.find(database);
  if (found == databases_.end()) {
    const std::string instance = IsDatabaseName(database) ? InstanceOf(database) : "";
    const bool is_there = instance.empty() || instances_.contains(instance);
    call.Refuse(is_there ? DatabaseNotFound(database) : InstanceNotFound(instance));
    return nullptr;
  }
  Entry& entry = *found->second;
  if (entry.updates.empty()) return &entry;
  entry.behind_it.push_back({.method = &call.method, .request = call.request, .tag = call.tag});
  call.Park();
  return nullptr;
}

template <typename Call, AnswerForm kForm, typename Proto>
void Backend::OnSession(const Proto& proto, const BackendCall& call) {
  const std::string name = call.method.session_of(proto);
  if (name.empty()) {
    const bool is_about_it =
        call.method.name == "GetSession" || call.method.name == "DeleteSession";
    return call.Refuse(
        wire::MissingField(proto.GetDescriptor()->name() + (is_about_it ? ".name" : ".session")));
  }
  const auto path = ParseSessionName(name);
  if (!path) return call.Refuse(Error(Code::kInvalidArgument, "Invalid session uri: " + name));
  Entry* entry = FindForCall(path->database, call);
  if (entry == nullptr) return;
  entry->served.Serve<Call>(proto, path->session, kForm, call.tag, call.now, call.planned,
                            call.out);
}

template void Backend::OnSession<GetSession, AnswerForm::kWhole>(const v1::GetSessionRequest&,
                                                                 const BackendCall&);
template void Backend::OnSession<DeleteSession, AnswerForm::kWhole>(const v1::DeleteSessionRequest&,
                                                                    const BackendCall&);
template void Backend::OnSession<ExecuteSql, AnswerForm::kWhole>(const v1::ExecuteSqlRequest&,
                                                                 const BackendCall&);
template void Backend::OnSession<ExecuteSql, AnswerForm::kStream>(const v1::ExecuteSqlRequest&,
                                                                  const BackendCall&);
template void Backend::OnSession<ExecuteBatchDml, AnswerForm::kWhole>(
    const v1::ExecuteBatchDmlRequest&, const BackendCall&);
template void Backend::OnSession<Read, AnswerForm::kWhole>(const v1::ReadRequest&,
                                                           const BackendCall&);
template void Backend::OnSession<Read, AnswerForm::kStream>(const v1::ReadRequest&,
                                                            const BackendCall&);
template void Backend::OnSession<BeginTransaction, AnswerForm::kWhole>(
    const v1::BeginTransactionRequest&, const BackendCall&);
template void Backend::OnSession<Commit, AnswerForm::kWhole>(const v1::CommitRequest&,
                                                             const BackendCall&);
template void Backend::OnSession<Rollback, AnswerForm::kWhole>(const v1::RollbackRequest&,
                                                               const BackendCall&);

void Backend::CreateSession(const v1::CreateSessionRequest& proto, const BackendCall& call) {
  if (proto.database().empty()) {
    return call.Refuse(wire::MissingField("CreateSessionRequest.database"));
  }
  Entry* entry = FindForCall(proto.database(), call);
  if (entry == nullptr) return;
  entry->served.Serve<whorl::CreateSession>(proto, "", AnswerForm::kWhole, call.tag, call.now,
                                            nullptr, call.out);
}

void Backend::BatchCreateSessions(const v1::BatchCreateSessionsRequest& proto,
                                  const BackendCall& call) {
  // Spanner creates at most 100 sessions per call; returning fewer than requested is allowed.
  constexpr int kMost = 100;
  if (proto.database().empty()) {
    return call.Refuse(wire::MissingField("BatchCreateSessionsRequest.database"));
  }
  if (proto.session_count() < 0) {
    return call.Refuse(
        Error(Code::kInvalidArgument, "The number of sessions must not be negative"));
  }
  if (proto.session_template().multiplexed()) {
    return call.Refuse(
        Error(Code::kInvalidArgument, "Multiplexed sessions are created one at a time"));
  }
  if (options_.sessions == SessionKinds::kOnlyMultiplexed) return call.Refuse(OnlyMultiplexed());
  Entry* entry = FindForCall(proto.database(), call);
  if (entry == nullptr) return;
  v1::BatchCreateSessionsResponse response;
  for (v1::Session& session :
       entry->served.CreateSessions(std::min(proto.session_count(), kMost), call.now, call.out)) {
    *response.add_session() = std::move(session);
  }
  call.out.push_back({.tag = call.tag, .answer = AnswerWith(std::move(response))});
}

Answer Backend::ListSessions(const v1::ListSessionsRequest& proto, Timestamp now) const {
  if (proto.database().empty()) return Refused(wire::MissingField("ListSessionsRequest.database"));
  const auto found = databases_.find(proto.database());
  if (found == databases_.end()) return Refused(DatabaseNotFound(proto.database()));
  v1::ListSessionsResponse response;
  for (v1::Session& session : found->second->served.ListSessions(now)) {
    *response.add_sessions() = std::move(session);
  }
  return AnswerWith(std::move(response));
}

void Backend::BatchWrite(const v1::BatchWriteRequest& proto, const BackendCall& call) {
  if (proto.session().empty()) {
    return call.Refuse(wire::MissingField("BatchWriteRequest.session"));
  }
  const auto path = ParseSessionName(proto.session());
  if (!path) {
    return call.Refuse(Error(Code::kInvalidArgument, "Invalid session uri: " + proto.session()));
  }
  Entry* entry = FindForCall(path->database, call);
  if (entry == nullptr) return;
  entry->served.BatchWrite(proto, path->session, call.tag, call.now, call.out);
}

std::optional<Timestamp> Backend::NextDue() const {
  std::optional<Timestamp> next;
  for (const auto& [name, entry] : databases_) {
    const auto due = entry->served.NextDue();
    if (due) next = std::min(next.value_or(*due), *due);
  }
  return next;
}

void Backend::RunDue(Timestamp now, std::vector<CallOutcome>& out) {
  for (const auto& [name, entry] : databases_) {
    entry->served.RunDue(now, out);
    UpdateSchemas(*entry, now, out);
  }
}

}  // namespace whorl::server
