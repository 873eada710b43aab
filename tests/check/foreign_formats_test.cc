// What histories in the formats of others say, and what of them is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "check/decoder.h"
#include "check/relative_time.h"
#include "check/time_spelling.h"
#include "tests/check/foreign_reading.h"

namespace whorl::check::foreign_formats_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

InputOptions WithLease(Duration lease) {
  InputOptions options;
  options.wanted.jepsen.lease = lease;
  return options;
}

Verdict Belief(const std::string& text, InputOptions options = {}) {
  return JudgeText(text, std::move(options))[Invariant::kSingleLeaderBelief].verdict;
}

// --- Jepsen ---

std::string Op(const std::string& process, const std::string& type, const std::string& f,
               const std::string& seconds, const std::string& more = "") {
  return "{:process " + process + " :type :" + type + " :f :" + f + " :time " + seconds +
         "000000000 " + more + "}\n";
}
std::string Takes(const std::string& process, int at, const std::string& more = "") {
  return Op(process, "invoke", "acquire", std::to_string(at)) +
         Op(process, "ok", "acquire", std::to_string(at + 1), more);
}
std::string Gives(const std::string& process, int at) {
  return Op(process, "invoke", "release", std::to_string(at)) +
         Op(process, "ok", "release", std::to_string(at + 1));
}

TEST(ForeignJepsen, APairIsALockAndAToken) {
  const std::vector<LogLine> leads =
      ReadAll(Op("0", "invoke", "acquire", "1", ":value [\"north\" nil]") +
              Op("0", "ok", "acquire", "2", ":value [\"north\" 17]"))
          .Of(Statement::kLeads);
  ASSERT_THAT(leads, SizeIs(1));
  EXPECT_EQ(leads[0].lock, "north");
  EXPECT_EQ(leads[0].token, 17);
}

TEST(ForeignJepsen, WhatARelyGotThatItDidNotAskForIsAResult) {
  const auto lead = [](const std::string& asked, const std::string& got,
                       InputOptions options = {}) {
    const std::vector<LogLine> leads =
        ReadAll(Op("0", "invoke", "acquire", "1", asked) + Op("0", "ok", "acquire", "2", got),
                std::move(options))
            .Of(Statement::kLeads);
    if (leads.empty()) return std::string("refused");
    return leads[0].lock + (leads[0].token ? " " + std::to_string(*leads[0].token) : "");
  };
  EXPECT_EQ(lead(":value :north", ":value 17"), "north 17");
  EXPECT_EQ(lead(":value :north", ":value true"), "north");
  EXPECT_EQ(lead(":value :north", ":value :busy"), "refused");
  EXPECT_EQ(lead(":value :busy", ":value :busy"), "busy");
  EXPECT_EQ(lead("", ":value nil"), "lock");
  EXPECT_EQ(lead("", ":value {:acquired? false}"), "refused");
  EXPECT_EQ(lead("", ":value {:client \"n1\" :fence 3}"), "lock 3");
  EXPECT_EQ(lead("", ":value [\"north\" false]"), "refused");
  EXPECT_EQ(lead(":lock :south", ":lock :south :value 4"), "south 4");
  InputOptions says;
  says.wanted.jepsen.value = Meaning::kToken;
  EXPECT_EQ(lead("", ":value 4", says), "lock 4");
  says.wanted.jepsen.value = Meaning::kLock;
  EXPECT_EQ(lead("", ":value 4", says), "4");
}

// Two locks, or one with two tokens: nobody knows.
TEST(ForeignJepsen, AValueThatMayBeBothDecidesNothing) {
  const std::string both =
      Takes("0", 1, ":value 1") + Takes("1", 3, ":value 2") + Gives("0", 5) + Gives("1", 7);
  EXPECT_EQ(Belief(both), Verdict::kPossiblyViolated);
  InputOptions says;
  says.wanted.jepsen.value = Meaning::kToken;
  EXPECT_EQ(Belief(both, says), Verdict::kViolated);
  EXPECT_EQ(Belief(Takes("0", 1, ":value 1") + Gives("0", 5)), Verdict::kUnknown);
}

