// Tracks the true state of a run at each moment, for all checkers: who owns each lock by the newest
// version of its row, which processes would be answered "has lock", which believe that they lead,
// and whose applications are at work.
//
// Invariants:
//   1. Only the newest incarnation of a node is kept. Older ones are gone; only a commit or a write
//      that was under way can still come from them.
//   2. Memory depends on nodes x locks, not on the length of the run.
//   3. An observation costs O(1), or O(log n) and a move of small entries if a process's own token
//      changes. If a node's process or link changes, all locks of the node are recounted.
//   4. The stored counts equal what the other fields say when they are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "protocol/token.h"
#include "sim/judge/checkers/setup.h"
#include "sim/scenario/rules.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// A version of a lock's row.
struct Version {
  bool held = false;  // the row names a token or, in a protocol without tokens, an owner
  std::optional<Token> token;
  // The process whose commit installed the token or, in a protocol without tokens, the owner;
  // nobody for an initial row.
  ProcessId owner;
  // By the newest version that the owner wrote; nothing if there is no owner.
  std::optional<Timestamp> lease_until;
  bool released = false;  // the owner has released it
  WHORL_FIELDS(Version, held, token, owner, lease_until, released);
};

// --- what an observation changed; checkers get these as they get observations ------------------

enum class TokenChange : uint8_t {
  kKept,      // the token stayed: a heartbeat
  kRenewed,   // the owner's heartbeat replaced it, or wrote the owner's row again
  kGranted,   // a token, or an owner, was installed
  kRemoved,   // the row was deleted, or its token or owner set to NULL
  kReleased,  // the same by the owner, to release the lock
};

struct VersionChanged {
  uint16_t lock = 0;  // the lock whose row it is, whichever lock the writer wrote for
  TokenChange kind = TokenChange::kKept;
  ProcessId writer;
  Timestamp commit;
  std::optional<Version> before;
  std::optional<Version> after;
  // From the last version that was held, even if the row has been deleted since.
  ProcessId last_owner;
  std::optional<Timestamp> last_lease_until;
};

// Whether a commit of a lock's row takes the lock: it installs a token (or an owner, in a protocol
// without tokens) and does not renew the lease of `owner`, who owned the row before.
bool TakesTheLock(const Rules& rules, const RowCommitted& x, ProcessId owner);

// Whether the change installs a token or, in a protocol without tokens, an owner.
constexpr bool InstallsToken(TokenChange kind) {
  return kind == TokenChange::kGranted || kind == TokenChange::kRenewed;
}

struct OwnTokenChanged {
  ProcessId process;
  uint16_t lock = 0;
};
// The process stopped leading by what it did or learnt, not because it crashed, stopped, paused or
// was asked to stop.
struct SteppedDown {
  ProcessId process;
  uint16_t lock = 0;
};
struct BeliefBegan {
  ProcessId process;
  uint16_t lock = 0;
};
struct WorkBegan {
  ProcessId process;
  uint16_t lock = 0;
};
// The newest process of its node is gone.
struct ProcessLost {
  ProcessId process;
};

// --- the ledger --------------------------------------------------------------------------------

class Ledger {
 public:
  explicit Ledger(const CheckerSetup& setup);

  void On(const ProcessStarted& x, const CheckerSetup& setup);
  void On(const ProcessStopped& x, const CheckerSetup& setup);
  // Nothing if it was gone before.
  std::optional<ProcessLost> On(const ProcessGone& x, const CheckerSetup& setup);
  void On(const ProcessPaused& x, const CheckerSetup& setup);
  void On(const ProcessResumed& x, const CheckerSetup& setup);
  void On(const ParticipationEnded& x, const CheckerSetup& setup);
  // A process whose context ended takes part again when it calls Lock again.
  void On(const QuestionAsked& x, const CheckerSetup& setup);
  void On(const LinkChanged& x, const CheckerSetup& setup);
  void On(const SpannerAvailability& x, const CheckerSetup& setup);
  // Nothing if the row belongs to no lock.
  std::optional<VersionChanged> On(const RowCommitted& x, const CheckerSetup& setup);
  std::optional<BeliefBegan> On(const BeliefChanged& x, const CheckerSetup& setup);
  std::optional<WorkBegan> On(const WorkChanged& x, const CheckerSetup& setup);
  struct StandingEffects {
    std::optional<OwnTokenChanged> own_token;
    std::optional<SteppedDown> stepped_down;
  };
  StandingEffects On(const LeadershipViewChanged& x, const CheckerSetup& setup);

