// Requests and responses on the wire: a server decodes what a client encodes to the same call, and
// refuses an incomplete call in Spanner's words.
#include "wire/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/wire/wire_testing.h"
#include "wire/responses.h"

namespace whorl::wire::requests_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kTable = "locktable";
constexpr std::string_view kWrongText = "SELECT nosuch";

// One table with the key `name` STRING and a column of each type, named after the type.
class OneTable : public Directory {
 public:
  Sql FindSql(std::string_view text, std::vector<Parameter> parameters) override {
    return Sql::Intern(text, std::move(parameters));
  }
  std::optional<std::vector<Parameter>> InferParameters(
      std::string_view sql, const std::vector<Parameter>&) const override {
    if (sql == kWrongText) return std::nullopt;
    return std::vector<Parameter>{{.name = "inferred", .type = Type::kInt64}};
  }
  std::optional<Type> ColumnType(std::string_view table, std::string_view column) const override {
    if (table != kTable) return std::nullopt;
    if (column == "name") return Type::kString;
    for (const Type type : kAllTypes) {
      if (column == WordOf(type)) return type;
    }
    return std::nullopt;
  }
  std::optional<std::vector<Type>> KeyTypes(std::string_view table) const override {
    if (table != kTable) return std::nullopt;
    return std::vector<Type>{Type::kString, Type::kTimestamp};
  }
};

TransactionId AnyId() { return *rc::gen::element<std::string>("1", "42", "\x01\xFF"); }
SessionName AnySession() {
  return *rc::gen::element<std::string>("projects/p/instances/i/databases/d/sessions/1", "s");
}
// Spanner refuses negative staleness.
Duration AnyStaleness() { return Duration{*rc::gen::positive<int64_t>()}; }

TimestampBound AnyBound(bool single_use) {
  switch (*rc::gen::inRange(0, single_use ? 5 : 3)) {
    case 0:
      return {};
    case 1:
      return {.kind = BoundKind::kReadTimestamp, .timestamp = *AnyTimestamp()};
    case 2:
      return {.kind = BoundKind::kExactStaleness, .staleness = AnyStaleness()};
    case 3:
      return {.kind = BoundKind::kMinReadTimestamp, .timestamp = *AnyTimestamp()};
    default:
      return {.kind = BoundKind::kMaxStaleness, .staleness = AnyStaleness()};
  }
}

BeginReadWrite AnyBeginReadWrite() {
  return {.previous = *rc::gen::element<std::string>("", "7"),
          .lock_mode = *rc::gen::element(LockMode::kPessimistic, LockMode::kOptimistic)};
}
BeginReadOnly AnyBeginReadOnly() {
  return {.bound = AnyBound(false), .return_read_timestamp = *rc::gen::arbitrary<bool>()};
}

TransactionSelector AnySelector() {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return SingleUseRead{.bound = AnyBound(true),
                           .return_read_timestamp = *rc::gen::arbitrary<bool>()};
    case 1:
      return AnyBeginReadWrite();
    case 2:
      return AnyBeginReadOnly();
    default:
      return AnyId();
  }
}

Statement AnyStatement() {
  std::vector<Parameter> parameters;
  Statement statement;
  for (const std::string name : {"a", "b", "c"}) {
    if (*rc::gen::arbitrary<bool>()) continue;
    const TypedValue typed = *AnyTypedValue();
    parameters.push_back({.name = name, .type = typed.type});
    statement.parameters.push_back(typed.value);
  }
  statement.sql = Sql::Intern(*rc::gen::element<std::string>("SELECT 1", ""), parameters);
  return statement;
}

Row AnyKey(bool may_be_prefix) {
  Row key = {*AnyValueOf(Type::kString), *AnyValueOf(Type::kTimestamp)};
  if (may_be_prefix) key.resize(*rc::gen::inRange<size_t>(0, 3));
  return key;
}

KeySet AnyKeySet() {
  KeySet keys = {.all = *rc::gen::arbitrary<bool>()};
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) keys.keys.push_back(AnyKey(false));
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    keys.spans.push_back({.start = AnyKey(true),
                          .start_closed = *rc::gen::arbitrary<bool>(),
                          .end = AnyKey(true),
                          .end_closed = *rc::gen::arbitrary<bool>()});
  }
  return keys;
}

