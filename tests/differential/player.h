// Plays a sequence, one operation at a time, to one server of Spanner's API, and describes the
// answers so that those of two servers can be compared.
//
// Values that differ between servers are described by identity and order: a commit timestamp is
// "the commit of #7" wherever it appears, with its place among all commit and read timestamps.
// Transaction ids and session names are left out; error texts are kept for people.
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
  std::optional<int64_t> count;  // the number of changed rows
  friend bool operator==(const ResultAnswer&, const ResultAnswer&) = default;
};

struct Answer {
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string message;  // for people
  bool began = false;   // the answer contains a transaction id
  std::vector<ResultAnswer> results;
  // For a batch: the code of the failed statement.
  grpc::StatusCode batch_code = grpc::StatusCode::OK;
  std::string commit;           // "the commit of #7"
  std::string place_of_commit;  // among the earlier commits and read timestamps
  std::string place_of_read;    // among the commits
  // The answer equals that to an earlier call of the transaction with this sequence number. Not
  // compared.
  bool repeats = false;
  // The transaction had already used the call's sequence number. Not compared.
  bool number_is_old = false;
  // A Commit or Rollback had ended the call's transaction. Not compared.
  bool after_end = false;
};
std::string Describe(const Answer& answer);

class Player {
 public:
  // `database` is an id that the server does not have yet.
  Player(RawSpanner& spanner, std::string database, bool has_multiplexed_sessions);
  Player(const Player&) = delete;
  // Ends open transactions and drops the database.
  ~Player();

  // Creates the database and its sessions. Throws std::runtime_error if that fails.
  void Prepare(const Sequence& sequence);
  // nullopt if the operation names a transaction that was not begun.
  std::optional<Answer> Play(const Operation& operation);

  // Reads and deletes the empty ranges that have the ends of the operation's ranges: the emulator deletes
  // other rows, or dies, so its answers are not compared. Returns what is wrong, or nothing.
  std::string PlayEmptyRanges(const Operation& operation);

  // The number of transactions without a successful Commit or Rollback so far.
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
  Answer AnswerWithRows(const Operation& operation,
                        const Heard<google::spanner::v1::ResultSet>& heard);
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
  // Keeps the newest precommit token of the operation's transaction, which a Commit on a multiplexed
  // session has to bring.
  template <typename Reply>
  void KeepToken(const Operation& operation, const Reply& reply);
  void TakeBegun(const Operation& operation, const google::spanner::v1::Transaction& transaction,
                 Answer& answer);
  void TakeCommit(const Operation& operation, Timestamp commit, Answer& answer);
  ResultAnswer MakeResult(const google::spanner::v1::ResultSet& set) const;
  std::string Text(const google::protobuf::Value& value,
                   const google::spanner::v1::Type& type) const;

  RawSpanner& spanner_;
  std::string database_;
  const bool has_multiplexed_sessions_;
  std::vector<std::string> sessions_;
  std::map<int, Begun> begun_;        // by the operation that began it
  std::map<int, Begun> open_;         // those that have not ended
  std::map<int, Timestamp> commits_;  // by the operation
  // By the operation that began the transaction.
  std::map<int, google::spanner::v1::MultiplexedSessionPrecommitToken> tokens_;
  // The first answer, by the operation that began the transaction and the sequence number.
  std::map<std::pair<int, int64_t>, Answer> numbered_;
  std::set<Timestamp> commit_times_;
  std::vector<Timestamp> reads_;                    // read timestamps that the server returned
  mutable std::map<Timestamp, std::string> names_;  // descriptions of times
  int calls_ = 0;
};

}  // namespace whorl::differential
