// Writes lines of histories of a few operations, for tests: changes of the row of lock "job", and what processes say.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "check/check.h"
#include "check/history.h"
#include "check/json_lines.h"

namespace whorl::check {

inline const ProtocolInfo& V2() { return *FindProtocol("spindle_v2"); }

inline std::string Second(const std::string& second) { return "2026-01-01T00:00:" + second + "Z"; }

// A change of the row of lock "job", by its new values and what they replace.
inline std::string Change(const std::string& commit, const std::string& kind,
                          const std::string& values, const std::string& old_values) {
  return R"({"commit_timestamp":")" + Second(commit) + R"(","mod_type":")" + kind +
         R"(","mods":[{"keys":{"name":"job"},"new_values":)" + values + R"(,"old_values":)" +
         old_values + "}]}";
}

inline std::string Values(const std::string& heartbeat, const std::string& token,
                          const std::string& writer) {
  return R"({"heartbeat":")" + Second(heartbeat) + R"(","token":")" + Second(token) +
         R"(","writer":")" + writer + R"("})";
}

inline std::string Says(const std::string& id, const std::string& event, const std::string& at,
                        const std::string& more = "") {
  return R"({"event":")" + event + R"(","id":")" + id + R"(","lock":"job","time":")" + Second(at) +
         "\"" + more + "}";
}

// It logs all lines of these kinds.
inline std::string Logs(const std::string& id, const std::string& kinds) {
  return R"({"event":"process","id":")" + id + R"(","logs":")" + kinds + "\"}";
}

inline std::string Call(const std::string& id, const std::string& sent, const std::string& commit,
                        const std::string& received) {
  return R"({"event":"call","id":")" + id + R"(","lock":"job","sent":")" + Second(sent) +
         R"(","commit":")" + Second(commit) + R"(","received":")" + Second(received) + R"("})";
}

// What processes have and how their clocks are, where a test says nothing of it.
inline constexpr CheckOptions kUsual = {.lease = Seconds(10), .clock_error = Milliseconds(10)};

inline HistoryVerdict Judge(const std::vector<std::string>& lines, CheckOptions options = kUsual,
                            const ProtocolInfo& protocol = V2()) {
  Checker checker(protocol, options);
  JsonLines reader(protocol, {});
  std::vector<Operation> operations;
  Place place = {.file = "h", .line = 0};
  for (const std::string& line : lines) {
    ++place.line;
    operations.clear();
    if (!reader.Read(line, place, operations).empty()) checker.AddUnread(place);
    for (Operation& operation : operations) checker.Add(std::move(operation));
  }
  return checker.Verdict();
}

// Gives lines to the checker, and to what is kept of them. REQUIRES: each line can be read.
inline void Feed(const std::vector<std::string>& lines, const ProtocolInfo& protocol,
                 Checker& checker, History& kept) {
  JsonLines reader(protocol, {});
  for (const std::string& line : lines) {
    std::vector<Operation> operations;
    EXPECT_EQ(reader.Read(line, {.file = "history", .line = 1}, operations), "") << line;
    for (Operation& operation : operations) {
      kept.Add(operation);
      checker.Add(std::move(operation));
    }
  }
}

// What is found of the belief that a process leads, and of leases.
inline Verdict Belief(const std::vector<std::string>& lines, CheckOptions options = kUsual) {
  return Judge(lines, options)[Invariant::kSingleLeaderBelief].verdict;
}
inline Verdict Lease(const std::vector<std::string>& lines, CheckOptions options = kUsual,
                     const ProtocolInfo& protocol = V2()) {
  return Judge(lines, options, protocol)[Invariant::kLeaseRespected].verdict;
}
// This, and a text that contains that.
inline auto Found(Verdict verdict, const std::string& text) {
  return testing::AllOf(testing::Field("verdict", &InvariantResult::verdict, verdict),
                        testing::Field("text", &InvariantResult::text, testing::HasSubstr(text)));
}

inline std::vector<std::string> Joined(std::vector<std::string> lines,
                                       const std::vector<std::string>& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

// b takes the lock from a, whose row is as it was inserted.
inline std::string TakenByB(const std::string& commit, const std::string& token) {
  return Change(commit, "UPDATE", Values(commit, token, "b"), Values("01", "01", "a"));
}

// a takes the lock at 1 s.
inline const std::string kTakes = Change("01", "INSERT", Values("01", "01", "a"), "{}");
// A heartbeat at 8 s whose writer the row does not name, and b's takeover at 13 s.
inline const std::string kBeatAt8 =
    Change("08", "UPDATE", Values("08", "01", "a"), R"({"heartbeat":")" + Second("01") + "\"}");
inline const std::string kTakenAt13 =
    Change("13", "UPDATE", Values("13", "12", "b"), Values("08", "01", "a"));

}  // namespace whorl::check
