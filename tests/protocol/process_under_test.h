// Lets a test drive one process of a protocol: it has a verb for each thing that can happen to the
// process, and writes one line of text for each thing that the process does.
//
//   EXPECT_THAT(a.Starts(), ElementsAre("set wake 1s", "run check"));
//   a.Fails(Code::kUnavailable);         // a protocol's own verb: the reply to what is out
//   EXPECT_THAT(a.Fires(kWake), ElementsAre("run check"));
//
// A verb returns `did`, which holds what the last verb led to. Time stands still unless a verb
// moves it. The wall clock shows the monotonic time, beside what `wall_ahead` adds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/machine.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl {

template <typename Config, typename State>
class ProcessUnderTest {
 public:
  using Did = std::vector<std::string>;

  explicit ProcessUnderTest(Config with) : config(std::move(with)) {}
  ProcessUnderTest(const ProcessUnderTest&) = default;
  ProcessUnderTest& operator=(const ProcessUnderTest&) = default;
  virtual ~ProcessUnderTest() = default;

  // --- what happens ------------------------------------------------------------------------------

  const Did& Starts() { return Hears(Started{}); }
  const Did& Stops(StopReason reason = StopReason::kCancelled) {
    return Hears(StopRequested{.reason = reason});
  }
  const Did& WorkStops() { return Hears(WorkStopped{}); }
  const Did& HearsOfARelease() { return Hears(ReleaseAnnounced{}); }
  const Did& Asks(Question question, AskId ask = 0) {
    return Hears(Asked{.ask = ask, .question = question});
  }
  void Passes(Duration time) { now += time; }
  void At(Duration since_start) { now = ShownAfter(since_start); }
  void At(LocalInstant time) { now = time; }
  // The timer fires at the time for which it was set, or now if that is later.
  const Did& Fires(TimerId timer) {
    const auto set = timers.find(timer);
    if (set == timers.end()) {
      ADD_FAILURE() << TimerText(timer) << " is not set";
      return did;
    }
    now = std::max(now, set->second);
    timers.erase(set);
    return Hears(TimerFired{.timer = timer});
  }

  // --- what it does ------------------------------------------------------------------------------

  LocalTime Clocks() const {
    return {.monotonic = now, .wall = whorl::At(now - LocalInstant{} + wall_ahead)};
  }
  bool Believes() const {
    if constexpr (requires { LeadershipViewOf(state, Clocks()); }) {
      return LeadershipViewOf(state, Clocks()).believes;
    } else {
      return LeadershipViewOf(state).believes;
    }
  }
  // The parameters of the first statement that was sent last.
  const std::vector<Value>& Parameters() const {
    return asked.statements.front().statement.parameters;
  }

  struct Out {
    Transaction transaction;
    LocalInstant since;
    uint64_t order = 0;
  };

  Config config;
  State state;
  ScriptedEntropy entropy;
  LocalInstant now;
  Duration wall_ahead;
  Did did;
  std::vector<Effect> effects;       // the same
  Transaction asked;                 // for last
  std::map<RequestId, Out> running;  // that are out, and those that were cancelled
  std::map<TimerId, LocalInstant> timers;

 protected:
  virtual std::string TimerText(TimerId timer) const = 0;
  virtual std::string RequestText(RequestId /*request*/) const { return ""; }
  virtual std::string NoteText(const Note& note) const { return std::string(WordOf(note.note)); }

  // The transaction that is out under this request ends.
  const Did& Ends(RequestId request, TransactionResult result) {
    const auto found = running.find(request);
    if (found == running.end()) {
      ADD_FAILURE() << "request " << request << " is not out";
      return did;
    }
    const StepName step = found->second.transaction.step;
    running.erase(found);
    return Hears(TransactionEnded{.request = request, .step = step, .result = std::move(result)});
  }
  const Did& Hears(const Event& event) {
    did.clear();
    effects.clear();
    Step(config, state, Clocks(), entropy, event, effects);
    for (const Effect& effect : effects) {
      did.push_back(std::visit([this](const auto& one) { return this->Does(one); }, effect));
    }
    return did;
  }

 private:
  // Each takes note of the effect as a world would, and says it in words.
  std::string Does(const RunTransaction& run) {
    EXPECT_FALSE(running.contains(run.request)) << run.request << " is still out";
    running[run.request] = {.transaction = run.transaction, .since = now, .order = ++orders_};
    asked = run.transaction;
    return "run " + std::string(WordOf(asked.step)) + RequestText(run.request);
  }
  std::string Does(const CancelTransaction& given_up) const {
    return "cancel " + std::string(WordOf(running.at(given_up.request).transaction.step));
  }
  std::string Does(const SetTimer& set) {
    timers[set.timer] = set.at;
    return "set " + TimerText(set.timer) + " " + FormatDuration(set.at - LocalInstant{});
  }
  std::string Does(const CancelTimer& cancelled) {
    timers.erase(cancelled.timer);
    return "cancel " + TimerText(cancelled.timer);
  }
  static std::string Does(const LeadershipChanged& changed) {
    return changed.leader ? "callback 1" : "callback 0";
  }
  // "HasLock yes token=7", or "2: Leader no 'the error'" to a question that has a number.
  static std::string Does(const Answer& answer) {
    std::string text = answer.ask == 0 ? "" : std::to_string(answer.ask) + ": ";
    text += std::string(WordOf(answer.question)) + (answer.yes ? " yes" : " no");
    if (answer.token) text += " token=" + std::to_string(*answer.token);
    if (!answer.text.empty()) text += " '" + answer.text + "'";
    if (answer.number != 0) text += " " + std::to_string(answer.number);
    return text;
  }
  std::string Does(const Note& note) const { return "note " + NoteText(note); }
  static std::string Does(const AnnounceRelease&) { return "announce"; }

  uint64_t orders_ = 0;
};

// "got the lock 2026-01-01T00:00:01Z"
inline std::string NoteWithValues(const Note& note) {
  std::string text(WordOf(note.note));
  for (const Value& value : note.values) text += " " + FormatValue(value);
  return text;
}

}  // namespace whorl
