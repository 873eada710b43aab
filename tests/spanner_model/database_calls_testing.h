// Calls of any kind to the database under test, each with its own name, for tests that
// database_testing.h has no function for.
//
//   Calls calls(spanner);
//   const SessionName session = calls.NewSession(/*multiplexed=*/true);
//   const Response begun = calls.Ask(BeginTransaction{.session = session, ...});
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/spanner_model/database_testing.h"

namespace whorl::model {

class Calls {
 public:
  explicit Calls(Spanner& spanner) : spanner_(&spanner) {}

  CallName Send(const Request& request) {
    const CallName name = {.process = {.node = 77, .incarnation = ++calls_}};
    spanner_->Serve(name, request);
    return name;
  }
  // The answer to a call that does not wait.
  Response Ask(const Request& request) { return spanner_->AnswerTo(Send(request)); }

  // A Commit, including its commit wait.
  Response Commits(const Commit& commit) {
    const CallName name = Send(commit);
    CompleteCommits();
    return spanner_->AnswerTo(name);
  }
  Response Commits(const SessionName& session, const TransactionId& id) {
    return Commits(Commit{.session = session, .transaction = id});
  }
  // A single-use write.
  Response Writes(std::vector<Mutation> mutations, const SessionName& session = {}) {
    return Commits(Commit{
        .session = session, .transaction = SingleUseWrite{}, .mutations = std::move(mutations)});
  }

  // How a single-use write, or a transaction's Commit, is refused without waiting.
  Status WhyRefused(std::vector<Mutation> mutations) {
    return Ask(Commit{.transaction = SingleUseWrite{}, .mutations = std::move(mutations)}).status;
  }
  Code WhyRefused(const SessionName& session, const TransactionId& id) {
    return Ask(Commit{.session = session, .transaction = id}).status.code;
  }

  SessionName NewSession(bool multiplexed) {
    return Ask(CreateSession{.multiplexed = multiplexed}).sessions.at(0).name;
  }
  TransactionId Begin(const SessionName& session, const BeginReadWrite& options = {}) {
    return Ask(BeginTransaction{.session = session, .options = options}).transaction;
  }
  Response Run(const SessionName& session, const TransactionSelector& transaction,
               const Statement& statement, int64_t sequence_number = 1) {
    return Ask(ExecuteSql{.session = session,
                          .transaction = transaction,
                          .statement = statement,
                          .sequence_number = sequence_number});
  }
  // Makes all commits under way visible.
  void CompleteCommits() {
    std::vector<TransactionId> committing;
    for (const TransactionState& one : spanner_->database.transactions) {
      if (one.phase == TransactionPhase::kCommitting && !one.replicated) {
        committing.push_back(one.id);
      }
    }
    spanner_->Advance(kEpsilon * 3);
    for (const TransactionId& id : committing) spanner_->CommitVisible(id);
  }

 private:
  Spanner* spanner_;
  uint32_t calls_ = 0;
};

class DatabaseCallsTest : public DatabaseTest {
 protected:
  Calls calls{spanner};
};

inline Mutation WriteLock(MutationKind kind, std::string_view name, Value writer) {
  return {.kind = kind,
          .table = "locktable",
          .columns = {"name", "heartbeat", "token", "writer"},
          .rows = {{std::string(name), std::string(kCommitTimestamp), std::string(kCommitTimestamp),
                    std::move(writer)}}};
}

inline Mutation DeleteLocks(std::vector<Row> keys) {
  return {.kind = MutationKind::kDelete, .table = "locktable", .keys = {.keys = std::move(keys)}};
}

}  // namespace whorl::model
