#include "spanner_model/server/served_database.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <span>
#include <variant>

#include "spanner_model/server/planned_request.h"
#include "spanner_model/server/resource_names.h"
#include "spanner_model/sql/compile.h"
#include "spanner_model/sql/words.h"
#include "wire/responses.h"
#include "wire/status.h"

namespace whorl::server {

namespace v1 = ::google::spanner::v1;

// --- types of columns and parameters -------------------------------------------------------------

// Answers the decoder's questions about types for one request; records the inferred ones in its
// call.
class ServedDatabase::DirectoryOfCall final : public SchemaDirectory {
 public:
  // `planned`: what is planned already, or null.
  DirectoryOfCall(ServedDatabase& database, Pending& call, PlannedRequest* planned)
      : SchemaDirectory(database.schema()), database_(database), call_(call) {
    if (planned != nullptr && planned->schema == database.schema_) planned_ = planned;
  }

  Sql FindSql(std::string_view text, std::vector<Parameter> parameters) override {
    model::CompiledStatement* plan = nullptr;
    if (planned_ != nullptr) {
      const auto found = planned_->plans.extract(TextKey(text, parameters));
      if (!found.empty()) plan = &taken_.emplace_back(std::move(found.mapped()));
    }
    call_.statements.push_back(database_.statements_.Use(text, std::move(parameters), plan));
    return Sql::Borrow(*call_.statements.back());
  }

  std::optional<std::vector<Parameter>> InferParameters(
      std::string_view sql, const std::vector<Parameter>& declared) const override {
    const auto& inferred = database_.InferredParameters(sql, declared, planned_);
    if (inferred) {
      call_.undeclared.insert(call_.undeclared.end(), inferred->begin(), inferred->end());
    }
    return inferred;
  }

 private:
  ServedDatabase& database_;
  Pending& call_;
  PlannedRequest* planned_ = nullptr;
  std::deque<model::CompiledStatement> taken_;
};

// Empty for a text that does not compile; the model reports the error.
const std::optional<std::vector<Parameter>>& ServedDatabase::InferredParameters(
    std::string_view text, const std::vector<Parameter>& declared, PlannedRequest* planned) {
  constexpr size_t kMostTexts = 1024;
  constexpr size_t kMostBytes = size_t{16} << 20;
  std::string key = TextKey(text, declared);
  const auto found = inferred_.find(key);
  if (found != inferred_.end()) return found->second;
  if (inferred_.size() >= kMostTexts || inferred_bytes_ > kMostBytes) {
    inferred_.clear();
    inferred_bytes_ = 0;
  }
  inferred_bytes_ += key.size();
  if (planned != nullptr) {
    const auto known = planned->inferred.find(key);
    if (known != planned->inferred.end()) {
      return inferred_.emplace(std::move(key), known->second).first->second;
    }
  }
  auto inferred = InferUndeclared(schema(), text, declared);
  return inferred_.emplace(std::move(key), std::move(inferred)).first->second;
}

// --- calls ---------------------------------------------------------------------------------------

ServedDatabase::ServedDatabase(std::string name, uint32_t incarnation,
                               const BackendOptions& options, Timestamp now)
    : name_(std::move(name)),
      incarnation_(incarnation),
      options_(options),
      created_(now),
      catalogue_(model::Schema{}, {}, options.model),
      schema_(std::make_shared<const model::Schema>()),
      statements_(catalogue_, options.statements),
      database_(model::MakeDatabase(catalogue_)) {}

// Names increase, as the model's ages and the emulator's rule require.
CallName ServedDatabase::NextCallName() {
  const uint64_t number = ++calls_;
  return {.process = {.node = 0, .incarnation = incarnation_},
          .lock = static_cast<uint16_t>(number >> 32U),
          .generation = static_cast<uint32_t>(number)};
}

std::vector<model::ClockReading> ServedDatabase::LeadersAt(Timestamp now, size_t more) const {
  const auto& ahead = options_.current_timestamp_error;
  const Duration error = ahead == nullptr ? Duration() : Nanoseconds(ahead->load());
  const model::ClockReading moment = {
      .truetime = {.earliest = now - options_.epsilon, .latest = now + options_.epsilon},
      .current_timestamp = (now + error).TruncatedToMicros()};
  return std::vector<model::ClockReading>(catalogue_.split_count() + more, moment);
}

// What a kind of call has of its own on its way to the model. The template of each name is for the
// kinds that have no overload.
struct ServedDatabase::Admission {
  ServedDatabase& database;