Mutation AnyMutation() {
  Mutation mutation = {.kind = *rc::gen::element(MutationKind::kInsert, MutationKind::kUpdate,
                                                 MutationKind::kInsertOrUpdate,
                                                 MutationKind::kReplace, MutationKind::kDelete),
                       .table = std::string(kTable)};
  if (mutation.kind == MutationKind::kDelete) {
    mutation.keys = AnyKeySet();
    return mutation;
  }
  const Type type = *AnyType();
  mutation.columns = {"name", std::string(WordOf(type))};
  for (int i = *rc::gen::inRange(1, 3); i > 0; --i) {
    Value value = *AnyValueOf(type);
    if (type == Type::kTimestamp && *rc::gen::arbitrary<bool>()) {
      value = std::string(kCommitTimestamp);
    }
    mutation.rows.push_back({*AnyText(), value});
  }
  return mutation;
}

std::vector<Mutation> AnyMutations(int limit) {
  std::vector<Mutation> mutations;
  for (int i = *rc::gen::inRange(0, limit + 1); i > 0; --i) mutations.push_back(AnyMutation());
  return mutations;
}

ExecuteSql AnyExecuteSql() {
  return {.session = AnySession(),
          .transaction = AnySelector(),
          .statement = AnyStatement(),
          .sequence_number = *rc::gen::arbitrary<int64_t>()};
}

BeginTransaction AnyBeginTransaction() {
  BeginTransaction call = {.session = AnySession(), .options = AnyBeginReadWrite()};
  if (*rc::gen::arbitrary<bool>()) call.options = AnyBeginReadOnly();
  call.mutation_key = AnyMutations(1);
  return call;
}

Commit AnyCommit() {
  Commit call = {.session = AnySession(), .transaction = AnyId(), .mutations = AnyMutations(2)};
  if (*rc::gen::arbitrary<bool>()) call.transaction = SingleUseWrite{};
  if (*rc::gen::arbitrary<bool>()) {
    call.precommit_token = "token";
    call.precommit_sequence = *rc::gen::inRange(0, 9);
  }
  return call;
}

Read AnyRead() {
  return {.session = AnySession(),
          .transaction = AnySelector(),
          .table = std::string(kTable),
          .columns = {"name", "BOOL"},
          .keys = AnyKeySet(),
          .limit = *rc::gen::inRange(0, 9)};
}

ExecuteBatchDml AnyBatchDml() {
  return {.session = AnySession(),
          .transaction = AnySelector(),
          .statements = {AnyStatement(), AnyStatement()},
          .sequence_number = *rc::gen::arbitrary<int64_t>()};
}

template <typename Call, typename... Known>
void ExpectComesBack(const Call& sent, Known&... known) {
  Call heard;
  const Status status = Decode(Sent(Encode(sent)), known..., heard);
  RC_LOG() << FormatStatus(status);
  RC_ASSERT(status.ok());
  RC_ASSERT(heard == sent);
}

// The real client and the server share only these bytes.
TEST(WireRequestsTest, EveryCallComesBack) {
  OneTable table;
  EXPECT_TRUE(rc::check("ExecuteSql", [&] { ExpectComesBack(AnyExecuteSql(), table); }));
  EXPECT_TRUE(rc::check("Begin", [&] { ExpectComesBack(AnyBeginTransaction(), table); }));
  EXPECT_TRUE(rc::check("Commit", [&] { ExpectComesBack(AnyCommit(), table); }));
  EXPECT_TRUE(rc::check("Read", [&] { ExpectComesBack(AnyRead(), table); }));
  EXPECT_TRUE(rc::check("BatchDml", [&] { ExpectComesBack(AnyBatchDml(), table); }));
  EXPECT_TRUE(rc::check("small ones", [&] {
    ExpectComesBack(Rollback{.session = AnySession(), .transaction = AnyId()});
    ExpectComesBack(GetSession{.session = AnySession()});
    ExpectComesBack(DeleteSession{.session = AnySession()});
    CreateSession heard;
    const CreateSession sent = {.multiplexed = *rc::gen::arbitrary<bool>()};
    const auto proto = Encode(sent, "projects/p/instances/i/databases/d");
    RC_ASSERT(Decode(proto, heard).ok());
    RC_ASSERT(heard == sent);
    RC_ASSERT(proto.database() == "projects/p/instances/i/databases/d");
  }));
}

v1::CommitRequest SmallCommit() {
  v1::CommitRequest proto;
  proto.set_session("s");
  proto.mutable_single_use_transaction()->mutable_read_write();
  return proto;
}

