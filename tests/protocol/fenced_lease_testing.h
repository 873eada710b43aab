// One process of fenced_lease under a test's hands (process_under_test.h), with its own verbs:
//
//   EXPECT_THAT(a.Starts(), ElementsAre("cancel poll", "run read"));
//   a.SeesNoRow();                       // the read's reply
//   a.Wins(At(Seconds(1)));              // the CREATE that followed
//
// A Commit counts as first sent when its transaction was asked for, unless the test says otherwise
// (`sent`).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "protocol/fenced_lease/fenced_lease.h"
#include "protocol/fenced_lease/words.h"
#include "protocol/machine.h"
#include "tests/protocol/process_under_test.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::fenced_lease {

// The row as another process, or this one, left it.
struct TestRow {
  Value heartbeat = Null{};
  Value token = Null{};
  Value writer = std::string("b");
  Value lease_ms = int64_t{10'000};
  Value attempt = std::string("theirs-1");
  Duration age;  // of the heartbeat, by CURRENT_TIMESTAMP
};

class Lease : public ProcessUnderTest<Config, State> {
 public:
  explicit Lease(Duration lease = Seconds(10), std::string id = "a")
      : ProcessUnderTest(MakeConfig("locktable", "job", std::move(id), lease)) {}

  bool HasLock() { return Asks(Question::kHasLock).back().find(" yes") != std::string::npos; }

  const Did& Sees(const TestRow& row, std::optional<Timestamp> read_timestamp = std::nullopt) {
    const auto* heartbeat = std::get_if<Timestamp>(&row.heartbeat);
    const Value current = heartbeat == nullptr ? Value(Null{}) : Value(*heartbeat + row.age);
    TransactionResult result =
        Found({{row.heartbeat, row.token, row.writer, row.lease_ms, row.attempt, current}});
    result.read_timestamp = read_timestamp;
    return Ends(steps::kRead, std::move(result));
  }
  // The row of an attempt of its own, as its claim wrote it.
  const Did& SeesItsOwn(Timestamp token, std::string attempt) {
    return Sees({.heartbeat = token, .token = token, .attempt = std::move(attempt)});
  }
  const Did& SeesNoRow() { return Ends(steps::kRead, Found({})); }
  const Did& CannotRead() { return Ends(steps::kRead, Failed(Code::kUnavailable)); }

  // A TAKE or CREATE, whichever is out.
  const Did& Wins(Timestamp commit) { return Ends(Claiming(), Committed(commit, 1)); }
  const Did& Loses() { return Ends(Claiming(), Committed({}, 0)); }
  const Did& ClaimFails(Code code) { return Ends(Claiming(), Failed(code)); }
  const Did& ClaimEndsUnknown() { return Ends(Claiming(), EndedUnknown()); }
  // The oldest BEAT that is out.
  const Did& BeatCommits(Timestamp commit) { return Ends(steps::kBeat, Committed(commit, 1)); }
  const Did& BeatFindsNothing() { return Ends(steps::kBeat, Committed({}, 0)); }
  const Did& BeatFails() { return Ends(steps::kBeat, Failed(Code::kUnavailable)); }
  const Did& BeatEndsUnknown() { return Ends(steps::kBeat, EndedUnknown()); }
  const Did& ReleaseCommits() { return Ends(steps::kRelease, Committed(Clocks().wall, 1)); }
  const Did& ReleaseFindsNothing() { return Ends(steps::kRelease, Committed({}, 0)); }
  const Did& ReleaseEndsUnknown() { return Ends(steps::kRelease, EndedUnknown()); }

  // Whether such a transaction is out; the oldest of them.
  bool IsOut(StepName step) const { return Find(step) != running.end(); }
  const Transaction& Out(StepName step) const { return Find(step)->second.transaction; }
  const Value& Parameter(StepName step, size_t place) const {
    return Out(step).statements.front().statement.parameters.at(place);
  }
  // The attempt id of the claim that is out.
  std::string Attempt() const { return std::get<std::string>(Parameter(Claiming(), 3)); }
  int64_t CountOut(StepName step) const {
    return std::ranges::count_if(
        running, [&](const auto& one) { return one.second.transaction.step == step; });
  }

  // When the Commit of the next answered write was first sent; nullopt: when the write was requested.
  std::optional<LocalInstant> sent;

 private:
  auto Find(StepName step) const -> decltype(running.begin()) {
    auto oldest = running.end();
    for (auto one = running.begin(); one != running.end(); ++one) {
      if (one->second.transaction.step != step) continue;
      if (oldest == running.end() || one->second.order < oldest->second.order) oldest = one;
    }
    return oldest;
  }
  StepName Claiming() const { return IsOut(steps::kTake) ? steps::kTake : steps::kCreate; }

  const Did& Ends(StepName step, TransactionResult result) {
    const auto found = Find(step);
    if (found == running.end()) {
      ADD_FAILURE() << WordOf(step) << " is not out";
      return did;
    }
    const bool sent_commit = step != steps::kRead && result.outcome != Outcome::kAborted;
    if (sent_commit) result.commit_sent = sent.value_or(found->second.since);
    sent.reset();
    return ProcessUnderTest::Ends(found->first, std::move(result));
  }

  std::string NoteText(const Note& note) const override { return NoteWithValues(note); }
  std::string TimerText(TimerId timer) const override {
    constexpr std::array<const char*, 5> kTexts = {"poll", "take", "beat", "believe", "deadline"};
    return kTexts.at(timer);
  }
};

class LeaseTest : public testing::Test {
 protected:
  Lease a;
};

// Takes a released row at time 0 and leads: s = 0, token = At(1 ms).
inline Timestamp FirstToken() { return At(Milliseconds(1)); }
inline TestRow ReleasedRow() {
  return {.heartbeat = At(Seconds(-60)), .writer = Null{}, .attempt = Null{}};
}
inline void Leads(Lease& lease) {
  lease.Starts();
  lease.Sees(ReleasedRow());
  lease.Wins(FirstToken());
}

// Follows another process's live lease, whose heartbeat it saw first at time 0.
inline TestRow TheirRow(Duration age = {}) {
  return {.heartbeat = At(Seconds(-1)), .token = At(Seconds(-1)), .age = age};
}
inline void Follows(Lease& lease) {
  lease.Starts();
  lease.Sees(TheirRow(), At({}));
}

}  // namespace whorl::fenced_lease
