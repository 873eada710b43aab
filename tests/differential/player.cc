#include "tests/differential/player.h"

#include <google/protobuf/empty.pb.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "wire/results.h"
#include "wire/transactions.h"
#include "wire/values.h"

namespace whorl::differential {
namespace {

namespace v1 = google::spanner::v1;
namespace admin = google::spanner::admin::database::v1;

// Replaces the commit timestamp of a commit that failed.
Timestamp NoCommit() { return *ParseRfc3339("2001-01-01T00:00:00Z"); }

// Whether `a` is behind `b` by the first part in which they differ, and that is a time in both.
bool IsLater(const Row& a, const Row& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) continue;
    const auto* time = std::get_if<Timestamp>(&a[i]);
    const auto* other = std::get_if<Timestamp>(&b[i]);
    return time != nullptr && other != nullptr && *time > *other;
  }
  return false;
}

std::string TypeText(const v1::Type& type) { return v1::TypeCode_Name(type.code()); }

std::vector<std::string> FieldTexts(const v1::StructType& type) {
  std::vector<std::string> texts;
  for (const v1::StructType::Field& field : type.fields()) {
    texts.push_back(field.name() + " " + TypeText(field.type()));
  }
  return texts;
}

// Reassembles the parts of a stream.
v1::ResultSet Join(const std::vector<v1::PartialResultSet>& parts) {
  v1::ResultSet set;
  google::protobuf::ListValue values;
  bool chunked = false;
  for (const v1::PartialResultSet& part : parts) {
    if (part.has_metadata()) *set.mutable_metadata() = part.metadata();
    if (part.has_stats()) *set.mutable_stats() = part.stats();
    if (part.has_precommit_token()) *set.mutable_precommit_token() = part.precommit_token();
    const Status status = wire::AppendValues(part.values(), chunked, values);
    if (!status.ok()) throw std::runtime_error("a stream of parts that do not fit");
    if (part.values_size() > 0) chunked = part.chunked_value();
  }
  const int width = set.metadata().row_type().fields_size();
  for (int i = 0; i < values.values_size(); ++i) {
    if (i % width == 0) set.add_rows();
    *set.mutable_rows(set.rows_size() - 1)->add_values() = values.values(i);
  }
  return set;
}

Heard<v1::ResultSet> Whole(const Heard<std::vector<v1::PartialResultSet>>& heard) {
  return {.status = heard.status, .reply = heard.ok() ? Join(heard.reply) : v1::ResultSet()};
}

std::string Brackets(const std::vector<std::string>& texts) {
  std::string all = "[";
  for (const std::string& text : texts) all += (all.size() > 1 ? ", " : "") + text;
  return all + "]";
}

// The operation that began the transaction in which the operation runs.
int BeganBy(const Operation& operation) {
  const Selector& selector = operation.transaction;
  return selector.kind == SelectorKind::kOf ? selector.of : operation.id;
}

}  // namespace

std::string Describe(const Answer& answer) {
  std::string text = "code " + std::to_string(answer.code);
  if (!answer.message.empty()) text += " " + answer.message.substr(0, 300);
  if (answer.began) text += "; began a transaction";
  if (!answer.commit.empty()) text += "; " + answer.commit + answer.place_of_commit;
  if (!answer.place_of_read.empty()) text += "; read" + answer.place_of_read;
  for (const ResultAnswer& result : answer.results) {
    text += "\n        " + Brackets(result.columns);
    if (!result.undeclared.empty()) text += " undeclared " + Brackets(result.undeclared);
    if (result.count) text += " count " + std::to_string(*result.count);
    for (const auto& row : result.rows) text += "\n          " + Brackets(row);
  }
  if (answer.batch_code != grpc::StatusCode::OK) {
    text += "\n        then code " + std::to_string(answer.batch_code);
  }
  return text;
}

Player::Player(RawSpanner& spanner, std::string database, bool has_multiplexed_sessions)
    : spanner_(spanner),
      database_(std::move(database)),
      has_multiplexed_sessions_(has_multiplexed_sessions) {}

Player::~Player() {
  for (const auto& [operation, begun] : open_) {
    v1::RollbackRequest request;
    request.set_session(SessionName(begun.session));
    request.set_transaction_id(begun.id);
    spanner_.Rollback(request);
  }
  grpc::ClientContext context;
  admin::DropDatabaseRequest request;
  request.set_database(RawSpanner::DatabaseName(database_));
  google::protobuf::Empty reply;
  spanner_.databases().DropDatabase(&context, request, &reply);
}

