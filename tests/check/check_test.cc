// The library on histories of a few operations.

#include "check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "check/json_lines.h"
#include "check/time_spelling.h"
#include "tests/check/history_lines.h"

namespace whorl::check::check_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(CheckRows, ATakeoverWithinTheLeaseIsViolated) {
  const auto verdict = Judge({kTakes, TakenByB("09", "08")});
  EXPECT_EQ(verdict[Invariant::kLeaseRespected].verdict, Verdict::kViolated);
  EXPECT_THAT(verdict[Invariant::kLeaseRespected].text, HasSubstr("b took lock \"job\" from a"));
  EXPECT_THAT(verdict[Invariant::kLeaseRespected].text, HasSubstr("2s before the lease's end"));
}

TEST(CheckRows, ATakeoverAtTheEndOfTheLeaseHolds) {
  const auto verdict = Judge({kTakes, TakenByB("11", "11")});
  EXPECT_EQ(verdict[Invariant::kLeaseRespected].verdict, Verdict::kHolds);
  EXPECT_EQ(verdict[Invariant::kTokenMonotonic].verdict, Verdict::kHolds);
  EXPECT_EQ(verdict.metrics.takeovers, 1);
}

// By it a server tells how it stands: neither does it end the check, nor is judged what may still come earlier.
TEST(CheckSoFar, JudgesWhatIsThereUpToAnAdvanceAndGoesOn) {
  CheckOptions options = kUsual;
  options.window = {};
  options.waits_for_advance = true;
  Checker checker(V2(), options);
  History kept;
  Feed({kTakes, TakenByB("09", "08")}, V2(), checker, kept);
  EXPECT_NE(checker.VerdictSoFar()[Invariant::kLeaseRespected].verdict, Verdict::kViolated);
  checker.Advance(ParseAnyTime(Second("30")).value());
  EXPECT_EQ(checker.VerdictSoFar()[Invariant::kLeaseRespected].verdict, Verdict::kViolated);
  EXPECT_EQ(checker.VerdictSoFar().metrics.takeovers, 1) << "once, however often it is asked";
  EXPECT_EQ(checker.Verdict()[Invariant::kLeaseRespected].verdict, Verdict::kViolated);
}

// The heartbeat of any process of spindle v2 can renew the row; a call says whose it was.
TEST(CheckRows, AHeartbeatOfNobodyKnownMakesItPossibleAndACallDecides) {
  const auto called_by = [](const std::string& id) {
    return Lease({kTakes, Call(id, "07.9", "08", "08.1"), kBeatAt8, kTakenAt13});
  };
  EXPECT_EQ(Lease({kTakes, kBeatAt8, kTakenAt13}), Verdict::kPossiblyViolated);
  EXPECT_EQ(called_by("a"), Verdict::kViolated);
  EXPECT_EQ(called_by("c"), Verdict::kHolds);
}

// Of a pause there is no line, and of the lapse a late one. Who logs renewals would have logged one first.
TEST(CheckSpans, ABeliefThatLapsedInAPauseIsOverIfRenewalsAreLogged) {
  const std::string leads = Says("a", "leads", "01", R"(,"left":"10s")");
  const std::string renewed = Says("a", "renewed", "06", R"(,"left":"10s")");
  const auto judge = [&](std::vector<std::string> lines, const std::string& b_leads) {
    lines.push_back(Says("b", "leads", b_leads));
    lines.push_back(Says("b", "lost", "25"));
    return Belief(lines);
  };
  const std::string lost = Says("a", "lost", "40");
  EXPECT_EQ(judge({leads, renewed, lost}, "20"), Verdict::kHolds);
  EXPECT_EQ(judge({leads, renewed, lost}, "15"), Verdict::kViolated);
  EXPECT_EQ(judge({leads, lost}, "20"), Verdict::kPossiblyViolated);
  // The renewal was before the pause, and its line after it.
  const std::string late = Says("a", "renewed", "39", R"(,"left":"1s")");
  EXPECT_EQ(judge({leads, renewed, late, lost}, "20"), Verdict::kPossiblyViolated);
}

// serve saw whose transaction it was. How far the clock of that process is off it did not see.
TEST(CheckRows, ACallThatAnotherProgramSawSaysWhoWroteAndNothingOfClocks) {
  const auto served = [](const std::string& id, const std::string& commit) {
    return R"({"at":")" + Second(commit) + R"(","client":1,"id":")" + id +
           R"(","method":"Commit","transaction":"0a","code":"OK","commit_timestamp":")" +
           Second(commit) + R"(","took":"0.1"})";
  };
  const auto judge = [&](const std::string& id) {
    return Lease({kTakes, served(id, "08"), kBeatAt8, kTakenAt13}, {.lease = Seconds(10)});
  };
  EXPECT_EQ(judge("a"), Verdict::kViolated);
  EXPECT_EQ(judge("c"), Verdict::kHolds);
  // The clock of b is 30 s ahead, and nobody has said so.
  const HistoryVerdict verdict =
      Judge({kTakes, served("b", "12"), Call("a", "01.9", "02", "02.1"), Says("a", "leads", "02"),
             Says("a", "lost", "03"), Says("b", "leads", "42"), Says("b", "lost", "43")},
            {.lease = Seconds(10)});
  EXPECT_EQ(verdict[Invariant::kSingleLeaderBelief].verdict, Verdict::kUnknown);
  EXPECT_THAT(verdict.problems, IsEmpty());
}

