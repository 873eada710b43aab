#include "tests/facts/probe.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <google/rpc/status.pb.h>

#include <stdexcept>
#include <utility>

#include "wire/requests.h"
#include "wire/transactions.h"
#include "wire/values.h"

namespace whorl::facts {
namespace {

namespace v1 = google::spanner::v1;

std::string FormatProtoValue(const google::protobuf::Value& value) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kNullValue:
      return "NULL";
    case google::protobuf::Value::kNumberValue:
      return absl::StrCat(value.number_value());
    case google::protobuf::Value::kStringValue:
      return value.string_value();
    case google::protobuf::Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    default:
      return "?";
  }
}

std::string Rows(int64_t count) { return absl::StrCat(count, count == 1 ? " row" : " rows"); }

Outcome OutcomeOf(const grpc::Status& status) {
  Outcome outcome;
  outcome.code = static_cast<Code>(status.error_code());
  outcome.text = std::string(WordOf(outcome.code));
  outcome.message = status.error_message();
  google::rpc::Status details;
  if (details.ParseFromString(status.error_details())) {
    for (const auto& detail : details.details()) {
      absl::StrAppend(&outcome.details, detail.type_url(), "\n");
    }
  }
  return outcome;
}

std::string TextOf(const v1::ResultSet& set, const std::vector<std::vector<std::string>>& rows) {
  if (set.stats().has_row_count_exact() && set.metadata().row_type().fields().empty()) {
    return Rows(set.stats().row_count_exact());
  }
  if (rows.empty()) return "no row";
  std::vector<std::string> texts;
  for (const auto& row : rows) texts.push_back(absl::StrCat("[", absl::StrJoin(row, ", "), "]"));
  return absl::StrJoin(texts, " ");
}

}  // namespace

// --- arguments and mutations ---------------------------------------------------------------------

Argument Text(std::string name, const std::string& text, std::optional<Type> type) {
  Argument argument = {.name = std::move(name), .type = type, .value = {}};
  argument.value.set_string_value(text);
  return argument;
}
Argument Time(std::string name, const std::string& text) {
  return Text(std::move(name), text, Type::kTimestamp);
}
Argument Number(std::string name, double number, std::optional<Type> type) {
  Argument argument = {.name = std::move(name), .type = type, .value = {}};
  argument.value.set_number_value(number);
  return argument;
}
Argument NullOf(std::string name, std::optional<Type> type) {
  Argument argument = {.name = std::move(name), .type = type, .value = {}};
  argument.value.set_null_value(google::protobuf::NULL_VALUE);
  return argument;
}

Mutation Put(MutationKind kind, std::vector<std::string> columns, Row values) {
  return {.kind = kind,
          .table = "locktable",
          .columns = std::move(columns),
          .rows = {std::move(values)},
          .keys = {}};
}
Mutation DeleteRow(std::string name) {
  return {.kind = MutationKind::kDelete,
          .table = "locktable",
          .columns = {},
          .rows = {},
          .keys = {.keys = {{std::move(name)}}}};
}

Timestamp Outcome::TimeAt(size_t row, size_t column) const {
  if (row >= rows.size() || column >= rows[row].size()) return {};
  return ParseRfc3339(rows[row][column]).value_or(Timestamp());
}

// --- a client ------------------------------------------------------------------------------------

const std::string& Client::session() {
  if (session_.empty()) {
    const auto heard = probe_.spanner().CreateSession(probe_.database(), multiplexed_);
    if (!heard.ok()) throw std::runtime_error("no session: " + heard.status.error_message());
    session_ = heard.reply.name();
  }
  return session_;
}

const Outcome& Client::Begin(const std::variant<BeginReadWrite, BeginReadOnly>& options) {
  v1::BeginTransactionRequest request;
  request.set_session(session());
  *request.mutable_options() = wire::EncodeOptions(options);
  const auto heard = probe_.spanner().BeginTransaction(request);
  Outcome outcome = OutcomeOf(heard.status);
  outcome.transaction = heard.reply.id();
  if (heard.reply.has_read_timestamp()) {
    outcome.read = wire::DecodeTimestamp(heard.reply.read_timestamp());
  }
  transaction_ = outcome.transaction;
  sequence_ = 0;
  return probe_.Hear(std::move(outcome));
}

