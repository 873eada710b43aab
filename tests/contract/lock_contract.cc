#include "tests/contract/lock_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

namespace whorl {
namespace {

bool Promises(const ProtocolInfo& info, Invariant invariant) {
  return info.promises[static_cast<size_t>(invariant)] == Promise::kPromised;
}

// Expects what the protocol promises in every test.
void ExpectPromisesKept(const ProtocolInfo& info, LockBackend& backend) {
  const std::vector<Term> terms = backend.Terms();
  for (size_t later = 1; later < terms.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      if (terms[earlier].lock != terms[later].lock) continue;
      if (Promises(info, Invariant::kSingleLeaderBelief) && terms[earlier].id != terms[later].id) {
        EXPECT_LE(terms[earlier].ended.ns, terms[later].began.ns)
            << terms[earlier].id << " led when " << terms[later].id << " began to";
      }
      if (Promises(info, Invariant::kHandedTokenMonotonic)) {
        EXPECT_LT(terms[earlier].token.value(), terms[later].token.value());
      }
    }
  }
}

std::vector<std::string> Leaders(LockBackend& backend) {
  std::vector<std::string> leaders;
  for (const Term& term : backend.Terms()) {
    if (leaders.empty() || leaders.back() != term.id) leaders.push_back(term.id);
  }
  return leaders;
}
using Names = std::vector<std::string>;

// Short, but not so short that processes lose it on a busy machine.
Duration LeaseFor(const ProtocolInfo& info) { return std::max(info.lease_min, Seconds(2)); }

Contender Named(const ProtocolInfo& info, const std::string& id,
                const std::string& lock = "contract") {
  return {.id = id, .lock = lock, .lease = LeaseFor(info)};
}

// Starts a and waits until it leads.
void StartLeader(const ProtocolInfo& info, LockBackend& backend) {
  backend.Start(Named(info, "a"));
  backend.AwaitTerm("a");
}
// Also starts b and waits until it has seen that a leads.
void StartLeaderAndFollower(const ProtocolInfo& info, LockBackend& backend) {
  StartLeader(info, backend);
  backend.Start(Named(info, "b"));
  backend.AwaitTransactions("b", 1);
}

// --- without faults ------------------------------------------------------------------------------

void OneProcessTakesAFreeLock(const ProtocolInfo& info, LockBackend& backend) {
  StartLeader(info, backend);
  ASSERT_EQ(Leaders(backend), Names{"a"});
  EXPECT_EQ(backend.Terms()[0].token.has_value(), info.has_tokens);
}

void OnlyOneOfManyLeads(const ProtocolInfo& info, LockBackend& backend) {
  StartLeader(info, backend);
  for (const char* id : {"b", "c", "d"}) backend.Start(Named(info, id));
  for (const char* id : {"b", "c", "d"}) backend.AwaitTransactions(id, 1);
  EXPECT_EQ(Leaders(backend), Names{"a"});
}

void HeartbeatsKeepTheLock(const ProtocolInfo& info, LockBackend& backend) {
  StartLeader(info, backend);
  backend.Start(Named(info, "b"));
  const LocalInstant began = backend.Now();
  // Longer than b would wait before it takes a lock that is not renewed.
  const Duration long_enough = LeaseFor(info) * 3 / 2 + info.lease_grace;
  while (backend.Now() - began < long_enough) backend.AwaitTransactions("a", 1);
  EXPECT_EQ(Leaders(backend), Names{"a"});
}

void AReleasedLockIsTaken(const ProtocolInfo& info, LockBackend& backend) {
  StartLeaderAndFollower(info, backend);
  backend.Stop("a");
  backend.AwaitTerm("b");
  EXPECT_EQ(Leaders(backend), (Names{"a", "b"}));
}

// --- faults --------------------------------------------------------------------------------------

void ACrashedLeaderIsReplaced(const ProtocolInfo& info, LockBackend& backend) {
  StartLeaderAndFollower(info, backend);
  backend.Crash("a");
  backend.AwaitTerm("b");
  EXPECT_EQ(Leaders(backend), (Names{"a", "b"}));
}

void ALeaderThatPausedBeyondItsLeaseComesBackAsAFollower(const ProtocolInfo& info,
                                                         LockBackend& backend) {
  StartLeaderAndFollower(info, backend);
  backend.Pause("a");
  backend.AwaitTerm("b");
  backend.Resume("a");
  backend.AwaitEnd("a");
  backend.AwaitTransactions("a", 2);
  EXPECT_EQ(Leaders(backend), (Names{"a", "b"}));
  // And it can lead again.
  backend.Stop("b");
  backend.AwaitTerm("a");
  EXPECT_EQ(Leaders(backend), (Names{"a", "b", "a"}));
}

void ALostReplyCostsNoLeadership(const ProtocolInfo& info, LockBackend& backend) {
  StartLeader(info, backend);
  if (!backend.LoseReply("a")) GTEST_SKIP() << "nothing here loses replies";
  backend.AwaitTransactions("a", 4);
  ASSERT_EQ(backend.Terms().size(), 1);
  EXPECT_EQ(backend.Terms()[0].ended, LocalInstant::Max());
}

// A client that hid the error would have a process lead without a row, beside the next one.
void ARefusedCommitGivesNoLeadership(const ProtocolInfo& info, LockBackend& backend) {
  if (!backend.RefuseCommit()) GTEST_SKIP() << "nothing here refuses a Commit";
  StartLeader(info, backend);
  backend.Start(Named(info, "b"));
  backend.AwaitTransactions("b", 3);
  EXPECT_EQ(Leaders(backend), Names{"a"});
}

void ADeletedSessionCostsNoLeadership(const ProtocolInfo& info, LockBackend& backend) {
  StartLeader(info, backend);
  if (!backend.DeleteSessions("a")) GTEST_SKIP() << "nothing here deletes sessions";
  backend.AwaitTransactions("a", 4);
  ASSERT_EQ(backend.Terms().size(), 1);
  EXPECT_EQ(backend.Terms()[0].ended, LocalInstant::Max());
}

// --- names ---------------------------------------------------------------------------------------

void EachNameIsALockOfItsOwn(const ProtocolInfo& info, LockBackend& backend) {
  const std::vector<std::string> locks = {
      "job", "job_daily", "it's", "\"job\"", "j\\ob", "\xC3\xBC\xE2\x82\xAC\xF0\x9F\x94\x92",
      "job "};
  for (size_t i = 0; i < locks.size(); ++i) {
    Contender contender = Named(info, "p" + std::to_string(i), locks[i]);
    // The emulator runs one transaction at a time, and seven processes share it.
    contender.lease = std::max(contender.lease, Seconds(5));
    backend.Start(contender);
  }
  for (size_t i = 0; i < locks.size(); ++i) backend.AwaitTerm("p" + std::to_string(i));
  for (size_t i = 0; i < locks.size(); ++i) {
    backend.AwaitTransactions("p" + std::to_string(i), 1);
  }
  for (const Term& term : backend.Terms()) EXPECT_EQ(term.ended, LocalInstant::Max()) << term.lock;
}

bool Always(const ProtocolInfo&) { return true; }
bool HasManyLocks(const ProtocolInfo& info) {
  return !info.takes_one_lock && Promises(info, Invariant::kIsolation);
}
// spindle_v2 does not take a free lock once its first insert has failed.
bool TriesAgain(const ProtocolInfo& info) { return Promises(info, Invariant::kNoWedge); }
bool IsSafe(const ProtocolInfo& info) { return Promises(info, Invariant::kSingleLeaderBelief); }

template <void (*kStory)(const ProtocolInfo&, LockBackend&)>
void Run(const ProtocolInfo& info, LockBackend& backend) {
  kStory(info, backend);
  if (!testing::Test::IsSkipped() && !testing::Test::HasFatalFailure()) {
    ExpectPromisesKept(info, backend);
  }
}

}  // namespace

