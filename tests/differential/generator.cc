#include "tests/differential/generator.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "tests/differential/statements.h"
#include "tests/differential/values.h"

namespace whorl::differential {
namespace {

constexpr Duration kTooOld = Seconds(7200);  // versions are kept for an hour

bool Begins(const Operation& operation) {
  return operation.transaction.kind == SelectorKind::kBeginReadWrite ||
         operation.transaction.kind == SelectorKind::kBeginReadOnly;
}

// Draws depend on earlier operations, but cannot depend on their answers.
class SequenceMaker {
 public:
  SequenceMaker(const rc::Random& random, Concurrency concurrency)
      : draw_(random),
        one_by_one_(concurrency == Concurrency::kOneByOne),
        statements_(draw_, tables_, commits_) {}

  Sequence Make() {
    sequence_.sessions = !one_by_one_ && draw_.Percent(85) ? draw_.Between(2, 4) : 1;
    sessions_ = sequence_.sessions;
    const int tables = draw_.Between(1, 2);
    for (int i = 0; i < tables; ++i) AddTable(sequence_.schema);
    // Most sequences begin by inserting rows.
    if (draw_.Percent(90)) {
      Operation commit = New(OperationKind::kCommit, 0);
      commit.transaction.kind = SelectorKind::kSingleUse;
      commit.mutations = statements_.Mutations(Typing::kMayBeWrong);
      for (Mutation& mutation : commit.mutations) {
        if (mutation.kind == MutationKind::kUpdate) mutation.kind = MutationKind::kInsertOrUpdate;
      }
      AddCommit(std::move(commit));
    }
    if (sessions_ > 1 && draw_.Percent(75)) {
      BeginOn(0);
      BeginOn(1);
    }
    // More than needed, since those that name a transaction that was not begun are left out.
    const int statements = kLeastStatements + draw_.Between(14, 28);
    while (statements_drawn_ < statements) AddOperation();
    return std::move(sequence_);
  }

 private:
  struct Begun {
    int operation = 0;
    int session = 0;
    bool read_only = false;
    bool ended = false;
    int64_t next_sequence_number = 1;
  };

  Operation New(OperationKind kind, int session) {
    Operation operation;
    operation.id = ++last_id_;
    operation.kind = kind;
    operation.session = session;
    return operation;
  }
  void Add(Operation operation) {
    statements_drawn_ += CountStatements(operation);
    sequence_.operations.push_back(std::move(operation));
  }
  void AddCommit(Operation commit) {
    commits_.push_back(commit.id);
    Add(std::move(commit));
  }
  int DrawSession() { return draw_.Below(sessions_); }

  void AddTable(std::vector<std::string>& schema) {
    tables_.push_back(DrawTable(draw_, "t" + std::to_string(++tables_made_)));
    schema.push_back(model::PrintDdl(tables_.back()));
  }

  TimestampBound DrawBound(bool single_use) {
    TimestampBound bound;
    switch (draw_.Below(single_use ? 9 : 7)) {
      case 0:
        bound.kind = BoundKind::kExactStaleness;
        // Now, before the database was created, and before the oldest kept version.
        bound.staleness = draw_.Of(std::array{Duration{}, Seconds(600), kTooOld});
        break;
      case 1:
      case 2:
        if (commits_.empty()) break;
        bound.kind = BoundKind::kReadTimestamp;
        bound.timestamp = CommitTimeOf(
            {.operation = draw_.Of(commits_), .plus_microseconds = draw_.OneIn(3) ? -1 : 0});
        break;
      case 7:
        bound.kind = BoundKind::kMaxStaleness;
        bound.staleness = Seconds(draw_.Of(std::array{10, 600}));
        break;
      case 8:
        if (commits_.empty()) break;
        bound.kind = BoundKind::kMinReadTimestamp;
        bound.timestamp = CommitTimeOf({.operation = draw_.Of(commits_)});
        break;
      default:
        break;
    }
    return bound;
  }

  void BeginOn(int session) {
    if (IsBusy(session)) return AddEnd();
    Operation begin = New(OperationKind::kBegin, session);
    const bool read_only = draw_.OneIn(3);
    begin.transaction.kind =
        read_only ? SelectorKind::kBeginReadOnly : SelectorKind::kBeginReadWrite;
    begin.transaction.optimistic = draw_.OneIn(4);
    if (read_only) {
      begin.transaction.bound = DrawBound(draw_.OneIn(12));
      if (begin.transaction.bound.staleness == kTooOld) begin.transaction.bound = {};
      begin.transaction.return_read_timestamp = draw_.OneIn(2);
    }
    begun_.push_back({.operation = begin.id, .session = session, .read_only = read_only});
    Add(std::move(begin));
  }

