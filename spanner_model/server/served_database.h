// Serves one database: it has the model and its driver (spanner_model/README.md, How to drive it),
// and translates from and to Google's protos.
//
// Invariants:
//   1. Every call is answered once, by one of the functions here, in the outcomes they append.
//   2. RunDue does what is due; the caller sleeps until NextDue.
//   3. The times given as `now` never go back.
// Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "google/spanner/v1/spanner.pb.h"
#include "protocol/spanner/rpc.h"
#include "spanner_model/database.h"
#include "spanner_model/server/answer.h"
#include "spanner_model/server/options.h"
#include "spanner_model/server/planned_request.h"
#include "spanner_model/server/schema_change.h"
#include "wire/requests.h"
#include "wire/results.h"

namespace whorl::server {

// The form of an answer: one message, or a stream of partial result sets.
enum class AnswerForm : uint8_t { kWhole, kStream };

class ServedDatabase {
 public:
  // `incarnation` is unique among all databases, past ones included, so that no two databases have
  // equal session names or transaction ids. REQUIRES: `options` outlives this.
  ServedDatabase(std::string name, uint32_t incarnation, const BackendOptions& options,
                 Timestamp now);
  ServedDatabase(const ServedDatabase&) = delete;
  ServedDatabase& operator=(const ServedDatabase&) = delete;

  const std::string& name() const { return name_; }
  Timestamp created() const { return created_; }
  const model::Schema& schema() const { return catalogue_.schema(); }
  // The same, for a thread that looks at it while the database changes it.
  std::shared_ptr<const model::Schema> SharedSchema() const { return schema_; }

  // Serves the call `Call` of protocol/spanner/rpc.h, given as its request `Proto`. `session` is
  // the last part of the session's name. `planned`, which may be null, is used up.
  template <typename Call, typename Proto>
  void Serve(const Proto& proto, const std::string& session, AnswerForm form, CallTag tag,
             Timestamp now, PlannedRequest* planned, std::vector<CallOutcome>& out);
  // Creates regular sessions.
  std::vector<google::spanner::v1::Session> CreateSessions(int count, Timestamp now,
                                                           std::vector<CallOutcome>& out);

  // The sessions that have not expired.
  std::vector<google::spanner::v1::Session> ListSessions(Timestamp now) const;
  // Commits each group of mutations by itself; the answer, a stream, says what became of each.
  void BatchWrite(const google::spanner::v1::BatchWriteRequest& proto, const std::string& session,
                  CallTag tag, Timestamp now, std::vector<CallOutcome>& out);

  bool IsCommitting() const { return model::IsCommitting(database_); }
  // REQUIRES: !IsCommitting().
  void ChangeSchema(SchemaChange change, Timestamp now, std::vector<CallOutcome>& out);
  // Answers all calls under way with `status`. The database must not be used afterwards.
  void RefuseAll(const Status& status, std::vector<CallOutcome>& out);

  std::optional<Timestamp> NextDue() const;
  void RunDue(Timestamp now, std::vector<CallOutcome>& out);

 private:
  class DirectoryOfCall;
  struct Admission;
  struct Encoder;

  // The groups of a BatchWrite: one call of the client, and one Pending for each group.
  struct Groups;
  // Partitioned DML here is one transaction, which the server commits after its statement.
  enum class Partitioned : uint8_t { kNot, kBegin, kStatement, kCommit };

  // A call that is not answered yet.
  struct Pending {
    CallTag tag = 0;
    AnswerForm form = AnswerForm::kWhole;
    std::string session;  // the model's name for it
    Request request;
    std::vector<HeldStatement> statements;  // keeps the texts that `request` borrows
    std::vector<Parameter> undeclared;      // parameters without a type in the request
    bool wants_commit_stats = false;
    std::optional<int64_t> mutation_count;
    std::shared_ptr<Groups> groups;
    int32_t group = 0;
    Partitioned partitioned = Partitioned::kNot;
    Answer statement_answer;  // of partitioned DML, until it is committed
    // Of ExecuteSql: what the client wants besides the rows; the statement that it only wants described
    // (the model then runs another one, which reads nothing); when it began, and how long it took.
    google::spanner::v1::ExecuteSqlRequest::QueryMode mode =
        google::spanner::v1::ExecuteSqlRequest::NORMAL;
    std::optional<Sql> described;
    Timestamp began;
    Duration elapsed;
  };

