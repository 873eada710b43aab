// Histories that lead to a wrong verdict if too much is concluded from too little: restarts, clocks that step,
// records that say half, and processes that end without a word.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "check/check.h"
#include "check/json_lines.h"
#include "tests/check/history_lines.h"

namespace whorl::check::soundness_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// --- clocks --------------------------------------------------------------------------------------

// The clock of a steps by 20 s between its second call and its third: which of them shows it is not known.
TEST(CheckClockSteps, AClockThatContradictsItselfMakesNothingCertain) {
  const auto judge = [](const std::vector<std::string>& more) {
    return Judge(
        Joined({Says("a", "leads", "10"), Call("a", "10.9", "11", "11.1"), Says("a", "lost", "20"),
                Call("b", "10.9", "11", "11.1"), Says("b", "leads", "12"), Says("b", "lost", "15")},
               more),
        {.lease = Seconds(10), .clock_error = {}});
  };
  EXPECT_EQ(judge({})[Invariant::kSingleLeaderBelief].verdict, Verdict::kViolated);
  // Before the spans are judged, and after.
  for (const std::string second : {"14", "30"}) {
    const std::string late = std::to_string(std::stoi(second) + 20);
    const auto verdict = judge({Call("a", late + ".1", second, late + ".3")});
    EXPECT_THAT(verdict.problems, SizeIs(1)) << second;
    EXPECT_NE(verdict[Invariant::kSingleLeaderBelief].verdict, Verdict::kViolated) << second;
    EXPECT_NE(verdict[Invariant::kSingleLeaderBelief].verdict, Verdict::kHolds) << second;
  }
  const auto verdict = judge({Call("a", "50.1", "30", "50.3")});
  EXPECT_EQ(verdict[Invariant::kSingleLeaderBelief].verdict, Verdict::kPossiblyViolated);
  EXPECT_THAT(verdict[Invariant::kSingleLeaderBelief].text,
              HasSubstr("but the clock of a contradicts itself"));
}

// What others did does not depend on it.
TEST(CheckClockSteps, TheOthersAreJudged) {
  EXPECT_EQ(Belief({Call("a", "10.9", "11", "11.1"), Call("a", "50.9", "31", "51.1"),
                    Call("b", "10.9", "11", "11.1"), Call("c", "10.9", "11", "11.1"),
                    Says("b", "leads", "12"), Says("b", "lost", "20"), Says("c", "leads", "13"),
                    Says("c", "lost", "20")},
                   {.lease = Seconds(10), .clock_error = {}}),
            Verdict::kViolated);
}