// Of one call there may be two records, and a takeover costs what it costs.
TEST(CheckRows, ACallThatIsLoggedAndSeenIsCountedOnce) {
  const auto served = [](const std::string& method, const std::string& more,
                         const std::string& at = "19.9") {
    return R"({"at":")" + Second(at) + R"(","client":1,"id":"b","lock":"job","method":")" + method +
           "\"," + more + R"("took":"0.3"})";
  };
  const std::string seen_read = served("ExecuteStreamingSql", R"("code":"OK",)", "19.5");
  const std::string seen_commit =
      served("Commit", R"("code":"OK","commit_timestamp":")" + Second("20") + "\",");
  const std::string read = R"({"event":"call","id":"b","lock":"job","time":")" + Second("19.95") +
                           R"(","outcome":"read"})";
  const std::string commit = R"({"event":"call","id":"b","lock":"job","sent":")" + Second("19.96") +
                             R"(","commit":")" + Second("20") + R"(","time":")" + Second("20.1") +
                             R"(","attempts":3})";
  const auto cost = [&](const std::vector<std::string>& calls) {
    const auto costs =
        Judge(Joined(Joined({kTakes}, calls), {TakenByB("20", "20")})).metrics.takeover_costs;
    return costs.empty() ? std::vector<int64_t>{}
                         : std::vector<int64_t>{costs[0].calls, costs[0].commits, costs[0].aborted};
  };
  EXPECT_EQ(cost({seen_read, seen_commit}), (std::vector<int64_t>{2, 1, 0}));
  EXPECT_EQ(cost({read, commit}), (std::vector<int64_t>{4, 1, 2}));
  EXPECT_EQ(cost({seen_read, read, seen_commit, commit}), (std::vector<int64_t>{4, 1, 2}));
  EXPECT_EQ(cost({commit, seen_commit}), (std::vector<int64_t>{3, 1, 2}));
}

// Without tokens the owner is whom the row names.
TEST(CheckRows, ALeaseOfASemaphoreIsCountedFromTheRow) {
  const auto row = [](const std::string& commit, const std::string& kind, const std::string& who) {
    return R"({"commit_timestamp":")" + Second(commit) + R"(","mod_type":")" + kind +
           R"(","mods":[{"keys":{"anchor":"1"},"new_values":{"service_id":")" + who +
           R"(","last_seen_active":")" + Second(commit) + R"("},"old_values":{}}]})";
  };
  const auto judge = [&](const std::string& taken) {
    return Judge({row("01", "INSERT", "a"), row("05", "UPDATE", "a"), row(taken, "UPDATE", "b")},
                 {.lease = Seconds(10)}, *FindProtocol("semaphore"));
  };
  EXPECT_EQ(judge("16")[Invariant::kLeaseRespected].verdict, Verdict::kHolds);
  EXPECT_EQ(judge("16").metrics.takeovers, 1);
  EXPECT_EQ(judge("14")[Invariant::kLeaseRespected].verdict, Verdict::kViolated);
  EXPECT_EQ(judge("16")[Invariant::kTokenMonotonic].verdict, Verdict::kNotApplicable);

  // The operator who made the row is no process that could lead, or whose log is missing.
  const auto made = Judge({row("01", "INSERT", std::string(kInitHolder)), row("12", "UPDATE", "b")},
                          {.lease = Seconds(10)}, *FindProtocol("semaphore"));
  EXPECT_EQ(made[Invariant::kLeaseRespected].verdict, Verdict::kHolds);
  EXPECT_EQ(made.metrics.grants, 1);
  EXPECT_EQ(made.metrics.takeovers, 0);
}

TEST(CheckRows, ADeletionOfALiveLeaseOfLeaseLockMayBeAnothers) {
  const std::vector<std::string> lines = {
      R"({"commit_timestamp":")" + Second("01") +
          R"(","mod_type":"INSERT","mods":[{"keys":{"key":"job"},"new_values":{"owner":"a",)"
          R"("leased_until":")" +
          Second("11") + R"("},"old_values":{}}]})",
      R"({"commit_timestamp":")" + Second("05") +
          R"(","mod_type":"DELETE","mods":[{"keys":{"key":"job"},"old_values":{"owner":"a"}}]})"};
  const auto judge = [&](const std::vector<std::string>& more) {
    return Lease(Joined(lines, more), {.lease = Seconds(10)}, *FindProtocol("lease_lock"));
  };
  EXPECT_EQ(judge({}), Verdict::kPossiblyViolated);
  EXPECT_EQ(judge({Call("a", "04.9", "05", "05.1")}), Verdict::kHolds);
  EXPECT_EQ(judge({Call("b", "04.9", "05", "05.1")}), Verdict::kViolated);
}

TEST(CheckRows, ATokenThatGoesBackIsViolated) {
  const auto verdict = Judge({kTakes, TakenByB("12", "00")});
  EXPECT_EQ(verdict[Invariant::kTokenMonotonic].verdict, Verdict::kViolated);
}

// The write is not the protocol's, nor is what it breaks; so what came before it is not forgotten, but not charged.
TEST(CheckRows, ATokenBelowThoseBeforeAnOutsideWriteIsNeitherSaidToHoldNorCharged) {
  const std::string empty = R"({"heartbeat":null,"token":null,"writer":null})";
  const auto judge = [&](const std::string& token) {
    return Judge({Change("01", "INSERT", Values("01", "01", "a"), "{}"),
                  Change("12", "UPDATE", Values("12", "10", "b"), Values("01", "01", "a")),
                  Change("14", "UPDATE", empty, Values("12", "10", "b")),
                  Change("16", "UPDATE", Values("16", token, "d"), empty)});
  };
  const HistoryVerdict lower = judge("07");
  EXPECT_EQ(lower.metrics.outside, 1);
  EXPECT_THAT(lower[Invariant::kTokenMonotonic],
              Found(Verdict::kUnknown, "had had 2026-01-01T00:00:10Z before an outside write"));
  EXPECT_EQ(judge("15")[Invariant::kTokenMonotonic].verdict, Verdict::kHolds);
}