Status DecodedCommit(const v1::CommitRequest& proto) {
  OneTable table;
  Commit call;
  return Decode(proto, table, call);
}

void ExpectError(const Status& status, Code code, std::string_view text) {
  EXPECT_EQ(WordOf(status.code), WordOf(code)) << status.message;
  EXPECT_THAT(status.message, HasSubstr(std::string(text)));
}

// Measured on the emulator.
TEST(WireRequestsTest, ACommitWithoutATransactionIsRefused) {
  v1::CommitRequest proto = SmallCommit();
  EXPECT_TRUE(DecodedCommit(proto).ok());
  proto.clear_single_use_transaction();
  ExpectError(DecodedCommit(proto), Code::kInvalidArgument,
              "No value provided for required field: CommitRequest.transaction");
  proto.mutable_single_use_transaction();
  ExpectError(DecodedCommit(proto), Code::kInvalidArgument,
              "No value provided for required field: TransactionOptions.mode");
  proto.mutable_single_use_transaction()->mutable_read_only();
  ExpectError(DecodedCommit(proto), Code::kFailedPrecondition, "Cannot commit or rollback");
  proto.set_transaction_id("");
  ExpectError(DecodedCommit(proto), Code::kInvalidArgument, "Invalid transaction ID");
  proto.clear_session();
  ExpectError(DecodedCommit(proto), Code::kInvalidArgument, "CommitRequest.session");
}

google::protobuf::Value Text(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  return value;
}

TEST(WireRequestsTest, MutationsThatLackSomethingAreRefused) {
  v1::CommitRequest proto = SmallCommit();
  v1::Mutation& mutation = *proto.add_mutations();
  ExpectError(DecodedCommit(proto), Code::kInvalidArgument, "Mutation.operation");
  v1::Mutation::Write& write = *mutation.mutable_insert();
  ExpectError(DecodedCommit(proto), Code::kInvalidArgument, "does not specify table");
  write.set_table(std::string(kTable));
  ExpectError(DecodedCommit(proto), Code::kInvalidArgument, "Write.values");
  *write.add_values()->add_values() = Text("five");
  ExpectError(DecodedCommit(proto), Code::kInvalidArgument,
              "Mutation column and value size mismatch: Found: 0 columns and 1 values");
  write.add_columns("INT64");
  ExpectError(DecodedCommit(proto), Code::kFailedPrecondition, "as an integer");
  // The model checks whether it exists.
  write.set_columns(0, "nosuch");
  EXPECT_TRUE(DecodedCommit(proto).ok());
  mutation.mutable_send();
  ExpectError(DecodedCommit(proto), Code::kUnimplemented, "queues");
}

TEST(WireRequestsTest, KeysThatLackSomethingAreRefused) {
  v1::CommitRequest proto = SmallCommit();
  v1::Mutation::Delete& deletion = *proto.add_mutations()->mutable_delete_();
  ExpectError(DecodedCommit(proto), Code::kInvalidArgument, "does not specify table");
  deletion.set_table(std::string(kTable));
  EXPECT_TRUE(DecodedCommit(proto).ok());
  v1::KeyRange& range = *deletion.mutable_key_set()->add_ranges();
  ExpectError(DecodedCommit(proto), Code::kInvalidArgument, "start_closed or start_open");
  *range.mutable_start_open()->add_values() = Text("a");
  ExpectError(DecodedCommit(proto), Code::kInvalidArgument, "end_closed or end_open");
  range.mutable_end_closed();
  EXPECT_TRUE(DecodedCommit(proto).ok());
  *deletion.mutable_key_set()->add_keys()->add_values() = Text("a");
  ExpectError(DecodedCommit(proto), Code::kFailedPrecondition,
              "Expected 2 key parts, found 1 key parts");
}

v1::ExecuteSqlRequest Select() {
  v1::ExecuteSqlRequest proto;
  proto.set_session("s");
  proto.set_sql("SELECT @p");
  return proto;
}

ExecuteSql DecodedSql(const v1::ExecuteSqlRequest& proto, Status& status) {
  OneTable table;
  ExecuteSql call;
  status = Decode(proto, table, call);
  return call;
}

Status SqlError(const v1::ExecuteSqlRequest& proto) {
  Status status;
  DecodedSql(proto, status);
  return status;
}