// A request that hung shows what the clock was when it was sent.
TEST(CheckClockSteps, WhatARequestShowsWearsOffUntilTheReply) {
  Clock clock;
  const auto at = [](int64_t ms) { return Timestamp::FromUnixNanos(ms * 1'000'000); };
  EXPECT_EQ(clock.Call(at(0), at(0), at(100'000), "a"), "");
  EXPECT_LE(clock.At(at(100'000)).least, -Milliseconds(20));
}

// --- many spans ----------------------------------------------------------------------------------

// Otherwise a history of one lock by a coarse clock takes time and memory that grow with its square.
TEST(CheckSpans, EqualOnesAreKeptOnceAndCountedEach) {
  constexpr int kEach = 100;
  Checker checker(V2(), {.lease = Seconds(10), .clock_error = Milliseconds(10)});
  JsonLines reader(V2(), {});
  std::vector<Operation> operations;
  for (int i = 0; i < kEach; ++i) {
    for (const std::string id : {"a", "b", "c"}) {
      reader.Read(Says(id, "leads", "10"), {}, operations);
      reader.Read(Says(id, "lost", "10"), {}, operations);
    }
  }
  for (Operation& operation : operations) checker.Add(std::move(operation));
  EXPECT_EQ(checker.Verdict()[Invariant::kSingleLeaderBelief].possible, 3 * kEach * kEach);
  EXPECT_EQ(checker.SpansKept(), 3);
}

// By their processes' clocks they are half a minute apart.
TEST(CheckSpans, OverlapInTrueTime) {
  const auto judge = [](const std::string& offset, const std::string& a, const std::string& a_to,
                        const std::string& b, const std::string& b_to) {
    return Belief({R"({"event":"process","id":"a","offset":)" + offset + "}", Says("a", "leads", a),
                   Says("a", "lost", a_to), Says("b", "leads", b), Says("b", "lost", b_to)});
  };
  EXPECT_EQ(judge(R"(["29s","31s"])", "40", "45", "12", "13"), Verdict::kViolated);
  EXPECT_EQ(judge(R"(["29s","31s"])", "40", "45", "20", "21"), Verdict::kHolds);
  EXPECT_EQ(judge(R"(["-31s","-29s"])", "10", "15", "42", "43"), Verdict::kViolated);
  EXPECT_EQ(judge(R"(["-31s","-29s"])", "10", "15", "55", "56"), Verdict::kHolds);
}

// --- restarts ------------------------------------------------------------------------------------

// It was started anew with another lease: by which of them a row is judged is not known.
TEST(CheckRestarts, TwoLeasesOfOneProcessAreAnInterval) {
  const auto judge = [](const std::string& taken) {
    return Lease(
        {R"({"event":"started","id":"a","lock":"job","lease":"5s","time":")" + Second("00") + "\"}",
         kTakes,
         R"({"event":"started","id":"a","lock":"job","lease":"20s","time":")" + Second("03") +
             "\"}",
         Change(taken, "UPDATE", Values(taken, taken, "b"), Values("01", "01", "a"))});
  };
  EXPECT_EQ(judge("05"), Verdict::kViolated);
  EXPECT_EQ(judge("10"), Verdict::kPossiblyViolated);
  EXPECT_EQ(judge("22"), Verdict::kHolds);
}

// --- records that say half -----------------------------------------------------------------------

// A stream that begins when a has the lock, and records what a statement changed only, as it does by default.
const std::string kBeat = Change("04", "UPDATE", R"({"heartbeat":")" + Second("04") + "\"}",
                                 R"({"heartbeat":")" + Second("02") + "\"}");
TEST(CheckHalfRecords, ATakeoverFromAnUnseenOwnerIsNotSaidToHold) {
  const auto judge = [](const std::string& at) {
    return Lease({kBeat, Change(at, "UPDATE", Values(at, at, "b"), Values("04", "01", "a"))});
  };
  EXPECT_EQ(judge("09"), Verdict::kPossiblyViolated);
  EXPECT_EQ(judge("14"), Verdict::kHolds);
}

TEST(CheckHalfRecords, WithoutOldValuesTheUnseenOwnerIsUnknown) {
  const auto verdict = Judge({kBeat, Change("09", "UPDATE", Values("09", "09", "b"), "{}")});
  EXPECT_EQ(verdict[Invariant::kLeaseRespected].verdict, Verdict::kUnknown);
  EXPECT_THAT(verdict[Invariant::kLeaseRespected].text,
              HasSubstr("who held lock \"job\" before 2026-01-01T00:00:09Z is not recorded"));
  // The first change of all may be a takeover, too.
  EXPECT_EQ(Lease({Change("09", "UPDATE", Values("09", "09", "b"), "{}"),
                   Change("30", "UPDATE", Values("30", "30", "c"), "{}")}),
            Verdict::kUnknown);
}

TEST(CheckHalfRecords, AnUnseenOwnerMaySayThatItHasTheLock) {
  const std::string answer =
      Says("a", "answer", "06", R"(,"has":true,"asked":")" + Second("05") + "\"");
  EXPECT_NE(Judge({kBeat, answer})[Invariant::kHasLockTruthful].verdict, Verdict::kViolated);
  EXPECT_NE(Judge({kBeat, answer})[Invariant::kHasLockTruthful].verdict, Verdict::kHolds);
}

// The emulator cuts times that are not the commit's own: the lease may end up to a second later.
TEST(CheckHalfRecords, ALeaseThatIsShownInWholeSecondsMayLastASecondLonger) {
  const ProtocolInfo& protocol = *FindProtocol("lease_lock");
  const auto row = [](const std::string& at, const std::string& kind, const std::string& owner,
                      const std::string& until) {
    return R"({"commit_timestamp":")" + Second(at) + R"(","mod_type":")" + kind +
           R"(","mods":[{"keys":{"key":"job"},"new_values":{"owner":")" + owner +
           R"(","leased_until":")" + Second(until) + R"("},"old_values":{}}]})";
  };
  const auto judge = [&](const std::string& until, const std::string& taken) {
    return Lease({row("01.5", "INSERT", "a", until), row(taken, "UPDATE", "b", "40.5")},
                 {.lease = Seconds(10)}, protocol);
  };
  EXPECT_EQ(judge("11", "11.3"), Verdict::kPossiblyViolated);
  EXPECT_EQ(judge("11", "12"), Verdict::kHolds);
  EXPECT_EQ(judge("11.2", "11.3"), Verdict::kHolds);
}

