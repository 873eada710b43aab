// Crafted traces for the tests of checkers: verbs that append observations at the current instant.
//
//   Trace trace{"a", "b"};
//   trace.At(Seconds(1)).Starts("a").Grants("a", Seconds(1));
//   const CheckReport report = trace.EndsAt(Seconds(30));
//
// Times, tokens and commit timestamps are all given as time since the start of the run. Node names
// are looked up in the scenario; the incarnation is that of the node's last Starts().
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/lease_lock/words.h"
#include "protocol/semaphore/words.h"
#include "protocol/spindle_v3/words.h"
#include "sim/judge/run_judge.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

inline Timestamp Stamp(Duration since_start) { return kStartTime + since_start; }
inline Instant InstantOf(Duration since_start) { return {since_start.ns}; }

// A scenario of spindle_v2 with these nodes: by default one lock named "lock", leases of 10 s.
inline Scenario MakeScenario(const std::vector<std::string>& nodes,
                             std::vector<std::string> locks = {"lock"}) {
  Scenario scenario;
  scenario.protocol = "spindle_v2";
  scenario.locks = std::move(locks);
  for (const std::string& name : nodes) {
    NodeSpec node{.name = name};
    for (size_t lock = 0; lock < scenario.locks.size(); ++lock) {
      node.locks.push_back(static_cast<uint16_t>(lock));
    }
    scenario.nodes.push_back(node);
  }
  return scenario;
}