  // The answer to a call that the model does not get; nothing: it gets the call.
  template <typename Proto>
  std::optional<Answer> AnswerAtOnce(const Proto& /*proto*/) const {
    return std::nullopt;
  }
  std::optional<Answer> AnswerAtOnce(const v1::ExecuteSqlRequest& proto) const {
    if (proto.resume_token().empty()) return std::nullopt;
    return database.Resume(proto.resume_token());
  }
  std::optional<Answer> AnswerAtOnce(const v1::ReadRequest& proto) const {
    if (!proto.resume_token().empty()) return database.Resume(proto.resume_token());
    const bool is_by_index =
        std::ranges::any_of(database.schema().indexes,
                            [&](const model::Index& index) { return index.name == proto.index(); });
    if (!is_by_index) return std::nullopt;
    return Refused(Error(Code::kUnimplemented,
                         "A read by an index is not modelled (a query with "
                         "FORCE_INDEX has the same rows)"));
  }

  template <typename Proto, typename Call>
  Status Decode(const Proto& proto, DirectoryOfCall& directory, Pending& /*call*/,
                Call& out) const {
    return wire::Decode(proto, directory, out);
  }
  template <typename Proto, typename Call>
    requires requires(const Proto& proto, Call& out) { wire::Decode(proto, out); }
  Status Decode(const Proto& proto, DirectoryOfCall& /*directory*/, Pending& /*call*/,
                Call& out) const {
    return wire::Decode(proto, out);
  }
  Status Decode(const v1::BeginTransactionRequest& proto, DirectoryOfCall& directory, Pending& call,
                BeginTransaction& out) const {
    if (!proto.options().has_partitioned_dml()) return wire::Decode(proto, directory, out);
    v1::BeginTransactionRequest as_read_write = proto;
    as_read_write.mutable_options()->mutable_read_write();
    call.partitioned = Partitioned::kBegin;
    return wire::Decode(as_read_write, directory, out);
  }
  Status Decode(const v1::CreateSessionRequest& proto, DirectoryOfCall& /*directory*/,
                Pending& /*call*/, CreateSession& out) const {
    const SessionKinds sessions = database.options_.sessions;
    Status status = wire::Decode(proto, out);
    if (status.ok() && sessions == SessionKinds::kOnlyMultiplexed && !out.multiplexed) {
      return OnlyMultiplexed();
    }
    out.multiplexed = out.multiplexed && sessions != SessionKinds::kOnlyRegular;
    return status;
  }