TEST(ForeignJepsen, ReleasesThatFailedOrMayHave) {
  const auto after = [](const std::string& type, const std::string& more = "") {
    return Belief(Takes("0", 1) + Op("0", "invoke", "release", "3") +
                  Op("0", type, "release", "4", more) + Takes("1", 5) + Gives("1", 7) +
                  Op("0", "invoke", "acquire", "9") + Op("0", "fail", "acquire", "10") +
                  Op("0", "invoke", "release", "11") + Op("0", "ok", "release", "12"));
  };
  EXPECT_EQ(after("ok"), Verdict::kHolds);
  EXPECT_EQ(after("fail", ":error :connection-refused"), Verdict::kViolated);
  EXPECT_EQ(after("fail", ":error [:not-held \"n1\"]"), Verdict::kHolds);
  EXPECT_EQ(after("info", ":error :timeout"), Verdict::kPossiblyViolated);
  EXPECT_EQ(after("ok", ":value false"), Verdict::kPossiblyViolated);
}

TEST(ForeignJepsen, HowManyReleasesTwoAcquiresTakeIsNotKnown) {
  const std::string twice = Takes("0", 1) + Takes("0", 3);
  // Between the two releases, within both, and after them.
  EXPECT_EQ(Belief(twice + Gives("0", 5) + Takes("1", 7) + Gives("1", 9) + Gives("0", 11)),
            Verdict::kPossiblyViolated);
  EXPECT_EQ(Belief(twice + Takes("1", 5) + Gives("1", 7) + Gives("0", 9) + Gives("0", 11)),
            Verdict::kViolated);
  EXPECT_EQ(Belief(twice + Gives("0", 5) + Gives("0", 7) + Takes("1", 9) + Gives("1", 11)),
            Verdict::kHolds);
}

TEST(ForeignJepsen, ALeaseMayHaveRunOut) {
  const std::string later = Takes("0", 1) + Takes("1", 8) + Gives("1", 10) + Gives("0", 12);
  EXPECT_EQ(Belief(later), Verdict::kViolated);
  EXPECT_EQ(Belief(later, WithLease(Seconds(5))), Verdict::kPossiblyViolated);
  EXPECT_EQ(Belief(later, WithLease(Seconds(30))), Verdict::kViolated);
  const std::string renewed = Takes("0", 1) + Op("0", "invoke", "renew", "5") +
                              Op("0", "ok", "renew", "6") + Takes("1", 8) + Gives("1", 10) +
                              Gives("0", 12);
  EXPECT_EQ(Belief(renewed, WithLease(Seconds(5))), Verdict::kViolated);
}

TEST(ForeignJepsen, AVerbThatIsNotKnownMayHaveBeenARelease) {
  const std::string odd = Takes("0", 1) + Op("0", "invoke", "give-back", "3") +
                          Op("0", "ok", "give-back", "4") + Takes("1", 5) + Gives("1", 7) +
                          Gives("0", 9);
  EXPECT_EQ(Belief(odd), Verdict::kUnknown);
  InputOptions known;
  EXPECT_THAT(known.wanted.jepsen.verbs.Parse("release=give-back,release"), IsEmpty());
  EXPECT_EQ(Belief(odd, known), Verdict::kHolds);
  InputOptions none;
  EXPECT_THAT(none.wanted.jepsen.verbs.Parse("ignore=give-back"), IsEmpty());
  EXPECT_EQ(Belief(odd, none), Verdict::kViolated);
  // What is done under a lock is no release.
  EXPECT_EQ(Belief(Takes("0", 1) + Op("0", "invoke", "write", "3") + Op("0", "ok", "write", "4") +
                   Takes("1", 5) + Gives("1", 7) + Gives("0", 9)),
            Verdict::kViolated);
}