class Trace {
 public:
  static constexpr Duration kRoundTrip = Milliseconds(50);  // R is 200 ms
  static constexpr Duration kBound = Milliseconds(31'200);  // W of no_wedge for leases of 10 s

  Trace(std::initializer_list<std::string> nodes) : Trace(MakeScenario(nodes)) {}
  explicit Trace(Scenario scenario)
      : scenario_(std::move(scenario)),
        incarnations_(scenario_.nodes.size()),
        judge_(scenario_, kRoundTrip) {}

  Trace& At(Duration since_start) {
    now_ = {since_start.ns};
    return *this;
  }
  // What follows is about the lock of this name.
  Trace& Lock(std::string_view name) {
    lock_ = LockOf(name);
    return *this;
  }
  Trace& Happens(ObservedEvent what) {
    observations_.push_back({.at = now_, .what = std::move(what)});
    judge_.Observe(observations_.back());
    return *this;
  }

  // --- lives ---
  Trace& Starts(std::string_view node) {
    ++incarnations_[static_cast<size_t>(NodeOf(node))];
    return Happens(ProcessStarted{.process = Process(node)});
  }
  Trace& Stops(std::string_view node) { return Happens(ProcessStopped{.process = Process(node)}); }
  Trace& Crashes(std::string_view node) {
    return Happens(ProcessGone{.process = Process(node), .crashed = true});
  }
  Trace& Pauses(std::string_view node) { return Happens(ProcessPaused{.process = Process(node)}); }
  Trace& Resumes(std::string_view node) {
    return Happens(ProcessResumed{.process = Process(node)});
  }
  Trace& EndsParticipation(std::string_view node) {
    return Happens(ParticipationEnded{.process = Process(node), .lock = lock_});
  }
  Trace& LinkIs(std::string_view node, LinkState link) {
    return Happens(LinkChanged{.node = NodeOf(node), .link = link});
  }

  // --- rows ---
  // A row of the start.
  Trace& RowIsThere(const std::string& key, std::optional<Duration> token,
                    std::optional<Duration> heartbeat) {
    return Commits(ProcessId{}, key, RowOf(key, heartbeat, token), Duration{now_.ns});
  }
  // Installs a token; the commit timestamp, and so the heartbeat, is now or as given.
  Trace& Grants(std::string_view node, Duration token, std::optional<Duration> commit = {}) {
    const std::string key = scenario_.locks[lock_];
    const Duration at = commit.value_or(Duration{now_.ns});
    return Commits(Process(node), key, RowOf(key, at, token), at);
  }
  Trace& Heartbeats(std::string_view node) {
    Row row = rows_.at(scenario_.locks[lock_]);
    row[1] = ToTimestamp(now_);
    return Commits(Process(node), scenario_.locks[lock_], row, Duration{now_.ns});
  }
  // Inserts a takeover row, or any other without a token.
  Trace& Inserts(std::string_view node, const std::string& key) {
    return Commits(Process(node), key, RowOf(key, {}, {}), Duration{now_.ns});
  }
  Trace& Deletes(std::string_view node, const std::string& key,
                 std::optional<Duration> commit = {}) {
    return Commits(Process(node), key, std::nullopt, commit.value_or(Duration{now_.ns}));
  }
  Trace& OperatorDeletes(const std::string& key) {
    return Commits(ProcessId{}, key, std::nullopt, Duration{now_.ns});
  }
  Trace& Commits(ProcessId writer, const std::string& key, std::optional<Row> after,
                 Duration commit) {
    RowCommitted committed{.writer = writer, .lock = lock_};
    if (const auto found = rows_.find(key); found != rows_.end()) committed.before = found->second;
    committed.after = after;
    committed.commit = Stamp(commit);
    if (after) {
      rows_[key] = *after;
    } else {
      rows_.erase(key);
    }
    return Happens(committed);
  }

  // --- what processes know and say ---
  // The process takes the token for its own, and answers when asked.
  Trace& Knows(std::string_view node, std::optional<Duration> token, bool answers = true,
               bool believes = false) {
    LeadershipView standing{.answers = answers, .believes = believes};
    if (token) standing.own_token = Stamp(*token);
    return Happens(
        LeadershipViewChanged{.process = Process(node), .lock = lock_, .standing = standing});
  }
  Trace& Believes(std::string_view node, bool believes = true) {
    return Happens(BeliefChanged{.process = Process(node), .lock = lock_, .believes = believes});
  }
  Trace& IsAnsweredYes(std::string_view node, Duration asked_at, std::optional<uint64_t> token = {},
                       Question question = Question::kHasLock) {
    return IsTold(node, true, asked_at, token, question);
  }
  Trace& IsTold(std::string_view node, bool yes, Duration asked_at,
                std::optional<uint64_t> token = {}, Question question = Question::kHasLock) {
    return Happens(QuestionAnswered{.process = Process(node),
                                    .lock = lock_,
                                    .answer = {.question = question, .yes = yes, .token = token},
                                    .asked_at = InstantOf(asked_at)});
  }

  // --- faults, transactions, writes ---
  Trace& FaultBegins(uint32_t fault = 0) { return Happens(FaultBegan{.fault = fault}); }
  Trace& FaultEnds(uint32_t fault = 0) { return Happens(FaultEnded{.fault = fault}); }
  Trace& Begins(std::string_view node, RequestId request) {
    return Happens(TransactionStarted{.process = Process(node), .lock = lock_, .request = request});
  }
  Trace& Hangs(std::string_view node, RequestId request) {
    return Happens(CallSent{.call = CallOf(node, request)})
        .Happens(CallHangs{.call = CallOf(node, request)});
  }
  Trace& Finishes(std::string_view node, RequestId request, Outcome outcome = Outcome::kCommitted) {
    return Happens(TransactionFinished{
        .process = Process(node), .lock = lock_, .request = request, .outcome = outcome});
  }
  Trace& IsAtWork(std::string_view node, bool at_work = true) {
    return Happens(WorkChanged{.process = Process(node), .lock = lock_, .at_work = at_work});
  }
  Trace& SendsWrite(std::string_view node, bool fenced, uint64_t token) {
    return Happens(
        WriteSent{.process = Process(node), .lock = lock_, .fenced = fenced, .token = token});
  }
  Trace& Writes(std::string_view node, bool fenced, bool accepted,
                std::optional<uint64_t> token = {}) {
    return Happens(WriteArrived{.process = Process(node),
                                .lock = lock_,
                                .fenced = fenced,
                                .token = token,
                                .accepted = accepted});
  }

  CheckReport EndsAt(Duration end) {
    At(end).Happens(RunEnded{});
    return judge_.Finish(now_);
  }

  ProcessId Process(std::string_view node) const {
    const int16_t index = NodeOf(node);
    return {.node = index, .incarnation = incarnations_[static_cast<size_t>(index)]};
  }
  CallName CallOf(std::string_view node, RequestId request) const {
    return {.process = Process(node), .lock = lock_, .request = request};
  }
  const RunJudge& judge() const { return judge_; }
  const Scenario& scenario() const { return scenario_; }
  const std::vector<Observation>& observations() const { return observations_; }

 private:
  int16_t NodeOf(std::string_view name) const {
    for (size_t i = 0; i < scenario_.nodes.size(); ++i) {
      if (scenario_.nodes[i].name == name) return static_cast<int16_t>(i);
    }
    std::abort();
  }
  uint16_t LockOf(std::string_view name) const {
    const auto found = std::find(scenario_.locks.begin(), scenario_.locks.end(), name);
    if (found == scenario_.locks.end()) std::abort();
    return static_cast<uint16_t>(found - scenario_.locks.begin());
  }
  static Row RowOf(const std::string& key, std::optional<Duration> heartbeat,
                   std::optional<Duration> token) {
    Row row = {key, Null{}, Null{}, Null{}};
    if (heartbeat) row[1] = Stamp(*heartbeat);
    if (token) row[2] = Stamp(*token);
    return row;
  }

  Scenario scenario_;
  std::vector<uint32_t> incarnations_;
  RunJudge judge_;
  std::map<std::string, Row> rows_;
  std::vector<Observation> observations_;
  Instant now_;
  uint16_t lock_ = 0;
};

// a and b are up at 1 s, and a takes the lock then; it knows so, or has not heard of it yet.
inline Trace TakenByA() {
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Grants("a", Seconds(1));
  return trace;
}
inline Trace HeldByA() {
  Trace trace = TakenByA();
  trace.Knows("a", Seconds(1));
  return trace;
}

// Commits of one lock's row, at the trace's time, for protocols whose rows are not spindle v2's. An
// owner's name need not be the node's.
class OneRow {
 public:
  explicit OneRow(Trace& trace) : trace_(trace) {}