  // The last thing before the model gets the call, unless it is refused.
  template <typename Proto>
  Status Prepare(const Proto& /*proto*/, Pending& /*call*/) const {
    return {};
  }
  Status Prepare(const v1::CommitRequest& proto, Pending& call) const {
    call.wants_commit_stats = proto.return_commit_stats();
    const bool fits = database.MutationsOf(std::get<Commit>(call.request)) <= kMutationsMax;
    return fits ? Status() : TooManyMutations();
  }
  Status Prepare(const v1::ExecuteSqlRequest& proto, Pending& call) const {
    call.mode = proto.query_mode();
    if (call.mode == v1::ExecuteSqlRequest::PLAN) {
      if (Status status = database.Describe(proto, call); !status.ok()) return status;
    }
    const auto* id = std::get_if<TransactionId>(&std::get<ExecuteSql>(call.request).transaction);
    const bool is_partitioned = id != nullptr && database.partitioned_.contains(*id);
    if (is_partitioned) call.partitioned = Partitioned::kStatement;
    return {};
  }
};

template <typename Call, typename Proto>
void ServedDatabase::Serve(const Proto& proto, const std::string& session, AnswerForm form,
                           CallTag tag, Timestamp now, PlannedRequest* planned,
                           std::vector<CallOutcome>& out) {
  const Admission admission{*this};
  if (std::optional<Answer> answer = admission.AnswerAtOnce(proto)) {
    out.push_back({.tag = tag, .answer = std::move(answer)});
    return;
  }
  Pending call = {.tag = tag, .form = form, .session = session, .began = now};
  DirectoryOfCall directory(*this, call, planned);
  Call request;
  Status status = admission.Decode(proto, directory, call, request);
  if (status.ok()) {
    call.request = std::move(request);
    SetSession(call.request, session);
    status = CheckPartitioned(call);
  }
  if (status.ok()) status = admission.Prepare(proto, call);
  if (!status.ok()) {
    out.push_back({.tag = tag, .answer = Refused(std::move(status))});
    return;
  }
  Begin(std::move(call), now);
  ApplyEffects(now, out);
}

template void ServedDatabase::Serve<ExecuteSql>(const v1::ExecuteSqlRequest&, const std::string&,
                                                AnswerForm, CallTag, Timestamp, PlannedRequest*,
                                                std::vector<CallOutcome>&);
template void ServedDatabase::Serve<ExecuteBatchDml>(const v1::ExecuteBatchDmlRequest&,
                                                     const std::string&, AnswerForm, CallTag,
                                                     Timestamp, PlannedRequest*,
                                                     std::vector<CallOutcome>&);
template void ServedDatabase::Serve<Read>(const v1::ReadRequest&, const std::string&, AnswerForm,
                                          CallTag, Timestamp, PlannedRequest*,
                                          std::vector<CallOutcome>&);
template void ServedDatabase::Serve<BeginTransaction>(const v1::BeginTransactionRequest&,
                                                      const std::string&, AnswerForm, CallTag,
                                                      Timestamp, PlannedRequest*,
                                                      std::vector<CallOutcome>&);
template void ServedDatabase::Serve<Commit>(const v1::CommitRequest&, const std::string&,
                                            AnswerForm, CallTag, Timestamp, PlannedRequest*,
                                            std::vector<CallOutcome>&);
template void ServedDatabase::Serve<Rollback>(const v1::RollbackRequest&, const std::string&,
                                              AnswerForm, CallTag, Timestamp, PlannedRequest*,
                                              std::vector<CallOutcome>&);
template void ServedDatabase::Serve<CreateSession>(const v1::CreateSessionRequest&,
                                                   const std::string&, AnswerForm, CallTag,
                                                   Timestamp, PlannedRequest*,
                                                   std::vector<CallOutcome>&);
template void ServedDatabase::Serve<GetSession>(const v1::GetSessionRequest&, const std::string&,
                                                AnswerForm, CallTag, Timestamp, PlannedRequest*,
                                                std::vector<CallOutcome>&);
template void ServedDatabase::Serve<DeleteSession>(const v1::DeleteSessionRequest&,
                                                   const std::string&, AnswerForm, CallTag,
                                                   Timestamp, PlannedRequest*,
                                                   std::vector<CallOutcome>&);

// A statement that is only described does not run, but its call begins a transaction and uses it.
Status ServedDatabase::Describe(const v1::ExecuteSqlRequest& proto, Pending& call) {
  Statement& statement = std::get<ExecuteSql>(call.request).statement;
  const auto& undeclared = InferredParameters(proto.sql(), statement.sql.parameters(), nullptr);
  if (!undeclared) {
    auto all = model::InferParameters(schema(), proto.sql(), statement.sql.parameters());
    return std::get<Status>(std::move(all));
  }
  call.undeclared = *undeclared;
  std::vector<Parameter> parameters = statement.sql.parameters();
  for (const Parameter& parameter : call.undeclared) {
    const bool known = std::any_of(parameters.begin(), parameters.end(), [&](const auto& other) {
      return model::EqualIgnoringCase(other.name, parameter.name);
    });
    if (!known) parameters.push_back(parameter);
  }
  call.statements.push_back(statements_.Use(proto.sql(), std::move(parameters)));
  call.described = Sql::Borrow(*call.statements.back());
  call.statements.push_back(statements_.Use("SELECT 1", {}));
  statement = {.sql = Sql::Borrow(*call.statements.back())};
  return {};
}

void ServedDatabase::Begin(Pending pending, Timestamp now) {
  const CallName call = NextCallName();
  const Pending& kept = pending_.emplace(call, std::move(pending)).first->second;
  model::Serve(catalogue_, database_, call, kept.request, LeadersAt(now), effects_);
}

std::vector<v1::Session> ServedDatabase::CreateSessions(int count, Timestamp now,
                                                        std::vector<CallOutcome>& out) {
  std::vector<v1::Session> sessions;
  const auto leaders = LeadersAt(now);
  for (int i = 0; i < count; ++i) {
    model::Serve(catalogue_, database_, NextCallName(), CreateSession{}, leaders, effects_);
    SessionInfo session = database_.sessions.back();
    session.name = MakeSessionName(name_, session.name);
    sessions.push_back(wire::EncodeSession(session));
  }
  ApplyEffects(now, out);
  return sessions;
}

std::vector<v1::Session> ServedDatabase::ListSessions(Timestamp now) const {
  std::vector<v1::Session> sessions;
  for (SessionInfo session : database_.sessions) {
    const Duration limit = session.multiplexed ? options_.model.multiplexed_idle_limit
                                               : options_.model.session_idle_limit;
    if (now - session.last_used > limit) continue;
    session.name = MakeSessionName(name_, session.name);
    sessions.push_back(wire::EncodeSession(session));
  }
  return sessions;
}

// --- the driver ----------------------------------------------------------------------------------

void ServedDatabase::ApplyEffects(Timestamp now, std::vector<CallOutcome>& out) {
  Timestamp visible;  // the newest commit that became visible here
  // Commits that become visible at once append effects in this loop.
  for (size_t i = 0; i < effects_.size(); ++i) {
    const model::DatabaseEffect effect = std::move(effects_[i]);
    if (const auto* replied = std::get_if<model::Replied>(&effect)) {
      const auto pending = pending_.find(replied->call);
      if (pending == pending_.end()) continue;
      Pending answered = std::move(pending->second);
      pending_.erase(pending);
      Finish(std::move(answered), replied->response, now, out);
    } else if (const auto* parked = std::get_if<model::Parked>(&effect)) {
      out.push_back({.tag = pending_.at(parked->call).tag, .answer = std::nullopt});
    } else if (const auto* started = std::get_if<model::CommitStarted>(&effect)) {
      StartCommit(*started, now, out);
    } else if (const auto* look = std::get_if<model::RetryAt>(&effect)) {
      look_due_ = look->server_time - options_.epsilon;
    } else if (std::holds_alternative<model::RetryCancelled>(effect)) {
      look_due_.reset();
    } else if (const auto* committed = std::get_if<model::Committed>(&effect)) {
      visible = committed->commit;
    } else if (const auto* row = std::get_if<model::RowChanged>(&effect)) {
      ++changed_rows_;
      if (options_.changes != nullptr) {
        options_.changes->OnChange({.database = name_,
                                    .table = schema().tables[row->table],
                                    .commit = visible,
                                    .before = row->before,
                                    .after = row->after});
      }
    }
  }
  effects_.clear();
  // Half of the versions go at once, so that looking for them is rare.
  if (changed_rows_ > options_.most_old_versions / 2) DropOldVersions(now);
}

void ServedDatabase::DropOldVersions(Timestamp now) {
  model::KeepNewestVersions(catalogue_, database_, options_.most_old_versions / 2, LeadersAt(now));
  changed_rows_ = 0;
}

namespace {

// The result of partitioned DML, which may have changed a row twice.
MessagePtr WithLowerBound(const google::protobuf::Message& message) {
  const auto bound = [](auto result) -> MessagePtr {
    if (result.has_stats()) {
      const int64_t count = result.stats().row_count_exact();
      result.mutable_stats()->set_row_count_lower_bound(count);
    }
    return std::make_shared<const decltype(result)>(std::move(result));
  };
  if (const auto* whole = dynamic_cast<const v1::ResultSet*>(&message)) return bound(*whole);
  return bound(dynamic_cast<const v1::PartialResultSet&>(message));
}

}  // namespace

void ServedDatabase::Finish(Pending pending, const Response& response, Timestamp now,
                            std::vector<CallOutcome>& out) {
  if (pending.groups) return FinishGroup(pending, response, now, out);
  if (pending.partitioned == Partitioned::kCommit) {
    out.push_back({.tag = pending.tag,
                   .answer = response.status.ok() ? std::move(pending.statement_answer)
                                                  : Refused(response.status)});
    return;
  }
  pending.elapsed = now - pending.began;
  RememberMutations(pending, response);
  Answer answer = Encode(pending, response);
  if (pending.partitioned == Partitioned::kBegin && response.status.ok()) {
    partitioned_.insert(response.transaction);
  }
  if (pending.partitioned != Partitioned::kStatement || !response.status.ok()) {
    out.push_back({.tag = pending.tag, .answer = std::move(answer)});
    return;
  }
  const auto& statement = std::get<ExecuteSql>(pending.request);
  Commit commit{.session = statement.session,
                .transaction = std::get<TransactionId>(statement.transaction)};
  commit.precommit_token = response.precommit_token;
  commit.precommit_sequence = response.precommit_sequence;
  for (MessagePtr& message : answer.messages) message = WithLowerBound(*message);
  Begin({.tag = pending.tag,
         .form = pending.form,
         .session = pending.session,
         .request = std::move(commit),
         .partitioned = Partitioned::kCommit,
         .statement_answer = std::move(answer)},
        now);
}

Status ServedDatabase::CheckPartitioned(const Pending& pending) const {
  const auto* call = std::get_if<ExecuteSql>(&pending.request);
  const TransactionId* id = nullptr;
  if (call != nullptr) id = std::get_if<TransactionId>(&call->transaction);
  if (const auto* commit = std::get_if<Commit>(&pending.request)) {
    id = std::get_if<TransactionId>(&commit->transaction);
  }
  if (id == nullptr || !partitioned_.contains(*id)) return {};
  if (call == nullptr) {
    return Error(Code::kFailedPrecondition,
                 "Cannot commit or rollback a read-only or partitioned-dml transaction.");
  }
  std::optional<model::CompiledStatement> scratch;
  const model::Plan* plan = PlanOf(call->statement.sql, scratch);
  if (plan == nullptr) return {};  // the answer is its error
  if (std::holds_alternative<model::SelectPlan>(*plan)) {
    return Error(Code::kInvalidArgument, "A partitioned DML transaction executes no query.");
  }
  if (std::holds_alternative<model::InsertPlan>(*plan)) {
    return Error(Code::kInvalidArgument, "Partitioned DML is UPDATE or DELETE.");
  }
  if (!model::OutputsOf(*plan).empty()) {
    return Error(Code::kInvalidArgument, "Partitioned DML has no THEN RETURN.");
  }
  return {};
}

// --- mutations -----------------------------------------------------------------------------------

// Of the statements of a transaction that have been answered, so that the Commit can be told their number.
void ServedDatabase::RememberMutations(const Pending& pending, const Response& response) {
  const auto remember = [&](const TransactionSelector& selector, int64_t sequence, int64_t count) {
    if (count == 0) return;
    const auto* id = std::get_if<TransactionId>(&selector);
    const TransactionId& transaction = id != nullptr ? *id : response.transaction;
    // A statement that is sent again is answered again, and counts once.
    mutations_[transaction][sequence] = count;
    constexpr size_t kMostTransactions = 10'000;
    if (mutations_.size() > kMostTransactions) mutations_.erase(mutations_.begin());
  };
  const auto of_rows = [&](const Statement& statement, int64_t rows) {
    std::optional<model::CompiledStatement> scratch;
    const model::Plan* plan = rows > 0 ? PlanOf(statement.sql, scratch) : nullptr;
    return plan != nullptr ? rows * MutationsOfRow(schema(), *plan) : 0;
  };
  if (const auto* one = std::get_if<ExecuteSql>(&pending.request)) {
    remember(one->transaction, one->sequence_number,
             of_rows(one->statement, response.result.row_count));
  } else if (const auto* batch = std::get_if<ExecuteBatchDml>(&pending.request)) {
    int64_t count = 0;
    for (size_t i = 0; i < response.batch.size(); ++i) {
      count += of_rows(batch->statements[i], response.batch[i].row_count);
    }
    remember(batch->transaction, batch->sequence_number, count);
  } else if (const auto* commit = std::get_if<Commit>(&pending.request)) {
    const auto* id = std::get_if<TransactionId>(&commit->transaction);
    const bool comes_again = response.status.ok() && !response.precommit_token.empty();
    if (id != nullptr && !comes_again) mutations_.erase(*id);
  } else if (const auto* rollback = std::get_if<Rollback>(&pending.request)) {
    mutations_.erase(rollback->transaction);
  }
}

int64_t ServedDatabase::MutationsOf(const Commit& commit) const {
  int64_t count = CountMutations(commit.mutations);
  const auto* id = std::get_if<TransactionId>(&commit.transaction);
  if (id == nullptr) return count;
  const auto statements = mutations_.find(*id);
  if (statements == mutations_.end()) return count;
  for (const auto& [sequence, mutations] : statements->second) count += mutations;
  return count;
}

// --- BatchWrite ----------------------------------------------------------------------------------

void ServedDatabase::BatchWrite(const v1::BatchWriteRequest& proto, const std::string& session,
                                CallTag tag, Timestamp now, std::vector<CallOutcome>& out) {
  const auto groups = std::make_shared<Groups>();
  groups->left = static_cast<size_t>(proto.mutation_groups_size());
  if (groups->left == 0) {
    out.push_back({.tag = tag,
                   .answer = Refused(Error(Code::kInvalidArgument,
                                           "BatchWriteRequest has no mutation_groups."))});
    return;
  }
  for (int32_t i = 0; i < proto.mutation_groups_size(); ++i) {
    v1::CommitRequest commit;
    commit.set_session(proto.session());
    commit.mutable_single_use_transaction()->mutable_read_write();
    *commit.mutable_mutations() = proto.mutation_groups(i).mutations();
    Pending call = {.tag = tag, .session = session, .groups = groups, .group = i};
    DirectoryOfCall directory(*this, call, nullptr);
    Commit request;
    if (const Status status = wire::Decode(commit, directory, request); !status.ok()) {
      AddToGroups(*groups, i, status, nullptr);
      continue;
    }
    if (CountMutations(request.mutations) > kMutationsMax) {
      AddToGroups(*groups, i, TooManyMutations(), nullptr);
      continue;
    }
    call.request = std::move(request);
    SetSession(call.request, session);
    groups->waiting.push_back(std::move(call));
  }
  for (size_t i = 0; i < kGroupsAtOnce; ++i) BeginNextOf(*groups, now);
  ApplyEffects(now, out);
  // Otherwise the last of the groups that are under way answers.
  const bool all_refused =
      groups->left == 0 &&
      groups->answer.messages.size() == static_cast<size_t>(proto.mutation_groups_size());
  if (all_refused && !groups->is_answered) {
    groups->is_answered = true;
    out.push_back({.tag = tag, .answer = std::move(groups->answer)});
  }
}

void ServedDatabase::BeginNextOf(Groups& groups, Timestamp now) {
  if (groups.waiting.empty()) return;
  Begin(std::move(groups.waiting.front()), now);
  groups.waiting.pop_front();
}

void ServedDatabase::AddToGroups(Groups& groups, int32_t group, const Status& status,
                                 const Response* response) const {
  auto message = std::make_shared<v1::BatchWriteResponse>();
  message->add_indexes(group);
  *message->mutable_status() = wire::EncodeRpcStatus(WithRemedy(status));
  if (response != nullptr && status.ok()) {
    *message->mutable_commit_timestamp() = wire::EncodeCommitResponse(*response).commit_timestamp();
  }
  groups.answer.messages.push_back(std::move(message));
  --groups.left;
}

void ServedDatabase::FinishGroup(const Pending& pending, const Response& response, Timestamp now,
                                 std::vector<CallOutcome>& out) {
  Groups& groups = *pending.groups;
  AddToGroups(groups, pending.group, response.status, &response);
  BeginNextOf(groups, now);
  if (groups.left > 0 || groups.is_answered) return;
  groups.is_answered = true;
  out.push_back({.tag = pending.tag, .answer = std::move(groups.answer)});
}

void ServedDatabase::StartCommit(const model::CommitStarted& started, Timestamp now,
                                 std::vector<CallOutcome>& out) {
  const auto transaction = std::find_if(
      database_.transactions.begin(), database_.transactions.end(),
      [&](const model::TransactionState& one) { return one.id == started.transaction; });
  Pending& pending = pending_.at(transaction->commit_call);
  if (pending.wants_commit_stats) {
    pending.mutation_count = MutationsOf(std::get<Commit>(pending.request));
  }
  Timestamp due = now + options_.replication_latency;
  if (options_.commit_wait == CommitWait::kUntilSurelyPast) {
    due = std::max(due, started.commit + options_.epsilon + Nanoseconds(1));
  }
  if (due > now) {
    commits_due_.emplace(due, started.transaction);
    out.push_back({.tag = pending.tag, .answer = std::nullopt});
  } else {
    model::CommitVisible(catalogue_, database_, started.transaction, LeadersAt(now), effects_);
  }
}

std::optional<Timestamp> ServedDatabase::NextDue() const {
  std::optional<Timestamp> next = look_due_;
  if (!commits_due_.empty()) {
    const Timestamp commit = commits_due_.begin()->first;
    next = std::min(next.value_or(commit), commit);
  }
  return next;
}

void ServedDatabase::RunDue(Timestamp now, std::vector<CallOutcome>& out) {
  while (!commits_due_.empty() && commits_due_.begin()->first <= now) {
    const TransactionId id = commits_due_.extract(commits_due_.begin()).mapped();
    model::CommitVisible(catalogue_, database_, id, LeadersAt(now), effects_);
    ApplyEffects(now, out);
  }
  if (look_due_ && *look_due_ <= now) {
    look_due_.reset();
    model::LookAgain(catalogue_, database_, LeadersAt(now), effects_);
    ApplyEffects(now, out);
  }
}

void ServedDatabase::ChangeSchema(SchemaChange change, Timestamp now,
                                  std::vector<CallOutcome>& out) {
  inferred_.clear();
  inferred_bytes_ = 0;
  schema_ = std::make_shared<const model::Schema>(change.schema);
  std::vector<model::SplitPoint> splits = PlaceSplits(change.schema, options_.splits);
  const auto leaders = LeadersAt(now, splits.size());
  model::ChangeSchema(catalogue_, database_, std::move(change.schema), std::move(splits),
                      change.kept, leaders, effects_);
  ApplyEffects(now, out);
}

void ServedDatabase::RefuseAll(const Status& status, std::vector<CallOutcome>& out) {
  for (const auto& [call, pending] : pending_) {
    if (pending.groups && std::exchange(pending.groups->is_answered, true)) continue;
    out.push_back({.tag = pending.tag, .answer = Refused(status)});
  }
  pending_.clear();
}

// --- answers -------------------------------------------------------------------------------------

const model::Plan* ServedDatabase::PlanOf(const Sql& sql,
                                          std::optional<model::CompiledStatement>& scratch) const {
  const model::CompiledStatement* known = catalogue_.FindPlan(sql);
  if (known == nullptr) known = &scratch.emplace(model::Compile(schema(), sql));
  return std::get_if<model::Plan>(known);
}

wire::ResultShape ServedDatabase::ShapeOf(const Sql& sql) const {
  std::optional<model::CompiledStatement> scratch;
  const model::Plan* plan = PlanOf(sql, scratch);
  if (plan == nullptr) return {};  // the answer is its error
  wire::ResultShape shape = {.is_dml = !std::holds_alternative<model::SelectPlan>(*plan)};
  for (const model::ResultColumn& column : model::ResultColumns(*plan)) {
    shape.columns.push_back({.name = column.name, .type = column.type});
  }
  return shape;
}

wire::ResultShape ServedDatabase::ShapeOf(const Read& read) const {
  const auto index = schema().FindTable(read.table);
  if (!index) return {};
  const model::Table& table = schema().tables[*index];
  wire::ResultShape shape;
  for (const std::string& name : read.columns) {
    if (const auto column = table.FindColumn(name)) {
      shape.columns.push_back({.name = name, .type = table.columns[*column].type});
    }
  }
  return shape;
}

Answer ServedDatabase::EncodeResult(const Pending& pending, const Response& response,
                                    wire::ResultShape shape) {
  shape.undeclared_parameters = pending.undeclared;
  shape.wants_plan =
      pending.mode == v1::ExecuteSqlRequest::PLAN || pending.mode == v1::ExecuteSqlRequest::PROFILE;
  const bool has_statistics =
      pending.mode != v1::ExecuteSqlRequest::NORMAL && pending.mode != v1::ExecuteSqlRequest::PLAN;
  if (has_statistics) shape.elapsed = pending.elapsed;
  if (pending.form == AnswerForm::kWhole) return AnswerWith(wire::EncodeResultSet(response, shape));
  Answer answer;
  KeepStream(wire::EncodePartialResultSets(response, shape, options_.stream_part_bytes), answer);
  return answer;
}

// A token is the number of the stream and that of the part. The parts themselves are kept, so that what
// a client resumes is the result that it began to read.
void ServedDatabase::KeepStream(std::vector<v1::PartialResultSet> parts, Answer& answer) {
  size_t bytes = 0;
  for (const v1::PartialResultSet& part : parts) bytes += part.ByteSizeLong();
  const bool is_kept = parts.size() > 1 && bytes <= options_.most_stream_bytes;
  if (is_kept) ++stream_count_;
  for (size_t i = 0; i < parts.size(); ++i) {
    // A client cannot resume inside of a value, and need not after the end.
    if (is_kept && i + 1 < parts.size() && !parts[i].chunked_value()) {
      parts[i].set_resume_token(std::to_string(stream_count_) + " " + std::to_string(i));
    }
    answer.messages.push_back(std::make_shared<const v1::PartialResultSet>(std::move(parts[i])));
  }
  if (!is_kept) return;
  constexpr size_t kMostStreams = 16;
  streams_.emplace(stream_count_, KeptStream{.parts = answer.messages, .bytes = bytes});
  stream_bytes_ += bytes;
  while (streams_.size() > kMostStreams || stream_bytes_ > options_.most_stream_bytes) {
    stream_bytes_ -= streams_.begin()->second.bytes;
    streams_.erase(streams_.begin());
  }
}

Answer ServedDatabase::Resume(const std::string& token) const {
  const size_t space = token.find(' ');
  uint64_t stream = 0;
  uint64_t part = 0;
  const char* const end = token.data() + token.size();
  const auto first = std::from_chars(token.data(), end, stream);
  const bool valid = space != std::string::npos && first.ptr == token.data() + space &&
                     std::from_chars(first.ptr + 1, end, part).ptr == end;
  if (!valid) return Refused(Error(Code::kInvalidArgument, "Invalid resume token."));
  const auto kept = streams_.find(stream);
  if (kept == streams_.end() || part >= kept->second.parts.size()) {
    return Refused(Error(Code::kFailedPrecondition,
                         "whorl's server keeps no stream of this resume token any more; run the "
                         "query again"));
  }
  Answer answer;
  const std::vector<MessagePtr>& parts = kept->second.parts;
  answer.messages.assign(parts.begin() + static_cast<std::ptrdiff_t>(part) + 1, parts.end());
  return answer;
}

// One function for each kind of call that has its own kind of answer.
struct ServedDatabase::Encoder {
  ServedDatabase& database;
  const Pending& pending;
  const Response& response;

