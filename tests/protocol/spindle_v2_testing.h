// Lets a test drive one process of spindle_v2 (process_under_test.h), with verbs of its own:
//
//   EXPECT_THAT(spindle.Starts(), ElementsAre("set tick 10s", "set wake 1s", "run check"));
//   spindle.SeesNoRow();                 // the check's reply
//   spindle.Commits(At(Seconds(1)));     // the INSERT that followed
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "protocol/machine.h"
#include "protocol/spindle_v2/lock.h"
#include "protocol/spindle_v2/spindle_v2.h"
#include "tests/protocol/process_under_test.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::spindle_v2 {

inline Config MakeTestConfig(Duration lease = Seconds(10), std::string id = "a") {
  return MakeConfig("locktable", "job", std::move(id), lease);
}

// Machine is State, or LockState for the blocking wrapper.
template <typename Machine>
class Process : public ProcessUnderTest<Config, Machine> {
  using Base = ProcessUnderTest<Config, Machine>;
  using Base::Ends;

 public:
  using Base::Fires;
  using Base::running;
  using typename Base::Did;

  explicit Process(Config with = MakeTestConfig()) : Base(std::move(with)) {}

  const Did& Ticks(uint16_t run = 0) { return Fires(TimerOf(run, 0)); }
  const Did& Wakes(uint16_t run = 0) { return Fires(TimerOf(run, 1)); }
  const Did& Polls() { return Fires(0xffff); }

  // The reply to what the round has asked for.
  const Did& SeesNoRow(uint16_t run = 0) { return Ends(Round(run), Found({})); }
  // The check's: the age that Spanner computed, and the token.
  const Did& Sees(Value age_ms, Value token, uint16_t run = 0) {
    return Ends(Round(run), Found({{std::move(age_ms), std::move(token)}}));
  }
  // The next round's check does.
  const Did& TicksAndSees(Value age_ms, Value token) {
    Ticks();
    return Sees(std::move(age_ms), std::move(token));
  }
  // The second read's: it does not ask for the age.
  const Did& Rereads(Value token, Value writer = Null{}, uint16_t run = 0) {
    return Ends(Round(run), Found({{std::move(token), std::move(writer)}}));
  }
  const Did& Commits(Timestamp at, uint16_t run = 0) { return Ends(Round(run), Committed(at, 1)); }
  const Did& CommitsWithoutARow(Timestamp at) { return Ends(Round(0), Committed(at, 0)); }
  const Did& Fails(Code code = Code::kInternal, uint16_t run = 0) {
    return Ends(Round(run), Failed(code));
  }
  const Did& EndsUnknown() { return Ends(Round(0), whorl::EndedUnknown()); }

  // The reply to the heartbeat loop's transaction.
  const Did& BeatCommits() { return Ends(Beat(0), Committed({}, 1)); }
  const Did& BeatFails() { return Ends(Beat(0), Failed(Code::kInternal)); }

  // The reply to a question's read.
  const Did& AnswersRow(Value token, Value writer, AskId ask = 0) {
    return Ends(Ask(ask), Found({{std::move(token), std::move(writer)}}));
  }
  const Did& AnswersNoRow() { return Ends(Ask(0), Found({})); }
  const Did& AnswersError(AskId ask = 0) { return Ends(Ask(ask), Failed(Code::kInternal)); }

  // The transaction that the round, or the heartbeat loop, waits for.
  const Transaction& InRound() const { return running.at(Round(0)).transaction; }
  const Transaction& InBeat() const { return running.at(Beat(0)).transaction; }
  bool RoundIsOver() const { return !running.contains(Round(0)); }
  bool IsBeating() const { return running.contains(Beat(0)); }
  bool HasTimer(TimerId timer) const { return this->timers.contains(timer); }
  static constexpr TimerId TimerOf(uint16_t run, uint16_t which) {
    return static_cast<TimerId>(run * 4 + which);
  }

 private:
  static constexpr RequestId Round(uint16_t run) { return static_cast<RequestId>(run * 4); }
  static constexpr RequestId Beat(uint16_t run) { return static_cast<RequestId>(run * 4 + 1); }
  static constexpr RequestId Ask(AskId ask) {
    return static_cast<RequestId>(kFirstAskRequest + ask);
  }

  std::string NoteText(const Note& note) const override { return NoteWithValues(note); }
  // " of run 1", " for ask 7": of the first of each, nothing.
  std::string RequestText(uint16_t id) const override {
    const int number = id >= kFirstAskRequest ? id - kFirstAskRequest : id / 4;
    if (number == 0) return "";
    return (id >= kFirstAskRequest ? " for ask " : " of run ") + std::to_string(number);
  }
  std::string TimerText(TimerId timer) const override {
    if (timer == 0xffff) return "poll";
    return (timer % 4 == 0 ? "tick" : "wake") + RequestText(timer);
  }
};

using Spindle = Process<State>;
using Wrapper = Process<LockState>;

class SpindleTest : public testing::Test {
 protected:
  Spindle spindle;
};

// Wins the absent row at time 0, with a first round that has ended: own token = the commit's.
inline void WinsFirst(Spindle& spindle, Timestamp token) {
  spindle.Starts();
  spindle.SeesNoRow();
  spindle.Commits(token);
}

// Wins, and has noticed: the leader counter is 1, the first callback was made, at 10 s.
inline void Leads(Spindle& spindle, Timestamp token) {
  WinsFirst(spindle, token);
  spindle.Ticks();
  spindle.Sees(9'990, token);
  spindle.Commits({});
}

// Follows another process's live lease: one round has ended with callback(0).
inline void Follows(Spindle& spindle, Timestamp token) {
  spindle.Starts();
  spindle.Sees(500, token);
}

}  // namespace whorl::spindle_v2
