// Statements and reads: the rows that they see, the locks that they take, and the replay of
// repeated ones.
#include <absl/container/btree_set.h>

#include <compare>
#include <memory>
#include <string_view>
#include <tuple>

#include "protocol/spanner/fingerprint.h"
#include "spanner_model/database_work.h"
#include "spanner_model/key_read.h"
#include "spanner_model/sql/compile.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

// --- preparation ---------------------------------------------------------------------------------

// A statement with its plan, or a read with its names resolved; or the error of either.
struct Job {
  const Plan* plan = nullptr;
  std::span<const Value> parameters;
  std::optional<KeyRead> read;
  Status wrong;
  std::unique_ptr<const CompiledStatement> own;  // the plan, if the catalogue has none
  // DML, or an invalid text that is no query: repeated, it gets its first answer. Queries run
  // again.
  bool is_numbered = false;

  Job() = default;
  Job(const Job&) = delete;  // `plan` may point into `own`
  Job& operator=(const Job&) = delete;

  bool IsDml() const { return plan != nullptr && !std::holds_alternative<SelectPlan>(*plan); }
};

bool BeginsWithSelect(std::string_view text) {
  constexpr std::string_view kSelect = "SELECT";
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos &&
         EqualIgnoringCase(text.substr(first, kSelect.size()), kSelect);
}

void Prepare(const Work& work, const Statement& statement, Job& job) {
  const CompiledStatement* compiled = work.catalogue.FindPlan(statement.sql);
  if (compiled == nullptr) {
    job.own = std::make_unique<CompiledStatement>(Compile(work.catalogue.schema(), statement.sql));
    compiled = job.own.get();
  }
  job.plan = std::get_if<Plan>(compiled);
  job.parameters = statement.parameters;
  job.wrong = job.plan == nullptr
                  ? std::get<Status>(*compiled)
                  : CheckParameters(statement.sql.parameters(), statement.parameters);
  job.is_numbered = job.plan == nullptr ? !BeginsWithSelect(statement.sql.text()) : job.IsDml();
}

void Prepare(const Work& work, const Read& read, Job& job) {
  auto resolved = ResolveRead(work.catalogue.schema(), read);
  if (auto* error = std::get_if<Status>(&resolved)) {
    job.wrong = std::move(*error);
  } else {
    job.read = std::get<KeyRead>(std::move(resolved));
  }
}

void Prepare(const Work& work, const Request& request, Job& job) {
  if (const auto* execute = std::get_if<ExecuteSql>(&request)) {
    Prepare(work, execute->statement, job);
  } else {
    Prepare(work, std::get<Read>(request), job);
  }
}

ExecutionInput InputOf(const Work& work, const Job& job, TransactionState* transaction,
                       std::optional<Timestamp> snapshot, uint32_t split) {
  return {.catalogue = work.catalogue,
          .tables = work.database.tables,
          .transaction = transaction,
          .parameters = job.parameters,
          .moment = work.leaders[split],
          .snapshot = snapshot};
}

std::vector<ReadLock> LocksOf(const ExecutionInput& input, const Job& job) {
  std::vector<ReadLock> locks;
  if (job.read) {
    AppendReadLocks(*job.read, locks);
  } else {
    AppendReadLocks(input, *job.plan, locks);
  }
  return locks;
}

SplitRange SplitsOf(const Work& work, std::span<const ReadLock> locks) {
  if (work.catalogue.split_count() == 1 || locks.empty()) return {};
  SplitRange all{.first = work.catalogue.split_count(), .last = 0};
  for (const ReadLock& lock : locks) {
    const SplitRange one = SplitsOf(work.catalogue.options().split_points, lock.table, lock.range);
    all.first = std::min(all.first, one.first);
    all.last = std::max(all.last, one.last);
  }
  return all;
}

Status CheckPending(const ExecutionInput& input, const Job& job) {
  return job.read ? CheckPending(input, *job.read) : CheckPending(input, *job.plan);
}

Execution Run(const ExecutionInput& input, const Job& job) {
  return job.read ? Execute(input, *job.read) : Execute(input, *job.plan);
}

Execution FailedResult(Status status) {
  Execution execution;
  execution.result.status = std::move(status);
  return execution;
}

Response ResponseOf(StatementResult&& result) {
  Response response;
  response.status = result.status;
  response.result = std::move(result);
  return response;
}

