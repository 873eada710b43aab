// One process of spindle_v2 under a test's hands: verbs for what happens to it, and one line of
// text for each thing that it does.
//
//   Spindle a;
//   a.Starts();
//   EXPECT_THAT(a.did, ElementsAre("set tick 10s", "set wake 1s", "run check"));
//   a.SeesNoRow();                       // the check's reply
//   a.Commits(At(Seconds(1)));           // the INSERT that followed
//
// Time stands still unless a verb moves it. `did` holds what the last verb led to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/machine.h"
#include "protocol/spindle_v2/lock.h"
#include "protocol/spindle_v2/spindle_v2.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::spindle_v2 {

inline Config MakeTestConfig(Duration lease = Seconds(10), std::string id = "a") {
  return MakeConfig("locktable", "job", std::move(id), lease);
}

// Machine is State, or LockState for the blocking wrapper.
template <typename Machine>
class Process {
 public:
  explicit Process(Config with = MakeTestConfig()) : config(std::move(with)) {}

  // --- what happens ------------------------------------------------------------------------------

  void Starts() { Hears(Started{}); }
  void Stops(StopReason reason = StopReason::kCancelled) { Hears(StopRequested{.reason = reason}); }
  void Asks(Question question, AskId ask = 1) { Hears(Asked{.ask = ask, .question = question}); }
  void At(Duration time) { now = ShownAfter(time); }
  void At(LocalInstant time) { now = time; }
  // The timer fires at the time for which it was set.
  void Ticks(uint16_t run = 0) { Fires(TimerOf(run, 0)); }
  void Wakes(uint16_t run = 0) { Fires(TimerOf(run, 1)); }
  void Polls() { Fires(0xffff); }

  // The reply to what the round has asked for.
  void SeesNoRow(uint16_t run = 0) { Ends(Round(run), Found({})); }
  // The check's: the age that Spanner computed, and the token.
  void Sees(Value age_ms, Value token, uint16_t run = 0) {
    Ends(Round(run), Found({{std::move(age_ms), std::move(token)}}));
  }
  // The second read's: it does not ask for the age.
  void Rereads(Value token, Value writer = Null{}, uint16_t run = 0) {
    Ends(Round(run), Found({{std::move(token), std::move(writer)}}));
  }
  void Commits(Timestamp at, uint16_t run = 0) { Ends(Round(run), Committed(at, 1)); }
  void CommitsWithoutARow(Timestamp at) { Ends(Round(0), Committed(at, 0)); }
  void Fails(Code code = Code::kInternal, uint16_t run = 0) { Ends(Round(run), Failed(code)); }
  void EndsUnknown(uint16_t run = 0) {
    TransactionResult result = Failed(Code::kDeadlineExceeded);
    result.outcome = Outcome::kUnknown;
    Ends(Round(run), std::move(result));
  }

  // The reply to the heartbeat loop's transaction.
  void BeatCommits(uint16_t run = 0) { Ends(Beat(run), Committed({}, 1)); }
  void BeatFails(uint16_t run = 0) { Ends(Beat(run), Failed(Code::kInternal)); }

  // The reply to a question's read.
  void AnswersRow(AskId ask, Value token, Value writer) {
    Ends(Ask(ask), Found({{std::move(token), std::move(writer)}}));
  }
  void AnswersNoRow(AskId ask) { Ends(Ask(ask), Found({})); }
  void AnswersError(AskId ask) { Ends(Ask(ask), Failed(Code::kInternal)); }

  // --- what it does ------------------------------------------------------------------------------

  // The transaction that the round, or the heartbeat loop, waits for.
  const Transaction& InRound(uint16_t run = 0) const { return running.at(Round(run)); }
  const Transaction& InBeat(uint16_t run = 0) const { return running.at(Beat(run)); }
  bool IsRunning(RequestId request) const { return running.contains(request); }
  bool RoundIsOver(uint16_t run = 0) const { return !running.contains(Round(run)); }
  bool IsBeating(uint16_t run = 0) const { return running.contains(Beat(run)); }
  bool HasTimer(TimerId timer) const { return timers.contains(timer); }
  static constexpr TimerId TimerOf(uint16_t run, uint16_t which) {
    return static_cast<TimerId>(run * 4 + which);
  }