  const std::optional<Version>& Newest(uint16_t lock) const { return locks_[lock].newest; }
  // Nobody if there is no row.
  ProcessId OwnerOf(uint16_t lock) const;
  // The token that the process takes for its own; nothing if the process is gone.
  std::optional<Token> OwnToken(ProcessId process, uint16_t lock, const CheckerSetup& setup) const;
  // How many processes that are not gone take the newest version's token for their own.
  int HolderCount(uint16_t lock) const { return locks_[lock].holders; }
  std::vector<ProcessId> Holders(uint16_t lock) const;
  // How many processes would be answered "has lock" if they asked.
  int AnsweredCount(uint16_t lock) const { return locks_[lock].answered; }
  // How many processes could take the lock: they are up, connected and take part.
  int CandidateCount(uint16_t lock) const { return locks_[lock].candidates; }
  int BelieverCount(uint16_t lock) const { return locks_[lock].believers; }
  std::vector<ProcessId> Believers(uint16_t lock, const CheckerSetup& setup) const;
  // How many processes' applications are at work under the lock.
  int WorkerCount(uint16_t lock) const { return locks_[lock].workers; }
  std::vector<ProcessId> Workers(uint16_t lock, const CheckerSetup& setup) const;
  bool IsAtWork(ProcessId process, uint16_t lock, const CheckerSetup& setup) const;
  // Whether it is the newest process of its node, and not gone.
  bool IsCurrent(ProcessId process) const {
    if (process == ProcessId{}) return false;
    const ProcessState& state = NewestProcess(process.node);
    return !state.gone && state.incarnation == process.incarnation;
  }
  bool IsPaused(int16_t node) const { return NewestProcess(node).paused; }
  // Whether the process is not gone and has not ended its part in the lock.
  bool TakesPart(ProcessId process, uint16_t lock, const CheckerSetup& setup) const;
  bool IsCandidate(ProcessId process, uint16_t lock, const CheckerSetup& setup) const;
  std::vector<ProcessId> Candidates(uint16_t lock, const CheckerSetup& setup) const;

  // What the node's newest process and its part in the lock are like, a bit for each fact. Equal states
  // have equal bits; which bit is which is no part of the interface.
  uint32_t StateBits(int16_t node, uint16_t lock, const CheckerSetup& setup) const;

  friend bool operator==(const Ledger&, const Ledger&) = default;

  // A node's newest process.
  struct ProcessState {
    uint32_t incarnation = 0;
    bool gone = true;
    bool stopped = false;
    bool paused = false;
    bool cut_to = false;    // the node's way to Spanner is cut
    bool cut_from = false;  // the way back is cut
    WHORL_FIELDS(ProcessState, incarnation, gone, stopped, paused, cut_to, cut_from);
  };
  // The process's part in one lock.
  struct Participation {
    bool participates = false;
    bool answers = false;
    bool standing_believes = false;
    bool believes = false;
    bool at_work = false;
    std::optional<Token> own_token;
    // Whether the counts in Lock include it.
    bool is_answered = false;
    bool is_candidate = false;
    WHORL_FIELDS(Participation, participates, answers, standing_believes, believes, at_work,
                 own_token, is_answered, is_candidate);
  };
  // A token that a process takes for its own. Sorted by token, then node.
  struct KeptToken {
    Token token;
    int16_t node = 0;
    friend auto operator<=>(const KeptToken&, const KeptToken&) = default;
  };
  struct Lock {
    std::optional<Version> newest;
    ProcessId last_owner;
    std::optional<Timestamp> last_lease_until;
    std::vector<KeptToken> kept;  // tokens of processes that are not gone
    int holders = 0;
    int answered = 0;
    int candidates = 0;
    int believers = 0;
    int workers = 0;
    WHORL_FIELDS(Lock, newest, last_owner, last_lease_until, kept, holders, answered, candidates,
                 believers, workers);
  };

  // Calls visit(processes, participations, locks, spanner_available): all that it holds.
  template <typename Visit>
  void VisitAll(const Visit& visit) const {
    // A new member does not compile before it is told of, too.
    const auto& [processes, participations, locks, spanner_available] = *this;
    visit(processes, participations, locks, spanner_available);
  }

 private:
  ProcessState& NewestProcess(int16_t node) { return processes_[static_cast<size_t>(node)]; }
  const ProcessState& NewestProcess(int16_t node) const {
    return processes_[static_cast<size_t>(node)];
  }

  // The processes whose participation has that flag, by node.
  std::vector<ProcessId> ProcessesWhere(bool Participation::* flag, uint16_t lock,
                                        const CheckerSetup& setup) const;
  std::span<const KeptToken> Keepers(const Lock& lock, std::optional<Token> token) const;
  // The version after a commit.
  std::optional<Version> NextVersion(const Lock& lock, const RowCommitted& x,
                                     const CheckerSetup& setup) const;
  void SetOwnToken(int16_t node, uint16_t lock, std::optional<Token> token,
                   const CheckerSetup& setup);
  void SetBelief(int16_t node, uint16_t lock, bool believes, const CheckerSetup& setup);
  void SetAtWork(int16_t node, uint16_t lock, bool at_work, const CheckerSetup& setup);
  static TokenChange TokenChangeOf(const VersionChanged& change, const RowCommitted& x,
                                   const Rules& rules);
  // Whether the process owns the newest version, by its own knowledge or in fact.
  // REQUIRES: the lock has a newest version.
  bool HasNewest(int16_t node, uint16_t lock, const CheckerSetup& setup) const;
  // Updates the counts for one participation, or for all of a node.
  void Recount(int16_t node, uint16_t lock, const CheckerSetup& setup);
  void RecountAll(int16_t node, const CheckerSetup& setup);

  std::vector<ProcessState> processes_;        // by node
  std::vector<Participation> participations_;  // by CheckerSetup::ParticipationIndex
  std::vector<Lock> locks_;
  bool spanner_available_ = true;
};

}  // namespace whorl::sim