// --- reads outside of read-write transactions ----------------------------------------------------

// Runs a read as of a time; nullopt if the read has to wait for it.
std::optional<StatementResult> ReadAt(Work& work, const Job& job, Timestamp at, SplitRange splits) {
  if (!CanReadAt(work, at, splits)) return std::nullopt;
  RememberReadAt(work, at, splits);
  return Run(InputOf(work, job, nullptr, at, splits.first), job).result;
}

void Wait(Work& work, const CallName& call, const Request& request, Timestamp at, bool again) {
  if (!again) work.out.emplace_back(Parked{.call = call});
  WaitToRead(work, call, request, at);
}

void ServeSingleUse(Work& work, const CallName& call, const Request& request,
                    const SingleUseRead& single, std::optional<Timestamp> waited_for) {
  Job job;
  Prepare(work, request, job);
  if (!job.wrong.ok()) return Reply(work, call, ResponseOf({.status = std::move(job.wrong)}));
  const bool newest = single.bound.kind == BoundKind::kStrong && !single.return_read_timestamp &&
                      work.catalogue.split_count() == 1;
  if (newest || job.IsDml()) {
    Response& response = NewReply(work, call);
    response.result = Run(InputOf(work, job, nullptr, std::nullopt, 0), job).result;
    response.status = response.result.status;
    return;
  }
  const SplitRange splits =
      SplitsOf(work, LocksOf(InputOf(work, job, nullptr, std::nullopt, 0), job));
  std::variant<Timestamp, Status> chosen = Timestamp();
  if (waited_for) {
    chosen = *waited_for;
  } else {
    chosen = ChooseReadTimestamp(work, single.bound, splits, /*single_use=*/true);
  }
  if (auto* error = std::get_if<Status>(&chosen)) return ReplyError(work, call, std::move(*error));
  const Timestamp at = std::get<Timestamp>(chosen);
  auto result = ReadAt(work, job, at, splits);
  if (!result) return Wait(work, call, request, at, waited_for.has_value());
  Response response = ResponseOf(std::move(*result));
  if (single.return_read_timestamp) response.read_timestamp = at;
  Reply(work, call, std::move(response));
}

// Runs a read in a read-only transaction, which it begins if `begin` is given.
void ServeReadOnly(Work& work, const CallName& call, const Request& request,
                   const BeginReadOnly* begin, Timestamp at, bool again) {
  Job job;
  Prepare(work, request, job);
  if (!job.wrong.ok()) return Reply(work, call, ResponseOf({.status = std::move(job.wrong)}));
  auto result = ReadAt(work, job, at, AllSplits(work));
  if (!result) return Wait(work, call, request, at, again);
  Response response = ResponseOf(std::move(*result));
  if (begin != nullptr && response.status.ok()) {
    response.transaction = BeginIn(work, call, SessionOf(request), at).id;
    if (begin->return_read_timestamp) response.read_timestamp = at;
  }
  Reply(work, call, std::move(response));
}

void ServeBeginReadOnly(Work& work, const CallName& call, const Request& request,
                        const BeginReadOnly& begin, std::optional<Timestamp> waited_for) {
  if (waited_for) return ServeReadOnly(work, call, request, &begin, *waited_for, true);
  auto chosen = ChooseReadTimestamp(work, begin.bound, AllSplits(work), /*single_use=*/false);
  if (auto* error = std::get_if<Status>(&chosen)) return ReplyError(work, call, std::move(*error));
  ServeReadOnly(work, call, request, &begin, std::get<Timestamp>(chosen), false);
}

// --- in read-write transactions ------------------------------------------------------------------

// Any order in which equal locks are equivalent.
std::weak_ordering OrderLocks(const ReadLock& a, const ReadLock& b) {
  const auto of_simple = [](const ReadLock& lock) {
    return std::tuple(lock.table, lock.columns, lock.range.kind,
                      std::string_view(lock.range.prefix), lock.range.span.start_closed,
                      lock.range.span.end_closed);
  };
  std::weak_ordering order = of_simple(a) <=> of_simple(b);
  if (order == 0) order = CompareKeys(a.range.key, b.range.key);
  if (order == 0) order = CompareKeys(a.range.span.start, b.range.span.start);
  if (order == 0) order = CompareKeys(a.range.span.end, b.range.span.end);
  return order;
}