TEST(ForeignJepsen, TimesSince1970AreThoseOfAClock) {
  const Heard heard = ReadAll("{:process 0 :type :ok :f :acquire :time 1790000000000000000}\n" +
                              std::string("{:process 1 :type :ok :f :acquire :time 5}\n"));
  const std::vector<LogLine> leads = heard.Of(Statement::kLeads);
  ASSERT_THAT(leads, SizeIs(2));
  EXPECT_FALSE(IsRelative(leads[0].at));
  EXPECT_EQ(TimeText(leads[1].at), "5ns since the beginning");
  TimeOrigins origins;
  std::string wrong;
  std::vector<bool> refused;
  for (const Operation& operation : heard.operations) {
    if (TimeOf(operation)) refused.push_back(origins.Refuses(operation, wrong));
  }
  EXPECT_THAT(refused, ElementsAre(false, true));
  EXPECT_THAT(wrong, HasSubstr("those of records before it are of clocks"));
}

TEST(ForeignEdn, SymbolicValuesAndOddKeysAreNoErrors) {
  const Heard heard = ReadAll(
      "{:process 0, :type :ok, :f :acquire, :time 1, :latency ##NaN, [1 2] 3, nil 4, \\a 5, true "
      "##-Inf, "
      "{:a 1} #{1}}\n");
  EXPECT_THAT(heard.errors, IsEmpty());
  EXPECT_THAT(heard.Of(Statement::kLeads), SizeIs(1));
}

// --- documents, element by element ---

std::string Leads(const std::string& id) {
  return R"({"event":"leads","id":")" + id + R"(","lock":"job","time":"2026-01-01T00:00:05Z"})";
}

TEST(ForeignDocuments, OneBadElementCostsItselfAndHasItsPlace) {
  const Heard heard = ReadAll("[" + Leads("a") + ", {\"event\": \"leads\"},\n {\"event\" 1}, 7,\n" +
                              Leads("b") + " ]\n");
  EXPECT_THAT(heard.Of(Statement::kLeads), SizeIs(2));
  EXPECT_THAT(heard.errors,
              ElementsAre(HasSubstr("h:1:73: wants \"id\""), HasSubstr("h:2:11: is no JSON"),
                          HasSubstr("h:2:15: is no JSON object")));
}

TEST(ForeignDocuments, CommasAreNotForgiven) {
  EXPECT_THAT(ReadAll("[" + Leads("a") + ",]\n").errors, SizeIs(1));
  EXPECT_THAT(ReadAll("[," + Leads("a") + "]\n").errors, SizeIs(1));
  EXPECT_THAT(ReadAll("[" + Leads("a") + ",," + Leads("b") + "]\n").errors, SizeIs(1));
  EXPECT_THAT(ReadAll("[" + Leads("a") + " " + Leads("b") + "]\n").errors, SizeIs(1));
  EXPECT_THAT(ReadAll("[" + Leads("a") + "] 5\n").errors, SizeIs(1));
  EXPECT_THAT(ReadAll("[]\n").errors, IsEmpty());
  EXPECT_THAT(ReadAll("[[" + Leads("a") + "],[]]\n").errors, IsEmpty());
}

