#include <absl/strings/ascii.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "wire/requests.h"
#include "wire/transactions.h"
#include "wire/values.h"

namespace whorl::wire {
namespace {

using ProtoParameters = google::protobuf::Struct;
using ProtoTypes = google::protobuf::Map<std::string, v1::Type>;

Status Unimplemented(std::string_view what) {
  return Error(Code::kUnimplemented, "whorl has no " + std::string(what));
}

// The declared types by lower-case name, since GoogleSQL ignores case; sorted, since a proto map
// has no order.
Status DeclaredTypes(const ProtoTypes& protos, std::map<std::string, Type>& out) {
  for (const auto& [name, proto] : protos) {
    Type type = Type::kString;
    Status status = DecodeType(proto, type);
    if (!status.ok()) return Error(status.code, "Parameter " + name + ": " + status.message);
    out[absl::AsciiStrToLower(name)] = type;
  }
  return {};
}

class ParametersDecoder {
 public:
  ParametersDecoder(const std::string& sql, const Directory& directory)
      : sql_(sql), directory_(directory) {}

  Status Decode(const ProtoParameters& values, const ProtoTypes& types) {
    std::map<std::string, Type> declared;
    Status status = DeclaredTypes(types, declared);
    if (!status.ok()) return status;
    std::map<std::string, const std::string*> sorted;  // the name as sent, by the name without case
    bool infers = false;
    for (const auto& [name, value] : values.fields()) {
      const std::string lower = absl::AsciiStrToLower(name);
      if (!sorted.emplace(lower, &name).second) {
        return Error(Code::kInvalidArgument, "Duplicate parameter name " + lower);
      }
      infers = infers || declared.count(lower) == 0;
    }
    const auto inferred = infers ? Infer(declared) : std::optional<std::map<std::string, Type>>();
    for (const auto& [lower, name] : sorted) {
      const google::protobuf::Value& value = values.fields().at(*name);
      const auto known = declared.find(lower);
      if (known != declared.end()) {
        status = DecodeOne(*name, value, known->second, /*is_declared=*/true);
      } else if (inferred) {
        const auto found = inferred->find(lower);
        const Type type = found == inferred->end() ? TypeByKind(value) : found->second;
        status = DecodeOne(*name, value, type, /*is_declared=*/false);
      }
      // Otherwise the text is invalid in any case, and the database will report it.
      if (!status.ok()) return status;
    }
    return {};
  }

  std::vector<Parameter>& parameters() { return parameters_; }
  std::vector<Value>& values() { return values_; }

 private:
  // The types of the undeclared parameters, by lower-case name.
  std::optional<std::map<std::string, Type>> Infer(
      const std::map<std::string, Type>& declared) const {
    std::vector<Parameter> list;
    for (const auto& [name, type] : declared) list.push_back({.name = name, .type = type});
    const auto inferred = directory_.InferParameters(sql_, list);
    if (!inferred) return std::nullopt;
    std::map<std::string, Type> types;
    for (const Parameter& parameter : *inferred) {
      types.emplace(absl::AsciiStrToLower(parameter.name), parameter.type);
    }
    return types;
  }

  Status DecodeOne(const std::string& name, const google::protobuf::Value& proto, Type type,
                   bool is_declared) {
    Value value;
    Status status = DecodeValue(proto, type, value);
    if (!status.ok()) {
      // As measured: a value that does not fit an inferred type has another code.
      return Error(is_declared ? status.code : Code::kInvalidArgument,
                   "Invalid value for bind parameter " + name + ": " + status.message);
    }
    parameters_.push_back({.name = name, .type = type});
    values_.push_back(std::move(value));
    return {};
  }