const std::vector<ContractCase>& ContractCases() {
  static const std::vector<ContractCase> cases = {
      {"OneProcessTakesAFreeLock", Run<OneProcessTakesAFreeLock>, Always},
      {"OnlyOneOfManyLeads", Run<OnlyOneOfManyLeads>, Always},
      {"HeartbeatsKeepTheLock", Run<HeartbeatsKeepTheLock>, Always},
      {"AReleasedLockIsTaken", Run<AReleasedLockIsTaken>, Always},
      {"ACrashedLeaderIsReplaced", Run<ACrashedLeaderIsReplaced>, Always},
      {"ALeaderThatPausedBeyondItsLeaseComesBackAsAFollower",
       Run<ALeaderThatPausedBeyondItsLeaseComesBackAsAFollower>, IsSafe},
      {"ALostReplyCostsNoLeadership", Run<ALostReplyCostsNoLeadership>, IsSafe},
      {"ARefusedCommitGivesNoLeadership", Run<ARefusedCommitGivesNoLeadership>, TriesAgain},
      {"ADeletedSessionCostsNoLeadership", Run<ADeletedSessionCostsNoLeadership>, IsSafe},
      {"EachNameIsALockOfItsOwn", Run<EachNameIsALockOfItsOwn>, HasManyLocks},
  };
  return cases;
}

}  // namespace whorl
