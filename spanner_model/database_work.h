// Holds the state of one call into the database, and declares the functions that the .cc files of
// database.h share. Internal: no file outside of spanner_model/ includes this.
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

// One call into the database.
struct Work {
  const Catalogue& catalogue;
  Database& database;
  std::span<const ClockReading> leaders;
  std::vector<DatabaseEffect>& out;
  bool released = false;          // locks were released, so waiting calls may continue
  std::optional<Timestamp> look;  // when the first waiting call can continue without a release
};

// Ages, idleness and sessions go by the first leader's clock.
inline Timestamp ServerTime(const Work& work) { return work.leaders.front().truetime.latest; }
inline void LookAt(Work& work, Timestamp when) {
  work.look = std::min(work.look.value_or(when), when);
}

// --- answers (database.cc) -----------------------------------------------------------------------

void Reply(Work& work, const CallName& call, Response&& response);
// The same, for a response that is made in its place. Valid until the next effect.
Response& NewReply(Work& work, const CallName& call);
void ReplyError(Work& work, const CallName& call, Status status);
Status AbortedStatus(const Work& work);
Status TransactionNotFound();

// --- begins and ends of transactions (transaction_lifecycle.cc) ----------------------------------

// Null if the transaction has ended or was never begun.
TransactionState* FindLive(Work& work, const TransactionId& id);
TransactionState* FindFinished(Work& work, const TransactionId& id);
// The transaction, live or finished, if it was begun on this session.
TransactionState* FindOnSession(Work& work, const TransactionId& id, const SessionName& session);

TransactionState& BeginIn(Work& work, const CallName& call, const SessionName& session,
                          const BeginReadWrite& options);
TransactionState& BeginIn(Work& work, const CallName& call, const SessionName& session,
                          Timestamp snapshot);
// Removes the transaction as if it had never begun.
void Forget(Work& work, const TransactionId& id);
// Ends the transaction in `phase` and releases its locks. Its id, age and outcome stay, and, unless
// it is aborted, its answers.
void Release(Work& work, TransactionState& transaction, TransactionPhase phase);
void Abort(Work& work, TransactionState& transaction);
// Moves the transactions that have ended to `finished`. Invalidates references to transactions.
void CompactFinished(Work& work);
void SetAge(Work& work, TransactionState& transaction);
// The answer to a parked call whose client has sent it again. A client resends a call only after it
// has given up on the first copy, so no client waits for that answer.
Status Superseded();
void SupersedeParked(Work& work, TransactionState& transaction);

// --- locks (locking.cc) --------------------------------------------------------------------------

enum class Grant : uint8_t {
  kGranted,  // nothing blocks the call; younger and idle transactions that did were aborted
  kWait,     // an older transaction, or one that is committing, blocks the call
  kAbort,    // by the emulator's rule, the call's transaction has to be aborted
};

// Whether `mine` may take its locks; aborts the transactions that have to make way for it.
Grant RequestReadLocks(Work& work, const TransactionState& mine, std::span<const ReadLock> wanted);
Grant RequestWriteLocks(Work& work, const TransactionState& mine,
                        const std::vector<BufferedWrite>& writes);
void Park(Work& work, TransactionState& transaction, const CallName& call, const Request& request);

// --- sessions (sessions.cc) ----------------------------------------------------------------------

// Marks the session as used now. NOT_FOUND if it does not exist or has expired.
Status UseSession(Work& work, const SessionName& name);
bool IsMultiplexed(const Work& work, const SessionName& name);
// Adds the next precommit token to the response, if the transaction is a read-write one on a
// multiplexed session.
void GivePrecommitToken(const Work& work, TransactionState& transaction, Response& response);
std::string PrecommitToken(const TransactionState& transaction);
void ServeCreateSession(Work& work, const CallName& call, const CreateSession& request);
void ServeGetSession(Work& work, const CallName& call, const GetSession& request);
void ServeDeleteSession(Work& work, const CallName& call, const DeleteSession& request);

// --- reads as of a time (snapshots.cc) -----------------------------------------------------------

// The read timestamp that the bound means now on the splits; an error if it is not allowed.
std::variant<Timestamp, Status> ChooseReadTimestamp(const Work& work, const TimestampBound& bound,
                                                    SplitRange splits, bool single_use);
// Whether a read at this time can be answered now. If its time has not come, requests a LookAgain.
bool CanReadAt(Work& work, Timestamp read_timestamp, SplitRange splits);
// From now on, commits on these splits get timestamps above the read's.
void RememberReadAt(Work& work, Timestamp read_timestamp, SplitRange splits);
void WaitToRead(Work& work, const CallName& call, const Request& request, Timestamp read_timestamp);
// The earliest time at which a read is still allowed; versions that only earlier reads can see may
// be dropped.
Timestamp OldestRead(const Work& work);
// The earliest timestamp at which an open transaction or a waiting read reads.
std::optional<Timestamp> OldestOpenRead(const Work& work);
SplitRange AllSplits(const Work& work);

// --- statements and reads (statements.cc) --------------------------------------------------------

// ExecuteSql, Read or ExecuteBatchDml. `read_timestamp` is set if the read has waited for it.
void ServeStatement(Work& work, const CallName& call, const Request& request,
                    std::optional<Timestamp> read_timestamp = std::nullopt);
// Tries the transaction's parked statement again.
void RetryParkedStatement(Work& work, TransactionState& transaction);

// --- Commit and Rollback (commits.cc) ------------------------------------------------------------

void ServeCommit(Work& work, const CallName& call, const Request& request);
void RetryParkedCommit(Work& work, TransactionState& transaction);
void ServeRollback(Work& work, const CallName& call, const Rollback& rollback);
// Makes the transaction's writes visible, unless an earlier commit on one of its splits is not
// visible yet; then they become visible after that one.
void MakeVisible(Work& work, const TransactionId& id);

}  // namespace whorl::model
