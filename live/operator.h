// Does at Spanner what no process of the run does: inserts the initial rows, deletes rows as an
// operator would, deletes sessions, rolls back transactions that Spanner would have aborted, and
// reads the versions of rows after the run.
//
// Calls block for some milliseconds. Not thread-safe.
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
  // Deletes the row with this key. `commit` becomes the commit timestamp.
  Status Delete(const Value& key, Timestamp& commit);
  // Ignores errors.
  void Rollback(const SessionName& session, const TransactionId& transaction);
  void DeleteSession(const SessionName& session);

  // Reads all rows of the table as of `at`, or the newest; columns in the order of the protocol's
  // table. Spanner keeps old versions for an hour.
  Status RowsAt(std::optional<Timestamp> at, std::vector<Row>& out);

 private:
  Status Session(SessionName& out);
  Status Write(Mutation mutation, Timestamp& commit);

  std::unique_ptr<google::spanner::v1::Spanner::Stub> spanner_;
  const ProtocolInfo& protocol_;
  SessionName session_;
};

}  // namespace whorl::live