  const std::string& sql_;
  const Directory& directory_;
  std::vector<Parameter> parameters_;
  std::vector<Value> values_;
};

// Decodes the statement of an ExecuteSqlRequest or an ExecuteBatchDmlRequest.Statement.
template <typename Proto>
Status DecodeStatement(const Proto& proto, Directory& directory, Statement& out) {
  ParametersDecoder decoder(proto.sql(), directory);
  Status status = decoder.Decode(proto.params(), proto.param_types());
  if (!status.ok()) return status;
  out = {.sql = directory.FindSql(proto.sql(), std::move(decoder.parameters())),
         .parameters = std::move(decoder.values())};
  return {};
}

// max_commit_delay is how long Spanner may delay the Commit to batch it with others. It does not
// change the outcome, so it is checked and then ignored.
bool IsAllowedCommitDelay(const v1::CommitRequest& proto) {
  if (!proto.has_max_commit_delay()) return true;
  const std::optional<Duration> delay = DecodeDuration(proto.max_commit_delay());
  return delay && *delay >= Duration{} && *delay <= Milliseconds(500);
}

Status DecodeCommitTransaction(const v1::CommitRequest& proto,
                               std::variant<TransactionId, SingleUseWrite>& out) {
  switch (proto.transaction_case()) {
    case v1::CommitRequest::kTransactionId:
      if (proto.transaction_id().empty()) {
        return Error(Code::kInvalidArgument, "Invalid transaction ID: it is empty.");
      }
      out = proto.transaction_id();
      return {};
    case v1::CommitRequest::kSingleUseTransaction:
      break;
    case v1::CommitRequest::TRANSACTION_NOT_SET:
      return MissingField("CommitRequest.transaction");
  }
  switch (proto.single_use_transaction().mode_case()) {
    case v1::TransactionOptions::kReadWrite:
      out = SingleUseWrite{};
      return {};
    case v1::TransactionOptions::MODE_NOT_SET:
      return MissingField("TransactionOptions.mode");
    case v1::TransactionOptions::kPartitionedDml:
      return Error(Code::kInvalidArgument,
                   "DML statements may not be performed in single-use transactions, to avoid "
                   "replay.");
    case v1::TransactionOptions::kReadOnly:
      return Error(Code::kFailedPrecondition,
                   "Cannot commit or rollback a read-only or partitioned-dml transaction.");
  }
  return {};
}

Status CheckRead(const v1::ReadRequest& proto) {
  if (proto.session().empty()) return MissingField("ReadRequest.session");
  if (proto.table().empty()) return MissingField("ReadRequest.table");
  if (!proto.has_key_set()) return MissingField("ReadRequest.key_set");
  if (proto.limit() < 0) return Error(Code::kInvalidArgument, "Limit must be non-negative.");
  if (!proto.partition_token().empty()) return Unimplemented("partitions");
  if (!proto.index().empty()) {
    return Error(Code::kNotFound,
                 "No index '" + proto.index() + "' was found for table '" + proto.table() + "'.");
  }
  return {};
}

}  // namespace

Status Decode(const v1::ExecuteSqlRequest& proto, Directory& directory, ExecuteSql& out) {
  if (proto.session().empty()) return MissingField("ExecuteSqlRequest.session");
  if (!proto.partition_token().empty()) return Unimplemented("partitions");
  ExecuteSql call = {.session = proto.session(), .sequence_number = proto.seqno()};
  Status status = DecodeSelector(proto.transaction(), call.transaction);
  if (!status.ok()) return status;
  status = DecodeStatement(proto, directory, call.statement);
  if (!status.ok()) return status;
  out = std::move(call);
  return {};
}

Status Decode(const v1::BeginTransactionRequest& proto, const Directory& directory,
              BeginTransaction& out) {
  if (proto.session().empty()) return MissingField("BeginTransactionRequest.session");
  BeginTransaction call = {.session = proto.session()};
  Status status = DecodeOptions(proto.options(), call.options);
  if (!status.ok()) return status;
  if (proto.has_mutation_key()) {
    call.mutation_key.emplace_back();
    status = DecodeMutation(proto.mutation_key(), directory, call.mutation_key.back());
    if (!status.ok()) return status;
  }
  out = std::move(call);
  return {};
}

Status Decode(const v1::CommitRequest& proto, const Directory& directory, Commit& out) {
  if (proto.session().empty()) return MissingField("CommitRequest.session");
  if (!IsAllowedCommitDelay(proto)) {
    return Error(Code::kInvalidArgument, "max_commit_delay must be from 0 to 500 ms");
  }
  Commit call = {.session = proto.session(),
                 .precommit_token = proto.precommit_token().precommit_token(),
                 .precommit_sequence = proto.precommit_token().seq_num()};
  Status status = DecodeCommitTransaction(proto, call.transaction);
  if (!status.ok()) return status;
  for (const v1::Mutation& mutation : proto.mutations()) {
    call.mutations.emplace_back();
    status = DecodeMutation(mutation, directory, call.mutations.back());
    if (!status.ok()) return status;
  }
  out = std::move(call);
  return {};
}

Status Decode(const v1::RollbackRequest& proto, Rollback& out) {
  if (proto.session().empty()) return MissingField("RollbackRequest.session");
  if (proto.transaction_id().empty()) return MissingField("RollbackRequest.transaction_id");
  out = {.session = proto.session(), .transaction = proto.transaction_id()};
  return {};
}

Status Decode(const v1::ReadRequest& proto, const Directory& directory, Read& out) {
  Status status = CheckRead(proto);
  if (!status.ok()) return status;
  Read call = {.session = proto.session(),
               .table = proto.table(),
               .columns = {proto.columns().begin(), proto.columns().end()},
               .limit = proto.limit()};
  status = DecodeSelector(proto.transaction(), call.transaction);
  if (!status.ok()) return status;
  status = DecodeKeySet(proto.key_set(), call.table, directory, call.keys);
  if (!status.ok()) return status;
  out = std::move(call);
  return {};
}

Status Decode(const v1::ExecuteBatchDmlRequest& proto, Directory& directory, ExecuteBatchDml& out) {
  if (proto.session().empty()) return MissingField("ExecuteBatchDmlRequest.session");
  if (!proto.has_transaction()) return MissingField("ExecuteBatchDmlRequest.transaction");
  if (proto.statements().empty()) {
    return Error(Code::kInvalidArgument, "Request must contain at least one DML statement");
  }
  ExecuteBatchDml call = {.session = proto.session(), .sequence_number = proto.seqno()};
  Status status = DecodeSelector(proto.transaction(), call.transaction);
  if (!status.ok()) return status;
  for (const v1::ExecuteBatchDmlRequest::Statement& statement : proto.statements()) {
    call.statements.emplace_back();
    status = DecodeStatement(statement, directory, call.statements.back());
    if (!status.ok()) return status;
  }
  out = std::move(call);
  return {};
}

Status Decode(const v1::CreateSessionRequest& proto, CreateSession& out) {
  out = {.multiplexed = proto.session().multiplexed()};
  return {};
}

Status Decode(const v1::GetSessionRequest& proto, GetSession& out) {
  if (proto.name().empty()) return MissingField("GetSessionRequest.name");
  out = {.session = proto.name()};
  return {};
}

Status Decode(const v1::DeleteSessionRequest& proto, DeleteSession& out) {
  if (proto.name().empty()) return MissingField("DeleteSessionRequest.name");
  out = {.session = proto.name()};
  return {};
}

}  // namespace whorl::wire