// --- who wrote it --------------------------------------------------------------------------------

// A call about another lock may have the same commit timestamp.
TEST(CheckWriters, ACallAboutAnotherLockDidNotWriteTheRow) {
  std::string call = Call("c", "07.9", "08", "08.1");
  call.replace(call.find("\"job\""), 5, "\"other\"");
  EXPECT_EQ(Lease({kTakes, call, kBeatAt8, kTakenAt13}), Verdict::kPossiblyViolated);
}

// --- processes that are killed -------------------------------------------------------------------

std::string Ended(const std::string& id, const std::string& at) {
  return R"({"event":"ended","id":")" + id + R"(","by":"node-1","time":")" + Second(at) + "\"}";
}

TEST(CheckEnds, WhoIsSeenToHaveEndedBelievesAndWorksNoMore) {
  for (const auto& [begins, ends, invariant] :
       {std::tuple("leads", "lost", Invariant::kSingleLeaderBelief),
        std::tuple("works", "rests", Invariant::kSingleWorker)}) {
    const auto judge = [&](const std::string& b_begins, const std::vector<std::string>& more) {
      return Judge(Joined(
          {Says("a", begins, "05"), Says("a", ends, "06"), Says("a", begins, "10"),
           Says("a", "goes_on", "15"), Says("b", begins, b_begins), Says("b", "stopped", "50")},
          more))[invariant]
          .verdict;
    };
    EXPECT_EQ(judge("30", {}), Verdict::kPossiblyViolated) << begins;
    EXPECT_EQ(judge("30", {Ended("a", "20")}), Verdict::kHolds) << begins;
    EXPECT_EQ(judge("18", {Ended("a", "20")}), Verdict::kPossiblyViolated) << begins;
    EXPECT_EQ(judge("14", {Ended("a", "20")}), Verdict::kViolated) << begins;
    // It is another process that ended, or one that had the id before.
    EXPECT_EQ(judge("30", {Ended("c", "20")}), Verdict::kPossiblyViolated) << begins;
    EXPECT_EQ(judge("30", {Ended("a", "09")}), Verdict::kPossiblyViolated) << begins;
    // It goes on to log: that it had ended is not true.
    EXPECT_EQ(judge("30", {Ended("a", "20"), Says("a", "goes_on", "25")}),
              Verdict::kPossiblyViolated)
        << begins;
  }
}

TEST(CheckEnds, TheClockOfWhoSawItIsInDoubtToo) {
  const std::vector<std::string> lines = {Call("a", "09.9", "10", "10.1"), Says("a", "leads", "10"),
                                          Call("b", "09.9", "10", "10.1"), Says("b", "leads", "30"),
                                          Says("b", "lost", "40"),         Ended("a", "20")};
  const auto judge = [&](const std::string& clock) {
    return Belief(Joined({R"({"event":"process","id":"node-1")" + clock + "}"}, lines),
                  {.lease = Seconds(10)});
  };
  EXPECT_EQ(judge(""), Verdict::kPossiblyViolated);
  EXPECT_EQ(judge(R"(,"offset":["-11s","0s"])"), Verdict::kPossiblyViolated);
  EXPECT_EQ(judge(R"(,"offset":["-9s","0s"])"), Verdict::kHolds);
}

TEST(CheckEnds, ATokenThatAProcessThatEndedTookIsItsNoMore) {
  const auto judge = [](const std::vector<std::string>& more) {
    const std::string token =
        R"(,"token":")" + std::to_string(ParseRfc3339(Second("01"))->UnixNanos()) + "\"";
    return Judge(Joined(
        {kTakes, Change("05", "UPDATE", Values("05", "01", "a"), Values("01", "01", "a")),
         Says("a", "owns", "02", token), Says("b", "owns", "12", token),
         Says("b", "goes_on", "14")},
        more))[Invariant::kOneLiveToken]
        .verdict;
  };
  EXPECT_EQ(judge({}), Verdict::kPossiblyViolated);
  EXPECT_EQ(judge({Ended("a", "08")}), Verdict::kHolds);
}

