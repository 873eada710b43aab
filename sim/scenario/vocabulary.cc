#include "sim/scenario/vocabulary.h"

#include <array>
#include <cstddef>

namespace whorl::sim {
namespace {

// Each list is in the order of its enumeration.
constexpr std::array<std::string_view, kStepCount> kSteps = {
    "the strong read of the heartbeat's age and the token, once a round",
    "the INSERT of the lock's row; its commit timestamp becomes the token",
    "the second read of the token, before a takeover",
    "the INSERT of the row that decides who may take over",
    "the UPDATE that makes the token of `takeover_insert` the lock's",
    "the UPDATE of the heartbeat",
    "the DELETE of takeover rows, in the transaction of `heartbeat_update`",
    "a question of the application: do I have the lock?",
    "a write of the application to the resource, with the token that it was handed",
    "the strong read of the whole row, with the heartbeat's age",
    "the UPDATE that takes the lock, if the heartbeat is still the one that was seen",
    "the INSERT of the lock's row, where there is none",
    "the UPDATE of the heartbeat, if token and attempt are still the process's own",
    "gives the lock back: an UPDATE that leaves no writer (fenced_lease), the DELETE of the row "
    "(spindle_v3), or the deletion of a row that the process could acquire (lease_lock)",
    "the strong read of owner and token, with the time at Spanner",
    "the transaction that reads the row and takes the lock, unless another owner's lease is live",
    "the UPDATE that renews the row, if it is still the process's own: by token and owner "
    "(spindle_v3), or by the owner alone (lease_lock)",
    "the UPDATE that renews the row, if it is the service's own, or takes it, if it was not "
    "renewed "
    "for the timeout",
    "the strong read of the service that leads, after each `update`",
    "the strong read of the row, to learn who has the lock",
};
constexpr std::array<std::string_view, kPhaseCount> kPhases = {
    "the process has handed the step's first call to the network",
    "Spanner has executed a statement of the step (of `write`: the write has arrived)",
    "the step's transaction has become visible",
    "the reply that ends the step has reached the process, which has not acted on it yet",
    "the process has acted on the step's outcome",
};
constexpr std::array<std::string_view, kInvariantCount> kInvariants = {
    "at most one process that has not crashed owns the token of the newest version",
    "a committed token is not below any that was ever stored under the name, and above it if the "
    "owner changes",
    "a token handed to a user is greater than all that were handed out in other terms",
    "who was told \"yes\" owned the newest version at some instant between question and answer",
    "nobody else changes or removes an owner's version before its lease is over",
    "the resource that fences accepts tokens in order (a check of the resource itself)",
    "never do two processes believe that they lead",
    "a process writes rows of its own lock only",
    "once faults are over, some process is answered \"has lock\" within the protocol's bound",
};
constexpr std::array<std::string_view, kMetricCount> kMetrics = {
    "tokens installed, re-acquisition by the same process included",
    "grants to another process than the last owner",
    "the longest time in which no running process would be answered \"has lock\"",
    "the sum of all such times",
    "the longest time in which two processes believed that they lead",
    "the sum of all such times",
    "writes of processes that did not own the lock any more, refused by the resource that fences",
    "such writes, accepted by the resource that does not",
    "writes of the lock's owner, refused by the resource that fences",
    "takeovers from an owner that was up, connected and renewing",
    "transactions that were started",
    "calls that were sent to Spanner",
    "attempts of transactions that Spanner aborted",
};
constexpr std::array<std::string_view, kSometimesCount> kSometimes = {
    "a grant to another process than the last owner",
    "an owner gave the lock back",
    "a leader stepped down of its own accord",
    "a write of a process that did not own the lock any more was refused",
    "a write of the lock's owner was refused",
    "the lock was taken from an owner that was up, connected and renewing",
    "a client could not learn whether its transaction had committed",
    "a transaction whose call had hung came to a known end, or its outcome was read back",
    "Spanner aborted an attempt of a transaction",
    "a call had to wait for a lock of another transaction",
    "a commit did not have to wait for TrueTime, because replication took longer",
    "a reply came when nobody waited for it any more",
    "a process noticed that its clock had stood still",
};

template <typename Enum, typename Lines>
std::string_view LineOf(Enum word, const Lines& lines) {
  return lines[static_cast<size_t>(word)];
}

}  // namespace

std::string_view AboutStep(StepName step) { return LineOf(step, kSteps); }
std::string_view AboutPhase(Phase phase) { return LineOf(phase, kPhases); }
std::string_view AboutInvariant(Invariant invariant) { return LineOf(invariant, kInvariants); }
std::string_view AboutMetric(Metric metric) { return LineOf(metric, kMetrics); }
std::string_view AboutSometimes(Sometimes goal) { return LineOf(goal, kSometimes); }

}  // namespace whorl::sim