  // Whether a transaction of the session has not ended: the emulator closes it at the next begin.
  bool IsBusy(int session) const {
    return std::any_of(begun_.begin(), begun_.end(), [&](const Begun& begun) {
      return begun.session == session && !begun.ended;
    });
  }

  bool IsNewestOfSession(const Begun& begun) const {
    return std::none_of(begun_.begin(), begun_.end(), [&](const Begun& other) {
      return other.session == begun.session && other.operation > begun.operation;
    });
  }

  // A transaction that has not ended, if there is one; sometimes one that has.
  Begun* DrawBegun() {
    std::vector<Begun*> open;
    for (Begun& begun : begun_) {
      if (IsNewestOfSession(begun) && (!begun.ended || draw_.OneIn(8))) open.push_back(&begun);
    }
    return open.empty() ? nullptr : draw_.Of(open);
  }

  // Draws the session and the transaction of a query or read (`dml` false) or of DML.
  void DrawWhere(Operation& operation, bool dml) {
    Selector& selector = operation.transaction;
    Begun* begun = draw_.Percent(65) ? DrawBegun() : nullptr;
    if (begun != nullptr) {
      operation.session = begun->session;
      selector = {.kind = SelectorKind::kOf, .of = begun->operation};
      if (dml) Number(operation, *begun);
      return;
    }
    const bool may_begin = !IsBusy(operation.session);
    if (may_begin && draw_.Percent(dml ? 90 : 25)) {
      selector.kind = SelectorKind::kBeginReadWrite;
      selector.optimistic = draw_.OneIn(4);
    } else if (may_begin && draw_.OneIn(3)) {
      selector.kind = SelectorKind::kBeginReadOnly;
    } else {
      selector.kind = draw_.OneIn(4) ? SelectorKind::kNone : SelectorKind::kSingleUse;
    }
    if (selector.kind == SelectorKind::kSingleUse ||
        selector.kind == SelectorKind::kBeginReadOnly) {
      selector.bound = DrawBound(selector.kind == SelectorKind::kSingleUse);
      // The emulator would begin a transaction there, and the model none.
      const bool begins = selector.kind == SelectorKind::kBeginReadOnly;
      if (begins && selector.bound.staleness == kTooOld) selector.bound = {};
      // Where the emulator alone reads, later timestamps would have another place.
      selector.return_read_timestamp = draw_.OneIn(2) && selector.bound.staleness != kTooOld;
    }
    if (selector.kind == SelectorKind::kBeginReadWrite ||
        selector.kind == SelectorKind::kBeginReadOnly) {
      begun_.push_back({.operation = operation.id,
                        .session = operation.session,
                        .read_only = selector.kind == SelectorKind::kBeginReadOnly});
      if (dml) Number(operation, begun_.back());
    }
  }

  void Number(Operation& operation, Begun& begun) {
    operation.sequence_number = begun.next_sequence_number++;
    // Rarely: in a transaction that is over or doomed, such a number ends the comparison.
    if (draw_.OneIn(80)) operation.sequence_number = draw_.Between(0, 3);
  }

  void AddOperation() {
    // Begin, query, DML, batch, read, commit, commit by itself, rollback, again, DDL, wrong id,
    // a lost session
    switch (draw_.Weighted({10, 18, 28, 7, 12, 14, 6, 3, 5, 1, 1, 1})) {
      case 0:
        return BeginOn(DrawSession());
      case 1: {
        Operation query = New(OperationKind::kExecute, DrawSession());
        query.streamed = draw_.OneIn(2);
        DrawWhere(query, false);
        query.calls.push_back(statements_.Query(query.ordered));
        return Add(std::move(query));
      }
      case 2: {
        Operation dml = New(OperationKind::kExecute, DrawSession());
        dml.streamed = draw_.OneIn(2);
        DrawWhere(dml, true);
        dml.calls.push_back(statements_.Dml());
        return Add(std::move(dml));
      }
      case 3: {
        Operation batch = New(OperationKind::kBatch, DrawSession());
        DrawWhere(batch, true);
        bool ordered = false;
        for (int i = draw_.Between(1, 3); i > 0; --i) {
          batch.calls.push_back(draw_.OneIn(40) ? statements_.Query(ordered) : statements_.Dml());
          for (Input& input : batch.calls.back().inputs) input.declared = true;
        }
        return Add(std::move(batch));
      }
      case 4: {
        Operation read = New(OperationKind::kRead, DrawSession());
        read.streamed = draw_.OneIn(2);
        DrawWhere(read, false);
        statements_.Read(read);
        return Add(std::move(read));
      }
      case 5:
      case 7:
        return AddEnd();
      case 6: {
        if (one_by_one_ && IsBusy(0)) return AddEnd();
        Operation commit = New(OperationKind::kCommit, DrawSession());
        commit.transaction.kind = SelectorKind::kSingleUse;
        commit.mutations = statements_.Mutations(Typing::kMayBeWrong);
        return AddCommit(std::move(commit));
      }
      case 8:
        return AddAgain();
      case 9:
        return AddSchemaChange();
      case 10:
        if (one_by_one_ && IsBusy(0)) return AddEnd();
        return AddWrongId();
      default:
        if (!one_by_one_) AddLostSession();
    }
  }

