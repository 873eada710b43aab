#include "live/wire_calls.h"

#include "google/spanner/v1/spanner.pb.h"
#include "wire/responses.h"

namespace whorl::live {
namespace {

namespace v1 = google::spanner::v1;

void ReadSelector(const v1::TransactionSelector& selector, WireCall& out) {
  out.transaction = selector.id();
  out.begins_read_write = selector.begin().has_read_write();
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
  } else if (method == "BeginTransaction") {
    v1::BeginTransactionRequest request;
    request.ParseFromString(message);
    call.session = request.session();
    call.begins_read_write = request.options().has_read_write();
  } else if (method == "Commit") {
    v1::CommitRequest request;
    request.ParseFromString(message);
    call.session = request.session();
    call.transaction = request.transaction_id();
    call.begins_read_write = request.has_single_use_transaction();
    call.is_commit = true;
  } else if (method == "Rollback") {
    v1::RollbackRequest request;
    request.ParseFromString(message);
    call.session = request.session();
    call.transaction = request.transaction_id();
    call.is_rollback = true;
  }
  return call;
}

WireReply ReadReply(const std::string& method, const std::vector<std::string>& messages) {
  WireReply reply;
  if (messages.empty()) return reply;
  if (method == "ExecuteSql") reply.begun = BegunIn<v1::ResultSet>(messages.front());
  if (method == "ExecuteStreamingSql") {
    reply.begun = BegunIn<v1::PartialResultSet>(messages.front());
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
