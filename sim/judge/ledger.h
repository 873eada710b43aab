// What is true at each moment of a run, for all checkers: who owns each lock by the newest
// version of its row, who would be answered "has lock", who believes, and what disturbs.
//
// Invariants:
//   1. Only the newest incarnation of a node is kept. An older one is gone, and all that can
//      still come of it is a commit or a write that was under way.
//   2. Memory is that of nodes x locks and of open transactions, however long a run lasts.
//   3. An observation costs O(1), or O(log n) and a move of small entries when a token changes
//      hands; the locks of one node are walked when its process's state or link changes.
// The counts that it keeps are also what its own fields say when counted anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/time.h"
#include "sim/judge/checkers/setup.h"
#include "sim/scenario/rules.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// The newest version of a lock's row.
struct Version {
  bool held = false;  // the row names a token or, where there are none, an owner
  std::optional<Timestamp> token;
  // Whose commit installed the token, or where there are none, the owner; nobody for rows of the
  // start.
  ProcessId owner;
  // By the newest version that the owner wrote; nothing when nobody owns it.
  std::optional<Timestamp> lease_until;
  bool released = false;  // by its owner
  WHORL_FIELDS(Version, held, token, owner, lease_until, released);
};

// --- what an observation changed; checkers take these as they take observations ----------------

enum class TokenChange : uint8_t {
  kKept,      // the token stayed: a heartbeat
  kRenewed,   // its owner's heartbeat replaced it, or wrote the owner's row anew
  kGranted,   // a token was installed, or an owner
  kRemoved,   // the row was deleted, or its token or owner set to NULL
  kReleased,  // the same by its owner, to give the lock back
};

struct VersionChanged {
  uint16_t lock = 0;  // whose row it is, whichever lock the writer wrote for
  TokenChange kind = TokenChange::kKept;
  ProcessId writer;
  Timestamp commit;
  std::optional<Version> before;
  std::optional<Version> after;
  // Of the last version that was held, also when it was deleted since.
  ProcessId last_owner;
  std::optional<Timestamp> last_lease_until;
};

// Whether the commit, of a lock's row, takes the lock: it installs a token (or an owner, in a
// protocol without tokens) and does not renew the lease of `owner`, who owned the row before.
bool TakesTheLock(const Rules& rules, const RowCommitted& x, ProcessId owner);

// Or an owner, where there are no tokens.
constexpr bool InstallsToken(TokenChange kind) {
  return kind == TokenChange::kGranted || kind == TokenChange::kRenewed;
}

struct OwnTokenChanged {
  ProcessId process;
  uint16_t lock = 0;
};
// By what the process did or learnt, not because it crashed, stopped, paused or was told to end.
struct SteppedDown {
  ProcessId process;
  uint16_t lock = 0;
};
struct BeliefBegan {
  ProcessId process;
  uint16_t lock = 0;
};
struct TransactionLeft {  // finished, as the process sees it
  StepName step = StepName::kCheck;
  Outcome outcome = Outcome::kUnknown;
  Code code = Code::kOk;
  bool hung = false;  // one of its calls did
};
// With its process: nobody will hear how they end.
struct TransactionsAbandoned {
  std::vector<StepName> steps;  // one for each
};

// --- the ledger --------------------------------------------------------------------------------

class Ledger {
 public:
  explicit Ledger(const CheckerSetup& setup);

  void On(const ProcessStarted& x, const CheckerSetup& setup);
  void On(const ProcessStopped& x, const CheckerSetup& setup);
  // Nothing when none was under way.
  std::optional<TransactionsAbandoned> On(const ProcessGone& x, const CheckerSetup& setup);
  void On(const ProcessPaused& x, const CheckerSetup& setup);
  void On(const ProcessResumed& x, const CheckerSetup& setup);
  void On(const ParticipationEnded& x, const CheckerSetup& setup);
  void On(const LinkChanged& x, const CheckerSetup& setup);
  void On(const SpannerAvailability& x, const CheckerSetup& setup);
  void On(const FaultBegan&, const CheckerSetup&) { ++faults_; }
  void On(const FaultEnded&, const CheckerSetup&) { --faults_; }
  void On(const TransactionStarted& x, const CheckerSetup& setup);
  void On(const CallHangs& x, const CheckerSetup& setup);
  std::optional<TransactionLeft> On(const TransactionFinished& x, const CheckerSetup& setup);
  // Nothing when the row is no lock's.
  std::optional<VersionChanged> On(const RowCommitted& x, const CheckerSetup& setup);
  std::optional<BeliefBegan> On(const BeliefChanged& x, const CheckerSetup& setup);
  struct StandingEffects {
    std::optional<OwnTokenChanged> own_token;
    std::optional<SteppedDown> stepped_down;
  };
  StandingEffects On(const StandingChanged& x, const CheckerSetup& setup);

