// Turns the calls of protocol/spanner/rpc.h into Google's protos (Encode, for a client) and back (Decode,
// for a server).
//
// Invariants:
//   1. What a client encodes, a server decodes to the same call.
//   2. A server decodes what whorl's vocabulary has and refuses the rest by name (UNIMPLEMENTED)
//      rather than ignore it. It ignores hints that change no outcome (tags, priorities, optimizer
//      versions, routing).
//   3. A missing required field is INVALID_ARGUMENT in the words of the emulator.
// Deliberately left out: checks that a column, a table or a session exists, which the model makes.
// Decoding functions do not change `out` if they fail.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "google/spanner/v1/spanner.pb.h"
#include "protocol/spanner/rpc.h"
#include "wire/values.h"

namespace whorl::wire {

v1::ExecuteSqlRequest Encode(const ExecuteSql& call);
v1::BeginTransactionRequest Encode(const BeginTransaction& call);
v1::CommitRequest Encode(const Commit& call);
v1::RollbackRequest Encode(const Rollback& call);
v1::ReadRequest Encode(const Read& call);
v1::ExecuteBatchDmlRequest Encode(const ExecuteBatchDml& call);
// `database`: projects/p/instances/i/databases/d
v1::CreateSessionRequest Encode(const CreateSession& call, const std::string& database);
v1::GetSessionRequest Encode(const GetSession& call);
v1::DeleteSessionRequest Encode(const DeleteSession& call);

// What a server has to know to decode a request, beyond the request itself.
class Directory {
 public:
  virtual ~Directory() = default;
  // The handle of a text, which the directory owns. REQUIRES: the names of `parameters` are sorted,
  // and differ even if case is ignored.
  virtual Sql FindSql(std::string_view text, std::vector<Parameter> parameters) = 0;
  // The types of the text's undeclared parameters, given the declared ones; nullopt for a text that
  // is invalid whatever their types are. A parameter that the text does not mention is left out:
  // its type follows from the kind of its value.
  virtual std::optional<std::vector<Parameter>> InferParameters(
      std::string_view sql, const std::vector<Parameter>& declared) const = 0;
  // nullopt for a column that does not exist: its value is decoded by its kind, and the model
  // reports the error.
  virtual std::optional<Type> ColumnType(std::string_view table, std::string_view column) const = 0;
  // The types of the primary key; nullopt for a table that does not exist.
  virtual std::optional<std::vector<Type>> KeyTypes(std::string_view table) const = 0;
};

// Refuses partitions, query plans and profiles.
Status Decode(const v1::ExecuteSqlRequest& proto, Directory& directory, ExecuteSql& out);
Status Decode(const v1::BeginTransactionRequest& proto, const Directory& directory,
              BeginTransaction& out);
Status Decode(const v1::CommitRequest& proto, const Directory& directory, Commit& out);
Status Decode(const v1::RollbackRequest& proto, Rollback& out);
Status Decode(const v1::ReadRequest& proto, const Directory& directory, Read& out);
Status Decode(const v1::ExecuteBatchDmlRequest& proto, Directory& directory, ExecuteBatchDml& out);
Status Decode(const v1::CreateSessionRequest& proto, CreateSession& out);
Status Decode(const v1::GetSessionRequest& proto, GetSession& out);
Status Decode(const v1::DeleteSessionRequest& proto, DeleteSession& out);

}  // namespace whorl::wire