  Answer operator()(const ExecuteSql& call) const {
    if (pending.described) {
      Response without_rows = response;
      without_rows.result.rows.clear();
      return database.EncodeResult(pending, without_rows, database.ShapeOf(*pending.described));
    }
    return database.EncodeResult(pending, response, database.ShapeOf(call.statement.sql));
  }
  Answer operator()(const Read& call) const {
    return database.EncodeResult(pending, response, database.ShapeOf(call));
  }
  Answer operator()(const ExecuteBatchDml& call) const {
    std::vector<wire::ResultShape> shapes;
    for (const Statement& statement : call.statements) {
      shapes.push_back(database.ShapeOf(statement.sql));
    }
    Response answer = response;
    answer.result.status = WithRemedy(std::move(answer.result.status));
    return AnswerWith(wire::EncodeBatchDmlResponse(answer, shapes));
  }
  Answer operator()(const BeginTransaction&) const {
    return AnswerWith(wire::EncodeTransaction(response));
  }
  Answer operator()(const Commit&) const {
    v1::CommitResponse proto = wire::EncodeCommitResponse(response);
    if (pending.mutation_count && proto.has_commit_timestamp()) {
      proto.mutable_commit_stats()->set_mutation_count(*pending.mutation_count);
    }
    return AnswerWith(std::move(proto));
  }
  Answer operator()(const Rollback&) const { return AnswerWith(google::protobuf::Empty()); }
  Answer operator()(const DeleteSession&) const { return AnswerWith(google::protobuf::Empty()); }
  Answer operator()(const CreateSession&) const { return EncodeSession(); }
  Answer operator()(const GetSession&) const { return EncodeSession(); }

  Answer EncodeSession() const {
    SessionInfo session = response.sessions.at(0);
    session.name = MakeSessionName(database.name_, session.name);
    return AnswerWith(wire::EncodeSession(session));
  }
};

Answer ServedDatabase::Encode(const Pending& pending, const Response& response) {
  if (response.status.ok()) {
    return std::visit(Encoder{*this, pending, response}, pending.request);
  }
  Status status = response.status;
  // The model knows sessions by the last part of their names.
  const std::string prefix = "Session not found: ";
  if (status.code == Code::kNotFound && status.message == prefix + pending.session) {
    status.message = prefix + MakeSessionName(name_, pending.session);
  }
  return Refused(std::move(status));
}

}  // namespace whorl::server
