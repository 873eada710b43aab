// The admin services and their operations: databases are created, changed and dropped here.
#include <google/protobuf/empty.pb.h>

#include "spanner_model/server/backend.h"
#include "spanner_model/server/methods.h"
#include "spanner_model/server/resource_names.h"
#include "wire/transactions.h"
#include "wire/values.h"

namespace whorl::server {
namespace {

constexpr std::string_view kConfig = "whorl-config";

Status Invalid(std::string message) { return Error(Code::kInvalidArgument, std::move(message)); }

instance_admin::InstanceConfig MakeConfig(std::string_view project) {
  instance_admin::InstanceConfig config;
  config.set_name(ChildName(project, "instanceConfigs", kConfig));
  config.set_display_name("whorl");
  return config;
}

database_admin::Database Describe(const ServedDatabase& served, Duration retention) {
  database_admin::Database database;
  database.set_name(served.name());
  database.set_state(database_admin::Database::READY);
  *database.mutable_create_time() = wire::EncodeTimestamp(served.created());
  database.set_version_retention_period(std::to_string(retention.ns / 1'000'000'000) + "s");
  database.set_database_dialect(database_admin::GOOGLE_STANDARD_SQL);
  return database;
}

}  // namespace

// --- operations ----------------------------------------------------------------------------------

std::string Backend::OperationName(const std::string& of, const std::string& id) {
  return ChildName(of, "operations",
                   id.empty() ? "_auto" + std::to_string(++operations_made_) : id);
}

Answer Backend::FinishOperation(std::string name, const google::protobuf::Message& metadata,
                                const google::protobuf::Message& response) {
  longrunning::Operation operation;
  operation.set_name(name);
  operation.set_done(true);
  operation.mutable_metadata()->PackFrom(metadata);
  operation.mutable_response()->PackFrom(response);
  operations_.insert_or_assign(std::move(name), operation);
  return AnswerWith(std::move(operation));
}

Answer Backend::GetOperation(const longrunning::GetOperationRequest& proto) const {
  const auto found = operations_.find(proto.name());
  if (found == operations_.end()) {
    return Refused(Error(Code::kNotFound, "Operation not found: " + proto.name()));
  }
  return AnswerWith(found->second);
}

// --- instances -----------------------------------------------------------------------------------

Answer Backend::CreateInstance(const instance_admin::CreateInstanceRequest& proto, Timestamp now) {
  if (!IsProjectName(proto.parent())) {
    return Refused(Invalid("Invalid project: " + proto.parent()));
  }
  if (!IsNewInstanceId(proto.instance_id())) {
    return Refused(Invalid(
        "Instance ID must start with a lowercase letter, be 2-64 characters long, contain only "
        "lowercase letters, numbers, or hyphens, and not end with a hyphen. Got: " +
        proto.instance_id()));
  }
  instance_admin::Instance instance = proto.instance();
  instance.set_name(ChildName(proto.parent(), "instances", proto.instance_id()));
  instance.set_state(instance_admin::Instance::READY);
  *instance.mutable_create_time() = wire::EncodeTimestamp(now);
  *instance.mutable_update_time() = wire::EncodeTimestamp(now);
  if (!instances_.emplace(instance.name(), instance).second) {
    return Refused(Error(Code::kAlreadyExists, "Instance already exists: " + instance.name()));
  }
  instance_admin::CreateInstanceMetadata metadata;
  *metadata.mutable_instance() = instance;
  return FinishOperation(OperationName(instance.name(), ""), metadata, instance);
}

Answer Backend::GetInstance(const instance_admin::GetInstanceRequest& proto) const {
  const auto found = instances_.find(proto.name());
  if (found == instances_.end()) return Refused(InstanceNotFound(proto.name()));
  return AnswerWith(found->second);
}

Answer Backend::ListInstances(const instance_admin::ListInstancesRequest& proto) const {
  if (!IsProjectName(proto.parent())) {
    return Refused(Invalid("Invalid project: " + proto.parent()));
  }
  instance_admin::ListInstancesResponse response;
  for (const auto& [name, instance] : instances_) {
    if (name.starts_with(proto.parent() + "/")) *response.add_instances() = instance;
  }
  return AnswerWith(std::move(response));
}

void Backend::DeleteInstance(const instance_admin::DeleteInstanceRequest& proto,
                             const BackendCall& call) {
  if (instances_.erase(proto.name()) == 0) return call.Refuse(InstanceNotFound(proto.name()));
  std::vector<std::string> its;
  for (const auto& [name, entry] : databases_) {
    if (InstanceOf(name) == proto.name()) its.push_back(name);
  }
  for (const std::string& name : its) Drop(name, call.out);
  call.out.push_back({.tag = call.tag, .answer = AnswerWith(google::protobuf::Empty())});
}

Answer Backend::GetInstanceConfig(const instance_admin::GetInstanceConfigRequest& proto) const {
  const std::string& name = proto.name();
  const std::string project = name.substr(0, name.find("/instanceConfigs/"));
  if (!IsProjectName(project) || MakeConfig(project).name() != name) {
    return Refused(Error(Code::kNotFound, "Instance config not found: " + name));
  }
  return AnswerWith(MakeConfig(project));
}

Answer Backend::ListInstanceConfigs(const instance_admin::ListInstanceConfigsRequest& proto) const {
  if (!IsProjectName(proto.parent())) {
    return Refused(Invalid("Invalid project: " + proto.parent()));
  }
  instance_admin::ListInstanceConfigsResponse response;
  *response.add_instance_configs() = MakeConfig(proto.parent());
  return AnswerWith(std::move(response));
}

// --- databases -----------------------------------------------------------------------------------

const Backend::Entry* Backend::FindDatabase(const std::string& name) const {
  const auto found = databases_.find(name);
  return found == databases_.end() ? nullptr : found->second.get();
}

Status Backend::MakeDatabase(const std::string& name, const std::vector<std::string>& statements,
                             Timestamp now) {
  if (databases_.contains(name)) {
    return Error(Code::kAlreadyExists, "Database already exists: " + name);
  }
  auto change = PlanSchemaChange(model::Schema{}, statements);
  if (auto* error = std::get_if<Status>(&change)) return std::move(*error);
  // Differs from those of an earlier server, too, unless that created more than one database a
  // second.
  const auto incarnation = static_cast<uint32_t>(now.seconds()) + ++databases_made_;
  auto entry = std::make_unique<Entry>(name, incarnation, options_, now);
  std::vector<CallOutcome> none;
  entry->served.ChangeSchema(std::get<SchemaChange>(std::move(change)), now, none);
  databases_.emplace(name, std::move(entry));
  return {};
}

Status Backend::Start(Timestamp now) {
  for (const InitialDatabase& database : options_.databases) {
    if (!IsDatabaseName(database.name)) return Invalid("Invalid database: " + database.name);
    instance_admin::Instance instance;
    instance.set_name(InstanceOf(database.name));
    instance.set_state(instance_admin::Instance::READY);
    instances_.emplace(instance.name(), instance);
    Status status = MakeDatabase(database.name, database.statements, now);
    if (!status.ok()) return status;
  }
  return {};
}

Answer Backend::CreateDatabase(const database_admin::CreateDatabaseRequest& proto, Timestamp now) {
  if (!instances_.contains(proto.parent())) return Refused(InstanceNotFound(proto.parent()));
  if (proto.database_dialect() == database_admin::POSTGRESQL) {
    return Refused(Error(Code::kUnimplemented, "A dialect other than GoogleSQL is not modelled"));
  }
  if (!proto.proto_descriptors().empty()) {
    return Refused(Error(Code::kUnimplemented, "A column of protos is not modelled"));
  }
  const auto id = ParseCreateDatabase(proto.create_statement());
  if (!id) {
    return Refused(Invalid(
        "Error parsing Spanner DDL statement: " + proto.create_statement() +
        " : Expected CREATE DATABASE and an id of 2-30 lowercase letters, digits, underscores "
        "and hyphens, a letter first and no hyphen last"));
  }
  const std::string name = ChildName(proto.parent(), "databases", *id);
  Status status =
      MakeDatabase(name, {proto.extra_statements().begin(), proto.extra_statements().end()}, now);
  if (!status.ok()) return Refused(std::move(status));
  database_admin::CreateDatabaseMetadata metadata;
  metadata.set_database(name);
  return FinishOperation(OperationName(name, ""), metadata,
                         Describe(databases_.at(name)->served, options_.model.version_retention));
}

Answer Backend::GetDatabase(const database_admin::GetDatabaseRequest& proto) const {
  const Entry* entry = FindDatabase(proto.name());
  if (entry == nullptr) return Refused(DatabaseNotFound(proto.name()));
  return AnswerWith(Describe(entry->served, options_.model.version_retention));
}

Answer Backend::GetDatabaseDdl(const database_admin::GetDatabaseDdlRequest& proto) const {
  const Entry* entry = FindDatabase(proto.database());
  if (entry == nullptr) return Refused(DatabaseNotFound(proto.database()));
  database_admin::GetDatabaseDdlResponse response;
  for (std::string& statement : PrintSchema(entry->served.schema())) {
    response.add_statements(std::move(statement));
  }
  return AnswerWith(std::move(response));
}

Answer Backend::ListDatabases(const database_admin::ListDatabasesRequest& proto) const {
  if (!instances_.contains(proto.parent())) return Refused(InstanceNotFound(proto.parent()));
  database_admin::ListDatabasesResponse response;
  for (const auto& [name, entry] : databases_) {
    if (InstanceOf(name) != proto.parent()) continue;
    *response.add_databases() = Describe(entry->served, options_.model.version_retention);
  }
  return AnswerWith(std::move(response));
}

void Backend::UpdateDatabaseDdl(const database_admin::UpdateDatabaseDdlRequest& proto,
                                const BackendCall& call) {
  const auto found = databases_.find(proto.database());
  if (found == databases_.end()) return call.Refuse(DatabaseNotFound(proto.database()));
  if (proto.statements().empty()) {
    return call.Refuse(wire::MissingField("UpdateDatabaseDdlRequest.statements"));
  }
  const std::string operation = OperationName(proto.database(), proto.operation_id());
  if (operations_.contains(operation)) {
    return call.Refuse(Error(Code::kAlreadyExists, "Operation already exists: " + operation));
  }
  found->second->updates.push_back(
      {.tag = call.tag,
       .statements = {proto.statements().begin(), proto.statements().end()},
       .operation = operation});
  if (found->second->served.IsCommitting()) return call.Park();
  UpdateSchemas(*found->second, call.now, call.out);
}

void Backend::UpdateSchemas(Entry& entry, Timestamp now, std::vector<CallOutcome>& out) {
  while (!entry.updates.empty() && !entry.served.IsCommitting()) {
    const SchemaUpdate update = std::move(entry.updates.front());
    entry.updates.pop_front();
    auto change = PlanSchemaChange(entry.served.schema(), update.statements);
    if (auto* error = std::get_if<Status>(&change)) {
      out.push_back({.tag = update.tag, .answer = Refused(std::move(*error))});
      continue;
    }
    entry.served.ChangeSchema(std::get<SchemaChange>(std::move(change)), now, out);
    database_admin::UpdateDatabaseDdlMetadata metadata;
    metadata.set_database(entry.served.name());
    for (const std::string& statement : update.statements) {
      metadata.add_statements(statement);
      *metadata.add_commit_timestamps() = wire::EncodeTimestamp(now);
    }
    out.push_back(
        {.tag = update.tag,
         .answer = FinishOperation(update.operation, metadata, google::protobuf::Empty())});
  }
  if (!entry.updates.empty()) return;
  const std::deque<WaitingCall> waited = std::exchange(entry.behind_it, {});
  for (const WaitingCall& call : waited) Handle(*call.method, call.request, call.tag, now, out);
}

void Backend::Drop(const std::string& database, std::vector<CallOutcome>& out) {
  const auto found = databases_.find(database);
  Entry& entry = *found->second;
  const Status gone = DatabaseNotFound(database);
  entry.served.RefuseAll(gone, out);
  for (const SchemaUpdate& update : entry.updates) {
    out.push_back({.tag = update.tag, .answer = Refused(gone)});
  }
  for (const WaitingCall& call : entry.behind_it) {
    out.push_back({.tag = call.tag, .answer = Refused(gone)});
  }
  databases_.erase(found);
  std::erase_if(operations_, [prefix = database + "/"](const auto& operation) {
    return operation.first.starts_with(prefix);
  });
}

void Backend::DropDatabase(const database_admin::DropDatabaseRequest& proto,
                           const BackendCall& call) {
  if (!databases_.contains(proto.database())) {
    return call.Refuse(DatabaseNotFound(proto.database()));
  }
  Drop(proto.database(), call.out);
  call.out.push_back({.tag = call.tag, .answer = AnswerWith(google::protobuf::Empty())});
}

}  // namespace whorl::server
