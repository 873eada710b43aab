// Does at Spanner what no process of the run does: inserts the initial rows, writes to rows as
// an operator would, deletes sessions, rolls back transactions that Spanner would have aborted, and
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
#include "sim/scenario/faults/kinds.h"

namespace whorl::live {

class Operator {
 public:
  // `database`: projects/P/instances/I/databases/D; `table` has the columns of the protocol's.
  Operator(const std::shared_ptr<grpc::Channel>& channel, const ProtocolInfo& protocol,
           std::string database, std::string table);

  Status Insert(std::vector<Row> rows);
  // `commit` becomes the commit timestamp.
  Status Write(sim::OperatorWrite write, Timestamp& commit);
  // Ignores errors.
  void Rollback(const SessionName& session, const TransactionId& transaction);
  void DeleteSession(const SessionName& session);

  // Reads all rows of the table as of `at`, or the newest; columns in the order of the protocol's
  // table. Spanner keeps old versions for an hour.
  Status RowsAt(std::optional<Timestamp> at, std::vector<Row>& out);
  // Why the table cannot be the protocol's: it is not there, or lacks columns. Empty if it can, or if
  // Spanner does not say.
  std::string WhyNotThisTable();

 private:
  Status Session(SessionName& out);
  Status CommitOf(Commit call, Timestamp& commit);
  Status Run(Statement statement, Timestamp& commit);
  Status Query(Statement statement, std::optional<Timestamp> at, std::vector<Row>& out);

  std::unique_ptr<google::spanner::v1::Spanner::Stub> spanner_;
  const ProtocolInfo& protocol_;
  const std::string database_;
  const std::string table_;
  SessionName session_;
};

}  // namespace whorl::live
