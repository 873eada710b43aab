#include "live/foreign/conformance.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/text.h"
#include "live/backend.h"
#include "live/coordinator.h"
#include "live/history.h"
#include "sim/scenario/json_text.h"
#include "sim/scenario/loader.h"

namespace whorl::live {
namespace {

using Result = ConformancePoint::Result;
using sim::Instant;

constexpr Duration kLease = Seconds(2);
// Time for processes to start and to take the lock, whatever the machine is doing.
constexpr Duration kSlack = Seconds(4);
constexpr int kLeasesToTakeOver = 3;
constexpr int16_t kCrashed = 0;
constexpr int16_t kStopped = 1;

struct Times {
  Duration lease;
  Duration crash;     // of node a, which is back at once
  Duration stop;      // of node b
  Duration duration;  // of the run
};

Times TimesOf(const ProtocolInfo& info) {
  const Duration lease = std::max(kLease, info.lease_min);
  const Duration phase = lease * kLeasesToTakeOver + kSlack;
  return {.lease = lease, .crash = phase, .stop = phase + phase, .duration = phase + phase + phase};
}

// What the run has shown of one process.
struct Seen {
  bool commit_record = false;  // sent a call that is a step of the protocol
  int64_t called_after_stop = 0;
  bool believed = false;
  bool believed_after_stop = false;
  std::optional<Instant> stopped;
};

class Findings {
 public:
  Findings(const ProtocolInfo& info, const Times& times, const Record& record)
      : info_(info), times_(times), record_(record) {
    for (const ReportedEvent& event : record.heard) {
      std::visit([&](const auto& what) { Hear(event.at, what); }, event.what);
    }
  }

  Conformance Points() const {
    Conformance all;
    const auto add = [&all](std::string what, Result result, std::string found) {
      all.points.push_back({.what = std::move(what), .result = result, .found = std::move(found)});
    };
    const auto met = [](bool yes) { return yes ? Result::kMet : Result::kNotMet; };

    const bool calls = seen_.contains({0, 1}) && seen_.at({0, 1}).commit_record;
    add("takes part when told to start", met(calls),
        calls ? "" : Cat("no call was a statement of ", info_.name, ": is it the right protocol?"));
    add("uses the protocol's statements", met(record_.unknown_statements.empty()),
        UnknownStatements());
    add("sends every step", unseen_steps().empty() ? Result::kMet : Result::kNotSeen,
        unseen_steps().empty()
            ? ""
            : Cat("not in this run: ", unseen_steps(), "; some are sent in other scenarios only"));
    add("says that it leads", met(led_ > 0),
        led_ > 0 ? CountText(led_, "time", "times")
                 : "no line {\"event\":\"leads\"}, and no question to lock was answered with yes");
    add("answers questions", Answers(), AnswersFound());
    if (info_.has_tokens) {
      add("names its token", tokens_ > 0 ? Result::kMet : Result::kNotMet,
          tokens_ > 0 ? ""
                      : "no answer with yes had a \"token\", and none was concluded from a commit; "
                        "writes carry none, so that nothing fences them");
    }
    add("is replaced when it crashes", met(led_after_crash_),
        led_after_crash_
            ? ""
            : Cat("nobody said that it leads in the ", FormatDuration(times_.stop - times_.crash),
                  " after the crash of node a"));
    const auto again = seen_.find({kCrashed, 2});
    const bool back = again != seen_.end() && again->second.commit_record;
    add("takes part again after a restart", met(back), back ? "" : "no call of the new process");
    AddStop(add);
    return all;
  }

 private:
  using Incarnation = std::pair<int16_t, uint32_t>;
  Seen& Of(const ProcessId& process) { return seen_[{process.node, process.incarnation}]; }

  template <typename Event>
  void Hear(Instant /*at*/, const Event& /*what*/) {}
  void Hear(Instant at, const sim::ProcessStopped& what) { Of(what.process).stopped = at; }
  void Hear(Instant at, const sim::CallSent& what) {
    Seen& seen = Of(what.call.process);
    seen.commit_record = true;
    steps_.insert(what.step);
    // What was under way may end, and what releases the lock is sent then.
    if (seen.stopped && at > *seen.stopped + times_.lease) ++seen.called_after_stop;
  }
  void Hear(Instant /*at*/, const sim::TransactionStarted& what) { steps_.insert(what.step); }
  void Hear(Instant at, const sim::LeadershipViewChanged& what) {
    if (what.standing.own_token) ++tokens_;
    Seen& seen = Of(what.process);
    const bool began =
        what.standing.believes && !std::exchange(seen.believed, what.standing.believes);
    if (!began) return;
    ++led_;
    if (at > Instant{} + times_.crash) led_after_crash_ = true;
    if (seen.stopped) seen.believed_after_stop = true;
  }
  void Hear(Instant at, const sim::QuestionAsked& what) {
    // One that is open when the process or the run ends is not missing.
    if (at + kSlack < Instant{} + times_.duration) open_[{what.process.node, what.ask}] = at;
    ++asked_;
  }
  void Hear(Instant /*at*/, const sim::QuestionAnswered& what) {
    open_.erase({what.process.node, what.answer.ask});
    ++answered_;
    if (what.answer.yes && what.answer.token) ++tokens_;
  }
  void Hear(Instant /*at*/, const sim::ProcessGone& what) {
    std::erase_if(open_, [&](const auto& one) { return one.first.first == what.process.node; });
  }