// Users need to know which parameter is wrong.
TEST(WireRequestsTest, AParameterOfTheWrongFormIsNamed) {
  v1::ExecuteSqlRequest proto = Select();
  (*proto.mutable_params()->mutable_fields())["p"] = Text("x");
  (*proto.mutable_param_types())["P"].set_code(v1::INT64);  // names have no case
  ExpectError(SqlError(proto), Code::kFailedPrecondition,
              "Invalid value for bind parameter p: Could not parse x as an integer");
  (*proto.mutable_params()->mutable_fields())["P"] = Text("1");
  ExpectError(SqlError(proto), Code::kInvalidArgument, "Duplicate parameter name p");
  (*proto.mutable_param_types())["P"].set_code(v1::STRUCT);
  ExpectError(SqlError(proto), Code::kUnimplemented, "Parameter P: whorl has no values of type");
}

// Spanner infers the type of an undeclared parameter, and a wrong value then has another code.
TEST(WireRequestsTest, AnUndeclaredParameterHasTheInferredTypeOrThatOfItsKind) {
  v1::ExecuteSqlRequest proto = Select();
  auto& fields = *proto.mutable_params()->mutable_fields();
  fields["inferred"] = Text("5");
  fields["text"] = Text("5");
  fields["flag"].set_bool_value(true);
  Status status;
  const ExecuteSql call = DecodedSql(proto, status);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(call.transaction, TransactionSelector(SingleUseRead{}));
  const std::vector<Parameter> expected = {{.name = "flag", .type = Type::kBool},
                                           {.name = "inferred", .type = Type::kInt64},
                                           {.name = "text", .type = Type::kString}};
  EXPECT_EQ(call.statement.sql.parameters(), expected);
  EXPECT_EQ(call.statement.parameters, (std::vector<Value>{true, int64_t{5}, std::string("5")}));
  fields["inferred"] = Text("x");
  ExpectError(SqlError(proto), Code::kInvalidArgument, "bind parameter inferred");
}

// The database reports the error in the text.
TEST(WireRequestsTest, ATextThatIsWrongLeavesItsUndeclaredParametersOut) {
  v1::ExecuteSqlRequest proto = Select();
  proto.set_sql(std::string(kWrongText));
  auto& fields = *proto.mutable_params()->mutable_fields();
  fields["declared"] = Text("5");
  (*proto.mutable_param_types())["declared"].set_code(v1::STRING);
  fields["inferred"] = Text("x");
  Status status;
  const ExecuteSql call = DecodedSql(proto, status);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(call.statement.sql.parameters(),
            (std::vector<Parameter>{{.name = "declared", .type = Type::kString}}));
}

TEST(WireRequestsTest, SelectorsThatSpannerRefusesAreRefused) {
  v1::ExecuteSqlRequest proto = Select();
  v1::TransactionSelector& selector = *proto.mutable_transaction();
  selector.mutable_single_use();
  ExpectError(SqlError(proto), Code::kInvalidArgument, "should be read_only");
  auto& read_only = *selector.mutable_single_use()->mutable_read_only();
  read_only.set_strong(false);
  ExpectError(SqlError(proto), Code::kInvalidArgument, "must be true for a strong read");
  read_only.mutable_exact_staleness()->set_seconds(-1);
  ExpectError(SqlError(proto), Code::kInvalidArgument, "Staleness must be non-negative.");
  read_only.mutable_read_timestamp()->set_nanos(-1);
  ExpectError(SqlError(proto), Code::kInvalidArgument, "out of range");
  selector.mutable_begin();
  ExpectError(SqlError(proto), Code::kInvalidArgument, "TransactionOptions.mode");
  selector.mutable_begin()->mutable_read_only()->mutable_max_staleness();
  ExpectError(SqlError(proto), Code::kInvalidArgument, "max_staleness for read can be only");
  selector.mutable_begin()->mutable_partitioned_dml();
  ExpectError(SqlError(proto), Code::kUnimplemented, "partitioned DML");
  selector.mutable_begin()->mutable_read_write();
  EXPECT_TRUE(SqlError(proto).ok());
  selector.set_id("");
  ExpectError(SqlError(proto), Code::kInvalidArgument, "Invalid transaction ID");
}

