// paced_calls on crafted traces. With a lease of 10 s a process may start ten of a step in any second.
#include <string>

#include "protocol/fenced_lease/words.h"
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_pace_test {
namespace {

using fenced_lease::steps::kBeat;
using fenced_lease::steps::kTake;

Scenario Fenced(Duration lease) {
  Scenario scenario = MakeScenario({"a", "b"});
  scenario.protocol = "fenced_lease";
  for (NodeSpec& node : scenario.nodes) node.lease = lease;
  return scenario;
}

struct Pace {
  explicit Pace(Duration lease = Seconds(10)) : trace(Fenced(lease)) {
    trace.At(Duration{}).Starts("a").Starts("b");
  }
  // One transaction begins, and ends at once.
  Pace& Calls(Duration at, StepName step = kTake, Code code = Code::kInternal,
              const std::string& node = "a") {
    trace.At(at);
    Begins(step, node);
    trace.Happens(TransactionFinished{.process = trace.Process(node),
                                      .lock = 0,
                                      .request = 0,
                                      .step = step,
                                      .outcome = Outcome::kUnknown,
                                      .code = code});
    return *this;
  }
  void Begins(StepName step, const std::string& node = "a") {
    trace.Happens(
        TransactionStarted{.process = trace.Process(node), .lock = 0, .request = 0, .step = step});
  }
  CheckReport AtEnd() { return trace.EndsAt(Seconds(30)); }

  Trace trace;
};

TEST(PacedCallsTest, ElevenInASecondAreTooManyWhateverTheAnswer) {
  for (const Code code : AllOf<Code>()) {
    SCOPED_TRACE(WordOf(code));
    Pace pace;
    for (int i = 0; i < 11; ++i) pace.Calls(Seconds(1) + Milliseconds(90 * i), kTake, code);
    ExpectViolated(pace.AtEnd(), Invariant::kPacedCalls, Milliseconds(1'900), 0,
                   {"a started 11 times take of lock \"lock\" within a second", "at most 10"});
  }
}

TEST(PacedCallsTest, TenAreNot) {
  Pace pace;
  for (int i = 0; i < 100; ++i) pace.Calls(Seconds(1) + Milliseconds(100 * i));
  ExpectHolds(pace.AtEnd(), Invariant::kPacedCalls);
}

TEST(PacedCallsTest, WhatIsLostIsRepeatedLikeWhatIsRefused) {
  Pace pace;
  pace.trace.At(Seconds(1));
  for (int i = 0; i < 11; ++i) pace.Begins(kTake);
  ExpectViolated(pace.AtEnd(), Invariant::kPacedCalls, Seconds(1), 0, {"none has ended"});
}

TEST(PacedCallsTest, AnotherAnswerIsNoRepetition) {
  Pace pace;
  for (int i = 0; i < 9; ++i) pace.Calls(Seconds(1));
  for (int i = 0; i < 10; ++i) pace.Calls(Seconds(1), kTake, Code::kUnavailable);
  ExpectHolds(pace.AtEnd(), Invariant::kPacedCalls);
}

TEST(PacedCallsTest, EachStepAndEachProcessHasItsOwn) {
  Pace pace;
  for (int i = 0; i < 10; ++i) {
    pace.Calls(Seconds(1), kTake).Calls(Seconds(1), kBeat);
    pace.Calls(Seconds(1), kTake, Code::kInternal, "b");
  }
  pace.trace.Crashes("a").Starts("a");
  for (int i = 0; i < 10; ++i) pace.Calls(Seconds(1), kTake);
  ExpectHolds(pace.AtEnd(), Invariant::kPacedCalls);
}

// The application asks as often as it likes.
TEST(PacedCallsTest, QuestionsOfTheApplicationDoNotCount) {
  Pace pace;
  for (int i = 0; i < 100; ++i) pace.Calls(Seconds(1), steps::kHasLock);
  ExpectHolds(pace.AtEnd(), Invariant::kPacedCalls);
}

// Heartbeats come every sixteenth of it.
TEST(PacedCallsTest, AShorterLeaseAllowsMore) {
  Pace pace(Seconds(1));
  for (int i = 0; i < 24; ++i) pace.Calls(Seconds(1), kBeat);
  ExpectHolds(pace.AtEnd(), Invariant::kPacedCalls);
  Pace more(Seconds(1));
  for (int i = 0; i < 25; ++i) more.Calls(Seconds(1), kBeat);
  ExpectViolated(more.AtEnd(), Invariant::kPacedCalls, Seconds(1), 0, {"at most 24"});
}

// --- the calls of one transaction ------------------------------------------------------------------

struct Calls : Pace {
  // Sends calls of a transaction that began.
  Calls& Sends(int count, Duration at = Seconds(1), Duration apart = {}) {
    for (int i = 0; i < count; ++i) {
      trace.At(at + apart * i).Happens(CallSent{.call = trace.CallOf("a", 0), .step = kBeat});
    }
    return *this;
  }
  Calls& Fails() {
    trace.Happens(
        CallEnded{.call = trace.CallOf("a", 0), .step = kBeat, .code = Code::kUnavailable});
    return *this;
  }
};

// A statement and its Commit: fenced_lease needs no more.
TEST(PacedCallsTest, AThirdCallBeforeOneHasFailedIsTooMany) {
  Calls two;
  two.Begins(kBeat);
  ExpectHolds(two.Sends(2).AtEnd(), Invariant::kPacedCalls);
  Calls three;
  three.Begins(kBeat);
  ExpectViolated(three.Sends(3).AtEnd(), Invariant::kPacedCalls, Seconds(1), 0,
                 {"a sent 3 calls of beat", "where 2 are enough"});
}

TEST(PacedCallsTest, WhatFailedIsRepeatedAtMostSixtyFourTimesASecond) {
  Calls calls;
  calls.Begins(kBeat);
  calls.Sends(1).Fails().Sends(63, Seconds(1), Milliseconds(15));
  ExpectHolds(calls.AtEnd(), Invariant::kPacedCalls);
  Calls more;
  more.Begins(kBeat);
  more.Sends(1).Fails().Sends(64, Seconds(1), Milliseconds(15));
  ExpectViolated(more.AtEnd(), Invariant::kPacedCalls, Milliseconds(1'945), 0,
                 {"65 calls of beat", "within a second, for one transaction"});
}

TEST(PacedCallsTest, TheNextTransactionCountsAnew) {
  Calls calls;
  for (int i = 0; i < 5; ++i) {
    calls.Begins(kBeat);
    calls.Sends(2, Seconds(1 + i));
    calls.trace.Finishes("a", 0);
  }
  ExpectHolds(calls.AtEnd(), Invariant::kPacedCalls);
}

}  // namespace
}  // namespace whorl::sim::checkers_pace_test