TEST(CheckRows, MissingChangesAreNoticedByWhatTheNextOneReplaces) {
  const auto verdict =
      Judge({kTakes, Change("30", "UPDATE", Values("30", "30", "b"), Values("19", "19", "c"))});
  EXPECT_EQ(verdict.metrics.gaps, 1);
  EXPECT_THAT(verdict[Invariant::kTokenMonotonic], Found(Verdict::kUnknown, "are missing"));
}

TEST(CheckRows, APendingCommitTimestampIsTheRecords) {
  const std::string pending =
      R"({"heartbeat":"9999-12-31T23:59:59Z","token":"9999-12-31T23:59:59Z","writer":"a"})";
  const auto verdict = Judge({Change("01", "INSERT", pending, "{}"), TakenByB("12", "12")});
  EXPECT_EQ(verdict.metrics.gaps, 0);
  EXPECT_EQ(verdict[Invariant::kLeaseRespected].verdict, Verdict::kHolds);
}

TEST(CheckRows, RecordsMayComeTwiceAndInAnyOrderWithinTheWindow) {
  const std::string taken = TakenByB("11", "11");
  const auto verdict = Judge({taken, kTakes, taken, kTakes});
  EXPECT_EQ(verdict.metrics.duplicates, 2);
  EXPECT_EQ(verdict[Invariant::kLeaseRespected].verdict, Verdict::kHolds);
}

TEST(CheckRows, WhatComesAfterTheWindowIsSaid) {
  const auto verdict =
      Judge({kTakes, TakenByB("20", "20"),
             Change("40", "UPDATE", Values("40", "40", "c"), Values("20", "20", "b")),
             Change("10", "UPDATE", Values("10", "01", "a"), Values("01", "01", "a"))},
            {.lease = Seconds(10), .clock_error = {}, .window = Seconds(5)});
  EXPECT_EQ(verdict.metrics.late, 1);
  EXPECT_EQ(verdict[Invariant::kLeaseRespected].verdict, Verdict::kUnknown);
}

TEST(CheckTest, ALineThatCannotBeReadMayBeAnything) {
  const HistoryVerdict verdict = Judge({kTakes, Says("a", "leads", "02"), "{\"event\":"});
  EXPECT_EQ(verdict[Invariant::kLeaseRespected].verdict, Verdict::kUnknown);
  EXPECT_EQ(verdict[Invariant::kSingleLeaderBelief].verdict, Verdict::kUnknown);
  EXPECT_THAT(verdict[Invariant::kLeaseRespected].text, HasSubstr("h:3 could not be read"));
}

