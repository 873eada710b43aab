// A probe shows a fact by a few calls to a server and a transcript of the answers.
//
// Every probe has its own database with spindle's table:
//
//   locktable (name STRING(MAX) NOT NULL, heartbeat TIMESTAMP, token TIMESTAMP, writer STRING(MAX))
//   PRIMARY KEY (name), both times with allow_commit_timestamp
//
// Every call of a client adds its outcome to the transcript in a word or two: the code of an error;
// "OK"; "2 rows" for DML; "[a, NULL]" for each row of a query, or "no row".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"
#include "tests/support/raw_spanner.h"

namespace whorl::facts {

inline constexpr const char* kInsertA = "INSERT INTO locktable (name) VALUES ('a')";

// A parameter as sent: a value of some kind, with or without a type.
struct Argument {
  std::string name;
  std::optional<Type> type;
  google::protobuf::Value value;
};
Argument Text(std::string name, const std::string& text, std::optional<Type> type = Type::kString);
Argument Time(std::string name, const std::string& text);
Argument Number(std::string name, double number, std::optional<Type> type);
Argument NullOf(std::string name, std::optional<Type> type);

// Mutations of locktable.
Mutation Put(MutationKind kind, std::vector<std::string> columns, Row values);
Mutation DeleteRow(std::string name);

// The outcome of a call.
struct Outcome {
  std::string text;  // as in the transcript
  Code code = Code::kOk;
  std::string message;
  std::string details;  // the types of the error's details, one per line
  bool has_retry_info = false;
  std::vector<std::vector<std::string>> rows;
  std::string transaction;  // the id, if the call began one
  Timestamp commit;         // the commit timestamp, for Commit
  std::optional<Timestamp> read;
  bool has_stats = false;
  bool has_precommit_token = false;
  google::spanner::v1::ResultSetMetadata metadata;

  bool ok() const { return code == Code::kOk; }
  // The value in this row and column as a time; 1970 if there is none.
  Timestamp TimeAt(size_t row, size_t column) const;
};

struct Call {
  std::string sql;
  std::vector<Argument> arguments = {};
  std::optional<int64_t> sequence = {};  // empty: one more than the last
  bool last_statement = false;
  // Empty: the client's transaction, or a strong single-use read if it has none.
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
  // ExecuteStreamingSql, with the parts reassembled.
  const Outcome& Stream(const Call& call);
  // "1 row, then ALREADY_EXISTS"
  const Outcome& Batch(const std::vector<std::string>& statements);
  // Reads by key; all rows if `name` is empty.
  const Outcome& Read(const std::vector<std::string>& columns, const std::string& name = "",
                      std::optional<TransactionSelector> selector = {});
  // Commits the client's transaction, or a single-use one if it has none.
  const Outcome& Commit(std::vector<Mutation> mutations = {});
  const Outcome& Rollback();
  const Outcome& Delete();  // the session

  // Sets the client's transaction; empty for none.
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
  // Creates the database `id`; the destructor drops it.
  Probe(RawSpanner& spanner, const std::string& id);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  Client a{*this, false}, b{*this, false}, c{*this, false};
  Client m{*this, true};  // on a multiplexed session

  // Runs a transaction of one statement, which has to succeed. Not in the transcript.
  Timestamp Do(const std::string& sql, std::vector<Argument> arguments = {});
  // Inserts a row with this name and the commit timestamp in both times.
  Timestamp Insert(const std::string& name);

  // Adds "what" or "not: what".
  void Is(std::string_view what, bool holds);
  // Adds the code.
  const Outcome& Hear(const grpc::Status& status);
  void Add(std::string text);
  const Outcome& Hear(Outcome outcome);
  // Suspends (true) or resumes (false) the transcript.
  void Quietly(bool quietly) { quietly_ = quietly; }

  RawSpanner& spanner() { return spanner_; }
  const std::string& database() const { return database_; }
  // "OK | 1 row | ALREADY_EXISTS"
  std::string Transcript() const;
  // The messages of the errors, one per line.
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
