#include <algorithm>

#include "protocol/fenced_lease/words.h"
#include "protocol/lease_lock/words.h"
#include "protocol/semaphore/words.h"
#include "protocol/spindle_v2/words.h"
#include "protocol/spindle_v3/words.h"
#include "sim/scenario/guide.h"

namespace whorl::sim {
namespace {

struct StepText {
  StepName step;
  std::string_view about;
};
constexpr auto kSteps = std::to_array<StepText>({
    {spindle_v2::steps::kCheck,
     "the strong read of the heartbeat's age and the token, once a round"},
    {spindle_v2::steps::kFirstInsert,
     "the INSERT of the lock's row; its commit timestamp becomes the token"},
    {spindle_v2::steps::kReread, "the second read of the token, before a takeover"},
    {spindle_v2::steps::kTakeoverInsert, "the INSERT of the row that decides who may take over"},
    {spindle_v2::steps::kTakeoverUpdate,
     "the UPDATE that makes the token of `takeover_insert` the lock's"},
    {spindle_v2::steps::kHeartbeatUpdate, "the UPDATE of the heartbeat"},
    {spindle_v2::steps::kHeartbeatDelete,
     "the DELETE of takeover rows, in the transaction of `heartbeat_update`"},
    {steps::kHasLock, "a question of the application: do I have the lock?"},
    {steps::kWrite,
     "a write of the application to the resource, with the token that it was handed"},
    {fenced_lease::steps::kRead, "the strong read of the whole row, with the heartbeat's age"},
    {fenced_lease::steps::kTake,
     "the UPDATE that takes the lock, if the heartbeat is still the one that was seen"},
    {fenced_lease::steps::kCreate, "the INSERT of the lock's row, where there is none"},
    {fenced_lease::steps::kBeat,
     "the UPDATE of the heartbeat, if token and attempt are still the process's own"},
    {fenced_lease::steps::kRelease,
     "gives the lock back: an UPDATE that leaves no writer (fenced_lease), the DELETE of the row "
     "(spindle_v3), or the deletion of a row that the process could acquire (lease_lock)"},
    {spindle_v3::steps::kLook, "the strong read of owner and token, with the time at Spanner"},
    {lease_lock::steps::kAcquire,
     "the transaction that reads the row and takes the lock, unless another owner's lease is live"},
    {lease_lock::steps::kHeartbeat,
     "the UPDATE that renews the row, if it is still the process's own: by token and owner "
     "(spindle_v3), or by the owner alone (lease_lock)"},
    {semaphore::steps::kUpdate,
     "the UPDATE that renews the row, if it is the service's own, or takes it, if it was not "
     "renewed "
     "for the timeout"},
    {semaphore::steps::kQuery, "the strong read of the service that leads, after each `update`"},
    {lease_lock::steps::kGet, "the strong read of the row, to learn who has the lock"},
});
constexpr auto kPhases = MakeTextTable<Phase>({
    {Phase::kSent, "the process has handed the step's first call to the network"},
    {Phase::kServed,
     "Spanner has executed a statement of the step (of `write`: the write has arrived)"},
    {Phase::kCommitted, "the step's transaction has become visible"},
    {Phase::kReplied,
     "the reply that ends the step has reached the process, which has not acted on it yet"},
    {Phase::kEnded, "the process has acted on the step's outcome"},
});
constexpr auto kInvariants = MakeTextTable<Invariant>({
    {Invariant::kOneLiveToken,
     "at most one process that has not crashed owns the token of the newest version"},
    {Invariant::kTokenMonotonic,
     "a committed token is not below any that was ever stored under the name, and above it if the "
     "owner changes"},
    {Invariant::kHandedTokenMonotonic,
     "a token handed to a user is greater than all that were handed out in other terms"},
    {Invariant::kHasLockTruthful,
     "who was told \"yes\" owned the newest version at some instant between question and answer"},
    {Invariant::kLeaseRespected,
     "nobody else changes or removes an owner's version before its lease is over"},
    {Invariant::kFencedWritesOrdered,
     "the resource that fences accepts tokens in order (a check of the resource itself)"},
    {Invariant::kSingleLeaderBelief, "never do two processes believe that they lead"},
    {Invariant::kIsolation, "a process writes rows of its own lock only"},
    {Invariant::kNoWedge,
     "once faults are over, some process is answered \"has lock\" within the protocol's bound"},
    {Invariant::kNoWorkAfterRelease,
     "nobody gives the lock back while its own application is still at work"},
    {Invariant::kSingleWorker,
     "never are two applications at work under one lock, the time that they need to stop "
     "included"},
    {Invariant::kPacedCalls,
     "while the transactions of one step end alike, whatever the answer, a process starts at most "
     "8 + 16 s / lease of them in any second; none has more calls than it needs before one fails, "
     "nor more than 64 in a second"},
    {Invariant::kToldOfLeadership,
     "an application is called back when its process begins or ceases to believe that it leads, "
     "not earlier, and at most 10 ms later"},
    {Invariant::kAnsweredInTime,
     "every question is answered as soon as what it asks of Spanner has ended, and every `Lock()` "
     "soon after its context has"},
    {Invariant::kReasonedStepDown,
     "a process ceases to believe because of its deadline, a loss, a stop, or a clock that was "
     "changed, and for nothing else"},
    {Invariant::kPromptHandover,
     "undisturbed, a lock whose process no longer wants it is given back within some round trips, "
     "and one that was given back is taken within the longest pause between two looks"},
});
constexpr auto kMetrics = MakeTextTable<Metric>({
    {Metric::kGrants, "tokens installed, re-acquisition by the same process included"},
    {Metric::kTakeovers, "grants to another process than the last owner"},
    {Metric::kWithoutHolderMax,
     "the longest time in which no running process would be answered \"has lock\""},
    {Metric::kWithoutHolderSum, "the sum of all such times"},
    {Metric::kBeliefOverlapMax, "the longest time in which two processes believed that they lead"},
    {Metric::kBeliefOverlapSum, "the sum of all such times"},
    {Metric::kWorkOverlapMax, "the longest time in which two processes were at work"},
    {Metric::kWorkOverlapSum, "the sum of all such times"},
    {Metric::kStaleWriteRefused,
     "writes of processes that did not own the lock any more, refused by the resource that fences"},
    {Metric::kStaleWriteAccepted, "such writes, accepted by the resource that does not"},
    {Metric::kLegitimateWriteRefused,
     "writes of the lock's owner, refused by the resource that fences"},
    {Metric::kNeedlessTakeovers, "takeovers from an owner that was up, connected and renewing"},
    {Metric::kTransactions, "transactions that were started"},
    {Metric::kRpcs, "calls that were sent to Spanner"},
    {Metric::kAborted, "attempts of transactions that Spanner aborted"},
    {Metric::kCallsInSecondMax,
     "the most calls that one process sent for one lock in a second, of seconds that follow each "
     "other while it calls"},
    {Metric::kGrantToBeliefMax,
     "the longest time from a grant until its process believed that it leads, of those that did"},
    {Metric::kRenewalPercentMax,
     "the longest time between two writes of an owner to its row, in percent of its lease"},
});
constexpr auto kSometimes = MakeTextTable<Sometimes>({
    {Sometimes::kTakeover, "a grant to another process than the last owner"},
    {Sometimes::kRelease, "an owner gave the lock back"},
    {Sometimes::kStepDown, "a leader stepped down of its own accord"},
    {Sometimes::kStaleWriteRefused,
     "a write of a process that did not own the lock any more was refused"},
    {Sometimes::kLegitimateWriteRefused, "a write of the lock's owner was refused"},
    {Sometimes::kNeedlessTakeover,
     "the lock was taken from an owner that was up, connected and renewing"},
    {Sometimes::kUnknownOutcome, "a client could not learn whether its transaction had committed"},
    {Sometimes::kUnknownResolved,
     "a transaction whose call had hung came to a known end, or its outcome was read back"},
    {Sometimes::kAborted, "Spanner aborted an attempt of a transaction"},
    {Sometimes::kLockWait, "a call had to wait for a lock of another transaction"},
    {Sometimes::kCommitWaitOverlap,
     "a commit did not have to wait for TrueTime, because replication took longer"},
    {Sometimes::kLateReplyIgnored, "a reply came when nobody waited for it any more"},
    {Sometimes::kClockStopNoticed, "a process noticed that its clock had stood still"},
});

constexpr auto kScheduledEvents = MakeTextTable<ScheduledEvent>({
    {ScheduledEvent::kCallArrives, "a request reaches Spanner, which executes it or lets it wait"},
    {ScheduledEvent::kReplyArrives, "a reply reaches the process, which acts on it"},
    {ScheduledEvent::kCallTimesOut, "the process gives a call up"},
    {ScheduledEvent::kTimerDue, "a timer fires"},
    {ScheduledEvent::kCommitBecomesVisible, "a commit is done; `fault`: an operator's"},
    {ScheduledEvent::kSpannerLooksAgain,
     "Spanner looks for transactions that are idle for too long"},
    {ScheduledEvent::kResourceWrite, "a write reaches the resource"},
    {ScheduledEvent::kNodeStarts, "a process starts: the node's first, or the next after a crash"},
    {ScheduledEvent::kFaultBegins,
     "a fault strikes; one that strikes a single call strikes the one that the other keys name, on "
     "its way"},
    {ScheduledEvent::kFaultEnds, "a fault that lasts is over"},
    {ScheduledEvent::kOperatorActs, "an operator sends the next call, or sends it again"},
    {ScheduledEvent::kReleaseHeard, "a process hears that the lock was released"},
});

}  // namespace

std::string_view AboutStep(StepName step) {
  const auto* const found = std::ranges::find(kSteps, step, &StepText::step);
  return found == kSteps.end() ? std::string_view() : found->about;
}
std::string_view AboutPhase(Phase phase) { return kPhases[phase]; }
std::string_view AboutInvariant(Invariant invariant) { return kInvariants[invariant]; }
std::string_view AboutMetric(Metric metric) { return kMetrics[metric]; }
std::string_view AboutSometimes(Sometimes goal) { return kSometimes[goal]; }
std::string_view AboutScheduledEvent(ScheduledEvent event) { return kScheduledEvents[event]; }

}  // namespace whorl::sim