TEST(CheckSpans, OverlapsBeyondTheClocksDoubtAreViolatedAndCloserOnesPossible) {
  const auto judge = [](const std::string& b_begins) {
    return Judge({Says("a", "leads", "10"), Says("a", "lost", "20"), Says("b", "leads", b_begins),
                  Says("b", "lost", "30")})[Invariant::kSingleLeaderBelief];
  };
  EXPECT_EQ(judge("19.9").verdict, Verdict::kViolated);
  EXPECT_EQ(judge("20.1").verdict, Verdict::kHolds);
  const InvariantResult close = judge("20.01");
  EXPECT_EQ(close.verdict, Verdict::kPossiblyViolated);
  // They are 10 ms apart: clocks within 5 ms would not have decided it, and those within 4.9 ms would.
  ASSERT_TRUE(close.clocks_wanted.has_value());
  EXPECT_EQ(*close.clocks_wanted, Microseconds(4'900));
  EXPECT_EQ(judge("19.99").verdict, Verdict::kPossiblyViolated);
}

TEST(CheckSpans, WithoutClocksNothingIsKnownAndCallsShowThem) {
  const CheckOptions options = {.lease = Seconds(10), .clock_error = {}};
  const std::vector<std::string> lines = {Says("a", "leads", "10"), Says("a", "lost", "20"),
                                          Says("b", "leads", "12"), Says("b", "lost", "30")};
  EXPECT_EQ(Belief(lines, options), Verdict::kUnknown);
  // The clock of b is ten seconds behind: in truth, it began at 22.
  EXPECT_EQ(
      Belief(Joined(lines, {Call("a", "09.9", "10", "10.1"), Call("b", "11.9", "22", "12.1")}),
             options),
      Verdict::kHolds);
}

TEST(CheckSpans, ALeaseThatLapsesBeforeALateLineIsNotCertain) {
  EXPECT_EQ(Belief({Says("a", "leads", "10", R"(,"left":"5s")"), Says("a", "lost", "40"),
                    Says("b", "leads", "20"), Says("b", "lost", "30")}),
            Verdict::kPossiblyViolated);
}

TEST(CheckSpans, MissingLinesAreNoticedByTheirNumbers) {
  const auto verdict =
      Judge({Says("a", "leads", "10", R"(,"n":1)"), Says("a", "lost", "20", R"(,"n":3)"),
             Says("b", "leads", "22", R"(,"n":1)")});
  EXPECT_EQ(verdict.metrics.gaps, 1);
  EXPECT_EQ(verdict[Invariant::kSingleLeaderBelief].verdict, Verdict::kUnknown);
}

// A process that keeps its id ended some time between its last line and "started".
TEST(CheckSpans, NumbersBeginAnewWhenAProcessStartsAgain) {
  const auto judge = [](const std::string& b_begins, const std::string& again) {
    return Judge({Says("a", "started", "08", R"(,"n":1)"), Says("a", "leads", "10", R"(,"n":2)"),
                  Says("a", "started", "30", again), Says("a", "leads", "50", R"(,"n":2)"),
                  Says("a", "stopped", "55", R"(,"n":3)"),
                  Says("b", "leads", b_begins, R"(,"n":1)"), Says("b", "lost", "40", R"(,"n":2)")});
  };
  const auto after = judge("31", R"(,"n":1)");
  EXPECT_EQ(after.metrics.gaps, 0);
  EXPECT_EQ(after.metrics.duplicates, 0);
  EXPECT_EQ(after[Invariant::kSingleLeaderBelief].verdict, Verdict::kHolds);
  EXPECT_EQ(judge("20", R"(,"n":1)")[Invariant::kSingleLeaderBelief].verdict,
            Verdict::kPossiblyViolated);
  // Without numbers likewise, and a line "started" of another lock begins nothing anew.
  EXPECT_EQ(judge("20", "")[Invariant::kSingleLeaderBelief].verdict, Verdict::kPossiblyViolated);
  EXPECT_EQ(judge("31", R"(,"n":3)")[Invariant::kSingleLeaderBelief].verdict,
            Verdict::kPossiblyViolated);
}

// The line "started" may be among those that are missing.
TEST(CheckSpans, LowerNumbersThatAreNoRepetitionAreAGap) {
  const auto verdict =
      Judge({Says("a", "started", "01", R"(,"n":1)"), Says("a", "goes_on", "02", R"(,"n":2)"),
             Says("a", "goes_on", "03", R"(,"n":3)"), Says("a", "goes_on", "03", R"(,"n":3)"),
             Says("a", "leads", "10", R"(,"n":2)"), Says("a", "lost", "20", R"(,"n":3)")});
  EXPECT_EQ(verdict.metrics.duplicates, 1);
  EXPECT_EQ(verdict.metrics.gaps, 1);
  EXPECT_EQ(verdict[Invariant::kSingleLeaderBelief].verdict, Verdict::kUnknown);
}

std::string Token(const std::string& number) { return R"(,"has":true,"token":")" + number + "\""; }

TEST(CheckTokens, ATokenThatIsNotGreaterThanOneHandedOutBeforeIsViolated) {
  const auto judge = [](const std::string& b_at, const std::string& b_token) {
    return Judge({Says("a", "answer", "10", Token("7")), Says("a", "answer", "20", Token("7")),
                  Says("b", "answer", b_at, Token(b_token))})[Invariant::kHandedTokenMonotonic];
  };
  EXPECT_EQ(judge("21", "8").verdict, Verdict::kHolds);
  const InvariantResult back = judge("21", "6");
  EXPECT_EQ(back.verdict, Verdict::kViolated);
  EXPECT_THAT(back.text, HasSubstr("b handed out the token 6 of lock \"job\" after a"));
  EXPECT_EQ(judge("21", "7").verdict, Verdict::kViolated);
  // Before a's first, it is no matter; nor while a still hands its greater one out.
  EXPECT_EQ(judge("09", "6").verdict, Verdict::kHolds);
  EXPECT_EQ(judge("15", "6").verdict, Verdict::kViolated);
  EXPECT_EQ(judge("15", "8").verdict, Verdict::kViolated);
  EXPECT_EQ(judge("10.01", "6").verdict, Verdict::kPossiblyViolated);
}

// The terms that were forgotten count by their greatest tokens.
TEST(CheckTokens, AGreaterTokenOfLongAgoIsRemembered) {
  const CheckOptions options = {
      .lease = Seconds(10), .clock_error = Milliseconds(10), .window = Seconds(1)};
  const auto judge = [&](const std::string& last) {
    return Judge({Says("a", "answer", "01", Token("9")), Says("b", "answer", "10", Token("10")),
                  Says("c", "answer", "20", Token("11")), Says("b", "answer", "30", Token("12")),
                  Says("d", "answer", "50", Token(last))},
                 options)[Invariant::kHandedTokenMonotonic]
        .verdict;
  };
  EXPECT_EQ(judge("13"), Verdict::kHolds);
  EXPECT_EQ(judge("9"), Verdict::kViolated);
  // By the time of the second one nothing else is left.
  const auto alone = Judge({Says("a", "answer", "01", Token("9")), Says("a", "rests", "20"),
                            Says("a", "goes_on", "40"), Says("b", "answer", "50", Token("8"))},
                           options);
  EXPECT_EQ(alone[Invariant::kHandedTokenMonotonic].verdict, Verdict::kViolated);
}

TEST(CheckTokens, AResourceThatAcceptsALowerTokenIsViolated) {
  const auto judge = [](const std::string& second, const std::string& more) {
    return Judge({Says("db", "write", "10", R"(,"token":7)"),
                  Says("db", "write", "11",
                       R"(,"token":)" + second + more)})[Invariant::kFencedWritesOrdered]
        .verdict;
  };
  EXPECT_EQ(judge("7", ""), Verdict::kHolds);
  EXPECT_EQ(judge("6", ""), Verdict::kViolated);
  EXPECT_EQ(judge("6", R"(,"accepted":false)"), Verdict::kHolds);
}

TEST(CheckClocks, ContradictionsNameBothFacts) {
  const auto verdict = Judge({Call("a", "09.9", "10", "10.1"), Call("a", "15.9", "12", "16.1")});
  ASSERT_EQ(verdict.problems.size(), 1U);
  EXPECT_THAT(verdict.problems[0], HasSubstr("h:2"));
  EXPECT_THAT(verdict.problems[0], HasSubstr("declared as -10ms to 10ms"));
  const auto calls = Judge({Call("a", "09.9", "10", "10.1"), Call("a", "15.9", "12", "16.1")},
                           {.lease = Seconds(10), .clock_error = {}});
  ASSERT_EQ(calls.problems.size(), 1U);
  EXPECT_THAT(calls.problems[0], HasSubstr("h:1"));
}

// Whether it is said before the process's first line or after it.
TEST(CheckClocks, WhatIsSaidOfOneProcessStandsInThePlaceOfWhatIsSaidOfAll) {
  const std::string declared = R"({"event":"process","id":"a","offset":["-5s","5s"]})";
  const std::vector<std::string> said = {Says("a", "started", "09", R"(,"lease":"10s")"),
                                         Says("a", "leads", "10"), Says("a", "lost", "20"),
                                         Says("b", "leads", "19"), Says("b", "lost", "30")};
  EXPECT_EQ(Belief(said), Verdict::kViolated);
  for (const size_t place : {size_t{0}, size_t{1}}) {
    std::vector<std::string> lines = said;
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(place), declared);
    const auto verdict = Judge(lines);
    EXPECT_EQ(verdict[Invariant::kSingleLeaderBelief].verdict, Verdict::kPossiblyViolated);
    EXPECT_TRUE(verdict.problems.empty());
  }
}

