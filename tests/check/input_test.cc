// The formats that histories come in, and what is wrong with them.

#include "check/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "check/jepsen.h"
#include "tests/check/foreign_reading.h"

namespace whorl::check::input_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

InputOptions Of(Wanted wanted, const LogPattern* pattern = nullptr) {
  return {.wanted = std::move(wanted), .format = {}, .pattern = pattern};
}
InputOptions OfLock(const std::string& lock, const LogPattern* pattern = nullptr) {
  return Of({.lock = lock, .table = {}}, pattern);
}

// Whether two of the history believed at once that they hold the lock.
Verdict TwoBelieve(const std::string& text, InputOptions options = {}, CheckOptions check = {}) {
  return JudgeText(text, std::move(options), check)[Invariant::kSingleLeaderBelief].verdict;
}

std::string At(int64_t seconds) {
  return FormatRfc3339(Timestamp::FromUnixNanos(seconds * 1'000'000'000));
}

// --- CSV ---

TEST(CheckCsv, LinesOfProcesses) {
  const Heard heard = ReadAll(
      "event,id,lock,time,n\r\n"
      "leads,a,job,1970-01-01T00:00:05Z,1\r\n"
      "lost,\"a\",\"job\",1970-01-01T00:00:06Z,2\r\n");
  EXPECT_THAT(heard.errors, IsEmpty());
  ASSERT_THAT(heard.operations, SizeIs(2));
  EXPECT_EQ(heard.SaidAt(0).statement, Statement::kLeads);
  EXPECT_EQ(heard.SaidAt(1).process, "a");
  EXPECT_EQ(heard.SaidAt(1).number, 2);
}

TEST(CheckCsv, ChangesWithWhatWasBefore) {
  const Heard heard = ReadAll(
      "commit_timestamp,mod_type,name,heartbeat,token,writer,old_token,old_writer\n"
      "1970-01-01T00:00:05Z,UPDATE,job,1970-01-01T00:00:05Z,,\"b, the second\",,NULL\n");
  const auto change = heard.Sole<RowChange>();
  EXPECT_EQ(change.lock, "job");
  EXPECT_EQ(change.kind, RowChangeKind::kUpdated);
  EXPECT_FALSE(change.after[2].has_value());  // the token: not known
  EXPECT_EQ(change.after[3], Value(std::string("b, the second")));
  EXPECT_FALSE(change.before[2].has_value());
  EXPECT_EQ(change.before[3], Value(Null{}));
}

TEST(CheckCsv, AQuotedFieldMayHaveLineBreaksAndErrorsSayWhereItBegan) {
  const Heard heard = ReadAll(
      "event,id,lock,time,note\n"
      "leads,a,job,1970-01-01T00:00:05Z,\"two\nlines, \"\"quoted\"\"\"\n"
      "leads,a,job\n"
      "lost,a,job,1970-01-01T00:00:06Z,\"open\n");
  EXPECT_THAT(heard.operations, SizeIs(1));
  ASSERT_THAT(heard.errors, SizeIs(2));
  EXPECT_THAT(heard.FirstError(), HasSubstr("h:4: has 3 fields"));
  EXPECT_THAT(heard.errors[1], HasSubstr("h:5: a quoted field"));
}

// --- JSON documents ---

TEST(CheckDocuments, ADocumentMayTakeSeveralLinesAndErrorsSayTheirOwn) {
  const std::string good = "[\n {\"event\":\"leads\",\"id\":\"a\",\n \"lock\":\"job\",\"time\":\"" +
                           At(5) + "\"},\n {\"event\":\"lost\",\"id\":\"a\",\"time\":\"" + At(6) +
                           "\"}\n]\n";
  const Heard heard = ReadAll(good);
  EXPECT_THAT(heard.errors, IsEmpty());
  EXPECT_THAT(heard.operations, SizeIs(2));
  const Heard broken = ReadAll("[\n {\"event\" \"leads\"}\n]\n");
  ASSERT_THAT(broken.errors, SizeIs(1));
  EXPECT_THAT(broken.FirstError(), HasSubstr("h:2:11: is no JSON"));
  const Heard cut = ReadAll("[\n {\"event\": \"leads\"},\n");
  ASSERT_THAT(cut.errors, SizeIs(2));
  EXPECT_THAT(cut.FirstError(), HasSubstr("h:2:2: wants \"id\""));
  EXPECT_THAT(cut.errors[1], HasSubstr("h:1:1: is no JSON: what begins here does not end"));
}

// Otherwise one line that a crash cut would hide all lines after it.
TEST(CheckDocuments, ALineThatIsCutHidesNothing) {
  const std::string line = "{\"event\":\"goes_on\",\"id\":\"a\",\"time\":\"" + At(5) + "\"}\n";
  const Heard heard = ReadAll(line + "{\"event\":\n" + line);
  EXPECT_THAT(heard.operations, SizeIs(2));
  EXPECT_THAT(heard.errors, SizeIs(1));
}

// --- Jepsen ---

constexpr const char* kEdn =
    "; a test of locks\n"
    "{:process 0, :type :invoke, :f :acquire, :value nil, :time 1000, :index 0}\n"
    "#jepsen.history.Op{:process 0, :type :ok, :f :acquire, :value nil, :time 2000, :index 1}\n"
    "{:process :nemesis, :type :info, :f :kill, :value #{\"n1\" \"n2\"}, :time 2500}\n"
    "{:process 1, :type :invoke, :f :acquire, :time 2600}\n"
    "{:process 1, :type :info, :f :acquire, :time 2700, :error [:timeout \\a #_ ignored]}\n"
    "{:process 0, :type :invoke, :f :release, :time 3000}\n"
    "{:process 0, :type :ok, :f :release, :time 4000N}\n";

TEST(CheckJepsen, EdnHistoriesOfLocks) {
  const Heard heard = ReadAll(kEdn);
  EXPECT_THAT(heard.errors, IsEmpty());
  std::vector<Statement> statements;
  for (const LogLine& said : heard.AllSaid()) {
    if (said.statement == Statement::kOther || said.statement == Statement::kMayEnd) continue;
    statements.push_back(said.statement);
    EXPECT_EQ(said.process, "0");
    EXPECT_EQ(said.lock, "lock");
  }
  EXPECT_EQ(statements, (std::vector{Statement::kLeads, Statement::kLeadsNot}));
}

TEST(CheckJepsen, JsonHistoriesAndKeysOfTheirOwn) {
  const Heard heard = ReadAll(
      "[{\"process\":3,\"type\":\"invoke\",\"f\":\"acquire\",\"value\":[7,null],\"time\":1},\n"
      " {\"process\":3,\"type\":\"ok\",\"f\":\"acquire\",\"value\":[7,null],\"time\":2}]\n");
  EXPECT_THAT(heard.errors, IsEmpty());
  const auto& last = std::get<LogLine>(heard.operations.back().what);
  EXPECT_EQ(last.lock, "7");
  EXPECT_EQ(last.statement, Statement::kLeads);
}

TEST(CheckJepsen, EdnErrorsSayWhere) {
  EXPECT_THAT(ReadAll("{:process 0 :f :acquire :type}\n").FirstError(),
              HasSubstr("h:1:30: is no EDN"));
  EXPECT_THAT(ReadAll("{:a 1}\n[\n\"x\n").errors[1], HasSubstr("h:3:1: is no EDN: what begins"));
  EXPECT_THAT(ReadAll(std::string(300, '[') + std::string(300, ']')).FirstError(),
              HasSubstr("nested"));
}

// Two hold the lock at once for certain; and one takes it while the other's release is under way.
TEST(CheckJepsen, HoldersExcludeEachOtherByTheRepliesAndTheQuestions) {
  const auto judge = [](int b_acquired) {
    std::string text;
    const auto add = [&](int process, const char* type, const char* f, int64_t s) {
      text += "{:process " + std::to_string(process) + " :type :" + type + " :f :" + f + " :time " +
              std::to_string(s * 1'000'000'000) + "}\n";
    };
    add(0, "invoke", "acquire", 1);
    add(0, "ok", "acquire", 2);
    add(1, "invoke", "acquire", 3);
    if (b_acquired == 4) add(1, "ok", "acquire", 4);
    add(0, "invoke", "release", 5);
    if (b_acquired == 6) add(1, "ok", "acquire", 6);
    add(0, "ok", "release", 7);
    add(1, "invoke", "release", 8);
    return TwoBelieve(text);
  };
  EXPECT_EQ(judge(4), Verdict::kViolated);
  EXPECT_EQ(judge(6), Verdict::kHolds);
}

// --- OpenTelemetry ---

std::string Span(const std::string& attributes, const std::string& more = "") {
  return R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.instance.id",)"
         R"("value":{"stringValue":"pod-a"}}]},"scopeSpans":[{"spans":[{"name":"x",)"
         R"("startTimeUnixNano":"5000000000","endTimeUnixNano":"6000000000","attributes":[)" +
         attributes + "]" + more + "}]}]}]}\n";
}
TEST(CheckOtlp, ASpanOfWorkUnderALock) {
  const Heard heard = ReadAll(Span(TextAttribute("whorl.lock", "job")));
  EXPECT_THAT(heard.errors, IsEmpty());
  ASSERT_THAT(heard.operations, SizeIs(2));
  EXPECT_EQ(heard.SaidAt(0).statement, Statement::kWorks);
  EXPECT_EQ(heard.SaidAt(0).process, "pod-a");
  EXPECT_EQ(heard.SaidAt(0).lock, "job");
  EXPECT_EQ(heard.SaidAt(0).at, Timestamp::FromUnixNanos(5'000'000'000));
  EXPECT_EQ(heard.SaidAt(1).statement, Statement::kRests);
  const Heard leads = ReadAll(
      Span(TextAttribute("whorl.lock", "job") + "," + TextAttribute("whorl.event", "leads")));
  EXPECT_EQ(leads.SaidAt(0).statement, Statement::kLeads);
}

TEST(CheckOtlp, ASpanOfSpannersClientIsACallIfItSaysWhenItCommitted) {
  const Heard call = ReadAll(Span(TextAttribute("spanner.commit_timestamp", At(5))));
  EXPECT_EQ(call.Sole<CommitRecord>().commit, Timestamp::FromUnixNanos(5'000'000'000));
  const Heard other = ReadAll(Span(TextAttribute("db.system", "spanner")));
  EXPECT_EQ(other.SaidAt(0).statement, Statement::kOther);
}

TEST(CheckOtlp, EventsOfASpanAreLines) {
  const Heard heard =
      ReadAll(Span(TextAttribute("whorl.id", "b"),
                   R"(,"events":[{"name":"leads","timeUnixNano":5500000000,"attributes":[)" +
                       TextAttribute("whorl.lock", "job") + "]},{\"name\":\"gc\"}]"));
  EXPECT_THAT(heard.errors, IsEmpty());
  ASSERT_THAT(heard.operations, SizeIs(2));
  EXPECT_EQ(heard.SaidAt(1).statement, Statement::kLeads);
  EXPECT_EQ(heard.SaidAt(1).process, "b");
}

TEST(CheckOtlp, BadSpansAreRefused) {
  EXPECT_THAT(ReadAll(R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[)" +
                      TextAttribute("whorl.lock", "job") + "]}]}]}]}")
                  .FirstError(),
              HasSubstr("a span of no process"));
  EXPECT_THAT(ReadAll(R"({"resourceSpans":{}})").FirstError(), HasSubstr("is a list"));
  EXPECT_THAT(ReadAll(R"({"resourceMetrics":[]})").errors, IsEmpty());
}

// --- tables ---

// A change stream may watch two lock tables, and both may have a lock of the same name.
TEST(CheckTables, RecordsOfTwoTablesAreNotMixed) {
  const auto record = [](const std::string& table) {
    return R"({"commit_timestamp":")" + At(5) + R"(","table_name":")" + table +
           R"(","mod_type":"INSERT","mods":[{"keys":{"name":"job"},"new_values":{}}]})" + "\n";
  };
  const auto read = [&](const std::string& table, bool is_shared) {
    const auto only = is_shared ? std::make_shared<std::string>() : nullptr;
    return ReadAll(record("locks") + record("locks") + record("others"),
                   Of({.lock = {}, .table = table, .only_table = only}));
  };
  EXPECT_THAT(read("", true).errors,
              testing::ElementsAre(testing::AllOf(HasSubstr("h:3: "), HasSubstr("\"locks\""),
                                                  HasSubstr("--table"))));
  EXPECT_THAT(read("", true).operations, SizeIs(2));
  // The usual table of another protocol is taken for it only if that is said.
  const auto only = std::make_shared<std::string>();
  const std::string fenced = record("fenced_locks");
  EXPECT_THAT(ReadAll(fenced, Of({.lock = {}, .table = {}, .only_table = only})).errors,
              testing::ElementsAre(HasSubstr("--protocol fenced_lease, or --table fenced_locks")));
  EXPECT_THAT(ReadAll(fenced, Of({.lock = {}, .table = "fenced_locks"})).errors, IsEmpty());
  EXPECT_THAT(read("others", true).errors, IsEmpty());
  EXPECT_THAT(read("others", true).operations, SizeIs(1));
  EXPECT_THAT(read("", false).errors, IsEmpty());
}

// --- what whorl serve writes ---

std::string Served(const std::string& method, const std::string& more) {
  return R"({"at":"1970-01-01T00:00:05Z","client":1,"id":"pod-a","method":")" + method + "\"," +
         more + R"("took":"0.250000000"})" + "\n";
}

// Whose transaction it was is known by the port; when, by serve's clock alone.
TEST(CheckServe, ACommitIsACallOfTheClientByTheClockOfServe) {
  const Heard heard = ReadAll(
      Served("Commit", R"("transaction":"0a","code":"OK","commit_timestamp":")" + At(5) + "\","),
      OfLock("job"), kWholeLines, "calls.jsonl");
  const auto call = heard.Sole<CommitRecord>();
  EXPECT_EQ(call.process, "calls.jsonl");
  EXPECT_EQ(call.Sender(), "pod-a");
  EXPECT_EQ(call.lock, "job");
  EXPECT_EQ(call.sent, Timestamp::FromUnixNanos(5'000'000'000));
  EXPECT_EQ(call.received, Timestamp::FromUnixNanos(5'250'000'000));
  EXPECT_EQ(call.commit, Timestamp::FromUnixNanos(5'000'000'000));
}

// A transaction is one call, as processes log it.
TEST(CheckServe, CallsAreCountedAsProcessesLogThem) {
  const auto statement = [](const std::string& method, const std::string& more) {
    const Heard heard = ReadAll(Served(method, more));
    EXPECT_THAT(heard.errors, IsEmpty());
    return heard.operations.empty() ? std::nullopt : std::optional(heard.SaidAt(0).statement);
  };
  const std::string in_transaction = R"("transaction":"0a",)";
  EXPECT_EQ(statement("ExecuteStreamingSql", R"("code":"OK",)"), Statement::kCalled);
  EXPECT_EQ(statement("ExecuteSql", in_transaction + R"("code":"OK",)"), std::nullopt);
  EXPECT_EQ(statement("ExecuteSql", in_transaction + R"("code":"ABORTED",)"), Statement::kAborted);
  EXPECT_EQ(statement("Commit", in_transaction + R"("code":"ABORTED",)"), Statement::kAborted);
  EXPECT_EQ(statement("Commit", in_transaction + R"("code":null,)"), Statement::kCalled);
  EXPECT_EQ(statement("Rollback", in_transaction + R"("code":"OK",)"), Statement::kCalled);
  EXPECT_EQ(statement("BeginTransaction", R"("code":"OK",)"), std::nullopt);
  EXPECT_EQ(statement("CreateSession", R"("code":"OK",)"), std::nullopt);
}

// With several locks in one database, calls about another one are none of this one's.
TEST(CheckServe, ATransactionIsAboutTheLockThatItsStatementsName) {
  const auto call = [](const std::string& method, const std::string& transaction,
                       const std::string& name, const std::string& more = "") {
    const std::string parameters =
        name.empty() ? "" : R"("parameters":{"name":")" + name + R"(","token":"1"},)";
    return Served(method,
                  R"("transaction":")" + transaction + R"(","code":"OK",)" + parameters + more);
  };
  const std::string commit = R"("commit_timestamp":")" + At(5) + "\",";
  const std::string text = call("ExecuteSql", "0a", "job") + call("ExecuteSql", "0b", "nightly") +
                           call("ExecuteSql", "0b", "") + call("Commit", "0b", "", commit) +
                           call("Commit", "0a", "", commit) +
                           // The takeover row of spindle v2.
                           call("ExecuteSql", "0c", "job_123") + call("Commit", "0c", "", commit) +
                           // Of two locks: it may be about either.
                           call("ExecuteSql", "0d", "job") + call("ExecuteSql", "0d", "nightly") +
                           call("Commit", "0d", "", commit) +
                           // It was begun before the history was.
                           call("Commit", "0e", "", commit);
  const auto locks = [&](const std::string& wanted) {
    const Heard heard = ReadAll(text, OfLock(wanted));
    EXPECT_THAT(heard.errors, IsEmpty());
    std::vector<std::string> named;
    for (const Operation& operation : heard.operations) {
      named.push_back(std::get<CommitRecord>(operation.what).lock);
    }
    return named;
  };
  EXPECT_EQ(locks(""), (std::vector<std::string>{"nightly", "job", "job_123", "", ""}));
  EXPECT_EQ(locks("job"), (std::vector<std::string>{"job", "job", "job", "job"}));
}

TEST(CheckServe, AClientWithoutANameIsRefused) {
  EXPECT_THAT(ReadAll(R"({"at":"1970-01-01T00:00:05Z","client":1,"method":"Commit","took":"0.1"})")
                  .FirstError(),
              HasSubstr("h:1: names no process: start whorl serve"));
  EXPECT_THAT(
      ReadAll(R"({"at":"5","client":1,"id":"a","method":"Commit","took":"0.1"})").FirstError(),
      HasSubstr("\"at\" is a time"));
}

// --- logs ---

LogPattern PatternOf(std::string_view mapping) {
  LogPattern pattern;
  EXPECT_EQ(pattern.Parse(mapping), "");
  return pattern;
}

TEST(CheckLogs, SpindlesOwnLines) {
  const LogPattern pattern = PatternOf(*ReadyPattern("spindle_v2"));
  const Heard heard = ReadAll(
      "[spindle/pod-a] 1970/01/01 00:00:05 init: got the lock with token 17\n"
      "[spindle/pod-a] 1970/01/01 00:00:15 leader active (me)\n"
      "[spindle/pod-a] 1970/01/01 00:00:15 round 1 took 12ms\n"
      "some other line\n"
      "[spindle/pod-a] 1970/01/01 00:00:25 leader active (not me)\n",
      OfLock("job", &pattern));
  EXPECT_THAT(heard.errors, IsEmpty());
  std::vector<Statement> statements;
  for (const LogLine& said : heard.AllSaid()) statements.push_back(said.statement);
  EXPECT_EQ(statements, (std::vector{Statement::kOther, Statement::kLeads, Statement::kOther,
                                     Statement::kLeadsNot}));
  // A time in whole seconds may be up to a second before the clock's reading.
  EXPECT_EQ(std::get<ProcessDeclaration>(heard.operations[0].what).resolution, Seconds(1));
}

TEST(CheckLogs, WithoutALockALeaderCannotBeJudged) {
  const LogPattern pattern = PatternOf(*ReadyPattern("spindle_v2"));
  const Heard heard =
      ReadAll("[spindle/a] 1970/01/01 00:00:15 leader active (me)\n", Of({}, &pattern));
  EXPECT_THAT(heard.FirstError(), HasSubstr("wants \"lock\""));
}

TEST(CheckLogs, AMappingOfOnesOwn) {
  const LogPattern pattern = PatternOf(R"json({
    "time": "%d.%m.%Y %H:%M:%E*S", "utc_offset": "+02:00",
    "lines": [{"match": "^(?P<time>\\S+ \\S+) (?P<lock>\\w+) is mine", "event": "leads"}]})json");
  const Heard heard = ReadAll("01.01.1970 02:00:05.25 job is mine\nanything\n", Of({}, &pattern),
                              kWholeLines, "logs/pod-a.log");
  const auto said = heard.Sole<LogLine>();
  EXPECT_EQ(said.process, "pod-a");
  EXPECT_EQ(said.lock, "job");
  EXPECT_EQ(said.at, Timestamp::FromUnixNanos(5'250'000'000));
  const Heard wrong = ReadAll("1970-01-01 02:00:05 job is mine\n", Of({}, &pattern));
  EXPECT_THAT(wrong.FirstError(), HasSubstr("h:1: \"time\" is no time as"));
}

TEST(CheckLogs, AMappingThatCannotBeIsRefused) {
  const auto wrong = [](std::string_view text) { return LogPattern().Parse(text); };
  EXPECT_THAT(wrong("{\n\"lines\":"), HasSubstr("2: is no JSON"));
  EXPECT_THAT(wrong("{}"), HasSubstr("wants \"lines\""));
  EXPECT_THAT(wrong(R"({"line":[]})"), HasSubstr("has no \"line\""));
  EXPECT_THAT(wrong(R"({"lines":[{"match":"(","event":"leads"}]})"), HasSubstr("missing )"));
  EXPECT_THAT(wrong(R"({"lines":[{"match":"x"}]})"), HasSubstr("wants an \"event\""));
  EXPECT_THAT(wrong(R"({"utc_offset":"2","lines":[{"match":"x","event":"leads"}]})"),
              HasSubstr("utc_offset"));
}

// Clocks are exact: a second that both logs show may be the same one, so nothing is certain.
TEST(CheckLogs, WholeSecondsAreNeverSurerThanTheyAre) {
  const LogPattern pattern = PatternOf(*ReadyPattern("spindle_v2"));
  const auto judge = [&](const std::string& a_ends, const std::string& b_begins) {
    const std::string prefix = "] 1970/01/01 00:00:";
    const std::string text = "[spindle/a" + prefix + "10 leader active (me)\n" + "[spindle/a" +
                             prefix + a_ends + " leader active (not me)\n" + "[spindle/b" + prefix +
                             b_begins + " leader active (me)\n" + "[spindle/b" + prefix +
                             "40 leader active (not me)\n";
    return TwoBelieve(text, OfLock("job", &pattern), {.lease = {}, .clock_error = Duration{}});
  };
  EXPECT_EQ(judge("20", "22"), Verdict::kHolds);
  EXPECT_EQ(judge("20", "20"), Verdict::kPossiblyViolated);
  EXPECT_EQ(judge("21", "20"), Verdict::kPossiblyViolated);
  EXPECT_EQ(judge("22", "20"), Verdict::kViolated);
}

// --- which format ---

TEST(CheckFormats, AreKnownByTheirFirstLine) {
  EXPECT_EQ(FormatOf("{\"event\":1}", false), InputFormat::kJson);
  EXPECT_EQ(FormatOf("  [", false), InputFormat::kJson);
  EXPECT_EQ(FormatOf("{:process 0}", false), InputFormat::kEdn);
  EXPECT_EQ(FormatOf("[{:process 0}", false), InputFormat::kEdn);
  EXPECT_EQ(FormatOf("#jepsen.history.Op{:process 0}", false), InputFormat::kEdn);
  EXPECT_EQ(FormatOf("time,event,id", false), InputFormat::kCsv);
  EXPECT_EQ(FormatOf("\"commit_timestamp\",\"name\"", false), InputFormat::kCsv);
  EXPECT_EQ(FormatOf("[spindle/a] 2026/01/01 ..", true), InputFormat::kLog);
  EXPECT_EQ(FormatOf("2026-01-01 hello, world", true), InputFormat::kLog);
  EXPECT_EQ(FormatOf("{\"event\":1}", true), InputFormat::kJson);
  EXPECT_EQ(FormatOf("Event;ID;Lock;Time", false), InputFormat::kCsv);
  EXPECT_EQ(FormatOf("Commit Timestamp\tmod_type", false), InputFormat::kCsv);
  EXPECT_EQ(FormatOf("nonsense", false), std::nullopt);
  EXPECT_EQ(FormatOf("[INFO] 2026", false), std::nullopt);
}

}  // namespace
}  // namespace whorl::check::input_test