TEST(ForeignDocuments, ACutOneIsReadAsFarAsItGoes) {
  const Heard json = ReadAll("[" + Leads("a") + "," + Leads("b") + ",{\"event\":\"lea");
  EXPECT_THAT(json.Of(Statement::kLeads), SizeIs(2));
  EXPECT_THAT(json.errors, ElementsAre(HasSubstr("does not end")));
  const Heard edn = ReadAll("[{:process 0 :type :ok :f :acquire :time 1}\n {:process 1 :type :ok");
  EXPECT_THAT(edn.Of(Statement::kLeads), SizeIs(1));
  EXPECT_THAT(edn.errors, ElementsAre(HasSubstr("h:2:2: is no EDN")));
  // The process that was killed within a line was started anew.
  const Heard anew =
      ReadAll("{\"event\":\"leads\",\"id\":\"a\n" + Leads("b") + "\n" + Leads("c") + "\n");
  EXPECT_THAT(anew.Of(Statement::kLeads), SizeIs(2));
  EXPECT_THAT(anew.errors, SizeIs(1));
  const Heard no_comma = ReadAll("[\n" + Leads("a") + "\n" + Leads("b") + "\n]\n");
  EXPECT_THAT(no_comma.Of(Statement::kLeads), SizeIs(2));
  EXPECT_THAT(no_comma.errors, ElementsAre(HasSubstr("h:3:1: is no JSON: a comma is missing")));
  const Heard edn_anew =
      ReadAll("{:process 0 :type :ok\n{:process 1 :type :ok :f :acquire :time 1}\n");
  EXPECT_THAT(edn_anew.Of(Statement::kLeads), SizeIs(1));
  EXPECT_THAT(edn_anew.errors, SizeIs(1));
}

TEST(ForeignDocuments, PartsOfALineAreTheLine) {
  const std::string edn =
      "[{:process 0 :type :ok :f :acquire :time 1 :error \"a \\\" ] \"} #_ {:x 1}\n"
      " #jepsen.Op{:process 1 :type :ok :f :acquire :time 2 :c \\]} {:process 1}]\n";
  const std::string json = "[" + Leads("a") + ",{\"event\":\"le\\\"ads]\"}," + Leads("b") + "]\n";
  for (const std::string& text : {edn, json, Leads("a") + "\n" + Leads("b") + "\n"}) {
    const Heard whole = ReadAll(text);
    EXPECT_THAT(whole.Of(Statement::kLeads), SizeIs(2)) << text;
    for (const size_t part : {1, 2, 3, 7, 50}) {
      const Heard parts = ReadAll(text, {}, part);
      EXPECT_EQ(parts.operations.size(), whole.operations.size()) << part << text;
      EXPECT_EQ(parts.errors, whole.errors) << part;
    }
  }
  const std::string csv = "event,id,lock,time\nleads,a,job,2026-01-01T00:00:05Z\n";
  EXPECT_THAT(ReadAll(csv, {}, 3).Of(Statement::kLeads), SizeIs(1));
}

// --- OpenTelemetry ---

std::string Span(const std::string& start, const std::string& end, const std::string& more = "") {
  return R"({"name":"x","startTimeUnixNano":")" + start + R"(","endTimeUnixNano":")" + end +
         R"(","attributes":[)" + TextAttribute("whorl.lock", "job") + "]" + more + "}";
}
std::string OfPod(const std::string& id, const std::string& list, const std::string& spans) {
  return R"({"resource":{"attributes":[)" + Attribute("service.instance.id", id) + R"(]},")" +
         list + R"(":[{"spans":[)" + spans + "]}]}";
}

TEST(ForeignOtlp, ShapesOfOthers) {
  const std::string pod = OfPod(R"({"intValue":"7"})", "scopeSpans", Span("5", "9"));
  for (const std::string& text :
       {"{\"resourceSpans\":[" + pod + "]}\n", "{\"batches\":[" + pod + "]}\n",
        "{\"trace\":{\"resourceSpans\":[" + pod + "]}}\n",
        "{\"resource_spans\":[" +
            OfPod(R"({"int_value":7})", "instrumentation_library_spans", Span("5", "9")) + "]}\n",
        "{\"resourceSpans\":[\n" +
            OfPod(R"({"intValue":7})", "instrumentationLibrarySpans", Span("5", "9")) + "\n]}\n",
        // The resource comes last.
        R"({"resourceSpans":[{"scopeSpans":[{"spans":[)" + Span("5", "9") +
            R"(]}],"resource":{"attributes":[)" + Attribute("host.name", R"({"intValue":7})") +
            "]}}]}\n"}) {
    for (const size_t part : {1'000'000, 11}) {
      const Heard heard = ReadAll(text, {}, part);
      EXPECT_THAT(heard.errors, IsEmpty()) << text;
      ASSERT_THAT(heard.Of(Statement::kWorks), SizeIs(1)) << text;
      EXPECT_EQ(heard.Of(Statement::kWorks)[0].process, "7") << text;
    }
  }
}

