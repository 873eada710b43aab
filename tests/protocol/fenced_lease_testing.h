// One process of fenced_lease under a test's hands: verbs for what happens to it, and one line of
// text for each thing that it does.
//
//   Lease a;
//   a.Starts();
//   EXPECT_THAT(a.did, ElementsAre("cancel poll", "run read"));
//   a.SeesNoRow();                       // the read's reply
//   a.Wins(At(Seconds(1)));              // the CREATE that followed
//
// Time stands still unless a verb moves it. `did` holds what the last verb led to. A Commit counts
// as first sent when its transaction was asked for, unless the test says otherwise (`sent`).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/fenced_lease/fenced_lease.h"
#include "protocol/fenced_lease/words.h"
#include "protocol/machine.h"
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

class Lease {
 public:
  explicit Lease(Duration lease = Seconds(10), std::string id = "a")
      : config(MakeConfig("locktable", "job", std::move(id), lease)) {}

  // --- what happens ------------------------------------------------------------------------------

  void Starts() { Hears(Started{}); }
  void Stops() { Hears(StopRequested{}); }
  void WorkIsOver() { Hears(WorkStopped{}); }
  void HearsOfARelease() { Hears(ReleaseAnnounced{}); }
  void Asks(Question question = Question::kHasLock) {
    Hears(Asked{.ask = 1, .question = question});
  }
  bool HasLock() {
    Asks();
    return did.at(did.size() - 1).find(" yes") != std::string::npos;
  }
  void At(Duration time) { now = ShownAfter(time); }
  void At(LocalInstant time) { now = time; }
  // The timer fires at the time for which it was set, or now if that is later.
  void Fires(TimerOfLease timer) {
    ASSERT_TRUE(timers.contains(timer)) << "timer " << timer << " is not set";
    now = std::max(now, timers.at(timer));
    timers.erase(timer);
    Hears(TimerFired{.timer = timer});
  }

  void Sees(const TestRow& row, std::optional<Timestamp> read_timestamp = std::nullopt) {
    const auto* heartbeat = std::get_if<Timestamp>(&row.heartbeat);
    const Value current = heartbeat == nullptr ? Value(Null{}) : Value(*heartbeat + row.age);
    TransactionResult result =
        Found({{row.heartbeat, row.token, row.writer, row.lease_ms, row.attempt, current}});
    result.read_timestamp = read_timestamp;
    Ends(steps::kRead, std::move(result));
  }
  void SeesNoRow() { Ends(steps::kRead, Found({})); }
  void CannotRead() { Ends(steps::kRead, Failed(Code::kUnavailable)); }

  // A TAKE or CREATE, whichever is out.
  void Wins(Timestamp commit) { Ends(Claiming(), Committed(commit, 1)); }
  void Loses() { Ends(Claiming(), Committed({}, 0)); }
  void ClaimFails(Code code) { Ends(Claiming(), Failed(code)); }
  void ClaimEndsUnknown() { Ends(Claiming(), EndedUnknown()); }
  // The oldest BEAT that is out.
  void BeatCommits(Timestamp commit) { Ends(steps::kBeat, Committed(commit, 1)); }
  void BeatFindsNothing() { Ends(steps::kBeat, Committed({}, 0)); }
  void BeatFails() { Ends(steps::kBeat, Failed(Code::kUnavailable)); }
  void BeatEndsUnknown() { Ends(steps::kBeat, EndedUnknown()); }
  void ReleaseCommits() { Ends(steps::kRelease, Committed(whorl::At(now - LocalInstant{}), 1)); }
  void ReleaseFindsNothing() { Ends(steps::kRelease, Committed({}, 0)); }
  void ReleaseEndsUnknown() { Ends(steps::kRelease, EndedUnknown()); }

  // --- what it does ------------------------------------------------------------------------------

  // Whether such a transaction is out; the oldest of them.
  bool IsOut(StepName step) const { return Find(step) != running.end(); }
  const Transaction& Out(StepName step) const { return Find(step)->second.transaction; }
  const Value& Parameter(StepName step, size_t place) const {
    return Out(step).statements.front().statement.parameters.at(place);
  }
  // The attempt id of the claim that is out.
  std::string Attempt() const { return std::get<std::string>(Parameter(Claiming(), 3)); }
  size_t CountOut(StepName step) const {
    return static_cast<size_t>(std::count_if(running.begin(), running.end(), [&](const auto& one) {
      return one.second.transaction.step == step;
    }));
  }

  Config config;
  State state;
  ScriptedEntropy entropy;
  LocalInstant now;
  // When the Commit of the next answered write was first sent; nullopt: when the write was requested.
  std::optional<LocalInstant> sent;
  std::vector<std::string> did;
  std::map<TimerId, LocalInstant> timers;

 private:
  struct Running {
    Transaction transaction;
    LocalInstant since;
    uint64_t order = 0;
  };
  using Runs = std::map<RequestId, Running>;

  Runs::const_iterator Find(StepName step) const {
    auto oldest = running.end();
    for (auto one = running.begin(); one != running.end(); ++one) {
      if (one->second.transaction.step != step) continue;
      if (oldest == running.end() || one->second.order < oldest->second.order) oldest = one;
    }
    return oldest;
  }
  StepName Claiming() const { return IsOut(steps::kTake) ? steps::kTake : steps::kCreate; }

  void Ends(StepName step, TransactionResult result) {
    const auto found = Find(step);
    ASSERT_TRUE(found != running.end()) << WordOf(step) << " is not out";
    const RequestId request = found->first;
    const bool sent_commit = step != steps::kRead && result.outcome != Outcome::kAborted;
    if (sent_commit) result.commit_sent = sent.value_or(found->second.since);
    sent.reset();
    running.erase(found);
    Hears(TransactionEnded{.request = request, .step = step, .result = std::move(result)});
  }
  void Hears(const Event& event) {
    did.clear();
    std::vector<Effect> effects;
    Step(config, state, {.monotonic = now, .wall = {}}, entropy, event, effects);
    for (const Effect& effect : effects) did.push_back(Does(effect));
  }

  // Takes note of the effect as a world would, and says it in words.
  std::string Does(const Effect& effect) {
    if (const auto* run = std::get_if<RunTransaction>(&effect)) {
      EXPECT_FALSE(running.contains(run->request)) << run->request << " is still out";
      running[run->request] = {.transaction = run->transaction, .since = now, .order = ++asked_};
      return "run " + std::string(WordOf(run->transaction.step));
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
    if (const auto* answer = std::get_if<Answer>(&effect)) {
      std::string text = answer->yes ? "answer yes" : "answer no";
      if (answer->token) text += " token=" + std::to_string(*answer->token);
      if (!answer->text.empty()) text += " '" + answer->text + "'";
      return text;
    }
    if (std::holds_alternative<AnnounceRelease>(effect)) return "announce";
    const auto& note = std::get<Note>(effect);
    std::string text = "note " + std::string(WordOf(note.note));
    for (const Value& value : note.values) text += " " + FormatValue(value);
    return text;
  }
  static std::string TimerText(TimerId timer) {
    constexpr std::array<const char*, 5> kTexts = {"poll", "take", "beat", "believe", "deadline"};
    return kTexts.at(timer);
  }

  Runs running;
  uint64_t asked_ = 0;
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
inline TestRow TheirRow() { return {.heartbeat = At(Seconds(-1)), .token = At(Seconds(-1))}; }
inline void Follows(Lease& lease) {
  lease.Starts();
  lease.Sees(TheirRow(), At({}));
}

}  // namespace whorl::fenced_lease
