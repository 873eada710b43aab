#include "spanner_model/server/methods.h"

#include <array>
#include <type_traits>

namespace whorl::server {
namespace {

namespace v1 = ::google::spanner::v1;
using google::protobuf::Message;

template <typename Proto>
std::string SessionOf(const Message& message) {
  const auto& proto = static_cast<const Proto&>(message);
  if constexpr (requires { proto.session().size(); }) {
    return proto.session();
  } else if constexpr (std::is_same_v<Proto, v1::GetSessionRequest> ||
                       std::is_same_v<Proto, v1::DeleteSessionRequest>) {
    return proto.name();
  } else {
    return {};
  }
}

template <typename Proto>
std::string TransactionOf(const Message& message) {
  const auto& proto = static_cast<const Proto&>(message);
  if constexpr (requires { proto.transaction_id(); }) {
    return proto.transaction_id();
  } else if constexpr (requires { proto.transaction().id(); }) {
    return proto.transaction().id();
  } else {
    return {};
  }
}

// kServe is a function of Backend that returns an answer or appends its outcomes.
template <typename Proto, auto kServe>
void Serve(Backend& backend, const BackendCall& call) {
  const auto& proto = static_cast<const Proto&>(*call.request);
  if constexpr (std::is_invocable_v<decltype(kServe), Backend&, const Proto&, const BackendCall&>) {
    (backend.*kServe)(proto, call);
  } else if constexpr (std::is_invocable_v<decltype(kServe), Backend&, const Proto&, Timestamp>) {
    call.out.push_back({.tag = call.tag, .answer = (backend.*kServe)(proto, call.now)});
  } else {
    call.out.push_back({.tag = call.tag, .answer = (backend.*kServe)(proto)});
  }
}

template <typename Proto, auto kServe>
constexpr Method Make(std::string_view service, std::string_view name) {
  return {.service = service,
          .name = name,
          .new_request = []() -> std::unique_ptr<Message> { return std::make_unique<Proto>(); },
          .serve = Serve<Proto, kServe>,
          .session_of = SessionOf<Proto>,
          .transaction_of = TransactionOf<Proto>};
}

template <typename Call, typename Proto, AnswerForm kForm = AnswerForm::kWhole>
constexpr Method OnSession(std::string_view name) {
  Method method = Make<Proto, &Backend::OnSession<Call, kForm, Proto>>(kSpannerService, name);
  if constexpr (std::is_same_v<Call, ExecuteSql> || std::is_same_v<Call, ExecuteBatchDml>) {
    method.plan = PlanRequest<Proto, Call>;
  }
  return method;
}

constexpr std::string_view kInstanceAdmin = "google.spanner.admin.instance.v1.InstanceAdmin";
constexpr std::string_view kDatabaseAdmin = "google.spanner.admin.database.v1.DatabaseAdmin";
constexpr std::string_view kOperations = "google.longrunning.Operations";

constexpr std::array kMethods = {
    Make<v1::CreateSessionRequest, &Backend::CreateSession>(kSpannerService, "CreateSession"),
    Make<v1::BatchCreateSessionsRequest, &Backend::BatchCreateSessions>(kSpannerService,
                                                                        "BatchCreateSessions"),
    Make<v1::ListSessionsRequest, &Backend::ListSessions>(kSpannerService, "ListSessions"),
    Make<v1::BatchWriteRequest, &Backend::BatchWrite>(kSpannerService, "BatchWrite"),
    OnSession<GetSession, v1::GetSessionRequest>("GetSession"),
    OnSession<DeleteSession, v1::DeleteSessionRequest>("DeleteSession"),
    OnSession<ExecuteSql, v1::ExecuteSqlRequest>("ExecuteSql"),
    OnSession<ExecuteSql, v1::ExecuteSqlRequest, AnswerForm::kStream>("ExecuteStreamingSql"),
    OnSession<ExecuteBatchDml, v1::ExecuteBatchDmlRequest>("ExecuteBatchDml"),
    OnSession<Read, v1::ReadRequest>("Read"),
    OnSession<Read, v1::ReadRequest, AnswerForm::kStream>("StreamingRead"),
    OnSession<BeginTransaction, v1::BeginTransactionRequest>("BeginTransaction"),
    OnSession<Commit, v1::CommitRequest>("Commit"),
    OnSession<Rollback, v1::RollbackRequest>("Rollback"),

    Make<instance_admin::CreateInstanceRequest, &Backend::CreateInstance>(kInstanceAdmin,
                                                                          "CreateInstance"),
    Make<instance_admin::GetInstanceRequest, &Backend::GetInstance>(kInstanceAdmin, "GetInstance"),
    Make<instance_admin::ListInstancesRequest, &Backend::ListInstances>(kInstanceAdmin,
                                                                        "ListInstances"),
    Make<instance_admin::DeleteInstanceRequest, &Backend::DeleteInstance>(kInstanceAdmin,
                                                                          "DeleteInstance"),
    Make<instance_admin::GetInstanceConfigRequest, &Backend::GetInstanceConfig>(
        kInstanceAdmin, "GetInstanceConfig"),
    Make<instance_admin::ListInstanceConfigsRequest, &Backend::ListInstanceConfigs>(
        kInstanceAdmin, "ListInstanceConfigs"),

    Make<database_admin::CreateDatabaseRequest, &Backend::CreateDatabase>(kDatabaseAdmin,
                                                                          "CreateDatabase"),
    Make<database_admin::GetDatabaseRequest, &Backend::GetDatabase>(kDatabaseAdmin, "GetDatabase"),
    Make<database_admin::GetDatabaseDdlRequest, &Backend::GetDatabaseDdl>(kDatabaseAdmin,
                                                                          "GetDatabaseDdl"),
    Make<database_admin::ListDatabasesRequest, &Backend::ListDatabases>(kDatabaseAdmin,
                                                                        "ListDatabases"),
    Make<database_admin::UpdateDatabaseDdlRequest, &Backend::UpdateDatabaseDdl>(
        kDatabaseAdmin, "UpdateDatabaseDdl"),
    Make<database_admin::DropDatabaseRequest, &Backend::DropDatabase>(kDatabaseAdmin,
                                                                      "DropDatabase"),

    Make<longrunning::GetOperationRequest, &Backend::GetOperation>(kOperations, "GetOperation"),
};

}  // namespace

std::span<const Method> AllMethods() { return kMethods; }

const Method* FindMethod(std::string_view path) {
  for (const Method& method : kMethods) {
    const size_t service = method.service.size();
    if (path.size() == service + method.name.size() + 2 && path[0] == '/' &&
        path.substr(1, service) == method.service && path[service + 1] == '/' &&
        path.substr(service + 2) == method.name) {
      return &method;
    }
  }
  return nullptr;
}

}  // namespace whorl::server
