// Spanner's API without sockets, threads or a clock: calls in, answers out, time as an input.
//
// Invariants:
//   1. Every call is answered once: by the function that it was given to or by a later one, in the
//      outcomes that they append.
//   2. RunDue, called at or after NextDue, does what waits for a time.
//   3. Every message is answered, whatever its content; a malformed one by an error.
//   4. A schema change waits until no transaction is committing, and calls that arrive after it
//      wait for the change.
// Not thread-safe (frontend.h locks around it).
// Deliberately left out: methods that methods.cc does not list; paging (lists are whole), backups,
// access control, labels, and long-running operations: an operation is done when it is answered.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "google/longrunning/operations.pb.h"
#include "google/spanner/admin/database/v1/spanner_database_admin.pb.h"
#include "google/spanner/admin/instance/v1/spanner_instance_admin.pb.h"
#include "google/spanner/v1/spanner.pb.h"
#include "spanner_model/server/answer.h"
#include "spanner_model/server/options.h"
#include "spanner_model/server/served_database.h"

namespace whorl::server {

namespace database_admin = ::google::spanner::admin::database::v1;
namespace instance_admin = ::google::spanner::admin::instance::v1;
namespace longrunning = ::google::longrunning;

struct Method;  // methods.h

// A call and the outcomes to append to.
struct BackendCall {
  const Method& method;
  const MessagePtr& request;
  CallTag tag = 0;
  Timestamp now;
  std::vector<CallOutcome>& out;
  PlannedRequest* planned = nullptr;

  void Refuse(Status status) const {
    out.push_back({.tag = tag, .answer = Refused(std::move(status))});
  }
  void Park() const { out.push_back({.tag = tag, .answer = std::nullopt}); }
};

class Backend {
 public:
  explicit Backend(BackendOptions options) : options_(std::move(options)) {}
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Creates the initial databases; returns the first error.
  Status Start(Timestamp now);

  // REQUIRES: `request` is what method.new_request makes; no other call under way has this tag.
  // `planned`, if not null, is what Method::plan made of the request, and is used up.
  void Handle(const Method& method, const MessagePtr& request, CallTag tag, Timestamp now,
              std::vector<CallOutcome>& out, PlannedRequest* planned = nullptr);
  // The schema of the database of a session; null if there is none.
  std::shared_ptr<const model::Schema> SchemaOf(const std::string& session) const;
  std::optional<Timestamp> NextDue() const;
  void RunDue(Timestamp now, std::vector<CallOutcome>& out);

  // --- the methods, for methods.cc ---------------------------------------------------------------

  // Serves a request on a session, as `Call` of protocol/spanner/rpc.h.
  template <typename Call, AnswerForm kForm, typename Proto>
  void OnSession(const Proto& proto, const BackendCall& call);
  void CreateSession(const google::spanner::v1::CreateSessionRequest& proto,
                     const BackendCall& call);
  Answer ListSessions(const google::spanner::v1::ListSessionsRequest& proto, Timestamp now) const;
  void BatchWrite(const google::spanner::v1::BatchWriteRequest& proto, const BackendCall& call);
  void BatchCreateSessions(const google::spanner::v1::BatchCreateSessionsRequest& proto,
                           const BackendCall& call);

  Answer CreateInstance(const instance_admin::CreateInstanceRequest& proto, Timestamp now);
  Answer GetInstance(const instance_admin::GetInstanceRequest& proto) const;
  Answer ListInstances(const instance_admin::ListInstancesRequest& proto) const;
  void DeleteInstance(const instance_admin::DeleteInstanceRequest& proto, const BackendCall& call);
  Answer GetInstanceConfig(const instance_admin::GetInstanceConfigRequest& proto) const;
  Answer ListInstanceConfigs(const instance_admin::ListInstanceConfigsRequest& proto) const;

  Answer CreateDatabase(const database_admin::CreateDatabaseRequest& proto, Timestamp now);
  Answer GetDatabase(const database_admin::GetDatabaseRequest& proto) const;
  Answer GetDatabaseDdl(const database_admin::GetDatabaseDdlRequest& proto) const;
  Answer ListDatabases(const database_admin::ListDatabasesRequest& proto) const;
  void UpdateDatabaseDdl(const database_admin::UpdateDatabaseDdlRequest& proto,
                         const BackendCall& call);
  void DropDatabase(const database_admin::DropDatabaseRequest& proto, const BackendCall& call);

  Answer GetOperation(const longrunning::GetOperationRequest& proto) const;

 private:
  struct WaitingCall {
    const Method* method = nullptr;
    MessagePtr request;
    CallTag tag = 0;
  };
  struct SchemaUpdate {
    CallTag tag = 0;
    std::vector<std::string> statements;
    std::string operation;
  };
  struct Entry {
    Entry(std::string name, uint32_t incarnation, const BackendOptions& options, Timestamp now)
        : served(std::move(name), incarnation, options, now) {}
    ServedDatabase served;
    std::deque<SchemaUpdate> updates;   // wait until no transaction is committing
    std::deque<WaitingCall> behind_it;  // calls that wait for the updates
  };

  // The database, if it can serve calls now. If null, the call has been answered or waits.
  Entry* FindForCall(const std::string& database, const BackendCall& call);
  const Entry* FindDatabase(const std::string& name) const;
  // Applies the schema updates that are possible now, and serves the calls that waited for them.
  void UpdateSchemas(Entry& entry, Timestamp now, std::vector<CallOutcome>& out);
  void Drop(const std::string& database, std::vector<CallOutcome>& out);
  Status MakeDatabase(const std::string& name, const std::vector<std::string>& statements,
                      Timestamp now);
  std::string OperationName(const std::string& of, const std::string& id);
  Answer FinishOperation(std::string name, const google::protobuf::Message& metadata,
                         const google::protobuf::Message& response);

  const BackendOptions options_;
  std::map<std::string, instance_admin::Instance> instances_;
  std::map<std::string, std::unique_ptr<Entry>> databases_;
  std::map<std::string, longrunning::Operation> operations_;
  uint64_t operations_made_ = 0;
  uint32_t databases_made_ = 0;
};

}  // namespace whorl::server