  // This many groups are under way at once: each looks at all transactions under way.
  static constexpr size_t kGroupsAtOnce = 64;
  struct Groups {
    std::deque<Pending> waiting;
    size_t left = 0;  // that are not in the answer yet
    bool is_answered = false;
    Answer answer;
  };

  // Gives the call to the model. Its effects, which follow those that there are, are for ApplyEffects.
  void Begin(Pending pending, Timestamp now);
  // One for each split, and `more`.
  std::vector<model::ClockReading> LeadersAt(Timestamp now, size_t more = 0) const;
  CallName NextCallName();
  // Acts on the model's effects_ until there are no more.
  void ApplyEffects(Timestamp now, std::vector<CallOutcome>& out);
  // Answers a call that the model has answered, or goes on with it.
  void Finish(Pending pending, const Response& response, Timestamp now,
              std::vector<CallOutcome>& out);
  void FinishGroup(const Pending& pending, const Response& response, Timestamp now,
                   std::vector<CallOutcome>& out);
  void BeginNextOf(Groups& groups, Timestamp now);
  void AddToGroups(Groups& groups, int32_t group, const Status& status,
                   const Response* response) const;
  // Refuses a statement that partitioned DML cannot be; OK for other statements.
  Status CheckPartitioned(const Pending& pending) const;
  // Keeps memory bounded, whatever the rate of writes.
  void DropOldVersions(Timestamp now);
  void StartCommit(const model::CommitStarted& started, Timestamp now,
                   std::vector<CallOutcome>& out);
  Answer Encode(const Pending& pending, const Response& response);
  Answer EncodeResult(const Pending& pending, const Response& response, wire::ResultShape shape);
  Status Describe(const google::spanner::v1::ExecuteSqlRequest& proto, Pending& call);
  // Gives the parts of a stream their resume tokens, and keeps them.
  void KeepStream(std::vector<google::spanner::v1::PartialResultSet> parts, Answer& answer);
  // The rest of a stream after the part that has the token.
  Answer Resume(const std::string& token) const;
  wire::ResultShape ShapeOf(const Sql& sql) const;
  wire::ResultShape ShapeOf(const Read& read) const;
  const std::optional<std::vector<Parameter>>& InferredParameters(
      std::string_view text, const std::vector<Parameter>& declared, PlannedRequest* planned);
  // Null for a statement that does not compile.
  const model::Plan* PlanOf(const Sql& sql, std::optional<model::CompiledStatement>& scratch) const;
  void RememberMutations(const Pending& pending, const Response& response);
  // All mutations that the Commit writes.
  int64_t MutationsOf(const Commit& commit) const;

  const std::string name_;
  const uint32_t incarnation_;
  const BackendOptions& options_;
  const Timestamp created_;
  model::Catalogue catalogue_;
  std::shared_ptr<const model::Schema> schema_;  // the catalogue's
  StatementCache statements_;
  model::Database database_;
  uint64_t calls_ = 0;
  std::map<CallName, Pending> pending_;
  std::vector<model::DatabaseEffect> effects_;
  size_t changed_rows_ = 0;              // since the last DropOldVersions
  std::set<TransactionId> partitioned_;  // transactions of partitioned DML
  std::multimap<Timestamp, TransactionId> commits_due_;
  std::optional<Timestamp> look_due_;
  // The newest streams of more than one part, by their numbers.
  struct KeptStream {
    std::vector<MessagePtr> parts;
    size_t bytes = 0;
  };
  std::map<uint64_t, KeptStream> streams_;
  size_t stream_bytes_ = 0;  // of all of them
  uint64_t stream_count_ = 0;
  // Inferred types of parameters, by the text and the declared types; bounded, and cleared by a
  // schema change.
  std::map<std::string, std::optional<std::vector<Parameter>>, std::less<>> inferred_;
  size_t inferred_bytes_ = 0;  // of the texts
  // Mutations of the DML of transactions that are under way, by sequence number.
  std::map<TransactionId, std::map<int64_t, int64_t>> mutations_;
};

}  // namespace whorl::server
