#include "live/operator.h"

#include <grpcpp/client_context.h>

#include <chrono>
#include <map>
#include <utility>
#include <variant>

#include "base/text.h"
#include "wire/requests.h"
#include "wire/responses.h"
#include "wire/results.h"
#include "wire/status.h"

namespace whorl::live {
namespace {

namespace v1 = google::spanner::v1;

using Spanner = v1::Spanner::Stub;

template <typename Request, typename Reply>
Status Call(Spanner& spanner,
            grpc::Status (Spanner::*method)(grpc::ClientContext*, const Request&, Reply*),
            const Request& request, Reply& reply) {
  constexpr auto kDeadline = std::chrono::seconds(10);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  return wire::DecodeStatus((spanner.*method)(&context, request, &reply));
}

std::string SelectAll(const ProtocolInfo& protocol, const std::string& table) {
  std::string columns;
  for (const ColumnInfo& column : protocol.columns) {
    if (!columns.empty()) columns += ", ";
    columns += column.name;
  }
  return "SELECT " + columns + " FROM " + table;
}

}  // namespace

Operator::Operator(const std::shared_ptr<grpc::Channel>& channel, const ProtocolInfo& protocol,
                   std::string database, std::string table)
    : spanner_(v1::Spanner::NewStub(channel)),
      protocol_(protocol),
      database_(std::move(database)),
      table_(std::move(table)) {}

Status Operator::Session(SessionName& out) {
  if (session_.empty()) {
    v1::Session reply;
    Status status = Call(*spanner_, &Spanner::CreateSession,
                         wire::Encode(CreateSession{.multiplexed = true}, database_), reply);
    if (!status.ok()) return status;
    session_ = reply.name();
  }
  out = session_;
  return {};
}

Status Operator::Write(sim::OperatorWrite write, Timestamp& commit) {
  if (auto* statement = std::get_if<Statement>(&write)) return Run(std::move(*statement), commit);
  Commit call;
  Status status = Session(call.session);
  if (!status.ok()) return status;
  call.transaction = SingleUseWrite{};
  call.mutations.push_back(std::move(std::get<Mutation>(write)));
  return CommitOf(std::move(call), commit);
}

// In a read-write transaction. If it is aborted, the caller runs all of it again.
Status Operator::Run(Statement statement, Timestamp& commit) {
  ExecuteSql call;
  Status status = Session(call.session);
  if (!status.ok()) return status;
  call.transaction = BeginReadWrite{};
  call.statement = std::move(statement);
  call.sequence_number = 1;
  v1::ResultSet reply;
  status = Call(*spanner_, &Spanner::ExecuteSql, wire::Encode(call), reply);
  Response response;
  wire::ResultShape shape;
  if (status.ok()) status = wire::DecodeResultSet(reply, response, shape);
  if (!status.ok()) return status;
  Commit end;
  end.session = call.session;
  end.transaction = response.transaction;
  return CommitOf(std::move(end), commit);
}

Status Operator::CommitOf(Commit call, Timestamp& commit) {
  v1::CommitResponse reply;
  Status status = Call(*spanner_, &Spanner::Commit, wire::Encode(call), reply);
  Response response;
  if (status.ok()) status = wire::DecodeCommitResponse(reply, response);
  commit = response.commit_timestamp;
  return status;
}

Status Operator::Insert(std::vector<Row> rows) {
  Mutation insert = {.kind = MutationKind::kInsert, .table = table_};
  for (const ColumnInfo& column : protocol_.columns) insert.columns.emplace_back(column.name);
  insert.rows = std::move(rows);
  Timestamp commit;
  return Write(std::move(insert), commit);
}

void Operator::Rollback(const SessionName& session, const TransactionId& transaction) {
  google::protobuf::Empty reply;
  Call(*spanner_, &Spanner::Rollback,
       wire::Encode(whorl::Rollback{.session = session, .transaction = transaction}), reply);
}

void Operator::DeleteSession(const SessionName& session) {
  google::protobuf::Empty reply;
  Call(*spanner_, &Spanner::DeleteSession, wire::Encode(whorl::DeleteSession{.session = session}),
       reply);
}

Status Operator::RowsAt(std::optional<Timestamp> at, std::vector<Row>& out) {
  return Query({.sql = Sql::Intern(SelectAll(protocol_, table_)), .parameters = {}}, at, out);
}

Status Operator::Query(Statement statement, std::optional<Timestamp> at, std::vector<Row>& out) {
  ExecuteSql call;
  Status status = Session(call.session);
  if (!status.ok()) return status;
  SingleUseRead read;
  if (at) read.bound = {.kind = BoundKind::kReadTimestamp, .timestamp = *at};
  call.transaction = read;
  call.statement = std::move(statement);
  v1::ResultSet reply;
  status = Call(*spanner_, &Spanner::ExecuteSql, wire::Encode(call), reply);
  Response response;
  wire::ResultShape shape;
  if (status.ok()) status = wire::DecodeResultSet(reply, response, shape);
  if (status.ok()) out = std::move(response.result.rows);
  return status;
}

std::string Operator::WhyNotThisTable() {
  std::vector<Row> found;
  const Status status =
      Query({.sql = Sql::Intern("SELECT LOWER(COLUMN_NAME), SPANNER_TYPE FROM "
                                "INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = '' AND "
                                "LOWER(TABLE_NAME) = LOWER(@table)",
                                {{.name = "table", .type = Type::kString}}),
             .parameters = {table_}},
            std::nullopt, found);
  if (!status.ok()) return {};
  if (found.empty()) return Cat("there is no table ", Quoted(table_));
  std::map<std::string, std::string> types;
  std::string has;
  for (const Row& row : found) {
    const auto& name = std::get<std::string>(row[0]);
    types[name] = std::get<std::string>(row[1]);
    has += Cat(has.empty() ? "" : ", ", name);
  }
  std::string lacks;
  for (const ColumnInfo& column : protocol_.columns) {
    // "STRING(MAX)" is a STRING.
    const auto type = types.find(std::string(column.name));
    if (type != types.end() && type->second.starts_with(WordOf(column.type))) continue;
    lacks += Cat(lacks.empty() ? "" : ", ", column.name, " ", WordOf(column.type));
  }
  if (lacks.empty()) return {};
  return Cat("table ", Quoted(table_), " has not ", protocol_.name, "'s columns: it lacks ", lacks,
             "; it has ", has);
}

}  // namespace whorl::live