void KeepReads(TransactionState& transaction, std::vector<ReadLock> locks) {
  std::vector<ReadLock>& reads = transaction.reads;
  constexpr size_t kFewLocks = 16;
  if (locks.size() <= kFewLocks) {
    for (ReadLock& lock : locks) {
      if (std::find(reads.begin(), reads.end(), lock) == reads.end()) {
        reads.push_back(std::move(lock));
      }
    }
    return;
  }
  const auto is_before = [](const ReadLock* a, const ReadLock* b) {
    return OrderLocks(*a, *b) < 0;
  };
  absl::btree_set<const ReadLock*, decltype(is_before)> known(is_before);
  reads.reserve(reads.size() + locks.size());  // so that they stay where they are
  for (const ReadLock& read : reads) known.insert(&read);
  for (ReadLock& lock : locks) {
    if (known.contains(&lock)) continue;
    reads.push_back(std::move(lock));
    known.insert(&reads.back());
  }
}

// For a transaction that reads as of its first statement.
Grant FindSnapshot(Work& work, TransactionState& transaction) {
  const SplitRange splits = AllSplits(work);
  if (!transaction.snapshot) {
    transaction.snapshot =
        std::get<Timestamp>(ChooseReadTimestamp(work, {}, splits, /*single_use=*/false));
  }
  if (!CanReadAt(work, *transaction.snapshot, splits)) return Grant::kWait;
  RememberReadAt(work, *transaction.snapshot, splits);
  return Grant::kGranted;
}

// Takes the statement's locks and runs it into `execution`, unless another transaction blocks it.
Grant LockAndRun(Work& work, TransactionState& transaction, const Job& job, Execution& execution) {
  if (!job.wrong.ok()) {
    execution = FailedResult(job.wrong);
    return Grant::kGranted;
  }
  ExecutionInput input = InputOf(work, job, &transaction, std::nullopt, 0);
  if (Status pending = CheckPending(input, job); !pending.ok()) {
    execution = FailedResult(std::move(pending));
    return Grant::kGranted;
  }
  std::vector<ReadLock> locks = LocksOf(input, job);
  if (!locks.empty()) SetAge(work, transaction);
  if (transaction.age) {
    const Grant grant = ReadsASnapshot(transaction.kind)
                            ? FindSnapshot(work, transaction)
                            : RequestReadLocks(work, transaction, locks);
    if (grant != Grant::kGranted) return grant;
  }
  const uint32_t leader = SplitsOf(work, locks).first;
  KeepReads(transaction, std::move(locks));
  execution = Run(InputOf(work, job, &transaction, transaction.snapshot, leader), job);
  return Grant::kGranted;
}

// The stored answer to a repeated sequence number, or an error if the request differs from the
// first.
std::optional<Response> Replay(const TransactionState& transaction, int64_t sequence_number,
                               uint64_t digest) {
  const auto& served = transaction.served;
  for (const ServedStatement& one : served) {
    if (one.sequence_number != sequence_number) continue;
    if (one.digest == digest) return one.response;
    return ResponseOf(
        {.status = Error(Code::kInvalidArgument,
                         "Previously received a different request with this seqno.")});
  }
  if (served.empty() || sequence_number > served.back().sequence_number) return std::nullopt;
  return ResponseOf(
      {.status = Error(Code::kInvalidArgument, "Request has an out-of-order seqno.")});
}

Status UnusableStatus(const Work& work, const TransactionState& transaction) {
  if (transaction.doomed) return *transaction.doomed;
  switch (transaction.phase) {
    case TransactionPhase::kAborted:
      return AbortedStatus(work);
    case TransactionPhase::kShutOut:
      return Error(Code::kFailedPrecondition,
                   "Invalid transaction ID. A later transaction of the session was used.");
    case TransactionPhase::kCommitting:
    case TransactionPhase::kCommitted:
    case TransactionPhase::kRolledBack:
      return Error(Code::kFailedPrecondition,
                   "Cannot read or query using a transaction after it has been committed or "
                   "rolledback.");
    case TransactionPhase::kActive:
      break;
  }
  return {};
}

bool CarriesBegin(const Request& request) {
  return std::visit(
      [](const auto& one) {
        if constexpr (
            requires { one.statement; } || requires { one.keys; } || requires { one.statements; }) {
          return std::holds_alternative<BeginReadWrite>(one.transaction);
        } else {
          return false;
        }
      },
      request);
}