void Player::Prepare(const Sequence& sequence) {
  const grpc::Status status = spanner_.CreateDatabase(database_, sequence.schema);
  if (!status.ok()) throw std::runtime_error("CreateDatabase: " + status.error_message());
  for (int i = 0; i < sequence.sessions; ++i) SessionName(i);
}

const std::string& Player::SessionName(int session) {
  while (static_cast<size_t>(session) >= sessions_.size()) {
    ++calls_;
    const auto heard =
        spanner_.CreateSession(RawSpanner::DatabaseName(database_), has_multiplexed_sessions_);
    if (!heard.ok()) throw std::runtime_error("CreateSession: " + heard.status.error_message());
    sessions_.push_back(heard.reply.name());
  }
  return sessions_[session];
}

// --- what is sent --------------------------------------------------------------------------------

Value Player::Resolve(const Value& value) const {
  const auto* timestamp = std::get_if<Timestamp>(&value);
  const auto time = timestamp == nullptr ? std::nullopt : FindCommitTime(*timestamp);
  if (!time) return value;
  const auto commit = commits_.find(time->operation);
  if (commit == commits_.end()) return NoCommit();
  const Timestamp resolved = commit->second + Microseconds(time->plus_microseconds);
  names_.emplace(resolved, "commit of #" + std::to_string(time->operation) + " plus " +
                               std::to_string(time->plus_microseconds) + " us");
  return resolved;
}

Row Player::Resolve(const Row& row) const {
  Row resolved;
  for (const Value& value : row) resolved.push_back(Resolve(value));
  return resolved;
}

KeySet Player::Resolve(const KeySet& keys) const {
  KeySet resolved = keys;
  for (Row& key : resolved.keys) key = Resolve(key);
  for (KeySpan& span : resolved.spans) {
    span.start = Resolve(span.start);
    span.end = Resolve(span.end);
    // NoCommit(), where the commit failed, may be on the wrong side of the other end.
    if (IsLater(span.start, span.end)) std::swap(span.start, span.end);
  }
  return resolved;
}

bool Player::CanSelect(const Selector& selector) const {
  const auto time = FindCommitTime(selector.bound.timestamp);
  if (time && commits_.count(time->operation) == 0) return false;
  return selector.kind != SelectorKind::kOf || begun_.count(selector.of) > 0;
}

const std::string& Player::IdOf(const Selector& selector) const {
  return selector.kind == SelectorKind::kOf ? begun_.at(selector.of).id : selector.wrong_id;
}

v1::TransactionOptions Player::MakeOptions(const Selector& selector) const {
  if (selector.kind == SelectorKind::kBeginReadWrite) {
    return wire::EncodeOptions(BeginReadWrite{
        .lock_mode = selector.optimistic ? LockMode::kOptimistic : LockMode::kPessimistic});
  }
  BeginReadOnly begin{.bound = selector.bound,
                      .return_read_timestamp = selector.return_read_timestamp};
  begin.bound.timestamp = std::get<Timestamp>(Resolve(Value(begin.bound.timestamp)));
  return wire::EncodeOptions(begin);
}

v1::TransactionSelector Player::MakeSelector(const Selector& selector) const {
  v1::TransactionSelector proto;
  switch (selector.kind) {
    case SelectorKind::kNone:
      break;
    case SelectorKind::kSingleUse:
      *proto.mutable_single_use() = MakeOptions(selector);
      break;
    case SelectorKind::kBeginReadWrite:
    case SelectorKind::kBeginReadOnly:
      *proto.mutable_begin() = MakeOptions(selector);
      break;
    case SelectorKind::kOf:
    case SelectorKind::kWrongId:
      proto.set_id(IdOf(selector));
      break;
  }
  return proto;
}

template <typename Statement>
void Player::FillStatement(const Call& call, Statement& statement) const {
  statement.set_sql(call.sql);
  for (const Input& input : call.inputs) {
    (*statement.mutable_params()->mutable_fields())[input.name] =
        wire::EncodeValue(Resolve(input.value));
    if (input.declared) {
      (*statement.mutable_param_types())[input.name] = wire::EncodeType(input.type);
    }
  }
}