// Memory: otherwise each process that was killed would keep all spans that came after it.
TEST(CheckEnds, SpansAfterAProcessThatEndedAreForgotten) {
  Checker checker(*FindProtocol("spindle_v2"),
                  {.lease = Seconds(10), .clock_error = Milliseconds(10), .window = Seconds(1)});
  JsonLines reader(*FindProtocol("spindle_v2"), {});
  std::vector<Operation> operations;
  for (const std::string& line :
       {Logs("c", "leads"), Says("a", "leads", "01"), Ended("a", "02"), Says("b", "leads", "03"),
        Says("b", "lost", "04"), Says("b", "rests", "20"), Says("b", "rests", "40"),
        Says("b", "goes_on", "50"),
        // Too late to be judged against spans that were forgotten.
        Says("c", "goes_on", "55")}) {
    EXPECT_EQ(reader.Read(line, {}, operations), "");
  }
  for (Operation& operation : operations) checker.Add(std::move(operation));
  EXPECT_EQ(checker.SpansKept(), 0);
  EXPECT_EQ(checker.Verdict()[Invariant::kSingleLeaderBelief].verdict, Verdict::kHolds);
}

// Who logs renewals and is killed believed until its lease ran out, at the latest.
TEST(CheckEnds, ABeliefWhoseRenewalsAreLoggedEndsWithItsLease) {
  const auto judge = [](const std::string& b_begins, const std::vector<std::string>& more) {
    return Belief(Joined({Says("a", "leads", "01", R"(,"left":"10s")"),
                          Says("a", "renewed", "06", R"(,"left":"10s")"),
                          Says("b", "leads", b_begins), Says("b", "lost", "20")},
                         more));
  };
  EXPECT_EQ(judge("17", {}), Verdict::kHolds);
  EXPECT_EQ(judge("15", {}), Verdict::kPossiblyViolated);
  // It is started again: when it ended nobody has said.
  EXPECT_EQ(judge("17", {Says("a", "started", "25")}), Verdict::kHolds);
  EXPECT_EQ(judge("15", {Says("a", "started", "25")}), Verdict::kPossiblyViolated);
  // A renewal that was logged late, after a pause, was before it.
  EXPECT_EQ(judge("17", {Says("a", "renewed", "25", R"(,"left":"1s")")}),
            Verdict::kPossiblyViolated);
}

TEST(CheckEnds, AnEndNamesAnotherProcessAndAClock) {
  JsonLines reader(*FindProtocol("spindle_v2"), {});
  std::vector<Operation> operations;
  EXPECT_THAT(reader.Read(Says("a", "ended", "01"), {}, operations), HasSubstr("wants \"by\""));
  EXPECT_THAT(reader.Read(Says("a", "ended", "01", R"(,"by":"a")"), {}, operations),
              HasSubstr("a process says \"stopped\""));
}

// --- logs that nobody has collected ----------------------------------------------------------------

// Its row shows that b led after a, and only a's log is there.
TEST(CheckMissingLogs, WhoTookALockAndHasNoLogMayHaveBelievedAnything) {
  const auto judge = [](const std::vector<std::string>& more) {
    return Judge(
        Joined({kTakes, TakenByB("15", "15"), Says("a", "leads", "02"), Says("a", "lost", "10")},
               more))[Invariant::kSingleLeaderBelief];
  };
  EXPECT_THAT(judge({}),
              Found(Verdict::kUnknown, "no line of b, which took lock \"job\", was recorded"));
  EXPECT_EQ(judge({Says("b", "leads", "16"), Says("b", "lost", "17")}).verdict, Verdict::kHolds);
}

// --- times ---------------------------------------------------------------------------------------

TEST(CheckTimes, MayNameAnOffsetFromUtc) {
  JsonLines reader(*FindProtocol("spindle_v2"), {});
  const auto read = [&](const std::string& time) -> std::optional<Timestamp> {
    std::vector<Operation> operations;
    const std::string line = R"({"event":"works","id":"a","lock":"job","time":")" + time + "\"}";
    if (!reader.Read(line, {}, operations).empty()) return std::nullopt;
    return std::get<LogLine>(operations.at(0).what).at;
  };
  const Timestamp noon = *ParseRfc3339("2026-01-01T12:00:00.5Z");
  EXPECT_EQ(read("2026-01-01T12:00:00.5Z"), noon);
  EXPECT_EQ(read("2026-01-01T13:30:00.5+01:30"), noon);
  EXPECT_EQ(read("2025-12-31T23:00:00.5-13:00"), noon);
  EXPECT_EQ(read("2026-01-01T12:00:00.5+-1:00"), std::nullopt);
  EXPECT_EQ(read("2026-01-01T12:00:00.5+24:00"), std::nullopt);
  EXPECT_EQ(read("2026-01-01T12:00:00.5"), std::nullopt);
}

}  // namespace
}  // namespace whorl::check::soundness_test
