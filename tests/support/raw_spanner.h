// Calls Spanner's API, blocking, with protos. It does nothing by itself (no retries, session
// pool or begins) and works with the emulator and with whorl's server.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "google/longrunning/operations.grpc.pb.h"
#include "google/spanner/admin/database/v1/spanner_database_admin.grpc.pb.h"
#include "google/spanner/admin/instance/v1/spanner_instance_admin.grpc.pb.h"
#include "google/spanner/v1/spanner.grpc.pb.h"

namespace whorl {

// The outcome of a call.
template <typename Reply>
struct Heard {
  grpc::Status status;
  Reply reply;
  // Bytes of the trailer google.rpc.retryinfo-bin, if there was one.
  std::optional<std::string> retry_info;

  bool ok() const { return status.ok(); }
};

class RawSpanner {
 public:
  using Api = google::spanner::v1::Spanner;
  using Instances = google::spanner::admin::instance::v1::InstanceAdmin;
  using Databases = google::spanner::admin::database::v1::DatabaseAdmin;

  // Every call has a deadline of 60 s.
  explicit RawSpanner(const std::shared_ptr<grpc::Channel>& channel);

  // As long as it lives, names are of projects/default/instances/default, which is there, as on Spanner
  // Omni.
  struct InDefaultInstance {
    InDefaultInstance();
    ~InDefaultInstance();
    InDefaultInstance(const InDefaultInstance&) = delete;
  };
  // Creates the instance, projects/test-project/instances/test-instance, unless it exists.
  grpc::Status CreateInstance();
  // Creates the database DatabaseName(id) in that instance.
  grpc::Status CreateDatabase(const std::string& id, const std::vector<std::string>& ddl);
  static std::string DatabaseName(const std::string& id);

  Heard<google::spanner::v1::Session> CreateSession(const std::string& database,
                                                    bool multiplexed = false);
  Heard<google::spanner::v1::Session> CreateSession(
      const google::spanner::v1::CreateSessionRequest& request);
  Heard<google::spanner::v1::ListSessionsResponse> ListSessions(
      const google::spanner::v1::ListSessionsRequest& request);
  Heard<google::spanner::v1::Session> GetSession(const std::string& session);
  Heard<google::protobuf::Empty> DeleteSession(const std::string& session);
  Heard<google::spanner::v1::ResultSet> ExecuteSql(
      const google::spanner::v1::ExecuteSqlRequest& request);
  Heard<std::vector<google::spanner::v1::PartialResultSet>> ExecuteStreamingSql(
      const google::spanner::v1::ExecuteSqlRequest& request);
  Heard<google::spanner::v1::ExecuteBatchDmlResponse> ExecuteBatchDml(
      const google::spanner::v1::ExecuteBatchDmlRequest& request);
  Heard<google::spanner::v1::ResultSet> Read(const google::spanner::v1::ReadRequest& request);
  Heard<std::vector<google::spanner::v1::PartialResultSet>> StreamingRead(
      const google::spanner::v1::ReadRequest& request);
  Heard<google::spanner::v1::Transaction> BeginTransaction(
      const google::spanner::v1::BeginTransactionRequest& request);
  Heard<google::spanner::v1::CommitResponse> Commit(
      const google::spanner::v1::CommitRequest& request);
  Heard<std::vector<google::spanner::v1::BatchWriteResponse>> BatchWrite(
      const google::spanner::v1::BatchWriteRequest& request);
  Heard<google::protobuf::Empty> Rollback(const google::spanner::v1::RollbackRequest& request);

  // The operation when it is done; what it is after a minute, if it is not done by then.
  google::longrunning::Operation Await(google::longrunning::Operation operation);

  // For calls that are not above.
  Api::Stub& api() { return *api_; }
  Instances::Stub& instances() { return *instances_; }
  Databases::Stub& databases() { return *databases_; }

 private:
  std::unique_ptr<Api::Stub> api_;
  std::unique_ptr<Instances::Stub> instances_;
  std::unique_ptr<Databases::Stub> databases_;
  std::unique_ptr<google::longrunning::Operations::Stub> operations_;
};

}  // namespace whorl