TEST(CheckReader, ErrorsSayWhere) {
  JsonLines reader(V2(), {});
  std::vector<Operation> out;
  const Place place = {.file = "f.jsonl", .line = 7};
  // The first line decides whether documents take several.
  EXPECT_EQ(reader.Read(Says("a", "goes_on", "01"), place, out), "");
  out.clear();
  EXPECT_THAT(reader.Read("{\"event\":", place, out), HasSubstr("f.jsonl:7:10: is no JSON"));
  EXPECT_THAT(reader.Read(R"({"left":1e99999})", place, out),
              HasSubstr("f.jsonl:7:9: is no JSON (Number too big"));
  EXPECT_THAT(reader.Read("{}", place, out), HasSubstr("f.jsonl:7: is neither"));
  EXPECT_THAT(reader.Read(R"({"event":"leads","id":"a","lock":"x","time":"noon"})", place, out),
              HasSubstr("\"time\" is a time such as"));
  EXPECT_THAT(reader.Read(Change("01", "UPDATE", R"({"token":"x"})", "{}"), place, out),
              HasSubstr("\"token\" is a time"));
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(reader.Read("  ", place, out), "");
}

// As Dataflow's reader writes records, and as a query of the stream answers them.
TEST(CheckReader, OtherSpellingsOfChangeRecords) {
  JsonLines reader(V2(), {});
  std::vector<Operation> out;
  EXPECT_EQ(
      reader.Read(R"({"commitTimestamp":{"seconds":5,"nanos":7},"modType":"INSERT","mods":)"
                  R"([{"keysJson":"{\"name\":\"job\"}","newValuesJson":"{\"writer\":\"a\"}"}]})",
                  {}, out),
      "");
  EXPECT_EQ(reader.Read(R"([{"data_change_record":[)" + kTakes +
                            R"(],"heartbeat_record":[],"child_partitions_record":[]}])",
                        {}, out),
            "");
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(std::get<RowChange>(out[0].what).lock, "job");
  EXPECT_EQ(std::get<RowChange>(out[0].what).commit, *Timestamp::FromParts(5, 7));
}

