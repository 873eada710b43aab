// What is done at Spanner by nobody's process: rows of the start, an operator's deletion, sessions
// that are taken away, transactions that Spanner would have aborted, and the versions of rows that
// a run has left behind.
//
// Calls block, for some milliseconds. One thread at a time.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/spanner/v1/spanner.grpc.pb.h"
#include "protocol/protocols.h"
#include "protocol/spanner/rpc.h"

namespace whorl::live {

class Operator {
 public:
  Operator(const std::shared_ptr<grpc::Channel>& channel, const ProtocolInfo& protocol);

  Status Insert(std::vector<Row> rows);
  // Of the row with this key; when it was committed.
  Status Delete(const Value& key, Timestamp& commit);
  // Whether Spanner takes it or not.
  void Rollback(const SessionName& session, const TransactionId& transaction);
  void DeleteSession(const SessionName& session);

  // All rows of the table as of `at`, or the newest; columns in the order of the protocol's table.
  // Spanner keeps them for an hour.
  Status RowsAt(std::optional<Timestamp> at, std::vector<Row>& out);

 private:
  Status Session(SessionName& out);
  Status Write(Mutation mutation, Timestamp& commit);

  std::unique_ptr<google::spanner::v1::Spanner::Stub> spanner_;
  const ProtocolInfo& protocol_;
  SessionName session_;
};

}  // namespace whorl::live
