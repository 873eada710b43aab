#include "check/infer.h"

#include <algorithm>
#include <utility>

#include "base/keep_ties.h"
#include "base/text.h"
#include "check/relative_time.h"
#include "sim/scenario/language.h"

namespace whorl::check {
namespace {

using sim::FaultSpec;
using sim::Instant;

// A longer history is written around its first violation only.
constexpr Duration kLongest = Seconds(3600);
constexpr int64_t kLeasesBefore = 20;
constexpr int64_t kLeasesAfter = 10;
// How much longer than usual a process is silent before that counts.
constexpr int64_t kSilentTimes = 2;
constexpr int64_t kSlowTimes = 10;

Duration ToMilliseconds(Duration duration) {
  return Nanoseconds(duration.ns / 1'000'000 * 1'000'000);
}

// What three quarters are not above; zero of none.
Duration Usual(std::vector<Duration> all) {
  if (all.empty()) return {};
  std::ranges::sort(all);
  return all[(all.size() - 1) * 3 / 4];
}

Duration Median(std::vector<Duration> all, Duration otherwise) {
  if (all.empty()) return otherwise;
  std::ranges::sort(all);
  return all[all.size() / 2];
}

// The time between signs of activity. Signs that come almost at once count as one.
Duration UsualGap(const std::vector<Activity>& signs, Duration lease, bool of_commits) {
  std::vector<Duration> gaps;
  std::optional<Timestamp> last;
  for (const Activity& sign : signs) {
    if (of_commits && !sign.commits) continue;
    if (last && sign.at - *last < lease / 50) continue;
    if (last) gaps.push_back(sign.at - *last);
    last = sign.at;
  }
  return Usual(std::move(gaps));
}

class Inference {
 public:
  Inference(const ProtocolInfo& protocol, const Processes& processes, ProcessTimelines lives,
            std::optional<Duration> lease)
      : protocol_(protocol),
        processes_(processes),
        lives_(std::move(lives)),
        lease_(lease.value_or(protocol.lease_default)) {}

  InferredScenario Infer(Timestamp first, Timestamp last, const HistoryVerdict& verdict) {
    from_ = first;
    to_ = last;
    ChooseWindow(verdict);
    result_.begins = from_;
    for (const Grant& grant : lives_.grants) {
      if (grant.at >= from_ && grant.at <= to_) result_.grants.push_back(grant);
    }
    AddFrame();
    for (size_t i = 0; i < lives_.nodes.size(); ++i) AddNode(lives_.nodes[i]);
    for (size_t i = 0; i < lives_.nodes.size(); ++i) AddFaults(static_cast<int16_t>(i));
    AddWorkload();
    SortKeepingTies(result_.faults, [](const InferredFault& inferred) {
      return std::get<Instant>(inferred.fault.trigger).ns;
    });
    AddNotInferred();
    return std::move(result_);
  }

 private:
  Instant At(Timestamp at) const { return {ToMilliseconds(at - from_).ns}; }
  std::string AtText(Timestamp at) const { return FormatDuration(ToMilliseconds(at - from_)); }
  Duration LeaseOf(const std::string& process) const {
    const Process* who = processes_.Find(process);
    return who != nullptr && who->lease ? *who->lease : lease_;
  }

  void ChooseWindow(const HistoryVerdict& verdict) {
    if (to_ - from_ <= kLongest) return;
    std::optional<Timestamp> violation;
    for (const InvariantResult& found : verdict.invariants) {
      const bool counts = found.verdict == Verdict::kViolated && found.at;
      if (counts && (!violation || *found.at < *violation)) violation = found.at;
    }
    const Timestamp middle = violation.value_or(from_);
    from_ = std::max(from_, middle - lease_ * kLeasesBefore);
    to_ = std::min(to_, middle + lease_ * kLeasesAfter);
    result_.not_inferred.push_back(
        Cat("the history is longer than ", FormatDuration(kLongest), ": what is written is ",
            violation ? "around its first violation, " : "its beginning, ", TimeText(from_), " to ",
            TimeText(to_)));
  }

  void AddFrame() {
    sim::Scenario& scenario = result_.scenario;
    scenario.about = Cat("Inferred from a recorded history of ", TimeText(from_), " to ",
                         TimeText(to_), ". Faults are guesses from what processes did not do.");
    scenario.protocol = std::string(protocol_.name);
    scenario.locks = lives_.locks;
    scenario.duration = ToMilliseconds(to_ - from_) + Seconds(1);
  }

