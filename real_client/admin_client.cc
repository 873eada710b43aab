#include "real_client/admin_client.h"

#include <map>
#include <utility>

#include "google/longrunning/operations.grpc.pb.h"
#include "google/spanner/admin/database/v1/spanner_database_admin.grpc.pb.h"
#include "google/spanner/admin/instance/v1/spanner_instance_admin.grpc.pb.h"
#include "protocol/client/backoff.h"
#include "real_client/calls.h"
#include "real_client/connection.h"
#include "real_client/os.h"

namespace whorl::real_client {
namespace {

namespace database_v1 = google::spanner::admin::database::v1;
namespace instance_v1 = google::spanner::admin::instance::v1;
using google::longrunning::Operation;

// From Spanner's published gRPC service configuration for its admin services.
constexpr Backoff kResend = {.initial = Seconds(1), .growth_percent = 130, .max = Seconds(32)};
// The first poll comes soon, since the emulator completes operations at once.
constexpr Backoff kPoll = {.initial = Milliseconds(200), .growth_percent = 150, .max = Seconds(30)};

// The part after the last slash.
std::string LastPart(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// projects/P/instances/I from projects/P/instances/I/databases/D
std::string InstanceOf(std::string_view database) {
  return std::string(database.substr(0, database.find("/databases/")));
}

Status ValidateDatabase(const std::string& path) {
  DatabaseName name;
  return ParseDatabaseName(path, name);
}

// DDL writes a database's id between backquotes, so the id must not contain one.
Status ValidateId(const std::string& id) {
  if (id.find('`') == std::string::npos) return {};
  return Error(Code::kInvalidArgument, "\"" + id + "\" is no name of a database");
}

}  // namespace

// Used on the loop's thread only, except where noted.
class AdminClient::Core {
 public:
  Core(ConnectionOptions options, Duration call_timeout)
      : options_(ResolveWithEnvironment(std::move(options))), call_timeout_(call_timeout) {
    loop_.Post([this] { Open(); });
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() {
    loop_.Post([this] { Close(); });
    loop_.Join();
  }

  // From any thread. Sends a call about `resource`, which the request names in `field`. The reply
  // is passed to `take`, an error to `done`.
  template <typename Reply, typename Prepare, typename Take>
  void Call(std::string field, std::string resource, bool may_resend, Prepare prepare, Take take,
            Done done) {
    loop_.Post([=, this] {
      auto attempt = std::make_shared<Attempt>();
      attempt->deadline = MonotonicNow() + call_timeout_;
      attempt->may_resend = may_resend;
      attempt->headers = HeadersOf(field, resource, resource);
      attempt->done = [=, this](Status status) {
        done(Advise(std::move(status), options_, resource));
      };
      Send<Reply>(attempt, prepare, take);
    });
  }

  // On the loop's thread. Calls `done` when the operation has ended.
  void Await(const Operation& operation, Done done) {
    if (operation.done()) {
      return done(operation.has_error() ? wire::DecodeRpcStatus(operation.error()) : Status());
    }
    auto poll = std::make_shared<Poll>();
    poll->name = operation.name();
    poll->done = std::move(done);
    PollLater(poll);
  }

  std::unique_ptr<instance_v1::InstanceAdmin::Stub> instances;
  std::unique_ptr<database_v1::DatabaseAdmin::Stub> databases;
  std::unique_ptr<google::longrunning::Operations::Stub> operations;
  grpc::CompletionQueue* queue() { return &loop_.queue(); }

 private:
  // One call with its resends.
  struct Attempt {
    LocalInstant deadline;
    bool may_resend = false;
    Headers headers;
    Done done;
    Duration backoff;
  };
  struct Poll {
    std::string name;
    Done done;
    Duration backoff;
  };

  void Open() {
    std::vector<std::shared_ptr<grpc::Channel>> channels;
    options_.channels = 1;
    failure_ = OpenChannels(options_, channels);
    if (!failure_.ok()) return;
    instances = instance_v1::InstanceAdmin::NewStub(channels[0]);
    databases = database_v1::DatabaseAdmin::NewStub(channels[0]);
    operations = google::longrunning::Operations::NewStub(channels[0]);
  }

  // Ends the attempt if its deadline has passed or the client is closed.
  template <typename Reply, typename Prepare, typename Take>
  void Send(const std::shared_ptr<Attempt>& attempt, Prepare prepare, Take take) {
    if (closing_) return attempt->done(Error(Code::kCancelled, "the client was shut down"));
    if (!failure_.ok()) return attempt->done(failure_);
    auto context = std::make_shared<grpc::ClientContext>();
    context->set_deadline(ToGrpcDeadline(attempt->deadline));
    AddHeaders(attempt->headers, *context);
    const uint64_t id = ++last_call_;
    calls_[id] = context;
    UnaryCall<Reply>::Start(
        context, prepare(*this, context.get()), [=, this](Status status, const Reply& reply) {
          calls_.erase(id);
          if (status.ok()) {
            take(*this, reply, attempt->done);
          } else if (attempt->may_resend && status.code == Code::kUnavailable &&
                     MonotonicNow() < attempt->deadline) {
            Later(kResend, attempt->backoff, [=, this] { Send<Reply>(attempt, prepare, take); });
          } else {
            attempt->done(std::move(status));
          }
          NoticeEnd();
        });
  }

  void PollLater(const std::shared_ptr<Poll>& poll) {
    Later(kPoll, poll->backoff, [=, this] {
      auto attempt = std::make_shared<Attempt>();
      attempt->deadline = MonotonicNow() + call_timeout_;
      attempt->may_resend = true;
      attempt->headers = HeadersOf("name", poll->name, poll->name);
      attempt->done = poll->done;
      google::longrunning::GetOperationRequest request;
      request.set_name(poll->name);
      Send<Operation>(
          attempt,
          [request](Core& core, grpc::ClientContext* context) {
            return core.operations->PrepareAsyncGetOperation(context, request, core.queue());
          },
          [poll](Core& core, const Operation& operation, const Done&) {
            if (operation.done()) return core.Await(operation, poll->done);
            core.PollLater(poll);
          });
    });
  }

  // Runs `task` after a pause, or at once if the client is closed, for which `task` checks.
  void Later(const Backoff& policy, Duration& backoff, EventLoop::Task task) {
    if (closing_) return task();
    const Duration pause = DrawPause(policy, backoff, entropy_, purposes::kCallBackoff);
    const uint64_t id = ++last_pause_;
    pauses_[id] = std::move(task);
    loop_.At(MonotonicNow() + pause, [this, id] {
      auto node = pauses_.extract(id);
      if (!node.empty()) node.mapped()();
    });
  }

  void Close() {
    closing_ = true;
    for (auto& [id, context] : calls_) context->TryCancel();
    for (const auto& [id, task] : std::exchange(pauses_, {})) task();
    NoticeEnd();
  }
  void NoticeEnd() {
    if (closing_ && calls_.empty()) loop_.Stop();
  }

  ConnectionOptions options_;
  const Duration call_timeout_;
  Status failure_;
  OsEntropy entropy_;
  std::map<uint64_t, Context> calls_;
  std::map<uint64_t, EventLoop::Task> pauses_;
  uint64_t last_call_ = 0;
  uint64_t last_pause_ = 0;
  bool closing_ = false;
  EventLoop loop_;
};

AdminClient::AdminClient(ConnectionOptions connection, Duration call_timeout)
    : core_(std::make_unique<Core>(std::move(connection), call_timeout)) {}

AdminClient::~AdminClient() = default;

void AdminClient::CreateInstance(const Instance& instance, Done done) {
  Status status = ValidateInstancePath(instance.path);
  if (!status.ok()) return done(std::move(status));
  const std::string project = instance.path.substr(0, instance.path.find("/instances/"));
  instance_v1::CreateInstanceRequest request;
  request.set_parent(project);
  request.set_instance_id(LastPart(instance.path));
  request.mutable_instance()->set_name(instance.path);
  request.mutable_instance()->set_config(project + "/instanceConfigs/" + instance.config);
  request.mutable_instance()->set_display_name(LastPart(instance.path));
  request.mutable_instance()->set_processing_units(instance.processing_units);
  core_->Call<Operation>(
      "parent", project, /*may_resend=*/false,
      [request](Core& core, grpc::ClientContext* context) {
        return core.instances->PrepareAsyncCreateInstance(context, request, core.queue());
      },
      [](Core& core, const Operation& operation, const Done& end) { core.Await(operation, end); },
      std::move(done));
}

void AdminClient::CreateDatabase(const std::string& database, std::vector<std::string> ddl,
                                 Done done) {
  Status status = ValidateDatabase(database);
  if (status.ok()) status = ValidateId(LastPart(database));
  if (!status.ok()) return done(std::move(status));
  database_v1::CreateDatabaseRequest request;
  request.set_parent(InstanceOf(database));
  request.set_create_statement("CREATE DATABASE `" + LastPart(database) + "`");
  for (std::string& statement : ddl) request.add_extra_statements(std::move(statement));
  core_->Call<Operation>(
      "parent", InstanceOf(database), /*may_resend=*/false,
      [request](Core& core, grpc::ClientContext* context) {
        return core.databases->PrepareAsyncCreateDatabase(context, request, core.queue());
      },
      [](Core& core, const Operation& operation, const Done& end) { core.Await(operation, end); },
      std::move(done));
}

void AdminClient::UpdateDdl(const std::string& database, std::vector<std::string> ddl, Done done) {
  Status status = ValidateDatabase(database);
  if (!status.ok()) return done(std::move(status));
  database_v1::UpdateDatabaseDdlRequest request;
  request.set_database(database);
  for (std::string& statement : ddl) request.add_statements(std::move(statement));
  core_->Call<Operation>(
      "database", database, /*may_resend=*/false,
      [request](Core& core, grpc::ClientContext* context) {
        return core.databases->PrepareAsyncUpdateDatabaseDdl(context, request, core.queue());
      },
      [](Core& core, const Operation& operation, const Done& end) { core.Await(operation, end); },
      std::move(done));
}

void AdminClient::GetDdl(const std::string& database,
                         std::function<void(Status, std::vector<std::string>)> done) {
  Status status = ValidateDatabase(database);
  if (!status.ok()) return done(std::move(status), {});
  database_v1::GetDatabaseDdlRequest request;
  request.set_database(database);
  core_->Call<database_v1::GetDatabaseDdlResponse>(
      "database", database, /*may_resend=*/true,
      [request](Core& core, grpc::ClientContext* context) {
        return core.databases->PrepareAsyncGetDatabaseDdl(context, request, core.queue());
      },
      [done](Core&, const database_v1::GetDatabaseDdlResponse& reply, const Done&) {
        done({}, {reply.statements().begin(), reply.statements().end()});
      },
      [done](Status failure) { done(std::move(failure), {}); });
}

void AdminClient::SpeaksPostgres(const std::string& database,
                                 std::function<void(Status, bool)> done) {
  Status status = ValidateDatabase(database);
  if (!status.ok()) return done(std::move(status), false);
  database_v1::GetDatabaseRequest request;
  request.set_name(database);
  core_->Call<database_v1::Database>(
      "name", database, /*may_resend=*/true,
      [request](Core& core, grpc::ClientContext* context) {
        return core.databases->PrepareAsyncGetDatabase(context, request, core.queue());
      },
      [done](Core&, const database_v1::Database& reply, const Done&) {
        done({}, reply.database_dialect() == database_v1::DatabaseDialect::POSTGRESQL);
      },
      [done](Status failure) { done(std::move(failure), false); });
}

void AdminClient::DropDatabase(const std::string& database, Done done) {
  Status status = ValidateDatabase(database);
  if (!status.ok()) return done(std::move(status));
  database_v1::DropDatabaseRequest request;
  request.set_database(database);
  core_->Call<google::protobuf::Empty>(
      "database", database, /*may_resend=*/true,
      [request](Core& core, grpc::ClientContext* context) {
        return core.databases->PrepareAsyncDropDatabase(context, request, core.queue());
      },
      [](Core&, const google::protobuf::Empty&, const Done& end) { end({}); }, std::move(done));
}

}  // namespace whorl::real_client