TEST(ForeignOtlp, NothingUnderAnUnknownNameVanishes) {
  const auto wrong = [](const std::string& text) { return ReadAll(text + "\n").FirstError(); };
  EXPECT_THAT(wrong("{\"resourceSpans\":[" +
                    OfPod(R"({"stringValue":"a"})", "librarySpans", Span("5", "9")) + "]}"),
              HasSubstr("h:1:19: a resource's spans are not known by the name \"librarySpans\""));
  EXPECT_THAT(
      wrong(R"({"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{},"span":[{}]}]}]})"),
      HasSubstr("a scope's spans are not known by the name \"span\""));
  EXPECT_THAT(wrong("{\"batches\":[" + Leads("a") + "]}"), HasSubstr("a resource without spans"));
  EXPECT_THAT(wrong(R"({"resourceSpans":[{"resource":{}},{"resource":{},"scopeSpans":[]}]})"), "");
}

TEST(ForeignOtlp, OneBadSpanCostsItself) {
  const std::string text =
      R"({"resourceSpans":[)" +
      OfPod(R"({"stringValue":"a"})", "scopeSpans",
            Span("5", "9") + ",\n" + Span("9", "5") + "," + Span("6", "x") + "," + Span("7", "8")) +
      "]}\n";
  const Heard heard = ReadAll(text);
  EXPECT_THAT(heard.Of(Statement::kWorks), SizeIs(2));
  EXPECT_THAT(heard.errors, ElementsAre(HasSubstr("h:2:1: a span ends before it begins"),
                                        HasSubstr("in nanoseconds since 1970")));
  // A cut one as far as it goes.
  const Heard cut = ReadAll(text.substr(0, text.find('\n')));
  EXPECT_THAT(cut.Of(Statement::kWorks), SizeIs(1));
  EXPECT_THAT(cut.errors, SizeIs(1));
}

TEST(ForeignOtlp, OtherServicesLogsAndMetricsArePassedOver) {
  InputOptions options;
  const Heard heard = ReadAll(
      R"({"resourceSpans":[{"resource":{"attributes":[)" + TextAttribute("service.name", "shop") +
          R"(]},"scopeSpans":[{"spans":[{"name":"GET","startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}],)"
          R"("resourceMetrics":[{"scopeMetrics":[]}],"resourceLogs":[{"resource":{"attributes":[)" +
          TextAttribute("service.instance.id", "a") +
          R"(]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"5","body":{"stringValue":"hello"}},)"
          R"({"timeUnixNano":"6","attributes":[)" +
          TextAttribute("whorl.event", "leads") + "," +
          Attribute("whorl.lock", R"({"boolValue":true})") + "]}]}]}]}\n",
      options);
  EXPECT_THAT(heard.errors, IsEmpty());
  ASSERT_THAT(heard.operations, SizeIs(1));
  EXPECT_EQ(heard.Of(Statement::kLeads).at(0).lock, "true");
  std::vector<std::string> reasons;
  for (const RecordCounts::Passed& passed : options.wanted.Counts().passed()) {
    reasons.push_back(passed.reason);
  }
  EXPECT_THAT(reasons,
              ElementsAre("metrics of OpenTelemetry", "of a service whose processes have no name",
                          "record of a log without \"whorl.event\""));
}

InvariantResult Work(const std::string& spans_of_a, const std::string& spans_of_b) {
  return JudgeText(R"({"resourceSpans":[)" +
                       OfPod(R"({"stringValue":"a"})", "scopeSpans", spans_of_a) + "," +
                       OfPod(R"({"stringValue":"b"})", "scopeSpans", spans_of_b) + "]}\n",
                   {}, {.clock_error = Duration{}})[Invariant::kSingleWorker];
}