TEST(CheckReader, AnyBytesAreRefusedOrRead) {
  JsonLines reader(V2(), {});
  std::vector<Operation> out;
  const std::string line = Change("01", "UPDATE", Values("01", "01", "a"), "{}");
  for (size_t i = 0; i < line.size(); ++i) {
    std::string broken = line;
    broken[i] = '[';
    reader.Read(broken, {}, out);
    reader.Read(line.substr(0, i), {}, out);
  }
  // The first line may begin a document of several.
  for (const std::string& deep :
       {std::string(100'000, '['), std::string(20, '[') + std::string(20, ']')}) {
    JsonLines alone(V2(), {});
    const std::string wrong = alone.Read(deep, {}, out);
    EXPECT_NE(wrong + alone.Finish(), "");
    EXPECT_EQ(alone.Read(line, {}, out), "");
  }
}

// As the official emulator shows them, except those that it shows as pending.
TEST(CheckTest, TimesThatAreCutToWholeSecondsAreThoseThatWereKnown) {
  const std::string pending = R"({"heartbeat":"9999-12-31T23:59:59Z","token":)";
  const std::string cut = R"(")" + Second("01") + R"(")";
  const std::vector<std::string> lines = {
      Change("01.5", "INSERT", pending + R"("9999-12-31T23:59:59Z","writer":"a"})", "{}"),
      Change("04.25", "UPDATE", pending + cut + R"(,"writer":"a"})",
             R"({"heartbeat":)" + cut + "}"),
      Change("07.75", "UPDATE", pending + cut + R"(,"writer":"a"})",
             R"({"heartbeat":")" + Second("04") + R"("})")};
  const HistoryVerdict verdict = Judge(lines);
  EXPECT_EQ(verdict[Invariant::kTokenMonotonic].verdict, Verdict::kHolds);
  EXPECT_EQ(verdict[Invariant::kLeaseRespected].verdict, Verdict::kHolds);
  EXPECT_EQ(verdict.metrics.gaps, 0);
  EXPECT_EQ(verdict.metrics.grants, 1);
  // A time of another second is another one: the change before it is missing.
  EXPECT_EQ(Judge({lines[0], lines[2]}).metrics.gaps, 1);
}

// The token of the process that takes it is another one, though it looks the same.
TEST(CheckTest, ATakeoverWithinTheSecondOfTheTokenIsNoRenewalThoughItsTokenIsCut) {
  const std::string pending = R"({"heartbeat":"9999-12-31T23:59:59Z","token":)";
  const std::string cut = R"(")" + Second("01") + R"(")";
  const auto row = [&](const std::string& token, const std::string& who) {
    return pending + token + R"(,"writer":")" + who + "\"}";
  };
  const std::string old = R"({"heartbeat":)" + cut + R"(,"token":)" + cut + R"(,"writer":")";
  const std::vector<std::string> lines = {
      Change("01.5", "INSERT", row(R"("9999-12-31T23:59:59Z")", "a"), "{}"),
      Change("01.75", "UPDATE", row(cut, "b"), old + "a\"}"),
      Change("02.5", "UPDATE", row(cut, "b"), old + "b\"}"),
      Change("02.75", "UPDATE", row(cut, "c"),
             R"({"heartbeat":")" + Second("02") + R"(","token":)" + cut + R"(,"writer":"b"})")};
  const HistoryVerdict verdict = Judge(lines);
  EXPECT_EQ(verdict[Invariant::kLeaseRespected].verdict, Verdict::kViolated);
  EXPECT_THAT(verdict[Invariant::kLeaseRespected].text, HasSubstr("b took lock \"job\" from a"));
  // It may be the greater one of that second, or not.
  EXPECT_EQ(verdict[Invariant::kTokenMonotonic].verdict, Verdict::kPossiblyViolated);
  EXPECT_THAT(verdict[Invariant::kTokenMonotonic].text, HasSubstr("shows whole seconds"));
  EXPECT_EQ(verdict.metrics.gaps, 0);
  EXPECT_EQ(verdict.metrics.takeovers, 2);
}

// --- what a process said that it has ---------------------------------------------------------------

std::string Answer(const std::string& id, const std::string& asked, const std::string& at) {
  return Says(id, "answer", at, R"(,"has":true,"asked":")" + Second(asked) + "\"");
}

// a has the lock from 01 on, and b takes it at 20.
std::vector<std::string> ATakeover() {
  return {Call("a", "00.9", "01", "01.2"), Change("01", "INSERT", Values("01", "01", "a"), "{}"),
          Call("b", "19.9", "20", "20.2"), TakenByB("20", "20")};
}
InvariantResult JudgeAnswer(const std::string& line, std::vector<std::string> lines = ATakeover()) {
  lines.push_back(line);
  for (const char* id : {"a", "b", "c"}) lines.push_back(Logs(id, "answer"));
  return Judge(lines)[Invariant::kHasLockTruthful];
}

TEST(CheckAnswersTest, AnOwnerMaySaySo) {
  EXPECT_EQ(JudgeAnswer(Answer("a", "05", "05.01")).verdict, Verdict::kHolds);
  // It was the owner when it was asked.
  EXPECT_EQ(JudgeAnswer(Answer("a", "19", "21")).verdict, Verdict::kHolds);
  EXPECT_EQ(JudgeAnswer(Answer("b", "20.2", "20.2")).verdict, Verdict::kHolds);
}

TEST(CheckAnswersTest, WhoOwnsItNoMoreOrNeverDidMayNot) {
  EXPECT_THAT(JudgeAnswer(Answer("a", "25", "25.01")),
              Found(Verdict::kViolated, "and had not owned it since 2026-01-01T00:00:20Z"));
  EXPECT_THAT(JudgeAnswer(Answer("c", "05", "05.01")),
              Found(Verdict::kViolated, "which it had not taken"));
  EXPECT_EQ(JudgeAnswer(Answer("b", "05", "05.01")).verdict, Verdict::kViolated);
}

// A version can be seen some time after its commit timestamp: nobody recorded when.
TEST(CheckAnswersTest, WhileATakeoverBecomesVisibleNothingIsCertain) {
  EXPECT_EQ(JudgeAnswer(Answer("a", "20.1", "20.1")).verdict, Verdict::kPossiblyViolated);
  EXPECT_EQ(JudgeAnswer(Answer("b", "20.1", "20.1")).verdict, Verdict::kPossiblyViolated);
}

TEST(CheckAnswersTest, WithoutTheTimeOfTheQuestionALateAnswerIsPossible) {
  EXPECT_THAT(JudgeAnswer(Says("a", "answer", "25", R"(,"has":true)")),
              Found(Verdict::kPossiblyViolated, "log each \"answer\", with \"asked\""));
  EXPECT_EQ(JudgeAnswer(Says("a", "answer", "05", R"(,"has":true)")).verdict, Verdict::kHolds);
}

TEST(CheckAnswersTest, WhatIsMissingIsSaid) {
  EXPECT_THAT(
      Judge({Change("01", "INSERT", Values("01", "01", "a"), "{}")})[Invariant::kHasLockTruthful]
          .text,
      HasSubstr("no answer was recorded"));
  EXPECT_THAT(JudgeAnswer(Answer("a", "05", "05"), {}).text,
              HasSubstr("the row of lock \"job\" has no change that was recorded"));
  // Logs begin before the stream.
  EXPECT_THAT(JudgeAnswer(Answer("a", "00.1", "00.2")),
              Found(Verdict::kUnknown, "what the row of lock \"job\" was before"));
}