// --- what is heard -------------------------------------------------------------------------------

void Player::Take(const grpc::Status& status, Answer& answer) const {
  answer.code = status.error_code();
  answer.message = status.error_message();
}

template <typename Reply>
void Player::KeepToken(const Operation& operation, const Reply& reply) {
  if (!reply.has_precommit_token()) return;
  auto& token = tokens_[BeganBy(operation)];
  if (token.precommit_token().empty() || reply.precommit_token().seq_num() > token.seq_num()) {
    token = reply.precommit_token();
  }
}

void Player::TakeBegun(const Operation& operation, const v1::Transaction& transaction,
                       Answer& answer) {
  answer.began = !transaction.id().empty();
  if (answer.began) {
    begun_[operation.id] = {.session = operation.session, .id = transaction.id()};
    open_[operation.id] = begun_[operation.id];
  }
  if (!transaction.has_read_timestamp()) return;
  const auto read = wire::DecodeTimestamp(transaction.read_timestamp());
  if (!read) {
    answer.place_of_read = " at no time";
    return;
  }
  const auto before = std::count_if(commit_times_.begin(), commit_times_.end(),
                                    [&](Timestamp commit) { return commit <= *read; });
  answer.place_of_read = " after " + std::to_string(before) + " commits";
  reads_.push_back(*read);
}

void Player::TakeCommit(const Operation& operation, Timestamp commit, Answer& answer) {
  const std::string name = "commit of #" + std::to_string(operation.id);
  const auto named = names_.emplace(commit, name).first;
  answer.commit = named->second;
  const auto commits = std::count_if(commit_times_.begin(), commit_times_.end(),
                                     [&](Timestamp other) { return other < commit; });
  const auto reads = std::count_if(reads_.begin(), reads_.end(),
                                   [&](const Timestamp& read) { return read < commit; });
  answer.place_of_commit = " after " + std::to_string(commits) + " commits and " +
                           std::to_string(reads) + " read timestamps";
  // Not for a repeated Commit, which has the timestamp of the first.
  if (commit_times_.insert(commit).second) commits_.emplace(operation.id, commit);
}

std::string Player::Text(const google::protobuf::Value& value, const v1::Type& type) const {
  using google::protobuf::Value;
  switch (value.kind_case()) {
    case Value::kNullValue:
      return "NULL";
    case Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case Value::kNumberValue:
      return FormatValue(Float64(value.number_value()));
    case Value::kStringValue:
      break;
    default:
      return "a value of kind " + std::to_string(value.kind_case());
  }
  const std::string& text = value.string_value();
  if (type.code() == v1::TIMESTAMP) {
    const auto timestamp = ParseRfc3339(text);
    const auto name = timestamp ? names_.find(*timestamp) : names_.end();
    if (name != names_.end()) return name->second;
  }
  return "'" + text + "'";
}

ResultAnswer Player::MakeResult(const v1::ResultSet& set) const {
  ResultAnswer answer;
  answer.columns = FieldTexts(set.metadata().row_type());
  answer.undeclared = FieldTexts(set.metadata().undeclared_parameters());
  for (const google::protobuf::ListValue& row : set.rows()) {
    answer.rows.emplace_back();
    for (int i = 0; i < row.values_size(); ++i) {
      answer.rows.back().push_back(Text(row.values(i), set.metadata().row_type().fields(i).type()));
    }
  }
  if (set.stats().has_row_count_exact()) answer.count = set.stats().row_count_exact();
  return answer;
}

// --- the operations ------------------------------------------------------------------------------

std::optional<Answer> Player::Play(const Operation& operation) {
  const Selector& selector = operation.transaction;
  if (!CanSelect(selector)) return std::nullopt;
  ++calls_;
  const bool ended = selector.kind == SelectorKind::kOf && open_.count(selector.of) == 0;
  std::optional<Answer> answer = Make(operation);
  if (answer) answer->after_end = ended;
  return answer;
}

