// A few calls to a server, and what it said to each: the means by which a fact is shown.
//
// Every probe has a database of its own with spindle's table:
//
//   locktable (name STRING(MAX) NOT NULL, heartbeat TIMESTAMP, token TIMESTAMP, writer STRING(MAX))
//   PRIMARY KEY (name), both times with allow_commit_timestamp
//
// Every verb of a client adds to the transcript what it heard, as a word or two: the code of an
// error; "OK"; "2 rows" of DML; "[a, NULL]" for each row of a query, or "no row".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/spanner/mutation.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/time.h"
#include "protocol/spanner/value.h"
#include "tests/support/raw_spanner.h"

namespace whorl::facts {

inline constexpr const char* kInsertA = "INSERT INTO locktable (name) VALUES ('a')";

// A parameter as it goes over the wire: some kind of value, with or without a type.
struct Argument {
  std::string name;
  std::optional<Type> type;
  google::protobuf::Value value;
};
Argument Text(std::string name, const std::string& text, std::optional<Type> type = Type::kString);
Argument Time(std::string name, const std::string& text);
Argument Number(std::string name, double number, std::optional<Type> type);
Argument NullOf(std::string name, std::optional<Type> type);

// Mutations of the table.
Mutation Put(MutationKind kind, std::vector<std::string> columns, Row values);
Mutation DeleteRow(std::string name);

// What a call said.
struct Outcome {
  std::string text;  // as in the transcript
  Code code = Code::kOk;
  std::string message;
  std::string details;  // the types of its details, a line each
  bool has_retry_info = false;
  std::vector<std::vector<std::string>> rows;
  std::string transaction;  // that it began
  Timestamp commit;         // of Commit
  std::optional<Timestamp> read;
  bool has_stats = false;
  bool has_precommit_token = false;
  google::spanner::v1::ResultSetMetadata metadata;

  bool ok() const { return code == Code::kOk; }
  // The value at that place as a time; 1970 when there is none.
  Timestamp TimeAt(size_t row, size_t column) const;
};

struct Call {
  std::string sql;
  std::vector<Argument> arguments = {};
  std::optional<int64_t> sequence = {};  // nothing: one more than the last
  bool last_statement = false;
  // Nothing: in the client's transaction, or a strong read by itself when it has none.
  std::optional<TransactionSelector> selector = {};
};

class Probe;

// A session, and the newest transaction that it began.
class Client {
 public:
  Client(Probe& probe, bool multiplexed) : probe_(probe), multiplexed_(multiplexed) {}

  const std::string& session();

  const Outcome& Begin(const std::variant<BeginReadWrite, BeginReadOnly>& options = {});
  const Outcome& Run(const Call& call);
  const Outcome& Sql(const std::string& sql, std::vector<Argument> arguments = {}) {
    return Run({.sql = sql, .arguments = std::move(arguments)});
  }
  // The statement carries the begin.
  const Outcome& BeginWith(const std::string& sql, std::vector<Argument> arguments = {});
  // ExecuteStreamingSql, its parts put together.
  const Outcome& Stream(const Call& call);
  // "1 row, then ALREADY_EXISTS"
  const Outcome& Batch(const std::vector<std::string>& statements);
  // By key; of all rows when `name` is empty.
  const Outcome& Read(const std::vector<std::string>& columns, const std::string& name = "",
                      std::optional<TransactionSelector> selector = {});
  // Of its transaction, or of one of its own when it has none.
  const Outcome& Commit(std::vector<Mutation> mutations = {});
  const Outcome& Rollback();
  const Outcome& Delete();  // the session

  // Its transaction from now on; empty for none.
  void Use(TransactionId transaction) { transaction_ = std::move(transaction); }
  const TransactionId& transaction() const { return transaction_; }
  void ForgetToken() { precommit_token_.clear(); }

 private:
  google::spanner::v1::ExecuteSqlRequest Encode(const Call& call);
  const Outcome& HearRows(const grpc::Status& status, const google::spanner::v1::ResultSet& set,
                          bool has_retry_info);

  Probe& probe_;
  const bool multiplexed_;
  std::string session_;
  TransactionId transaction_;
  int64_t sequence_ = 0;
  std::string precommit_token_;
  int32_t precommit_sequence_ = 0;
};

class Probe {
 public:
  // Makes the database `id`, which ends with this.
  Probe(RawSpanner& spanner, const std::string& id);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  Client a{*this, false}, b{*this, false}, c{*this, false};
  Client m{*this, true};  // on a multiplexed session

  // A transaction of one statement, which has to succeed. Not in the transcript.
  Timestamp Do(const std::string& sql, std::vector<Argument> arguments = {});
  // Rows with nothing but a name, and now as their times.
  Timestamp Insert(const std::string& name);

  // Adds "what" or "not: what".
  void Is(std::string_view what, bool holds);
  // Adds the code.
  const Outcome& Hear(const grpc::Status& status);
  void Add(std::string text);
  const Outcome& Hear(Outcome outcome);
  // What follows is not in the transcript until it is.
  void Quietly(bool quietly) { quietly_ = quietly; }

  RawSpanner& spanner() { return spanner_; }
  const std::string& database() const { return database_; }
  // "OK | 1 row | ALREADY_EXISTS"
  std::string Transcript() const;
  // What the errors said, a line each.
  const std::string& Messages() const { return messages_; }

 private:
  RawSpanner& spanner_;
  const std::string database_;
  bool quietly_ = false;
  std::vector<std::string> heard_;
  std::string messages_;
  Outcome last_;
};

}  // namespace whorl::facts