v1::ExecuteSqlRequest Client::Encode(const Call& call) {
  v1::ExecuteSqlRequest request;
  request.set_session(session());
  request.set_sql(call.sql);
  if (call.selector) {
    *request.mutable_transaction() = wire::EncodeSelector(*call.selector);
  } else if (!transaction_.empty()) {
    request.mutable_transaction()->set_id(transaction_.str());
  }
  if (call.sequence) sequence_ = *call.sequence - 1;
  request.set_seqno(++sequence_);
  request.set_last_statement(call.last_statement);
  for (const Argument& argument : call.arguments) {
    (*request.mutable_params()->mutable_fields())[argument.name] = argument.value;
    if (argument.type) {
      (*request.mutable_param_types())[argument.name] = wire::EncodeType(*argument.type);
    }
  }
  return request;
}

const Outcome& Client::HearRows(const grpc::Status& status, const v1::ResultSet& set,
                                bool has_retry_info) {
  Outcome outcome = OutcomeOf(status);
  outcome.has_retry_info = has_retry_info;
  outcome.metadata = set.metadata();
  outcome.transaction = set.metadata().transaction().id();
  outcome.has_stats = set.has_stats();
  outcome.has_precommit_token = set.has_precommit_token();
  if (set.metadata().transaction().has_read_timestamp()) {
    outcome.read = wire::DecodeTimestamp(set.metadata().transaction().read_timestamp());
  }
  for (const auto& row : set.rows()) {
    std::vector<std::string>& values = outcome.rows.emplace_back();
    for (const auto& value : row.values()) values.push_back(FormatProtoValue(value));
  }
  if (status.ok()) outcome.text = TextOf(set, outcome.rows);
  if (!outcome.transaction.empty()) transaction_ = outcome.transaction;
  if (set.has_precommit_token() && set.precommit_token().seq_num() >= precommit_sequence_) {
    precommit_token_ = set.precommit_token().precommit_token();
    precommit_sequence_ = set.precommit_token().seq_num();
  }
  return probe_.Hear(std::move(outcome));
}

const Outcome& Client::Run(const Call& call) {
  const auto heard = probe_.spanner().ExecuteSql(Encode(call));
  return HearRows(heard.status, heard.reply, heard.retry_info.has_value());
}

const Outcome& Client::BeginWith(const std::string& sql, std::vector<Argument> arguments) {
  transaction_.clear();
  sequence_ = 0;
  return Run({.sql = sql, .arguments = std::move(arguments), .selector = BeginReadWrite{}});
}

const Outcome& Client::Stream(const Call& call) {
  const auto heard = probe_.spanner().ExecuteStreamingSql(Encode(call));
  v1::ResultSet set;
  std::vector<google::protobuf::Value> values;
  for (const v1::PartialResultSet& part : heard.reply) {
    if (part.has_metadata()) *set.mutable_metadata() = part.metadata();
    if (part.has_stats()) *set.mutable_stats() = part.stats();
    if (part.has_precommit_token()) *set.mutable_precommit_token() = part.precommit_token();
    if (part.chunked_value()) throw std::runtime_error("a chunked value in a probe");
    values.insert(values.end(), part.values().begin(), part.values().end());
  }
  const size_t width = static_cast<size_t>(set.metadata().row_type().fields_size());
  for (size_t i = 0; width != 0 && i < values.size(); ++i) {
    if (i % width == 0) set.add_rows();
    *set.mutable_rows(set.rows_size() - 1)->add_values() = values[i];
  }
  return HearRows(heard.status, set, heard.retry_info.has_value());
}

const Outcome& Client::Batch(const std::vector<std::string>& statements) {
  v1::ExecuteBatchDmlRequest request;
  request.set_session(session());
  if (transaction_.empty()) {
    *request.mutable_transaction() = wire::EncodeSelector(BeginReadWrite{});
  } else {
    request.mutable_transaction()->set_id(transaction_.str());
  }
  request.set_seqno(++sequence_);
  for (const std::string& statement : statements) request.add_statements()->set_sql(statement);
  const auto heard = probe_.spanner().ExecuteBatchDml(request);
  Outcome outcome = OutcomeOf(heard.status);
  if (outcome.ok()) {
    std::vector<std::string> texts;
    for (const v1::ResultSet& set : heard.reply.result_sets()) {
      texts.push_back(Rows(set.stats().row_count_exact()));
      if (set.metadata().has_transaction()) transaction_ = set.metadata().transaction().id();
    }
    outcome.code = static_cast<Code>(heard.reply.status().code());
    texts.emplace_back(WordOf(outcome.code));
    outcome.text = absl::StrJoin(texts, ", ");
  }
  return probe_.Hear(std::move(outcome));
}