// A statement that carries its transaction's begin and one that does not never repeat each other:
// measured on the official emulator, and a client that has received no id cannot send one. Neither
// do a single statement and a batch that contains only that statement.
uint64_t DigestOf(const Request& request) {
  Fingerprint digest;
  digest.Add(CarriesBegin(request));
  digest.Add(std::holds_alternative<ExecuteBatchDml>(request));
  const auto add = [&](const Statement& statement) {
    digest.Add(statement.sql);
    digest.Add(statement.parameters);
  };
  if (const auto* execute = std::get_if<ExecuteSql>(&request)) {
    add(execute->statement);
  } else {
    for (const Statement& statement : std::get<ExecuteBatchDml>(request).statements) add(statement);
  }
  return digest.value();
}

int64_t SequenceNumberOf(const Request& request) {
  const auto* execute = std::get_if<ExecuteSql>(&request);
  return execute != nullptr ? execute->sequence_number
                            : std::get<ExecuteBatchDml>(request).sequence_number;
}

// Runs one statement or read into `response`.
Grant RunOne(Work& work, TransactionState& transaction, const Job& job, Response& response) {
  Execution execution;
  const Grant grant = LockAndRun(work, transaction, job, execution);
  if (grant != Grant::kGranted) return grant;
  response.result = std::move(execution.result);
  response.status = response.result.status;
  if (execution.dooms) transaction.doomed = response.status;
  return grant;
}

// Runs DML statements up to the first that fails. If one has to wait, undoes those before it: the
// whole batch is tried again, with the locks that it holds already.
Grant RunBatch(Work& work, TransactionState& transaction, const ExecuteBatchDml& batch,
               Response& response) {
  const std::vector<BufferedWrite> before = transaction.writes;
  for (const Statement& statement : batch.statements) {
    Job job;
    Prepare(work, statement, job);
    if (job.wrong.ok() && !job.IsDml()) {
      job.wrong = Error(Code::kInvalidArgument, "ExecuteBatchDml supports DML statements only");
    }
    Execution execution;
    const Grant grant = LockAndRun(work, transaction, job, execution);
    if (grant != Grant::kGranted) {
      transaction.writes = before;
      response = {};
      return grant;
    }
    if (!execution.result.status.ok()) {
      if (execution.dooms) transaction.doomed = execution.result.status;
      response.result = std::move(execution.result);
      break;
    }
    response.batch.push_back(std::move(execution.result));
  }
  return Grant::kGranted;
}

// Answers a call that ran in a read-write transaction.
void Answer(Work& work, TransactionState& transaction, const CallName& call, const Request& request,
            bool numbered, Response&& response) {
  transaction.parked.reset();
  transaction.last_used = ServerTime(work);
  const bool begins = CarriesBegin(request);
  const bool nothing_ran = std::holds_alternative<ExecuteBatchDml>(request) &&
                           response.batch.empty() && !response.result.status.ok();
  if (begins && (!response.status.ok() || nothing_ran)) {
    // Spanner does not begin a transaction whose first statement failed.
    Forget(work, TransactionId(transaction.id));
    return Reply(work, call, std::move(response));
  }
  if (begins) response.transaction = transaction.id;
  if (response.status.ok()) GivePrecommitToken(work, transaction, response);
  if (numbered) {
    transaction.served.push_back({.sequence_number = SequenceNumberOf(request),
                                  .digest = DigestOf(request),
                                  .response = response});
  }
  Reply(work, call, std::move(response));
}

// Parks or aborts a call that another transaction blocks.
void Yield(Work& work, TransactionState& transaction, const CallName& call, const Request& request,
           Grant grant) {
  if (grant == Grant::kWait) return Park(work, transaction, call, request);
  if (CarriesBegin(request)) {
    Forget(work, TransactionId(transaction.id));
  } else {
    Abort(work, transaction);
  }
  ReplyError(work, call, AbortedStatus(work));
}

void RunIn(Work& work, TransactionState& transaction, const CallName& call,
           const Request& request) {
  Response response;
  bool numbered = true;
  Grant grant = Grant::kGranted;
  if (const auto* batch = std::get_if<ExecuteBatchDml>(&request)) {
    grant = RunBatch(work, transaction, *batch, response);
  } else {
    Job job;
    Prepare(work, request, job);
    numbered = job.is_numbered;
    grant = RunOne(work, transaction, job, response);
  }
  if (grant != Grant::kGranted) return Yield(work, transaction, call, request, grant);
  Answer(work, transaction, call, request, numbered, std::move(response));
}

