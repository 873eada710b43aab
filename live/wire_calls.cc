#include "live/wire_calls.h"

#include <nlohmann/json.hpp>

#include "google/spanner/v1/spanner.pb.h"
#include "wire/responses.h"

namespace whorl::live {
namespace {

namespace v1 = google::spanner::v1;

void ReadSelector(const v1::TransactionSelector& selector, WireCall& out) {
  out.transaction = selector.id();
  out.begins_read_write = selector.begin().has_read_write();
  out.begins_read_only = selector.begin().has_read_only();
}

// The name of the session in the field `session` or `name`; empty if the request has none.
template <typename Proto>
std::string SessionIn(const std::string& message) {
  Proto request;
  request.ParseFromString(message);
  if constexpr (requires { request.session(); }) {
    return request.session();
  } else {
    return request.name();
  }
}

template <typename Alternative>
uint8_t IndexOf() {
  return static_cast<uint8_t>(Request(Alternative{}).index());
}

void ReadStatement(const std::string& sql, const google::protobuf::Struct& parameters,
                   WireCall& out) {
  out.sql = sql;
  for (const auto& [name, value] : parameters.fields()) {
    if (value.has_string_value()) out.parameters[name] = value.string_value();
    if (value.has_bool_value()) out.parameters[name] = value.bool_value() ? "true" : "false";
    if (value.has_number_value())
      out.parameters[name] = nlohmann::json(value.number_value()).dump();
  }
  const auto token = parameters.fields().find("token");
  if (token != parameters.fields().end()) out.token = ParseRfc3339(token->second.string_value());
}

std::string TableOf(const v1::Mutation& mutation) {
  if (mutation.has_insert()) return mutation.insert().table();
  if (mutation.has_update()) return mutation.update().table();
  if (mutation.has_insert_or_update()) return mutation.insert_or_update().table();
  if (mutation.has_replace()) return mutation.replace().table();
  return mutation.delete_().table();
}

// The transaction that a ResultSet or PartialResultSet says was begun.
template <typename Result>
TransactionId BegunIn(const std::string& message) {
  Result result;
  if (!result.ParseFromString(message)) return {};
  return result.metadata().transaction().id();
}

}  // namespace

WireCall ReadCall(const std::string& method, const std::string& message) {
  WireCall call{.method = method};
  if (method == "ExecuteSql" || method == "ExecuteStreamingSql") {
    v1::ExecuteSqlRequest request;
    request.ParseFromString(message);
    call.session = request.session();
    ReadSelector(request.transaction(), call);
    ReadStatement(request.sql(), request.params(), call);
    call.request = IndexOf<ExecuteSql>();
    call.is_statement = true;
    call.sequence_number = request.seqno();
  } else if (method == "ExecuteBatchDml") {
    v1::ExecuteBatchDmlRequest request;
    request.ParseFromString(message);
    call.session = request.session();
    ReadSelector(request.transaction(), call);
    if (request.statements_size() > 0) {
      ReadStatement(request.statements(0).sql(), request.statements(0).params(), call);
    }
    call.request = IndexOf<ExecuteBatchDml>();
  } else if (method == "Read" || method == "StreamingRead") {
    v1::ReadRequest request;
    request.ParseFromString(message);
    call.session = request.session();
    ReadSelector(request.transaction(), call);
    call.table = request.table();
    call.request = IndexOf<Read>();
  } else if (method == "BeginTransaction") {
    v1::BeginTransactionRequest request;
    request.ParseFromString(message);
    call.request = IndexOf<BeginTransaction>();
    call.session = request.session();
    call.begins_read_write = request.options().has_read_write();
    call.begins_read_only = request.options().has_read_only();
  } else if (method == "Commit") {
    v1::CommitRequest request;
    request.ParseFromString(message);
    call.request = IndexOf<Commit>();
    call.session = request.session();
    call.transaction = request.transaction_id();
    call.begins_read_write = request.has_single_use_transaction();
    call.is_commit = true;
    if (request.mutations_size() > 0) call.table = TableOf(request.mutations(0));
  } else if (method == "Rollback") {
    v1::RollbackRequest request;
    request.ParseFromString(message);
    call.request = IndexOf<Rollback>();
    call.session = request.session();
    call.transaction = request.transaction_id();
    call.is_rollback = true;
  } else if (method == "BatchWrite") {
    call.session = SessionIn<v1::BatchWriteRequest>(message);
  } else if (method == "PartitionQuery") {
    call.session = SessionIn<v1::PartitionQueryRequest>(message);
  } else if (method == "PartitionRead") {
    call.session = SessionIn<v1::PartitionReadRequest>(message);
  } else if (method == "GetSession") {
    call.session = SessionIn<v1::GetSessionRequest>(message);
  } else if (method == "DeleteSession") {
    call.session = SessionIn<v1::DeleteSessionRequest>(message);
  }
  return call;
}

WireReply ReadReply(const std::string& method, const std::vector<std::string>& messages) {
  WireReply reply;
  if (messages.empty()) return reply;
  if (method == "ExecuteSql") reply.begun = BegunIn<v1::ResultSet>(messages.front());
  if (method == "ExecuteStreamingSql" || method == "StreamingRead") {
    reply.begun = BegunIn<v1::PartialResultSet>(messages.front());
  }
  if (method == "Read") reply.begun = BegunIn<v1::ResultSet>(messages.front());
  if (method == "ExecuteBatchDml") {
    v1::ExecuteBatchDmlResponse batch;
    if (batch.ParseFromString(messages.front()) && batch.result_sets_size() > 0) {
      reply.begun = batch.result_sets(0).metadata().transaction().id();
    }
  }
  if (method == "BeginTransaction") {
    v1::Transaction transaction;
    if (transaction.ParseFromString(messages.front())) reply.begun = transaction.id();
  }
  if (method == "Commit") {
    v1::CommitResponse committed;
    Response response;
    if (committed.ParseFromString(messages.front()) && committed.has_commit_timestamp() &&
        wire::DecodeCommitResponse(committed, response).ok()) {
      reply.commit = response.commit_timestamp;
    }
  }
  return reply;
}

}  // namespace whorl::live