const Outcome& Client::Read(const std::vector<std::string>& columns, const std::string& name,
                            std::optional<TransactionSelector> selector) {
  v1::ReadRequest request;
  request.set_session(session());
  if (selector) {
    *request.mutable_transaction() = wire::EncodeSelector(*selector);
  } else if (!transaction_.empty()) {
    request.mutable_transaction()->set_id(transaction_.str());
  }
  request.set_table("locktable");
  for (const std::string& column : columns) request.add_columns(column);
  if (name.empty()) {
    request.mutable_key_set()->set_all(true);
  } else {
    request.mutable_key_set()->add_keys()->add_values()->set_string_value(name);
  }
  const auto heard = probe_.spanner().Read(request);
  return HearRows(heard.status, heard.reply, heard.retry_info.has_value());
}

const Outcome& Client::Commit(std::vector<Mutation> mutations) {
  whorl::Commit commit = {.session = session(), .mutations = std::move(mutations)};
  commit.transaction = SingleUseWrite{};
  if (!transaction_.empty()) commit.transaction = transaction_;
  commit.precommit_token = precommit_token_;
  commit.precommit_sequence = precommit_sequence_;
  const auto heard = probe_.spanner().Commit(wire::Encode(commit));
  Outcome outcome = OutcomeOf(heard.status);
  outcome.has_retry_info = heard.retry_info.has_value();
  outcome.commit = wire::DecodeTimestamp(heard.reply.commit_timestamp()).value_or(Timestamp::Min());
  outcome.has_precommit_token = heard.reply.has_precommit_token();
  if (outcome.has_precommit_token) {
    outcome.text = "a token instead";
    precommit_token_ = heard.reply.precommit_token().precommit_token();
    precommit_sequence_ = heard.reply.precommit_token().seq_num();
  }
  return probe_.Hear(std::move(outcome));
}

const Outcome& Client::Rollback() {
  v1::RollbackRequest request;
  request.set_session(session());
  request.set_transaction_id(transaction_.str());
  return probe_.Hear(probe_.spanner().Rollback(request).status);
}

const Outcome& Client::Delete() {
  return probe_.Hear(probe_.spanner().DeleteSession(session()).status);
}

// --- a probe -------------------------------------------------------------------------------------

Probe::Probe(RawSpanner& spanner, const std::string& id)
    : spanner_(spanner), database_(RawSpanner::DatabaseName(id)) {
  const grpc::Status status = spanner.CreateDatabase(
      id, {"CREATE TABLE locktable (name STRING(MAX) NOT NULL, "
           "heartbeat TIMESTAMP OPTIONS (allow_commit_timestamp=true), "
           "token TIMESTAMP OPTIONS (allow_commit_timestamp=true), writer STRING(MAX)) "
           "PRIMARY KEY (name)"});
  if (!status.ok()) throw std::runtime_error("no database: " + status.error_message());
}

Probe::~Probe() {
  google::spanner::admin::database::v1::DropDatabaseRequest request;
  request.set_database(database_);
  grpc::ClientContext context;
  google::protobuf::Empty reply;
  // A database that cannot be dropped ends with the server.
  (void)spanner_.databases().DropDatabase(&context, request, &reply);
}

Timestamp Probe::Do(const std::string& sql, std::vector<Argument> arguments) {
  Client client(*this, false);
  const bool before = std::exchange(quietly_, true);
  const bool began = client.BeginWith(sql, std::move(arguments)).ok();
  const Outcome outcome = began ? client.Commit() : last_;
  quietly_ = before;
  if (!outcome.ok()) throw std::runtime_error(sql + ": " + outcome.text + " " + outcome.message);
  return outcome.commit;
}

Timestamp Probe::Insert(const std::string& name) {
  return Do(
      "INSERT INTO locktable (name, heartbeat, token) "
      "VALUES (@name, PENDING_COMMIT_TIMESTAMP(), PENDING_COMMIT_TIMESTAMP())",
      {Text("name", name)});
}

void Probe::Is(std::string_view what, bool holds) {
  Add(holds ? std::string(what) : "not: " + std::string(what));
}

const Outcome& Probe::Hear(const grpc::Status& status) { return Hear(OutcomeOf(status)); }

const Outcome& Probe::Hear(Outcome outcome) {
  last_ = std::move(outcome);
  if (!last_.message.empty()) absl::StrAppend(&messages_, last_.text, ": ", last_.message, "\n");
  Add(last_.text);
  return last_;
}

void Probe::Add(std::string text) {
  if (!quietly_) heard_.push_back(std::move(text));
}

std::string Probe::Transcript() const { return absl::StrJoin(heard_, " | "); }

}  // namespace whorl::facts