std::optional<Answer> Player::Make(const Operation& operation) {
  Answer answer;
  switch (operation.kind) {
    case OperationKind::kDdl:
      return PlayDdl(operation);
    case OperationKind::kBegin:
      return PlayBegin(operation);
    case OperationKind::kExecute:
    case OperationKind::kBatch:
      answer =
          operation.kind == OperationKind::kBatch ? PlayBatch(operation) : PlayExecute(operation);
      NoteRepeat(operation, answer);
      return answer;
    case OperationKind::kRead:
      return PlayRead(operation);
    case OperationKind::kCommit:
      return PlayCommit(operation);
    case OperationKind::kRollback:
      return PlayRollback(operation);
    case OperationKind::kDeleteSession:
      Take(spanner_.DeleteSession(SessionName(operation.session)).status, answer);
      return answer;
  }
  return std::nullopt;
}

std::optional<Answer> Player::PlayDdl(const Operation& operation) {
  admin::UpdateDatabaseDdlRequest request;
  request.set_database(RawSpanner::DatabaseName(database_));
  for (const std::string& statement : operation.schema) request.add_statements(statement);
  grpc::ClientContext context;
  google::longrunning::Operation reply;
  Answer answer;
  Take(spanner_.databases().UpdateDatabaseDdl(&context, request, &reply), answer);
  if (answer.code == grpc::StatusCode::OK) {
    reply = spanner_.Await(std::move(reply));
    answer.code = static_cast<grpc::StatusCode>(reply.error().code());
    answer.message = reply.error().message();
  }
  return answer;
}

Answer Player::PlayBegin(const Operation& operation) {
  v1::BeginTransactionRequest request;
  request.set_session(SessionName(operation.session));
  *request.mutable_options() = MakeOptions(operation.transaction);
  const auto heard = spanner_.BeginTransaction(request);
  Answer answer;
  Take(heard.status, answer);
  if (heard.ok()) TakeBegun(operation, heard.reply, answer);
  if (heard.ok()) KeepToken(operation, heard.reply);
  return answer;
}

void Player::NoteRepeat(const Operation& operation, Answer& answer) {
  const auto [first, is_first] =
      numbered_.emplace(std::pair(BeganBy(operation), operation.sequence_number), answer);
  answer.number_is_old = !is_first;
  answer.repeats = !is_first && first->second.code == answer.code &&
                   first->second.batch_code == answer.batch_code &&
                   first->second.results == answer.results;
}

Answer Player::PlayExecute(const Operation& operation) {
  v1::ExecuteSqlRequest request;
  request.set_session(SessionName(operation.session));
  *request.mutable_transaction() = MakeSelector(operation.transaction);
  FillStatement(operation.calls.at(0), request);
  request.set_seqno(operation.sequence_number);
  if (operation.streamed)
    return AnswerWithRows(operation, Whole(spanner_.ExecuteStreamingSql(request)));
  return AnswerWithRows(operation, spanner_.ExecuteSql(request));
}

Answer Player::AnswerWithRows(const Operation& operation, const Heard<v1::ResultSet>& heard) {
  Answer answer;
  Take(heard.status, answer);
  if (!heard.ok()) return answer;
  TakeBegun(operation, heard.reply.metadata().transaction(), answer);
  KeepToken(operation, heard.reply);
  answer.results.push_back(MakeResult(heard.reply));
  return answer;
}

Answer Player::PlayBatch(const Operation& operation) {
  v1::ExecuteBatchDmlRequest request;
  request.set_session(SessionName(operation.session));
  *request.mutable_transaction() = MakeSelector(operation.transaction);
  for (const Call& call : operation.calls) FillStatement(call, *request.add_statements());
  request.set_seqno(operation.sequence_number);
  const auto heard = spanner_.ExecuteBatchDml(request);
  Answer answer;
  Take(heard.status, answer);
  if (!heard.ok()) return answer;
  for (const v1::ResultSet& set : heard.reply.result_sets()) {
    if (answer.results.empty()) TakeBegun(operation, set.metadata().transaction(), answer);
    answer.results.push_back(MakeResult(set));
  }
  KeepToken(operation, heard.reply);
  answer.batch_code = static_cast<grpc::StatusCode>(heard.reply.status().code());
  answer.message = heard.reply.status().message();
  return answer;
}