TEST(ForeignOtlp, AnUnfinishedSpanMayLast) {
  EXPECT_EQ(Work(Span("5", "9"), Span("7", "8")).verdict, Verdict::kViolated);
  EXPECT_EQ(Work(Span("5", "6"), Span("7", "8")).verdict, Verdict::kHolds);
  EXPECT_EQ(Work(Span("5", "0"), Span("7", "8")).verdict, Verdict::kPossiblyViolated);
  EXPECT_EQ(Work(Span("5", "0") + "," + Span("9", "10"), Span("11", "12")).verdict,
            Verdict::kPossiblyViolated);
}

TEST(ForeignOtlp, SpansWithinASpanDoNotEndIt) {
  EXPECT_EQ(Work(Span("2", "3") + "," + Span("1", "9"), Span("5", "6")).verdict,
            Verdict::kViolated);
  EXPECT_EQ(Work(Span("2", "3") + "," + Span("1", "4"), Span("5", "6")).verdict, Verdict::kHolds);
}

// --- formats that are named ---

TEST(ForeignRecords, AreReadOrNamed) {
  const auto wrong = [](const std::string& text) { return ReadAll(text + "\n").FirstError(); };
  EXPECT_THAT(wrong(R"({"before":null,"after":{"name":"x"},"source":{"ts_ms":1},"op":"c"})"),
              HasSubstr("Debezium"));
  EXPECT_THAT(wrong(R"({"schema":{},"payload":{"after":{},"source":{},"op":"u"}})"),
              HasSubstr("Debezium"));
  EXPECT_THAT(
      wrong(R"({"name":"x","_metadata_spanner_commit_timestamp":"2026-01-01 00:00:00 UTC"})"),
      HasSubstr("BigQuery"));
  EXPECT_THAT(wrong(R"({"data":[{"traceID":"1","spans":[],"processes":{}}]})"),
              HasSubstr("Jaeger"));
  EXPECT_THAT(
      wrong(R"([{"traceId":"1","id":"2","timestamp":3,"localEndpoint":{"serviceName":"x"}}])"),
      HasSubstr("Zipkin"));
  EXPECT_THAT(wrong(R"({"insertId":"1","timestamp":"2026-01-01T00:00:00Z","textPayload":"hello"})"),
              HasSubstr("--pattern"));
  EXPECT_EQ(wrong(R"({"partition_start_record":{"start_timestamp":"x"}})"), "");
  const std::string entry = R"({"logName":"l","insertId":"1","jsonPayload":)" + Leads("a") + "}";
  EXPECT_EQ(wrong(entry), "");
  EXPECT_THAT(ReadAll(entry).Of(Statement::kLeads), SizeIs(1));
}

TEST(ForeignRecords, EmptyValuesAreNone) {
  const Heard heard = ReadAll(
      R"({"commitTimestamp":"2026-01-01T00:00:05Z","modType":"INSERT","mods":[{"keysJson":"{\"name\":\"job\"}",)"
      R"("newValuesJson":"{\"writer\":\"a\",\"heartbeat\":null,\"token\":null}","oldValuesJson":""}]})");
  EXPECT_THAT(heard.errors, IsEmpty());
  EXPECT_THAT(heard.operations, SizeIs(1));
}

// --- CSV ---

