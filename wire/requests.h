// The calls of protocol/spanner/rpc.h as Google's protos: Encode for a client, Decode for a server.
//
// Invariants:
//   1. What a client encodes, a server decodes to the same call.
//   2. A server decodes what whorl's vocabulary has, and refuses the rest by name (UNIMPLEMENTED)
//      rather than ignore it; hints that change no outcome (tags, priorities, optimizer versions,
//      routing) are ignored.
//   3. Required fields that are missing are INVALID_ARGUMENT in the words of the emulator.
// Deliberately left out: that a column or a table exists, and that a session does; the model says.
// Decoding functions leave `out` alone when they fail.
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

// What the wire does not say and a server knows.
class Directory {
 public:
  virtual ~Directory() = default;
  // The handle of a text, whose owner the directory is. Names of `parameters` differ, also without
  // regard to case, and are sorted.
  virtual Sql FindSql(std::string_view text, std::vector<Parameter> parameters) = 0;
  // The parameters of a text that have no declared type, beside those that have; nothing for a text
  // that is wrong whatever they are. Of those that it does not mention the value's kind says it.
  virtual std::optional<std::vector<Parameter>> InferParameters(
      std::string_view sql, const std::vector<Parameter>& declared) const = 0;
  // Nothing for a column that does not exist: its value goes on by its kind, and the model says so.
  virtual std::optional<Type> ColumnType(std::string_view table, std::string_view column) const = 0;
  // Of the primary key; nothing for a table that does not exist.
  virtual std::optional<std::vector<Type>> KeyTypes(std::string_view table) const = 0;
};

// Without partitions, plans and profiles.
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