// The emulator lets a session use its newest transaction only.
void ShutOutEarlier(Work& work, const TransactionState& used) {
  if (work.catalogue.options().concurrency != Concurrency::kEmulator) return;
  if (used.session.empty() || IsMultiplexed(work, used.session)) return;
  for (auto* all : {&work.database.transactions, &work.database.finished}) {
    for (TransactionState& other : *all) {
      if (other.session != used.session || !(other.begun_by < used.begun_by)) continue;
      // Once: what is released wakes what waits, which may be a statement of `used`.
      if (other.phase == TransactionPhase::kCommitting ||
          other.phase == TransactionPhase::kShutOut) {
        continue;
      }
      Release(work, other, TransactionPhase::kShutOut);
    }
  }
}

// Whether the call has a sequence number that may repeat an earlier one.
bool IsNumbered(const Work& work, const Request& request) {
  if (std::holds_alternative<Read>(request)) return false;
  const auto* execute = std::get_if<ExecuteSql>(&request);
  if (execute == nullptr) return true;
  Job job;
  Prepare(work, execute->statement, job);
  return job.is_numbered;
}

Status DmlNeedsReadWrite() {
  return Error(Code::kInvalidArgument,
               "DML statements can only be performed in a read-write transaction");
}

void ServeInTransaction(Work& work, const CallName& call, const Request& request,
                        const TransactionId& id, bool again) {
  TransactionState* transaction = FindOnSession(work, id, SessionOf(request));
  if (transaction == nullptr) return ReplyError(work, call, TransactionNotFound());
  ShutOutEarlier(work, *transaction);
  if (transaction->kind == TransactionKind::kReadOnly) {
    if (Status status = UnusableStatus(work, *transaction); !status.ok()) {
      return ReplyError(work, call, std::move(status));
    }
    if (std::holds_alternative<ExecuteBatchDml>(request)) {
      return ReplyError(work, call, DmlNeedsReadWrite());
    }
    transaction->last_used = ServerTime(work);
    return ServeReadOnly(work, call, request, nullptr, *transaction->snapshot, again);
  }
  SupersedeParked(work, *transaction);
  if (!transaction->served.empty() && IsNumbered(work, request)) {
    if (auto replayed = Replay(*transaction, SequenceNumberOf(request), DigestOf(request))) {
      return Reply(work, call, std::move(*replayed));
    }
  }
  Status unusable = UnusableStatus(work, *transaction);
  if (!unusable.ok()) return ReplyError(work, call, std::move(unusable));
  RunIn(work, *transaction, call, request);
}

const TransactionSelector& SelectorOf(const Request& request) {
  if (const auto* execute = std::get_if<ExecuteSql>(&request)) return execute->transaction;
  if (const auto* read = std::get_if<Read>(&request)) return read->transaction;
  return std::get<ExecuteBatchDml>(request).transaction;
}

}  // namespace

void ServeStatement(Work& work, const CallName& call, const Request& request,
                    std::optional<Timestamp> read_timestamp) {
  if (Status status = UseSession(work, SessionOf(request)); !status.ok()) {
    return ReplyError(work, call, std::move(status));
  }
  const TransactionSelector& selector = SelectorOf(request);
  const bool is_batch = std::holds_alternative<ExecuteBatchDml>(request);
  if (const auto* id = std::get_if<TransactionId>(&selector)) {
    return ServeInTransaction(work, call, request, *id, read_timestamp.has_value());
  }
  if (const auto* begin = std::get_if<BeginReadWrite>(&selector)) {
    TransactionState& transaction = BeginIn(work, call, SessionOf(request), *begin);
    ShutOutEarlier(work, transaction);
    return RunIn(work, transaction, call, request);
  }
  if (is_batch) return ReplyError(work, call, DmlNeedsReadWrite());
  if (const auto* single = std::get_if<SingleUseRead>(&selector)) {
    return ServeSingleUse(work, call, request, *single, read_timestamp);
  }
  ServeBeginReadOnly(work, call, request, std::get<BeginReadOnly>(selector), read_timestamp);
}

void RetryParkedStatement(Work& work, TransactionState& transaction) {
  const ParkedCall parked = *transaction.parked;
  RunIn(work, transaction, parked.call, parked.request);
}

}  // namespace whorl::model