TEST(ForeignCsv, OtherDelimitersCasesSpacesAndComments) {
  for (const std::string text : {"event;id;lock;time\nleads;a;job;2026-01-01T00:00:05Z\n",
                                 "event\tid\tlock\ttime\nleads\ta\tjob\t2026-01-01T00:00:05Z\n",
                                 "Event, ID , Lock, Time\nleads , a, job, 2026-01-01T00:00:05Z\n",
                                 "# written by hand\nsep=;\n\"EVENT\" ; \"Id\";LOCK;TIME\n\n# a "
                                 "comment\n\"leads\" ; a;\"job\" ; "
                                 "2026-01-01T00:00:05Z\n"}) {
    const Heard heard = ReadAll(text);
    EXPECT_THAT(heard.errors, IsEmpty()) << text;
    ASSERT_THAT(heard.Of(Statement::kLeads), SizeIs(1)) << text;
    EXPECT_EQ(heard.Of(Statement::kLeads)[0].lock, "job");
  }
  const Heard change = ReadAll(
      "Commit Timestamp;Mod_Type;NAME;Writer;Old_Writer\n2026-01-01 00:00:05 UTC;UPDATE;job;b;a\n");
  EXPECT_THAT(change.errors, IsEmpty());
  const auto& row = std::get<RowChange>(change.operations.at(0).what);
  EXPECT_EQ(row.after[3], Value(std::string("b")));
  EXPECT_EQ(row.before[3], Value(std::string("a")));
}

// --- times ---

TEST(ForeignTimes, SpellingsOfBigQueryGoAndPostgres) {
  const auto time = *ParseRfc3339("2026-01-31T00:00:00.5Z");
  for (const char* text :
       {"2026-01-31T00:00:00.5Z", "2026-01-31 00:00:00.5 UTC", "2026-01-31 00:00:00.500000+00",
        "2026-01-31 01:00:00.5+01", "2026-01-30 18:30:00.5-05:30",
        "2026-01-31 01:00:00.5 +0100 CET m=+0.012345", "2026-01-31 00:00:00.5 +0000 UTC",
        "2026-01-31t00:00:00,5z", "2026-01-31T01:00:00.5+0100", "2026-01-31 00:00:00.5Z"}) {
    EXPECT_EQ(ParseAnyTime(text), time) << text;
  }
  const auto seems = [](const char* text, const char* what) {
    EXPECT_FALSE(ParseAnyTime(text)) << text;
    EXPECT_THAT(TimeRefusal(text), HasSubstr(what)) << text;
  };
  seems("2026-01-31 00:00:00.5", "a time without its zone");
  seems("2026-01-31T00:00:00 Mars", "whose zone is not known");
  seems("2026-01-31T00:00:00+99:00", "whose zone is not known");
  seems("2026-02-31T00:00:00+01", "whose zone is not known");
  seems("1790000000", "seconds since 1970");
  seems("1790000000123", "milliseconds since 1970");
  seems("31.01.2026 00:00:00", "another order of day, month and year");
  seems("Jan 31 00:00:00", "syslog");
  seems("Sat, 31 Jan 2026 00:00:00 GMT", "HTTP");
  seems("2026-01-31T00:00:00.1234567890Z", "more than nine digits");
  const Heard number = ReadAll(R"({"event":"leads","id":"a","lock":"x","time":1790000000123})");
  EXPECT_THAT(number.errors, ElementsAre(HasSubstr("milliseconds since 1970; taken are")));
}

// --- UTF-16 ---

TEST(ForeignEncodings, Utf16IsText) {
  const auto decoded = [](std::string_view bytes, size_t piece) {
    Decoder decoder;
    std::string text;
    std::string wrong;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      wrong += decoder.Add(bytes.substr(0, piece), text);
    }
    return text + wrong + decoder.Finish(text);
  };
  // "a", a letter of two bytes, one of three, and one of two units.
  const std::string_view little(
      "\xff\xfe"
      "a\0\xe9\0\xac\x20\x3d\xd8\x00\xde"
      "\n\0",
      14);
  const std::string_view big("\xfe\xff\0a\0\xe9\x20\xac\xd8\x3d\xde\x00\0\n", 14);
  for (const size_t piece : {1, 2, 5, 100}) {
    EXPECT_EQ(decoded(little, piece), "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n");
    EXPECT_EQ(decoded(big, piece), "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n");
  }
  EXPECT_THAT(decoded(little.substr(0, 5), 5), HasSubstr("is cut"));
}

}  // namespace
}  // namespace whorl::check::foreign_formats_test