Answer Player::PlayRead(const Operation& operation) {
  v1::ReadRequest request;
  request.set_session(SessionName(operation.session));
  *request.mutable_transaction() = MakeSelector(operation.transaction);
  request.set_table(operation.table);
  for (const std::string& column : operation.columns) request.add_columns(column);
  *request.mutable_key_set() = wire::EncodeKeySet(Resolve(operation.keys));
  request.set_limit(operation.limit);
  if (operation.streamed) return AnswerWithRows(operation, Whole(spanner_.StreamingRead(request)));
  return AnswerWithRows(operation, spanner_.Read(request));
}

std::string Player::PlayEmptyRanges(const Operation& operation) {
  std::vector<std::pair<std::string, KeySpan>> spans;
  const auto add = [&](const std::string& table, const KeySet& keys) {
    for (const KeySpan& span : Resolve(keys).spans) {
      spans.push_back({table, {.start = span.start, .start_closed = false, .end = span.start}});
      // A closed end means all keys that begin with it.
      const bool differ = span.start.size() == span.end.size() && span.start != span.end;
      for (const bool closed : {false, true}) {
        if (closed && !differ) continue;
        spans.push_back({table, {span.end, closed, span.start, closed}});
      }
    }
  };
  if (operation.kind == OperationKind::kRead) add(operation.table, operation.keys);
  for (const Mutation& mutation : operation.mutations) {
    if (mutation.kind == MutationKind::kDelete) add(mutation.table, mutation.keys);
  }
  if (spans.empty()) return {};
  const auto session = spanner_.CreateSession(RawSpanner::DatabaseName(database_));
  std::string wrong;
  for (const auto& [table, span] : spans) {
    const KeySet keys = {.spans = {span}};
    v1::ReadRequest read;
    read.set_session(session.reply.name());
    read.set_table(table);
    read.add_columns("k0");  // where there is none, the range is resolved, too
    *read.mutable_key_set() = wire::EncodeKeySet(keys);
    const auto heard = spanner_.Read(read);
    if (heard.reply.rows_size() > 0) wrong += "rows of an empty range: " + read.DebugString();
    v1::CommitRequest commit;
    commit.set_session(session.reply.name());
    commit.mutable_single_use_transaction()->mutable_read_write();
    *commit.add_mutations() =
        wire::EncodeMutation({.kind = MutationKind::kDelete, .table = table, .keys = keys});
    const auto committed = spanner_.Commit(commit);
    for (const grpc::StatusCode code : {heard.status.error_code(), committed.status.error_code()}) {
      if (code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::INTERNAL) {
        wrong += "an empty range is answered by code " + std::to_string(code) + ": " +
                 read.DebugString();
      }
    }
  }
  (void)spanner_.DeleteSession(session.reply.name());
  return wrong;
}

Answer Player::PlayCommit(const Operation& operation) {
  v1::CommitRequest request;
  request.set_session(SessionName(operation.session));
  const Selector& selector = operation.transaction;
  if (selector.kind == SelectorKind::kSingleUse) {
    request.mutable_single_use_transaction()->mutable_read_write();
  } else if (selector.kind != SelectorKind::kNone) {
    request.set_transaction_id(IdOf(selector));
  }
  for (Mutation mutation : operation.mutations) {
    for (Row& row : mutation.rows) row = Resolve(row);
    mutation.keys = Resolve(mutation.keys);
    *request.add_mutations() = wire::EncodeMutation(mutation);
  }
  const auto token = tokens_.find(BeganBy(operation));
  if (token != tokens_.end()) *request.mutable_precommit_token() = token->second;
  auto heard = spanner_.Commit(request);
  if (heard.ok() && heard.reply.has_precommit_token()) {
    *request.mutable_precommit_token() = heard.reply.precommit_token();
    heard = spanner_.Commit(request);
  }
  Answer answer;
  Take(heard.status, answer);
  if (!heard.ok()) return answer;
  if (selector.kind == SelectorKind::kOf) open_.erase(selector.of);
  const auto commit = wire::DecodeTimestamp(heard.reply.commit_timestamp());
  if (commit) TakeCommit(operation, *commit, answer);
  return answer;
}

Answer Player::PlayRollback(const Operation& operation) {
  v1::RollbackRequest request;
  request.set_session(SessionName(operation.session));
  request.set_transaction_id(IdOf(operation.transaction));
  Answer answer;
  Take(spanner_.Rollback(request).status, answer);
  if (answer.code == grpc::StatusCode::OK) open_.erase(operation.transaction.of);
  return answer;
}

}  // namespace whorl::differential