  Config config;
  Machine state;
  ScriptedEntropy entropy;
  LocalInstant now;
  std::vector<std::string> did;
  std::vector<Effect> effects;
  std::map<RequestId, Transaction> running;
  std::map<TimerId, LocalInstant> timers;

 private:
  static constexpr RequestId Round(uint16_t run) { return static_cast<RequestId>(run * 4); }
  static constexpr RequestId Beat(uint16_t run) { return static_cast<RequestId>(run * 4 + 1); }
  static constexpr RequestId Ask(AskId ask) {
    return static_cast<RequestId>(kFirstAskRequest + ask);
  }

  void Fires(TimerId timer) {
    ASSERT_TRUE(timers.contains(timer)) << "no timer " << timer << " is set";
    now = std::max(now, timers.at(timer));
    timers.erase(timer);
    Hears(TimerFired{.timer = timer});
  }
  void Ends(RequestId request, TransactionResult result) {
    ASSERT_TRUE(running.contains(request)) << "request " << request << " is not out";
    const StepName step = running.at(request).step;
    running.erase(request);
    Hears(TransactionEnded{.request = request, .step = step, .result = std::move(result)});
  }
  void Hears(const Event& event) {
    did.clear();
    effects.clear();
    Step(config, state, {.monotonic = now, .wall = {}}, entropy, event, effects);
    for (const Effect& effect : effects) did.push_back(Does(effect));
  }

  // Takes note of the effect as a world would, and says it in words.
  std::string Does(const Effect& effect) {
    if (const auto* run = std::get_if<RunTransaction>(&effect)) {
      EXPECT_FALSE(running.contains(run->request)) << run->request << " is still out";
      running[run->request] = run->transaction;
      return "run " + std::string(WordOf(run->transaction.step)) + Of(run->request);
    }
    if (const auto* set = std::get_if<SetTimer>(&effect)) {
      timers[set->timer] = set->at;
      return "set " + TimerText(set->timer) + " " + FormatDuration(set->at - LocalInstant{});
    }
    if (const auto* cancel = std::get_if<CancelTimer>(&effect)) {
      timers.erase(cancel->timer);
      return "cancel " + TimerText(cancel->timer);
    }
    if (const auto* changed = std::get_if<LeadershipChanged>(&effect)) {
      return changed->leader ? "callback 1" : "callback 0";
    }
    if (const auto* answer = std::get_if<Answer>(&effect)) return AnswerText(*answer);
    const auto& note = std::get<Note>(effect);
    std::string text = "note " + std::string(WordOf(note.note));
    for (const Value& value : note.values) text += " " + FormatValue(value);
    return text;
  }
  static std::string Of(uint16_t id) {
    if (id >= kFirstAskRequest) return " for ask " + std::to_string(id - kFirstAskRequest);
    return id / 4 == 0 ? "" : " of run " + std::to_string(id / 4);
  }
  static std::string TimerText(TimerId timer) {
    if (timer == 0xffff) return "poll";
    return (timer % 4 == 0 ? "tick" : "wake") + Of(timer);
  }
  static std::string AnswerText(const Answer& answer) {
    std::string text = "answer " + std::to_string(answer.ask) + " " +
                       std::string(WordOf(answer.question)) + (answer.yes ? " yes" : " no");
    if (answer.token) text += " token=" + std::to_string(*answer.token);
    if (!answer.text.empty()) text += " '" + answer.text + "'";
    if (answer.number != 0) text += " " + std::to_string(answer.number);
    return text;
  }
};

using Spindle = Process<State>;
using Wrapper = Process<LockState>;

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
  spindle.Sees(int64_t{9'990}, token);
  spindle.Commits({});
}

// Follows another process's live lease: one round has ended with callback(0).
inline void Follows(Spindle& spindle, Timestamp token) {
  spindle.Starts();
  spindle.Sees(int64_t{500}, token);
}

}  // namespace whorl::spindle_v2
