#include "wire/responses.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "wire/status.h"
#include "wire/values.h"

namespace whorl::wire {

v1::Transaction EncodeTransaction(const Response& response) {
  v1::Transaction proto;
  proto.set_id(response.transaction.str());
  if (response.read_timestamp) {
    *proto.mutable_read_timestamp() = EncodeTimestamp(*response.read_timestamp);
  }
  if (!response.precommit_token.empty()) {
    *proto.mutable_precommit_token() =
        EncodePrecommitToken(response.precommit_token, response.precommit_sequence);
  }
  return proto;
}

Status DecodeTransaction(const v1::Transaction& proto, Response& out) {
  std::optional<Timestamp> read_timestamp;
  if (proto.has_read_timestamp()) {
    read_timestamp = DecodeTimestamp(proto.read_timestamp());
    if (!read_timestamp) return Error(Code::kInternal, "read_timestamp is no timestamp");
  }
  out.transaction = proto.id();
  out.read_timestamp = read_timestamp;
  TakePrecommitToken(proto.precommit_token(), out);
  return {};
}

v1::CommitResponse EncodeCommitResponse(const Response& response) {
  v1::CommitResponse proto;
  if (!response.precommit_token.empty()) {
    *proto.mutable_precommit_token() =
        EncodePrecommitToken(response.precommit_token, response.precommit_sequence);
    return proto;
  }
  *proto.mutable_commit_timestamp() = EncodeTimestamp(response.commit_timestamp);
  return proto;
}

Status DecodeCommitResponse(const v1::CommitResponse& proto, Response& out) {
  if (proto.has_precommit_token()) {
    // An empty token would look like a commit to the caller.
    if (proto.precommit_token().precommit_token().empty()) {
      return Error(Code::kInternal, "Commit was answered by an empty precommit token");
    }
    TakePrecommitToken(proto.precommit_token(), out);
    return {};
  }
  const std::optional<Timestamp> timestamp = DecodeTimestamp(proto.commit_timestamp());
  if (!proto.has_commit_timestamp() || !timestamp) {
    return Error(Code::kInternal, "CommitResponse has no commit_timestamp");
  }
  out.commit_timestamp = *timestamp;
  return {};
}

v1::Session EncodeSession(const SessionInfo& session) {
  v1::Session proto;
  proto.set_name(session.name.str());
  proto.set_multiplexed(session.multiplexed);
  *proto.mutable_create_time() = EncodeTimestamp(session.created);
  *proto.mutable_approximate_last_use_time() = EncodeTimestamp(session.last_used);
  return proto;
}

Status DecodeSession(const v1::Session& proto, SessionInfo& out) {
  const std::optional<Timestamp> created = DecodeTimestamp(proto.create_time());
  const std::optional<Timestamp> last_used = DecodeTimestamp(proto.approximate_last_use_time());
  if (!created || !last_used) return Error(Code::kInternal, "a time of the session is none");
  out = {.name = proto.name(),
         .multiplexed = proto.multiplexed(),
         .created = *created,
         .last_used = *last_used};
  return {};
}

v1::ExecuteBatchDmlResponse EncodeBatchDmlResponse(const Response& response,
                                                   const std::vector<ResultShape>& shapes) {
  v1::ExecuteBatchDmlResponse proto;
  for (size_t i = 0; i < response.batch.size(); ++i) {
    // The results of a batch have counts and no rows, even with THEN RETURN.
    Response one = {.result = {.row_count = response.batch[i].row_count}};
    ResultShape shape = shapes[i];
    shape.columns.clear();
    if (i == 0) {
      one.transaction = response.transaction;
      // Here, too: Python's client (3.71) looks for it in the first result, others in the response.
      one.precommit_token = response.precommit_token;
      one.precommit_sequence = response.precommit_sequence;
    }
    *proto.add_result_sets() = EncodeResultSet(one, shape);
  }
  *proto.mutable_status() = EncodeRpcStatus(response.result.status);
  if (!response.precommit_token.empty()) {
    *proto.mutable_precommit_token() =
        EncodePrecommitToken(response.precommit_token, response.precommit_sequence);
  }
  return proto;
}

Status DecodeBatchDmlResponse(const v1::ExecuteBatchDmlResponse& proto, Response& out) {
  Response response = out;
  for (const v1::ResultSet& result_set : proto.result_sets()) {
    Response one;
    ResultShape shape;
    Status status = DecodeResultSet(result_set, one, shape);
    if (!status.ok()) return status;
    if (response.batch.empty()) response.transaction = one.transaction;
    response.batch.push_back(std::move(one.result));
  }
  response.result.status = DecodeRpcStatus(proto.status());
  TakePrecommitToken(proto.precommit_token(), response);
  out = std::move(response);
  return {};
}

}  // namespace whorl::wire