// If it were ignored, the answer would have the wrong rows.
TEST(WireRequestsTest, WhatChangesTheAnswerIsNotIgnored) {
  v1::ExecuteSqlRequest sql = Select();
  sql.set_partition_token("p");
  ExpectError(SqlError(sql), Code::kUnimplemented, "partitions");
  v1::ReadRequest read;
  OneTable table;
  Read call;
  read.set_session("s");
  ExpectError(Decode(read, table, call), Code::kInvalidArgument, "ReadRequest.table");
  read.set_table(std::string(kTable));
  ExpectError(Decode(read, table, call), Code::kInvalidArgument, "ReadRequest.key_set");
  read.mutable_key_set()->set_all(true);
  read.set_limit(-1);
  ExpectError(Decode(read, table, call), Code::kInvalidArgument, "non-negative");
  read.set_limit(0);
  EXPECT_TRUE(Decode(read, table, call).ok());
  read.set_index("by_heartbeat");
  ExpectError(Decode(read, table, call), Code::kNotFound, "No index 'by_heartbeat'");
}

// Spanner refuses a longer delay.
TEST(WireRequestsTest, ACommitIsDelayedByHalfASecondAtMost) {
  v1::CommitRequest proto;
  proto.set_session("s");
  proto.set_transaction_id("t");
  OneTable table;
  Commit call;
  for (const int32_t nanos : {0, 500'000'000}) {
    proto.mutable_max_commit_delay()->set_nanos(nanos);
    EXPECT_TRUE(Decode(proto, table, call).ok()) << nanos;
  }
  for (const int32_t nanos : {-1, 500'000'001, 1'000'000'000}) {
    proto.mutable_max_commit_delay()->set_nanos(nanos);
    ExpectError(Decode(proto, table, call), Code::kInvalidArgument, "max_commit_delay");
  }
}

RC_GTEST_PROP(WireResponsesTest, AnswersComeBack, ()) {
  Response begun = {.transaction = AnyId()};
  if (*rc::gen::arbitrary<bool>()) begun.read_timestamp = *AnyTimestamp();
  if (*rc::gen::arbitrary<bool>()) begun.precommit_token = "token";
  Response heard;
  RC_ASSERT(DecodeTransaction(Sent(EncodeTransaction(begun)), heard).ok());
  RC_ASSERT(heard == begun);

  const SessionInfo session = {.name = AnySession(),
                               .multiplexed = *rc::gen::arbitrary<bool>(),
                               .created = *AnyTimestamp(),
                               .last_used = *AnyTimestamp()};
  SessionInfo heard_session;
  RC_ASSERT(DecodeSession(Sent(EncodeSession(session)), heard_session).ok());
  RC_ASSERT(heard_session == session);
}

// A client that mistakes a request to retry for a commit would believe that it holds a lock.
TEST(WireResponsesTest, ACommitThatAsksForARetryHasNotCommitted) {
  const Response committed = {.commit_timestamp = *ParseRfc3339("2026-01-01T00:00:00.5Z")};
  Response heard;
  ASSERT_TRUE(DecodeCommitResponse(EncodeCommitResponse(committed), heard).ok());
  EXPECT_EQ(heard, committed);

  const Response again = {.precommit_token = "newer", .precommit_sequence = 3};
  EXPECT_FALSE(EncodeCommitResponse(again).has_commit_timestamp());
  heard = {};
  ASSERT_TRUE(DecodeCommitResponse(EncodeCommitResponse(again), heard).ok());
  EXPECT_EQ(heard, again);
  EXPECT_EQ(DecodeCommitResponse(v1::CommitResponse(), heard).code, Code::kInternal);
  v1::CommitResponse empty_token;
  empty_token.mutable_precommit_token();
  EXPECT_EQ(DecodeCommitResponse(empty_token, heard).code, Code::kInternal);
}

// The first failure ends a batch, but the statements before it take effect.
TEST(WireResponsesTest, ABatchThatFailsInTheMiddleComesBack) {
  Response sent = {.transaction = "7"};
  sent.result.status = Error(Code::kAlreadyExists, "Row [a] already exists");
  sent.batch = {{.row_count = 1}, {.row_count = 0}};
  sent.precommit_token = "token";
  const std::vector<ResultShape> shapes(2, ResultShape{.is_dml = true});
  Response heard;
  ASSERT_TRUE(DecodeBatchDmlResponse(EncodeBatchDmlResponse(sent, shapes), heard).ok());
  EXPECT_EQ(heard, sent);
}

}  // namespace
}  // namespace whorl::wire::requests_test