  static void LeaveOutUpdatesAfterDeletions(std::vector<Mutation>& mutations) {
    bool deleted = false;
    std::erase_if(mutations, [&deleted](const Mutation& mutation) {
      deleted = deleted || mutation.kind == MutationKind::kDelete;
      return deleted && mutation.kind == MutationKind::kUpdate;
    });
  }

  void AddEnd() {
    Begun* begun = DrawBegun();
    if (begun == nullptr) return;
    begun->ended = true;
    const bool rollback = draw_.OneIn(6);
    Operation end =
        New(rollback ? OperationKind::kRollback : OperationKind::kCommit, begun->session);
    end.transaction = {.kind = SelectorKind::kOf, .of = begun->operation};
    if (rollback) return Add(std::move(end));
    if (draw_.OneIn(3)) end.mutations = statements_.Mutations(Typing::kRight);
    // An update of a row that the Commit has deleted ends the comparison.
    if (!draw_.OneIn(8)) LeaveOutUpdatesAfterDeletions(end.mutations);
    AddCommit(std::move(end));
  }

  // Repeats an earlier call, as a client does that has received no answer.
  void AddAgain() {
    if (sequence_.operations.empty()) return;
    Operation again =
        sequence_.operations[draw_.Below(static_cast<int>(sequence_.operations.size()))];
    const bool schema = again.kind == OperationKind::kDdl;
    // A call drawn for a dropped table may use a column that now has another type.
    if (schema || again.id < first_id_of_schema_) return;
    const bool begins = Begins(again);
    if (begins && IsBusy(again.session)) return;
    const bool writes_beside = again.kind == OperationKind::kCommit &&
                               again.transaction.kind == SelectorKind::kSingleUse && IsBusy(0);
    if (one_by_one_ && writes_beside) return;
    const bool of_older =
        again.transaction.kind == SelectorKind::kOf &&
        std::none_of(begun_.begin(), begun_.end(), [&](const Begun& begun) {
          return begun.operation == again.transaction.of && IsNewestOfSession(begun);
        });
    if (of_older) return;
    again.id = ++last_id_;
    if (begins) begun_.push_back({.operation = again.id, .session = again.session});
    if (again.kind == OperationKind::kCommit) return AddCommit(std::move(again));
    Add(std::move(again));
  }

  void AddSchemaChange() {
    // The emulator does not change the schema while a transaction holds its lock.
    for (Begun& begun : begun_) {
      if (begun.read_only) continue;
      Operation rollback = New(OperationKind::kRollback, begun.session);
      rollback.transaction = {.kind = SelectorKind::kOf, .of = begun.operation};
      if (!begun.ended) Add(std::move(rollback));
      begun.ended = true;
    }
    Operation change = New(OperationKind::kDdl, 0);
    if (tables_.size() > 1 && draw_.OneIn(2)) {
      const int gone = draw_.Below(static_cast<int>(tables_.size()));
      change.schema.push_back("DROP TABLE " + tables_[gone].name);
      tables_.erase(tables_.begin() + gone);
    } else if (draw_.OneIn(4)) {
      change.schema.push_back(model::PrintDdl(draw_.Of(tables_)));  // an existing table
    } else {
      AddTable(change.schema);
    }
    // Reads as of a time before the change would see the old schema.
    begun_.erase(std::remove_if(begun_.begin(), begun_.end(),
                                [](const Begun& begun) { return begun.read_only; }),
                 begun_.end());
    commits_.clear();
    first_id_of_schema_ = change.id;
    Add(std::move(change));
  }