  // The process that holds a lock at the beginning starts first.
  bool HeldFirst(const NodeLives& node) const {
    for (const std::string& lock : lives_.locks) {
      const auto first = std::ranges::find(result_.grants, lock, &Grant::lock);
      std::string holder = first == result_.grants.end() ? std::string() : first->node;
      const Grant* before = nullptr;
      for (const Grant& grant : lives_.grants) {
        if (grant.lock == lock && grant.at < from_) before = &grant;
      }
      if (before != nullptr) holder = before->node;
      if (holder == node.name) return true;
    }
    return false;
  }

  void AddNode(const NodeLives& node) {
    sim::NodeSpec spec;
    spec.name = node.name;
    spec.lease = LeaseOf(node.lives.front().process);
    for (size_t i = 0; i < lives_.locks.size(); ++i) {
      if (node.locks.contains(lives_.locks[i])) spec.locks.push_back(static_cast<uint16_t>(i));
    }
    if (spec.locks.empty()) spec.locks.push_back(0);
    bool keeps_id = false;
    for (size_t i = 1; i < node.lives.size(); ++i) {
      keeps_id = keeps_id || node.lives[i].process == node.lives[i - 1].process;
    }
    if (keeps_id) spec.id = node.lives.front().process;
    const Life& first = node.lives.front();
    if (first.started && *first.started >= from_) {
      spec.start_at = At(*first.started);
    } else if (!HeldFirst(node)) {
      spec.start_at = Instant{(lease_ / 10).ns};
      result_.not_inferred.push_back(Cat("when ", node.name,
                                         " started was not recorded: it is there from ",
                                         FormatDuration(lease_ / 10), " on"));
    }
    const bool has_answers = !node.answers.empty();
    spec.use = has_answers || !node.works ? sim::Use::kHasLock : sim::Use::kCallback;
    AddClock(node, spec);
    result_.scenario.nodes.push_back(std::move(spec));
  }

  void AddClock(const NodeLives& node, sim::NodeSpec& spec) {
    const Life& life = node.lives.front();
    const Process* who = processes_.Find(life.process);
    if (who == nullptr || !who->clock.IsKnown()) {
      result_.not_inferred.push_back(
          Cat("how far the clock of ", node.name, " is off is not known: it is taken to be right"));
      return;
    }
    const Offsets offsets = who->clock.At(life.signs.back().at);
    // Right is more likely than the middle, if it is possible.
    if (offsets.least <= Duration{} && offsets.most >= Duration{}) return;
    spec.clock.offset = ToMilliseconds(offsets.least + (offsets.most - offsets.least) / 2);
  }

  void AddWorkload() {
    sim::WorkloadSpec& workload = result_.scenario.workload;
    std::vector<Duration> apart;
    std::vector<Duration> lengths;
    for (const NodeLives& node : lives_.nodes) {
      for (size_t i = 1; i < node.answers.size(); ++i) {
        apart.push_back(node.answers[i] - node.answers[i - 1]);
      }
      if (node.answers.empty()) continue;
      for (const TimeSpan& work : node.work) lengths.push_back(work.to - work.from);
    }
    constexpr Duration kLeast = Milliseconds(1);
    workload.write_every =
        std::max(kLeast, ToMilliseconds(Median(std::move(apart), workload.write_every)));
    workload.work_for =
        std::max(kLeast, ToMilliseconds(Median(std::move(lengths), workload.work_for)));
    workload.resource =
        protocol_.has_tokens ? sim::ResourceKind::kBoth : sim::ResourceKind::kUnfenced;
  }

  // --- faults --------------------------------------------------------------------------------------

  void Add(int16_t node, Timestamp at, sim::AnyFault what, std::string text,
           bool strikes_work = false) {
    if (at < from_ || at >= to_) return;
    FaultSpec fault;
    fault.trigger = At(at);
    fault.node = node;
    fault.what = std::move(what);
    result_.faults.push_back(
        {.fault = std::move(fault), .text = std::move(text), .strikes_work = strikes_work});
  }

  void AddFaults(int16_t number) {
    const NodeLives& node = lives_.nodes[static_cast<size_t>(number)];
    silent_.clear();
    for (size_t i = 0; i < node.lives.size(); ++i) {
      const Life& life = node.lives[i];
      const Life* next = i + 1 < node.lives.size() ? &node.lives[i + 1] : nullptr;
      AddSilences(number, life);
      AddCuts(number, life);
      AddSlowCalls(number, life);
      AddEnd(number, life, next);
    }
  }