// The change by which a took the lock is missing, which the next one shows. Of what happened before
// the last of several missing ones not even the owner is known.
TEST(CheckAnswersTest, MissingChangesMakeNobodyALiar) {
  const auto judge = [](const std::string& beat, const std::string& owner) {
    return Judge({Change("01", "INSERT", Values("01", "01", "b"), "{}"), Answer("a", "15", "15.01"),
                  Change("20", "UPDATE", Values("20", "20", "b"),
                         Values(beat, beat, owner))})[Invariant::kHasLockTruthful];
  };
  const InvariantResult found = judge("12", "a");
  EXPECT_NE(found.verdict, Verdict::kViolated) << found.text;
  EXPECT_NE(found.verdict, Verdict::kHolds);
  EXPECT_NE(judge("16", "c").verdict, Verdict::kViolated);
}

// Another process with the same id is another one.
TEST(CheckAnswersTest, AProcessThatStartedAnewHasToTakeItAnew) {
  std::vector<std::string> lines = ATakeover();
  lines.insert(lines.begin(),
               R"({"event":"started","id":"a","n":1,"time":")" + Second("00.5") + "\"}");
  lines.push_back(R"({"event":"started","id":"a","n":1,"time":")" + Second("10") + "\"}");
  EXPECT_EQ(JudgeAnswer(Answer("a", "15", "15.01"), lines).verdict, Verdict::kViolated);
}

// --- tokens that processes take for their own ------------------------------------------------------

// Of the time of the commit by which a took the lock, and of the one by which b did.
std::string Owns(const std::string& id, const std::string& at, const std::string& second) {
  const std::optional<Timestamp> token = ParseRfc3339(Second(second));
  return Says(id, "owns", at, R"(,"token":")" + std::to_string(token->UnixNanos()) + "\"");
}
InvariantResult JudgeOwn(const std::vector<std::string>& more) {
  return Judge(Joined({Change("01", "INSERT", Values("01", "01", "a"), "{}"),
                       // The first version was there by then.
                       Change("05", "UPDATE", Values("05", "01", "a"), Values("01", "01", "a")),
                       Change("20", "UPDATE", Values("20", "20", "b"), Values("05", "01", "a")),
                       Change("24", "UPDATE", Values("24", "20", "b"), Values("20", "20", "b"))},
                      more))[Invariant::kOneLiveToken];
}

TEST(CheckOwnTokensTest, TwoProcessesDoNotTakeTheLiveTokenForTheirs) {
  EXPECT_THAT(JudgeOwn({Owns("a", "02", "01"), Owns("b", "07", "01"), Says("a", "goes_on", "12"),
                        Says("b", "owns", "14")}),
              Found(Verdict::kViolated, "took the live token"));
}

TEST(CheckOwnTokensTest, ATokenThatIsNotTheNewestDoesNoHarm) {
  // a does not know yet that b has taken the lock, with a token of its own.
  EXPECT_EQ(JudgeOwn({Owns("a", "02", "01"), Owns("b", "20.2", "20"), Says("a", "goes_on", "25")})
                .verdict,
            Verdict::kHolds);
  EXPECT_EQ(
      JudgeOwn({Owns("a", "26", "01"), Owns("b", "27", "01"), Says("a", "goes_on", "28")}).verdict,
      Verdict::kHolds);
}

TEST(CheckOwnTokensTest, WhatIsNotSaidIsUnknown) {
  const InvariantResult found = JudgeOwn({});
  EXPECT_EQ(found.verdict, Verdict::kUnknown);
  EXPECT_THAT(found.remedy, HasSubstr("log \"owns\""));
}

// --- giving a lock back while at work --------------------------------------------------------------

const ProtocolInfo& Fenced() { return *FindProtocol("fenced_lease"); }
std::string Fence(const std::string& heartbeat, const std::string& writer) {
  return R"({"heartbeat":")" + Second(heartbeat) + R"(","token":")" + Second("01") +
         R"(","writer":)" + writer + R"(,"lease_ms":10000,"attempt":"a-1"})";
}
// a takes the lock at 01, works, and gives it back at 10.
InvariantResult JudgeWork(const std::vector<std::string>& more) {
  const std::string held = Fence("01", R"("a")");
  return Judge(Joined({Change("01", "INSERT", held, "{}"),
                       Change("10", "UPDATE", Fence("10", "null"), held), Says("a", "works", "02")},
                      more),
               {.lease = Seconds(10), .clock_error = Milliseconds(10)},
               Fenced())[Invariant::kNoWorkAfterRelease];
}

TEST(CheckReleasesTest, WorkEndsBeforeTheLockIsGivenBackOrMayViolateIt) {
  const std::string call = Call("a", "09", "10", "10.2");
  const struct {
    const char* claim;
    std::vector<std::string> lines;
    Verdict verdict;
    const char* text = "";
  } cases[] = {
      {"ended before", {Says("a", "rests", "09"), call}, Verdict::kHolds},
      {"ended before a release by any call", {Says("a", "rests", "09")}, Verdict::kHolds},
      {"goes on", {call, Says("a", "rests", "11")}, Verdict::kViolated, "a gave lock \"job\" back"},
      {"without the call somebody else may have released it",
       {Says("a", "rests", "11")},
       Verdict::kPossiblyViolated,
       "log its call"},
      {"ended while it was given back",
       {call, Says("a", "rests", "10.1")},
       Verdict::kPossiblyViolated},
      // The reply comes after the release can be seen, so work that goes on until the reply is
      // enough; but work that ends with the reply may have ended before.
      {"goes on until the reply", {call, Logs("a", "works")}, Verdict::kViolated},
      {"may log no ends at all", {call}, Verdict::kPossiblyViolated},
      {"ends with the reply", {call, Says("a", "rests", "10.2")}, Verdict::kPossiblyViolated}};
  for (const auto& work : cases) {
    const InvariantResult found = JudgeWork(work.lines);
    EXPECT_THAT(found, Found(work.verdict, work.text)) << work.claim;
    if (work.verdict == Verdict::kViolated) {
      EXPECT_EQ(found.lock, "job") << work.claim;
    }
  }
}