  OneRow& At(Duration time) {
    now_ = time;
    trace_.At(time);
    return *this;
  }
  // spindle_v3: (name, token, owner), the token being the commit timestamp unless a test says not.
  OneRow& Acquires(const std::string& node) {
    return Writes(node, spindle_v3::steps::kAcquire, now_);
  }
  OneRow& Beats(const std::string& node) {
    return Writes(node, spindle_v3::steps::kHeartbeat, now_);
  }
  OneRow& Writes(const std::string& node, StepName step, Duration token) {
    return Commits(trace_.Process(node), step, Row{std::string("lock"), Stamp(token), node});
  }
  // semaphore: the owner was seen now.
  OneRow& Updates(const std::string& node, const std::string& service) {
    return Commits(trace_.Process(node), semaphore::steps::kUpdate,
                   Row{int64_t{1}, service, Stamp(now_)});
  }
  // lease_lock: leased for ten seconds.
  OneRow& Leases(const std::string& node, StepName step, const std::string& owner) {
    const Timestamp until = Stamp(now_ + Seconds(10));
    return Commits(trace_.Process(node), step,
                   Row{std::string("lock"), owner, until, Stamp(now_), until});
  }
  OneRow& Releases(const std::string& node) {
    return Commits(trace_.Process(node), lease_lock::steps::kRelease, std::nullopt);
  }
  OneRow& Commits(ProcessId writer, StepName step, std::optional<Row> after) {
    trace_.Happens(RowCommitted{.writer = writer,
                                .lock = 0,
                                .step = step,
                                .before = row_,
                                .after = after,
                                .commit = Stamp(now_)});
    row_ = std::move(after);
    return *this;
  }

 private:
  Trace& trace_;
  std::optional<Row> row_;
  Duration now_;
};

inline void ExpectHolds(const CheckReport& report, Invariant invariant) {
  const InvariantResult& result = report[invariant];
  EXPECT_EQ(WordOf(result.verdict), "holds")
      << (result.first ? result.first->text : result.unknown_because);
  EXPECT_EQ(result.violations, 0);
  EXPECT_FALSE(result.first);
}

// Expects an invariant to be first violated at this instant, shown by the observation of this
// ordinal (0: any), with a text that contains all of `text_names`.
inline void ExpectViolated(const CheckReport& report, Invariant invariant, Duration at,
                           uint64_t observation = 0,
                           const std::vector<std::string>& text_names = {}) {
  const InvariantResult& result = report[invariant];
  ASSERT_EQ(WordOf(result.verdict), "violated");
  ASSERT_TRUE(result.first);
  EXPECT_EQ(result.first->at, InstantOf(at)) << result.first->text;
  if (observation != 0) {
    EXPECT_EQ(result.first->observation, observation);
  }
  for (const std::string& word : text_names) {
    EXPECT_NE(result.first->text.find(word), std::string::npos)
        << word << " in: " << result.first->text;
  }
}

}  // namespace whorl::sim