  bool WorksAt(int16_t number, Timestamp at) const {
    return std::ranges::any_of(
        lives_.nodes[static_cast<size_t>(number)].work,
        [&](const TimeSpan& work) { return work.from <= at && at < work.to; });
  }

  void AddSilences(int16_t number, const Life& life) {
    const Duration lease = LeaseOf(life.process);
    const Duration usual = UsualGap(life.signs, lease, /*of_commits=*/false);
    const Duration limit = std::max(usual * kSilentTimes, lease / 4);
    const std::vector<Activity>& signs = life.signs;
    for (size_t i = 0; i + 1 < signs.size(); ++i) {
      if (!signs[i].is_busy || signs[i + 1].at - signs[i].at <= limit) continue;
      size_t end = i + 1;
      // That a belief lapsed while nothing ran may be said with the time at which it did.
      while (end + 1 < signs.size() && signs[end].lapses &&
             signs[end + 1].at - signs[end].at > limit) {
        ++end;
      }
      const Timestamp from = signs[i].at;
      const Duration lasts = ToMilliseconds(signs[end].at - from);
      silent_.push_back({.from = from, .to = signs[end].at});
      const bool logs_calls_only =
          std::ranges::all_of(signs.begin() + static_cast<std::ptrdiff_t>(i > 3 ? i - 3 : 0),
                              signs.begin() + static_cast<std::ptrdiff_t>(i + 1),
                              [](const Activity& sign) { return sign.commits; });
      Add(number, from, sim::PauseFault{.lasts = lasts},
          Cat(life.process, " was silent for ", FormatDuration(lasts), " from ", AtText(from),
              " on (paused?), and alive after; usually it is silent for no more than ",
              FormatDuration(ToMilliseconds(usual)),
              logs_calls_only ? "; had it been cut off from Spanner, its lines would look the same"
                              : ""),
          WorksAt(number, from));
      i = end - 1;
    }
  }

  bool IsSilent(Timestamp from, Timestamp to) const {
    return std::ranges::any_of(
        silent_, [&](const TimeSpan& span) { return span.from < to && from < span.to; });
  }

  // Nothing of it was committed for long, though it went on.
  void AddCuts(int16_t number, const Life& life) {
    const Duration lease = LeaseOf(life.process);
    const Duration usual = UsualGap(life.signs, lease, /*of_commits=*/true);
    if (usual == Duration{}) return;
    const Duration limit = std::max(usual * kSilentTimes, lease / 2);
    const Activity* last = nullptr;  // that was committed
    int64_t lines = 0;               // since then
    bool is_over = false;
    bool has_lapsed = false;  // the row still named it, and it knew of no other
    const auto judge = [&](Timestamp to, bool goes_on) {
      constexpr int64_t kLinesNeeded = 2;
      if (last == nullptr || !last->is_busy || is_over || lines < kLinesNeeded) return;
      if (!has_lapsed && to - last->at <= limit) return;
      is_over = true;
      if (IsSilent(last->at, to)) return;
      AddCut(number, life, last->at + usual / 2, goes_on ? std::nullopt : std::optional(to));
    };
    for (const Activity& sign : life.signs) {
      if (sign.commits) {
        judge(sign.at, /*goes_on=*/false);
        last = &sign;
        lines = 0;
        is_over = has_lapsed = false;
        continue;
      }
      ++lines;
      if (!sign.lapses || last == nullptr) continue;
      // After it has lost the lock, it may have nothing to commit.
      judge(sign.at, /*goes_on=*/false);
      has_lapsed = sign.is_busy && sign.at - last->at > usual * 3 / 2;
      is_over = is_over || !has_lapsed;
    }
    if (!life.gone && !life.stopped) judge(life.signs.back().at, /*goes_on=*/true);
  }

  void AddCut(int16_t number, const Life& life, Timestamp from, std::optional<Timestamp> to) {
    std::optional<Duration> lasts;
    if (to) lasts = ToMilliseconds(*to - from);
    Add(number, from, sim::PartitionFault{.lasts = lasts},
        Cat(life.process, " was cut off from Spanner at ", AtText(from),
            lasts ? Cat(" for ", FormatDuration(*lasts)) : std::string(),
            ": its lines go on, but nothing of it was committed; whether calls were refused or ",
            "hung is not known"));
  }

