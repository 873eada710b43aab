// What the files of the database share: one call into it, and the verbs that they lend each other.
// Internal: nobody outside of spanner_model/ includes this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "spanner_model/database.h"
#include "spanner_model/execute.h"
#include "spanner_model/splits.h"

namespace whorl::model {

// One call into the database: what every function below works on.
struct Work {
  const Catalogue& catalogue;
  Database& database;
  std::span<const Moment> leaders;
  std::vector<DatabaseEffect>& out;
  bool released = false;          // locks were released: what waits may go on
  std::optional<Timestamp> look;  // when the first of what waits can go on by itself
};

// Ages, idleness and sessions go by the first leader's clock.
inline Timestamp ServerTime(const Work& work) { return work.leaders.front().truetime.latest; }
inline void LookAt(Work& work, Timestamp when) {
  work.look = std::min(work.look.value_or(when), when);
}

// --- answers (database.cc) ---------------------------------------------------------------------

void Reply(Work& work, const CallName& call, Response response);
void ReplyError(Work& work, const CallName& call, Status status);
Status AbortedStatus(const Work& work);
Status TransactionNotFound();

// --- transactions and their ends (server_transactions.cc)
// -----------------------------------------

// Null when it is over or was never begun.
ServerTransaction* FindLive(Work& work, const TransactionId& id);
ServerTransaction* FindFinished(Work& work, const TransactionId& id);
// Whatever is known of it on this session; a transaction of another session is none of its
// business.
ServerTransaction* FindOnSession(Work& work, const TransactionId& id, const SessionName& session);

ServerTransaction& BeginIn(Work& work, const CallName& call, const SessionName& session,
                           const BeginReadWrite& options);
ServerTransaction& BeginIn(Work& work, const CallName& call, const SessionName& session,
                           Timestamp snapshot);
// As if it had never begun.
void Forget(Work& work, const TransactionId& id);
// It keeps its id, its age, its outcome and its answers, and nothing else.
void Release(Work& work, ServerTransaction& transaction, TransactionPhase phase);
void Abort(Work& work, ServerTransaction& transaction);
// Moves what has ended to the outcomes. References to transactions do not survive it.
void SortOutFinished(Work& work);
void SetAge(Work& work, ServerTransaction& transaction);
// A client resends a call only when it has given up on the first copy, which therefore gets an
// answer that nobody waits for.
Status Superseded();
void SupersedeParked(Work& work, ServerTransaction& transaction);

// --- locks (locking.cc) ------------------------------------------------------------------------

enum class Way : uint8_t {
  kClear,    // everything that was in it was younger or idle, and has been aborted
  kWait,     // for something older, or committing
  kAborted,  // the emulator's rule: who comes later goes
};

Way ClearForReads(Work& work, const ServerTransaction& mine, std::span<const ReadLock> wanted);
Way ClearForCommit(Work& work, const ServerTransaction& mine,
                   std::span<const BufferedWrite> writes);
void Park(Work& work, ServerTransaction& transaction, const CallName& call, const Request& request);

// --- sessions (sessions.cc) --------------------------------------------------------------------

// Marks it used; NOT_FOUND when it is not there (any more).
Status UseSession(Work& work, const SessionName& name);
bool IsMultiplexed(const Work& work, const SessionName& name);
// The next precommit token of a read-write transaction on a multiplexed session goes with
// `response`.
void GivePrecommitToken(const Work& work, ServerTransaction& transaction, Response& response);
std::string PrecommitToken(const ServerTransaction& transaction);
void ServeCreateSession(Work& work, const CallName& call, const CreateSession& request);
void ServeGetSession(Work& work, const CallName& call, const GetSession& request);
void ServeDeleteSession(Work& work, const CallName& call, const DeleteSession& request);

// --- reads as of a time (snapshots.cc) ---------------------------------------------------------

// The time that a bound stands for now, on the splits; or why there is none.
std::variant<Timestamp, Status> ChooseReadTimestamp(const Work& work, const TimestampBound& bound,
                                                    SplitRange splits, bool single_use);
// Whether a read at the time can be answered now. Otherwise it asks to be looked at again.
bool CanReadAt(Work& work, Timestamp read_timestamp, SplitRange splits);
// No commit will be given a timestamp at or before it on these splits.
void RememberReadAt(Work& work, Timestamp read_timestamp, SplitRange splits);
void WaitToRead(Work& work, const CallName& call, const Request& request, Timestamp read_timestamp);
// Before it, versions may be dropped.
Timestamp OldestRead(const Work& work);
SplitRange AllSplits(const Work& work);

// --- statements and reads (serve_statement.cc) ---------------------------------------------------

// ExecuteSql, Read or ExecuteBatchDml. `read_timestamp`: of a read that has waited for it.
void ServeStatement(Work& work, const CallName& call, const Request& request,
                    std::optional<Timestamp> read_timestamp = std::nullopt);
// Once more, in the transaction in which it was parked.
void RetryParkedStatement(Work& work, ServerTransaction& transaction);

// --- ends (serve_commit.cc) --------------------------------------------------------------------

void ServeCommit(Work& work, const CallName& call, const Request& request);
void RetryParkedCommit(Work& work, ServerTransaction& transaction);
void ServeRollback(Work& work, const CallName& call, const Rollback& rollback);
// The transaction's writes can be read from now on, unless an earlier commit on one of its splits
// cannot; then they follow it.
void MakeVisible(Work& work, const TransactionId& id);

}  // namespace whorl::model
