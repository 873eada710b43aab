// One database of the server: the model with the driver's side of its bargain (spanner_model/
// README.md, How to drive it), spoken to in Google's protos.
//
// Invariants:
//   1. Every call is answered once, by one of the functions here, in the outcomes they append.
//   2. What is due at a time is done by RunDue at or after it; the caller sleeps until NextDue.
//   3. Times that come in do not go back.
// Not to be called from several threads at once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "google/spanner/v1/spanner.pb.h"
#include "protocol/spanner/rpc.h"
#include "spanner_model/database.h"
#include "spanner_model/server/answer.h"
#include "spanner_model/server/options.h"
#include "spanner_model/server/schema_change.h"
#include "wire/requests.h"
#include "wire/results.h"

namespace whorl::server {

// How the answer to a call is put.
enum class AnswerForm : uint8_t { kWhole, kStream };

class ServedDatabase {
 public:
  // `incarnation`: unlike that of any other database, now or before, so that no name of a session
  // or id of a transaction means something in two of them. REQUIRES: `options` outlives this.
  ServedDatabase(std::string name, uint32_t incarnation, const BackendOptions& options,
                 Timestamp now);
  ServedDatabase(const ServedDatabase&) = delete;
  ServedDatabase& operator=(const ServedDatabase&) = delete;

  const std::string& name() const { return name_; }
  Timestamp created() const { return created_; }
  const model::Schema& schema() const { return catalogue_.schema(); }

  // A call of `Call`, one of protocol/spanner/rpc.h, as its request `Proto`. `session`: the last
  // part of its session's name.
  template <typename Call, typename Proto>
  void Serve(const Proto& proto, const std::string& session, AnswerForm form, CallTag tag,
             Timestamp now, std::vector<CallOutcome>& out);
  // Regular ones.
  std::vector<google::spanner::v1::Session> CreateSessions(int count, Timestamp now,
                                                           std::vector<CallOutcome>& out);

  bool IsCommitting() const { return model::IsCommitting(database_); }
  // REQUIRES: !IsCommitting().
  void ChangeSchema(SchemaChange change, Timestamp now, std::vector<CallOutcome>& out);
  // Whatever is under way is answered so; the database is not to be used any more.
  void RefuseAll(const Status& status, std::vector<CallOutcome>& out);

  std::optional<Timestamp> NextDue() const;
  void RunDue(Timestamp now, std::vector<CallOutcome>& out);

 private:
  class DirectoryOfCall;
  struct Encoder;

  // A call that is not answered yet.
  struct Pending {
    CallTag tag = 0;
    AnswerForm form = AnswerForm::kWhole;
    std::string session;  // the model's name of it
    Request request;
    std::vector<HeldStatement> statements;  // that `request` borrows
    std::vector<Parameter> undeclared;      // parameters without a type in the request
    bool wants_commit_stats = false;
    std::optional<int64_t> mutation_count;
  };

  void Submit(Pending pending, Timestamp now, std::vector<CallOutcome>& out);
  std::vector<model::Moment> LeadersAt(Timestamp now) const;
  CallName NextCallName();
  // What the model said in effects_, until it says nothing more.
  void Settle(Timestamp now, std::vector<CallOutcome>& out);
  void StartCommit(const model::CommitStarted& started, Timestamp now,
                   std::vector<CallOutcome>& out);
  Answer Encode(const Pending& pending, const Response& response) const;
  Answer EncodeResult(const Pending& pending, const Response& response,
                      wire::ResultShape shape) const;
  wire::ResultShape ShapeOf(const Sql& sql) const;
  wire::ResultShape ShapeOf(const Read& read) const;
  const std::optional<std::vector<Parameter>>& InferredParameters(
      std::string_view text, const std::vector<Parameter>& declared);

  const std::string name_;
  const uint32_t incarnation_;
  const BackendOptions& options_;
  const Timestamp created_;
  model::Catalogue catalogue_;
  StatementCache statements_;
  model::Database database_;
  uint64_t calls_ = 0;
  std::map<CallName, Pending> pending_;
  std::vector<model::DatabaseEffect> effects_;
  std::multimap<Timestamp, TransactionId> commits_due_;
  std::optional<Timestamp> look_due_;
  // Types of parameters without one, by the text and the others' types; bounded, and of this
  // schema.
  std::map<std::string, std::optional<std::vector<Parameter>>, std::less<>> inferred_;
};

}  // namespace whorl::server