  void AddSlowCalls(int16_t number, const Life& life) {
    std::vector<Duration> lengths;
    for (const TimeSpan& call : life.calls) lengths.push_back(call.to - call.from);
    const Duration usual = Median(std::move(lengths), Duration{});
    const Duration limit = std::max(usual * kSlowTimes, Milliseconds(500));
    for (const TimeSpan& call : life.calls) {
      const Duration took = call.to - call.from;
      if (took <= limit || IsSilent(call.from, call.to)) continue;
      const Duration more = ToMilliseconds(took - usual);
      Add(number, call.from - Milliseconds(1),
          sim::LatencyFault{.lasts = more,
                            .direction = sim::Direction::kTo,
                            .add = {.min = more, .p50 = more, .p99 = more, .max = more}},
          Cat("a call of ", life.process, " at ", AtText(call.from), " was slow: it took ",
              FormatDuration(ToMilliseconds(took)), ", others ",
              FormatDuration(ToMilliseconds(usual))));
    }
  }

  void AddEnd(int16_t number, const Life& life, const Life* next) {
    const Timestamp last = life.signs.back().at;
    const auto restart = [&](Timestamp end) -> std::optional<Duration> {
      if (next == nullptr) return std::nullopt;
      const Timestamp begin = next->started.value_or(next->signs.front().at);
      return std::max(Milliseconds(1), ToMilliseconds(begin - end));
    };
    const auto again = [&](Timestamp end) {
      const auto after = restart(end);
      return after ? Cat(", and started again ", FormatDuration(*after), " later") : std::string();
    };
    if (life.stopped && (life.gone || next != nullptr || last - *life.stopped < lease_)) {
      if (next == nullptr && !life.gone && to_ - *life.stopped < lease_) return;
      return Add(number, *life.stopped, sim::StopFault{.restart_after = restart(*life.stopped)},
                 Cat(life.process, " was stopped at ", AtText(*life.stopped), again(*life.stopped),
                     ": it said that it leads no lock any more, and ended"));
    }
    if (life.gone || next != nullptr) {
      const Timestamp end = life.gone.value_or(last);
      return Add(number, end, sim::CrashFault{.restart_after = restart(end)},
                 Cat(life.process, " crashed at ", AtText(end), again(end),
                     life.gone ? ": it ended without giving up first"
                               : ": it said nothing more until it started anew"),
                 WorksAt(number, end));
    }
    const Duration usual = UsualGap(life.signs, LeaseOf(life.process), /*of_commits=*/false);
    const Duration limit = std::max(usual * kSilentTimes, LeaseOf(life.process));
    if (!life.signs.back().is_busy || to_ - last <= limit) return;
    Add(number, last, sim::CrashFault{},
        Cat(life.process, " was silent from ", AtText(last),
            " to the end of the history (crashed?); whether it had crashed, was paused or was cut ",
            "off, is not known"));
  }

  void AddNotInferred() {
    std::vector<std::string>& all = result_.not_inferred;
    for (const auto& [lock, owner] : lives_.held_before) {
      if (owner.empty()) continue;
      all.push_back(Cat("since when ", owner, " held lock ", Quoted(lock),
                        " before the history begins: it starts first, and takes it"));
    }
    for (const std::string& name : lives_.others) {
      all.push_back(Cat(name, " takes no part in a lock, and is left out"));
    }
    all.push_back(
        "the latencies of single calls, and faults within Spanner: calls that failed leave no "
        "record");
    all.push_back("clocks that step or run at another rate, and writes of operators");
    all.push_back("what else the applications did between their lines");
  }

  const ProtocolInfo& protocol_;
  const Processes& processes_;
  ProcessTimelines lives_;
  Duration lease_;
  Timestamp from_;
  Timestamp to_;
  std::vector<TimeSpan> silent_;  // of the node that is looked at
  InferredScenario result_;
};

}  // namespace

std::optional<InferredScenario> InferScenario(const ProtocolInfo& protocol, const History& history,
                                              const Processes& processes,
                                              std::optional<Duration> lease,
                                              const HistoryVerdict& verdict) {
  const std::vector<Moment> moments = history.InOrder(processes);
  if (moments.empty()) return std::nullopt;
  ProcessTimelines lives = TimelinesOf(protocol, moments, processes);
  if (lives.nodes.empty() || lives.locks.empty()) return std::nullopt;
  return Inference(protocol, processes, std::move(lives), lease)
      .Infer(BeginOf(moments, processes), moments.back().at, verdict);
}

}  // namespace whorl::check