TEST(CheckReleasesTest, AnOperatorWhoEndsTheLeaseIsNotItsOwner) {
  EXPECT_NE(JudgeWork({Call("operator", "09.9", "10", "10.2"), Says("a", "rests", "11")}).verdict,
            Verdict::kViolated);
}

TEST(CheckReleasesTest, AProtocolThatGivesNothingBackIsNotJudged) {
  EXPECT_EQ(Judge({Says("a", "works", "02")})[Invariant::kNoWorkAfterRelease].verdict,
            Verdict::kNotApplicable);
}

// --- renewals --------------------------------------------------------------------------------------

TEST(CheckRenewalsTest, AreCountedAndThoseAfterTheLeasesEndAreLate) {
  const auto renewed = [](const std::string& at, const std::string& before) {
    return Change(at, "UPDATE", Fence(at, R"("a")"), Fence(before, R"("a")"));
  };
  const HistoryVerdict verdict =
      Judge({Change("01", "INSERT", Fence("01", R"("a")"), "{}"), renewed("05", "01"),
             renewed("17", "05"), renewed("20", "17")},
            {.lease = Seconds(10)}, Fenced());
  EXPECT_EQ(verdict.metrics.renewals, 3);
  ASSERT_EQ(verdict.metrics.late_renewals.size(), 1U);
  EXPECT_EQ(verdict.metrics.late_renewals[0], Seconds(2));
  EXPECT_EQ(verdict.metrics.grants, 1);
}

// --- what a takeover costs -------------------------------------------------------------------------

// b tries four times to take the lock from a, whose lease ends at 15.
TEST(CheckCostsTest, CallsSinceTheLastRenewalAreATakeoversCost) {
  const auto took = [](const std::string& at) {
    const std::string values = R"({"heartbeat":")" + Second(at) + R"(","token":")" + Second(at) +
                               R"(","writer":"b","lease_ms":10000,"attempt":"b-1"})";
    return Change(at, "UPDATE", values, Fence("05", R"("a")"));
  };
  const auto attempt = [](const std::string& id, const std::string& at,
                          const std::string& outcome) {
    return R"({"event":"call","id":")" + id + R"(","lock":"job","sent":")" + Second(at) +
           R"(","received":")" + Second(at) + R"(","outcome":")" + outcome + R"("})";
  };
  std::vector<std::string> lines = {
      Change("01", "INSERT", Fence("01", R"("a")"), "{}"),
      attempt("b", "02", "read"),  // before a renews
      Call("a", "04.9", "05", "05.1"),
      Change("05", "UPDATE", Fence("05", R"("a")"), Fence("01", R"("a")")),
      attempt("b", "07", "read"),
      attempt("a", "08", "aborted"),  // the owner's own
      attempt("b", "16", "aborted"),
      attempt("c", "16.5", "aborted"),
      took("17")};
  const auto judge = [&] {
    return Judge(lines, {.lease = Seconds(10), .clock_error = Milliseconds(10)}, Fenced()).metrics;
  };
  // Without the call that took it the rest may be missing, too.
  EXPECT_EQ(judge().takeovers, 1);
  EXPECT_TRUE(judge().takeover_costs.empty());
  lines.push_back(Call("b", "16.9", "17", "17.1"));
  lines.push_back(attempt("b", "18", "read"));
  const HistoryMetrics known = judge();
  ASSERT_EQ(known.takeover_costs.size(), 1U);
  EXPECT_EQ(known.takeover_costs[0].calls, 4);
  EXPECT_EQ(known.takeover_costs[0].commits, 1);
  EXPECT_EQ(known.takeover_costs[0].aborted, 2);
  EXPECT_EQ(known.calls, 8);
}

TEST(CheckRenewalsTest, ALineOfOneProlongsABelief) {
  const std::string leads = Says("a", "leads", "01", R"(,"left":"10s")");
  const std::string renewed = Says("a", "renewed", "06", R"(,"left":"10s")");
  const auto judge = [&](const std::vector<std::string>& lines) {
    return Belief(Joined(
        lines, {Says("b", "leads", "14"), Says("a", "goes_on", "18"), Says("a", "lost", "19")}));
  };
  EXPECT_EQ(judge({leads, renewed}), Verdict::kViolated);
  EXPECT_EQ(judge({leads}), Verdict::kPossiblyViolated);
}

// A process that was paused renews late: its belief had lapsed in between, and another one led.
TEST(CheckRenewalsTest, ABeliefThatLapsedBeforeItWasRenewedIsNotOne) {
  EXPECT_NE(Belief({Says("a", "leads", "01", R"(,"left":"10s")"), Says("b", "leads", "12"),
                    Says("b", "lost", "15"), Says("a", "renewed", "20", R"(,"left":"10s")"),
                    Says("a", "lost", "21")}),
            Verdict::kViolated);
}

}  // namespace
}  // namespace whorl::check::check_test