  std::string UnknownStatements() const {
    if (record_.unknown_statements.empty()) return {};
    std::string text = Cat("statements on ", info_.table, " that ", info_.name,
                           " does not have, so faults cannot name them:");
    for (const std::string& sql : record_.unknown_statements) text += Cat("\n", sql);
    return text;
  }
  std::string unseen_steps() const {
    std::string text;
    for (const StepStatement& statement : info_.statements(std::string(info_.table))) {
      if (steps_.contains(statement.step) || statement.step == steps::kHasLock) continue;
      if (text.find(WordOf(statement.step)) != std::string::npos) continue;
      text += Cat(text.empty() ? "" : ", ", WordOf(statement.step));
    }
    return text;
  }
  Result Answers() const {
    if (asked_ == 0) return Result::kNotSeen;
    return open_.empty() ? Result::kMet : Result::kNotMet;
  }
  std::string AnswersFound() const {
    if (asked_ == 0) return "none was asked";
    if (open_.empty()) return Cat(std::to_string(answered_), " of ", std::to_string(asked_));
    const auto& [key, at] = *open_.begin();
    return Cat(std::to_string(open_.size()), " of ", std::to_string(asked_),
               " without an answer; the first has the id ", std::to_string(key.second));
  }
  template <typename Add>
  void AddStop(const Add& add) const {
    const auto found = seen_.find({kStopped, 1});
    if (found == seen_.end() || !found->second.stopped) {
      return add("ends its part when told to stop", Result::kNotSeen, "node b was not stopped");
    }
    const Seen& seen = found->second;
    std::string wrong;
    if (seen.believed_after_stop) wrong = "it said that it leads after the order to stop";
    if (seen.called_after_stop > 0) {
      wrong += Cat(wrong.empty() ? "" : "; ", CountText(seen.called_after_stop, "call", "calls"),
                   " later than a lease after the order to stop");
    }
    add("ends its part when told to stop", wrong.empty() ? Result::kMet : Result::kNotMet, wrong);
  }

  const ProtocolInfo& info_;
  const Times times_;
  const Record& record_;
  std::map<Incarnation, Seen> seen_;
  std::set<StepName> steps_;
  std::map<std::pair<int16_t, AskId>, Instant> open_;
  int64_t led_ = 0;
  bool led_after_crash_ = false;
  int64_t tokens_ = 0;
  int64_t asked_ = 0;
  int64_t answered_ = 0;
};

}  // namespace

bool Conformance::Met() const {
  return std::ranges::none_of(points, [](const ConformancePoint& point) {
    return point.result == ConformancePoint::Result::kNotMet;
  });
}

sim::Scenario ConformanceScenario(const ProtocolInfo& info) {
  const Times times = TimesOf(info);
  const auto seconds = [](Duration time) { return FormatDuration(time); };
  sim::Json text = {
      {"version", 1},
      {"about", "A crash with a restart, and a stop: what a program has to cope with."},
      {"protocol", info.name},
      {"lease", seconds(times.lease)},
      {"nodes", {{{"name", "a"}}, {{"name", "b"}, {"start_at", "1s"}}}},
      {"duration", seconds(times.duration)},
      {"seed", 1},
      {"faults",
       {{{"at", seconds(times.crash)}, {"do", "crash"}, {"node", "a"}, {"restart_after", "1s"}},
        {{"at", seconds(times.stop)}, {"do", "stop"}, {"node", "b"}}}}};
  auto scenario = sim::ParseScenario(sim::DumpJson(text, -1), "conformance");
  if (!scenario.ok()) throw std::logic_error(std::string(scenario.status().message()));
  return *std::move(scenario);
}

absl::StatusOr<Conformance> CheckConformance(BackendKind on, const ProtocolInfo& info,
                                             const std::string& program) {
  const sim::Scenario scenario = AsOn(on, ConformanceScenario(info));
  Coordinator coordinator(on, scenario, /*seed=*/1, program);
  const absl::StatusOr<Record> record = coordinator.Run();
  if (!record.ok()) return record.status();
  return Findings(info, TimesOf(info), *record).Points();
}

}  // namespace whorl::live