  const std::optional<Version>& Newest(uint16_t lock) const { return locks_[lock].newest; }
  // Nobody when there is no row.
  ProcessId OwnerOf(uint16_t lock) const;
  // What the process takes for its own; nothing of one that is gone.
  std::optional<Timestamp> OwnToken(ProcessId process, uint16_t lock,
                                    const CheckerSetup& setup) const;
  // Processes that are not gone and take the newest version's token for their own.
  int HolderCount(uint16_t lock) const { return locks_[lock].holders; }
  std::vector<ProcessId> Holders(uint16_t lock) const;
  // Processes that would be answered "has lock" if they asked.
  int AnsweredCount(uint16_t lock) const { return locks_[lock].answered; }
  // Processes that could take the lock: up, connected, and taking part.
  int CandidateCount(uint16_t lock) const { return locks_[lock].candidates; }
  int BelieverCount(uint16_t lock) const { return locks_[lock].believers; }
  std::vector<ProcessId> Believers(uint16_t lock, const CheckerSetup& setup) const;
  bool IsCandidate(ProcessId process, uint16_t lock, const CheckerSetup& setup) const;
  std::vector<ProcessId> Candidates(uint16_t lock, const CheckerSetup& setup) const;
  // Whether a process waits for the transaction that makes the call.
  bool IsAwaited(const CallName& call) const;
  // No fault is active, and no transaction that met one is unfinished.
  bool IsQuiet() const { return faults_ == 0 && hanging_ == 0; }

  friend bool operator==(const Ledger&, const Ledger&) = default;

 private:
  // A node's newest process.
  struct ProcessState {
    uint32_t incarnation = 0;
    bool gone = true;
    bool stopped = false;
    bool paused = false;
    bool cut_to = false;  // the node's way to Spanner, and the way back
    bool cut_from = false;
    WHORL_FIELDS(ProcessState, incarnation, gone, stopped, paused, cut_to, cut_from);
  };
  // Its part in one lock.
  struct Participation {
    bool participates = false;
    bool answers = false;
    bool standing_believes = false;
    bool believes = false;
    std::optional<Timestamp> own_token;
    // As counted in Lock.
    bool is_answered = false;
    bool is_candidate = false;
    WHORL_FIELDS(Participation, participates, answers, standing_believes, believes, own_token,
                 is_answered, is_candidate);
  };
  // Sorted by token, then node.
  struct KeptToken {
    Timestamp token;
    int16_t node = 0;
    friend auto operator<=>(const KeptToken&, const KeptToken&) = default;
  };
  struct Lock {
    std::optional<Version> newest;
    ProcessId last_owner;
    std::optional<Timestamp> last_lease_until;
    std::vector<KeptToken> kept;  // by processes that are not gone
    int holders = 0;
    int answered = 0;
    int candidates = 0;
    int believers = 0;
    WHORL_FIELDS(Lock, newest, last_owner, last_lease_until, kept, holders, answered, candidates,
                 believers);
  };
  struct OpenTransaction {
    uint16_t lock = 0;
    RequestId request = 0;
    StepName step = StepName::kCheck;
    bool hung = false;
    WHORL_FIELDS(OpenTransaction, lock, request, step, hung);
  };

  bool IsCurrent(ProcessId process) const;
  ProcessState& NewestProcess(int16_t node) { return processes_[static_cast<size_t>(node)]; }
  const ProcessState& NewestProcess(int16_t node) const {
    return processes_[static_cast<size_t>(node)];
  }
  std::vector<OpenTransaction>& OpenOf(int16_t node) { return open_[static_cast<size_t>(node)]; }
  const std::vector<OpenTransaction>& OpenOf(int16_t node) const {
    return open_[static_cast<size_t>(node)];
  }

  // The processes whose participation is so, by node.
  std::vector<ProcessId> ProcessesWhere(bool Participation::* are, uint16_t lock,
                                        const CheckerSetup& setup) const;
  std::span<const KeptToken> Keepers(const Lock& lock, std::optional<Timestamp> token) const;
  // The version that a commit leaves.
  std::optional<Version> NextVersion(const Lock& lock, const RowCommitted& x,
                                     const CheckerSetup& setup) const;
  void SetOwnToken(int16_t node, uint16_t lock, std::optional<Timestamp> token,
                   const CheckerSetup& setup);
  void SetBelief(int16_t node, uint16_t lock, bool believes, const CheckerSetup& setup);
  static TokenChange TokenChangeOf(const VersionChanged& change, const RowCommitted& x,
                                   const Rules& rules);
  // Whether the process owns the newest version, as far as it knows or in truth.
  // REQUIRES: the lock has a newest version.
  bool HasNewest(int16_t node, uint16_t lock, const CheckerSetup& setup) const;
  // Counts one participation, or all of a node, anew.
  void Recount(int16_t node, uint16_t lock, const CheckerSetup& setup);
  void RecountAll(int16_t node, const CheckerSetup& setup);
  std::optional<TransactionsAbandoned> AbandonTransactions(int16_t node);

  std::vector<ProcessState> processes_;             // by node
  std::vector<std::vector<OpenTransaction>> open_;  // by node; few, in the order of their ids
  std::vector<Participation> participations_;       // by CheckerSetup::ParticipationIndex
  std::vector<Lock> locks_;
  bool spanner_available_ = true;
  int64_t faults_ = 0;   // active
  int64_t hanging_ = 0;  // open transactions that hung
};

}  // namespace whorl::sim
