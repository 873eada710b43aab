#include <cstddef>
#include <string>

#include "wire/requests.h"
#include "wire/results.h"
#include "wire/transactions.h"

namespace whorl::wire {
namespace {

// ExecuteSqlRequest and ExecuteBatchDmlRequest.Statement use the same names for these fields.
template <typename Proto>
void EncodeStatement(const Statement& statement, Proto& proto) {
  proto.set_sql(statement.sql.text());
  const std::vector<Parameter>& parameters = statement.sql.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters[i].name;
    (*proto.mutable_params()->mutable_fields())[name] = EncodeValue(statement.parameters[i]);
    (*proto.mutable_param_types())[name] = EncodeType(parameters[i].type);
  }
}

}  // namespace

v1::ExecuteSqlRequest Encode(const ExecuteSql& call) {
  v1::ExecuteSqlRequest proto;
  proto.set_session(call.session.str());
  *proto.mutable_transaction() = EncodeSelector(call.transaction);
  EncodeStatement(call.statement, proto);
  proto.set_seqno(call.sequence_number);
  return proto;
}

v1::BeginTransactionRequest Encode(const BeginTransaction& call) {
  v1::BeginTransactionRequest proto;
  proto.set_session(call.session.str());
  *proto.mutable_options() = EncodeOptions(call.options);
  if (!call.mutation_key.empty()) {
    *proto.mutable_mutation_key() = EncodeMutation(call.mutation_key.front());
  }
  return proto;
}

v1::CommitRequest Encode(const Commit& call) {
  v1::CommitRequest proto;
  proto.set_session(call.session.str());
  if (const auto* id = std::get_if<TransactionId>(&call.transaction)) {
    proto.set_transaction_id(id->str());
  } else {
    proto.mutable_single_use_transaction()->mutable_read_write();
  }
  for (const Mutation& mutation : call.mutations) {
    *proto.add_mutations() = EncodeMutation(mutation);
  }
  if (!call.precommit_token.empty()) {
    *proto.mutable_precommit_token() =
        EncodePrecommitToken(call.precommit_token, call.precommit_sequence);
  }
  return proto;
}

v1::RollbackRequest Encode(const Rollback& call) {
  v1::RollbackRequest proto;
  proto.set_session(call.session.str());
  proto.set_transaction_id(call.transaction.str());
  return proto;
}

v1::ReadRequest Encode(const Read& call) {
  v1::ReadRequest proto;
  proto.set_session(call.session.str());
  *proto.mutable_transaction() = EncodeSelector(call.transaction);
  proto.set_table(call.table);
  for (const std::string& column : call.columns) proto.add_columns(column);
  *proto.mutable_key_set() = EncodeKeySet(call.keys);
  proto.set_limit(call.limit);
  return proto;
}

v1::ExecuteBatchDmlRequest Encode(const ExecuteBatchDml& call) {
  v1::ExecuteBatchDmlRequest proto;
  proto.set_session(call.session.str());
  *proto.mutable_transaction() = EncodeSelector(call.transaction);
  for (const Statement& statement : call.statements) {
    EncodeStatement(statement, *proto.add_statements());
  }
  proto.set_seqno(call.sequence_number);
  return proto;
}

v1::CreateSessionRequest Encode(const CreateSession& call, const std::string& database) {
  v1::CreateSessionRequest proto;
  proto.set_database(database);
  proto.mutable_session()->set_multiplexed(call.multiplexed);
  return proto;
}

v1::GetSessionRequest Encode(const GetSession& call) {
  v1::GetSessionRequest proto;
  proto.set_name(call.session.str());
  return proto;
}

v1::DeleteSessionRequest Encode(const DeleteSession& call) {
  v1::DeleteSessionRequest proto;
  proto.set_name(call.session.str());
  return proto;
}

}  // namespace whorl::wire
