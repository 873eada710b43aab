#include "tests/support/raw_spanner.h"

#include <grpcpp/client_context.h>

#include <chrono>
#include <thread>
#include <utility>

namespace whorl {
namespace {

namespace v1 = google::spanner::v1;
using Operation = google::longrunning::Operation;

constexpr const char* kProject = "projects/test-project";
constexpr const char* kInstanceId = "test-instance";

bool uses_default_instance = false;

std::string InstanceName() {
  if (uses_default_instance) return "projects/default/instances/default";
  return std::string(kProject) + "/instances/" + kInstanceId;
}

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
}

std::optional<std::string> RetryInfo(const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("google.rpc.retryinfo-bin");
  if (found == trailers.end()) return std::nullopt;
  return std::string(found->second.data(), found->second.size());
}

template <typename Reply, typename Stub, typename Request>
Heard<Reply> Call(Stub& stub,
                  grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                  const Request& request) {
  grpc::ClientContext context;
  SetDeadline(context);
  Heard<Reply> heard;
  heard.status = (stub.*method)(&context, request, &heard.reply);
  heard.retry_info = RetryInfo(context);
  return heard;
}

template <typename Part, typename Request>
using StreamMethod = std::unique_ptr<grpc::ClientReader<Part>> (RawSpanner::Api::Stub::*)(
    grpc::ClientContext*, const Request&);

template <typename Part, typename Request>
Heard<std::vector<Part>> Stream(RawSpanner::Api::Stub& stub, StreamMethod<Part, Request> method,
                                const Request& request) {
  grpc::ClientContext context;
  SetDeadline(context);
  Heard<std::vector<Part>> heard;
  const auto reader = (stub.*method)(&context, request);
  for (Part part; reader->Read(&part);) heard.reply.push_back(part);
  heard.status = reader->Finish();
  heard.retry_info = RetryInfo(context);
  return heard;
}

grpc::Status OutcomeOf(const Heard<Operation>& heard) {
  if (!heard.ok()) return heard.status;
  if (!heard.reply.done()) {
    return {grpc::StatusCode::INTERNAL, "the operation " + heard.reply.name() + " is not over"};
  }
  const google::rpc::Status& error = heard.reply.error();
  return {static_cast<grpc::StatusCode>(error.code()), error.message()};
}

}  // namespace

RawSpanner::RawSpanner(const std::shared_ptr<grpc::Channel>& channel)
    : api_(Api::NewStub(channel)),
      instances_(Instances::NewStub(channel)),
      databases_(Databases::NewStub(channel)),
      operations_(google::longrunning::Operations::NewStub(channel)) {}

RawSpanner::InDefaultInstance::InDefaultInstance() { uses_default_instance = true; }
RawSpanner::InDefaultInstance::~InDefaultInstance() { uses_default_instance = false; }

// The emulator and whorl's server answer with operations that are done.
Operation RawSpanner::Await(Operation operation) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!operation.done() && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    google::longrunning::GetOperationRequest request;
    request.set_name(operation.name());
    const auto heard =
        Call(*operations_, &google::longrunning::Operations::Stub::GetOperation, request);
    if (heard.ok()) operation = heard.reply;
  }
  return operation;
}

grpc::Status RawSpanner::CreateInstance() {
  if (uses_default_instance) return grpc::Status::OK;
  google::spanner::admin::instance::v1::CreateInstanceRequest request;
  request.set_parent(kProject);
  request.set_instance_id(kInstanceId);
  request.mutable_instance()->set_config(std::string(kProject) +
                                         "/instanceConfigs/emulator-config");
  request.mutable_instance()->set_display_name(kInstanceId);
  request.mutable_instance()->set_node_count(1);
  const grpc::Status status =
      OutcomeOf(Call(*instances_, &Instances::Stub::CreateInstance, request));
  return status.error_code() == grpc::StatusCode::ALREADY_EXISTS ? grpc::Status::OK : status;
}

std::string RawSpanner::DatabaseName(const std::string& id) {
  return InstanceName() + "/databases/" + id;
}

grpc::Status RawSpanner::CreateDatabase(const std::string& id,
                                        const std::vector<std::string>& ddl) {
  grpc::Status status = CreateInstance();
  if (!status.ok()) return status;
  google::spanner::admin::database::v1::CreateDatabaseRequest request;
  request.set_parent(InstanceName());
  request.set_create_statement("CREATE DATABASE `" + id + "`");
  for (const std::string& statement : ddl) request.add_extra_statements(statement);
  Heard<Operation> heard = Call(*databases_, &Databases::Stub::CreateDatabase, request);
  if (heard.ok()) heard.reply = Await(std::move(heard.reply));
  return OutcomeOf(heard);
}

Heard<v1::Session> RawSpanner::CreateSession(const std::string& database, bool multiplexed) {
  v1::CreateSessionRequest request;
  request.set_database(database);
  request.mutable_session()->set_multiplexed(multiplexed);
  return CreateSession(request);
}

Heard<v1::Session> RawSpanner::CreateSession(const v1::CreateSessionRequest& request) {
  return Call(*api_, &Api::Stub::CreateSession, request);
}

Heard<v1::Session> RawSpanner::GetSession(const std::string& session) {
  v1::GetSessionRequest request;
  request.set_name(session);
  return Call(*api_, &Api::Stub::GetSession, request);
}

Heard<google::protobuf::Empty> RawSpanner::DeleteSession(const std::string& session) {
  v1::DeleteSessionRequest request;
  request.set_name(session);
  return Call(*api_, &Api::Stub::DeleteSession, request);
}

Heard<v1::ResultSet> RawSpanner::ExecuteSql(const v1::ExecuteSqlRequest& request) {
  return Call(*api_, &Api::Stub::ExecuteSql, request);
}

Heard<std::vector<v1::PartialResultSet>> RawSpanner::ExecuteStreamingSql(
    const v1::ExecuteSqlRequest& request) {
  return Stream(*api_, &Api::Stub::ExecuteStreamingSql, request);
}

Heard<v1::ExecuteBatchDmlResponse> RawSpanner::ExecuteBatchDml(
    const v1::ExecuteBatchDmlRequest& request) {
  return Call(*api_, &Api::Stub::ExecuteBatchDml, request);
}

Heard<v1::ResultSet> RawSpanner::Read(const v1::ReadRequest& request) {
  return Call(*api_, &Api::Stub::Read, request);
}

Heard<std::vector<v1::PartialResultSet>> RawSpanner::StreamingRead(const v1::ReadRequest& request) {
  return Stream(*api_, &Api::Stub::StreamingRead, request);
}

Heard<v1::Transaction> RawSpanner::BeginTransaction(const v1::BeginTransactionRequest& request) {
  return Call(*api_, &Api::Stub::BeginTransaction, request);
}

Heard<v1::CommitResponse> RawSpanner::Commit(const v1::CommitRequest& request) {
  return Call(*api_, &Api::Stub::Commit, request);
}

Heard<v1::ListSessionsResponse> RawSpanner::ListSessions(const v1::ListSessionsRequest& request) {
  return Call(*api_, &Api::Stub::ListSessions, request);
}

Heard<std::vector<v1::BatchWriteResponse>> RawSpanner::BatchWrite(
    const v1::BatchWriteRequest& request) {
  return Stream(*api_, &Api::Stub::BatchWrite, request);
}

Heard<google::protobuf::Empty> RawSpanner::Rollback(const v1::RollbackRequest& request) {
  return Call(*api_, &Api::Stub::Rollback, request);
}

}  // namespace whorl