  // Uses a separate session: the emulator refuses later transactions of a session that has named a
  // greater id.
  void AddWrongId() {
    const int session = kWrongSession + wrong_sessions_++;
    Operation wrong =
        New(draw_.OneIn(2) ? OperationKind::kExecute : OperationKind::kCommit, session);
    wrong.transaction = {.kind = SelectorKind::kWrongId, .wrong_id = "987654321"};
    if (wrong.kind == OperationKind::kExecute) {
      wrong.calls.push_back(draw_.OneIn(2) ? statements_.Dml() : statements_.Query(wrong.ordered));
    }
    Add(std::move(wrong));
  }

  // Deletes a session, uses it, and deletes it again. The session never has a read-write
  // transaction, since the emulator would keep its lock for ever.
  void AddLostSession() {
    const int session = kWrongSession + wrong_sessions_++;
    const bool read_only = draw_.OneIn(2);
    Operation begin = New(OperationKind::kBegin, session);
    begin.transaction.kind = SelectorKind::kBeginReadOnly;
    const int begun = begin.id;
    if (read_only) Add(std::move(begin));
    Add(New(OperationKind::kDeleteSession, session));
    Operation query = New(OperationKind::kExecute, session);
    query.transaction.kind = SelectorKind::kSingleUse;
    if (read_only) query.transaction = {.kind = SelectorKind::kOf, .of = begun};
    query.calls.push_back(statements_.Query(query.ordered));
    Add(std::move(query));
    if (draw_.OneIn(2)) {
      Operation commit = New(OperationKind::kCommit, session);
      commit.transaction.kind = SelectorKind::kSingleUse;
      commit.mutations = statements_.Mutations(Typing::kMayBeWrong);
      Add(std::move(commit));
    }
    if (draw_.OneIn(2)) Add(New(OperationKind::kDeleteSession, session));
  }

  static constexpr int kWrongSession = 4;  // and those above

  Draw draw_;
  const bool one_by_one_;
  Sequence sequence_;
  std::vector<model::Table> tables_;
  std::vector<int> commits_;
  StatementMaker statements_;
  std::vector<Begun> begun_;
  int sessions_ = 1;
  int statements_drawn_ = 0;
  int tables_made_ = 0;
  int last_id_ = 0;
  int first_id_of_schema_ = 0;
  int wrong_sessions_ = 0;
};

// Whether every session ends its transaction before it begins the next, as SequenceMaker
// guarantees: otherwise a smaller sequence could fail by a known difference instead.
bool EndsBeforeItBegins(const Sequence& sequence) {
  std::map<int, int> last;  // the last begin, by session
  for (const Operation& operation : sequence.operations) {
    const bool ends =
        operation.kind == OperationKind::kCommit || operation.kind == OperationKind::kRollback;
    const auto open = last.find(operation.session);
    if (ends && open != last.end() && open->second == operation.transaction.of) last.erase(open);
    if (Begins(operation) && !last.emplace(operation.session, operation.id).second) return false;
  }
  return true;
}

// Shrinks: removes operations, then statements and mutations of operations.
rc::Seq<Sequence> Smaller(const Sequence& sequence) {
  auto fewer = rc::seq::map(rc::shrink::removeChunks(sequence.operations),
                            [sequence](std::vector<Operation>&& operations) {
                              Sequence smaller = sequence;
                              smaller.operations = std::move(operations);
                              return smaller;
                            });
  std::vector<Sequence> simpler;
  for (size_t i = 0; i < sequence.operations.size(); ++i) {
    const Operation& operation = sequence.operations[i];
    for (size_t k = 0; operation.calls.size() > 1 && k < operation.calls.size(); ++k) {
      simpler.push_back(sequence);
      auto& calls = simpler.back().operations[i].calls;
      calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(k));
    }
    for (size_t k = 0; k < operation.mutations.size(); ++k) {
      simpler.push_back(sequence);
      auto& mutations = simpler.back().operations[i].mutations;
      mutations.erase(mutations.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  return rc::seq::filter(
      rc::seq::concat(std::move(fewer), rc::seq::fromContainer(std::move(simpler))),
      &EndsBeforeItBegins);
}

}  // namespace

rc::Gen<Sequence> Sequences(Concurrency concurrency) {
  return [concurrency](const rc::Random& random, int) {
    return rc::shrinkable::shrinkRecur(SequenceMaker(random, concurrency).Make(), &Smaller);
  };
}

}  // namespace whorl::differential
