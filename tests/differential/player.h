// Plays a sequence, one operation at a time, to one server of Spanner's API, and says what it
// answered in words that two servers can have in common.
//
// What differs between any two servers is told by order and identity: a commit timestamp is "the
// commit of #7" wherever it appears, and its place among all commits and read timestamps is told.
// Transaction ids and session names are never told; texts of errors are kept for people.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/differential/sequence.h"
#include "tests/support/raw_spanner.h"

namespace whorl::differential {

// One set of rows.
struct ResultAnswer {
  std::vector<std::string> columns;     // "name TYPE"
  std::vector<std::string> undeclared;  // parameters, likewise
  std::vector<std::vector<std::string>> rows;
  std::optional<int64_t> count;  // of changed rows
  friend bool operator==(const ResultAnswer&, const ResultAnswer&) = default;
};

struct Answer {
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string message;  // for people
  bool began = false;   // brought the id of a transaction
  std::vector<ResultAnswer> results;
  // Of a batch: that of the statement that failed.
  grpc::StatusCode batch_code = grpc::StatusCode::OK;
  std::string commit;           // "the commit of #7"
  std::string place_of_commit;  // among the earlier commits and read timestamps
  std::string place_of_read;    // among the commits
  // The same as to an earlier call of the transaction with this sequence number. Not compared.
  bool repeats = false;
  // To a call with a sequence number that the transaction had had. Not compared.
  bool number_is_old = false;
  // To a call of a transaction that a Commit or Rollback had ended. Not compared.
  bool after_end = false;
};
std::string Describe(const Answer& answer);

class Player {
 public:
  // `database` is an id that the server does not have yet.
  Player(RawSpanner& spanner, std::string database);
  Player(const Player&) = delete;
  // Ends what the sequence left open, and drops the database.
  ~Player();

  // The database and its sessions; throws std::runtime_error when they cannot be made.
  void Prepare(const Sequence& sequence);
  // Nothing: the operation names a transaction that was not begun.
  std::optional<Answer> Play(const Operation& operation);

  // Transactions that began, and were not ended by a Commit or Rollback that was OK.
  int open_transactions() const { return static_cast<int>(open_.size()); }
  int calls() const { return calls_; }

 private:
  struct Begun {
    int session = 0;
    std::string id;
  };

  std::optional<Answer> Make(const Operation& operation);
  std::optional<Answer> PlayDdl(const Operation& operation);
  Answer PlayBegin(const Operation& operation);
  void NoteRepeat(const Operation& operation, Answer& answer);
  Answer PlayExecute(const Operation& operation);
  Answer PlayBatch(const Operation& operation);
  Answer PlayRead(const Operation& operation);
  Answer PlayCommit(const Operation& operation);
  Answer PlayRollback(const Operation& operation);

  bool CanSelect(const Selector& selector) const;
  google::spanner::v1::TransactionSelector MakeSelector(const Selector& selector) const;
  google::spanner::v1::TransactionOptions MakeOptions(const Selector& selector) const;
  template <typename Statement>
  void FillStatement(const Call& call, Statement& statement) const;
  const std::string& SessionName(int session);
  const std::string& IdOf(const Selector& selector) const;

  Value Resolve(const Value& value) const;
  Row Resolve(const Row& row) const;
  KeySet Resolve(const KeySet& keys) const;

  void Take(const grpc::Status& status, Answer& answer) const;
  void TakeBegun(const Operation& operation, const google::spanner::v1::Transaction& transaction,
                 Answer& answer);
  void TakeCommit(const Operation& operation, Timestamp commit, Answer& answer);
  ResultAnswer MakeResult(const google::spanner::v1::ResultSet& set) const;
  std::string Text(const google::protobuf::Value& value,
                   const google::spanner::v1::Type& type) const;

  RawSpanner& spanner_;
  std::string database_;
  std::vector<std::string> sessions_;
  std::map<int, Begun> begun_;        // by the operation that began it
  std::map<int, Begun> open_;         // of these
  std::map<int, Timestamp> commits_;  // by the operation
  // By the operation that began the transaction, and the number: the first answer.
  std::map<std::pair<int, int64_t>, Answer> numbered_;
  std::set<Timestamp> commit_times_;
  std::vector<Timestamp> reads_;                    // that were told
  mutable std::map<Timestamp, std::string> names_;  // of times that only the run knows
  int calls_ = 0;
};

}  // namespace whorl::differential
