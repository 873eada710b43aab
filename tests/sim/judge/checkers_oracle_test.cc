// The checkers keep counts and prune. This test compares them, on random traces with every event
// that can happen to a lock, with a second implementation of the definitions that keeps everything
// and counts again at each observation.
#include <array>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "protocol/spindle_v2/words.h"
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_oracle_test {
namespace {

constexpr uint16_t kLockCount = 2;
const std::vector<std::string> kLocks = {"x", "x_1"};  // the second looks like a side row
constexpr StepName kLocking = spindle_v2::steps::kHeartbeatUpdate;
constexpr StepName kReading = spindle_v2::steps::kCheck;
constexpr Duration kIdle = Seconds(10);  // locks outlive their holder by this
constexpr int64_t kStartsInSecond = 10;  // 8 + 16 s / 10 s

// All that was ever seen, and the naive judgement of it.
class Oracle {
 public:
  explicit Oracle(Duration wedge_bound) : wedge_bound_(wedge_bound) {}

  void Observe(const Observation& o) {
    Advance(o.at);
    std::visit([this](const auto& x) { See(x); }, o.what);
    for (uint16_t lock = 0; lock < kLockCount; ++lock) Evaluate(lock);
  }
  void End(Instant end) {
    Advance(end);
    for (uint16_t lock = 0; lock < kLockCount; ++lock) CloseClock(lock);
  }
  int64_t Count(Invariant invariant) const { return counts_[static_cast<size_t>(invariant)]; }
  const Metrics& metrics() const { return metrics_; }

 private:
  struct Alive {
    bool stopped = false, paused = false;
  };
  struct Part {
    bool participates = true, believes = false, at_work = false;
    LeadershipView standing;
  };
  struct Stored {
    std::optional<Timestamp> token, owner_heartbeat;
    ProcessId owner;
  };
  struct Owned {
    Instant from, to;
    ProcessId owner;
  };
  struct Handed {
    ProcessId process;
    std::optional<Token> own_token;
    uint64_t token = 0;
  };
  struct PerLock {
    std::optional<Stored> row;
    std::vector<Timestamp> tokens;
    std::vector<Owned> owned;
    std::vector<Handed> handed;
    std::vector<uint64_t> accepted;
    std::optional<Stored> last;
    std::map<ProcessId, Instant> waiting;  // candidates, since when
    bool overdue = false;                  // one of them has waited for too long
    std::optional<Instant> without_since, overlap_since, work_overlap_since;
  };

  void Violate(Invariant invariant) { ++counts_[static_cast<size_t>(invariant)]; }
  void Advance(Instant at) {
    for (PerLock& lock : locks_) {
      if (!lock.owned.empty() && lock.row) lock.owned.back().to = at;
      Extend(lock.without_since, at, Metric::kWithoutHolderSum, Metric::kWithoutHolderMax);
      Extend(lock.overlap_since, at, Metric::kBeliefOverlapSum, Metric::kBeliefOverlapMax);
      Extend(lock.work_overlap_since, at, Metric::kWorkOverlapSum, Metric::kWorkOverlapMax);
    }
    sum_from_ = at;
    now_ = at;
  }
  // Sums piece by piece, from observation to observation.
  void Extend(std::optional<Instant> since, Instant at, Metric sum, Metric max) {
    if (!since) return;
    metrics_[sum] += (at - sum_from_).ns;
    metrics_[max] = std::max(metrics_[max], (at - *since).ns);
  }

  bool Runs(ProcessId p) const {
    const auto it = alive_.find(p);
    return it != alive_.end() && !it->second.stopped && !it->second.paused &&
           !cut_.contains(p.node);
  }
  Part& PartOf(ProcessId p, uint16_t lock) { return parts_[{p, lock}]; }

  // --- what is so after each observation ---
  void Evaluate(uint16_t index) {
    PerLock& lock = locks_[index];
    int holders = 0;
    std::set<ProcessId> candidates;
    int believers = 0;
    int workers = 0;
    for (const auto& [p, alive] : alive_) {
      const Part& part = PartOf(p, index);
      const bool has_token = part.standing.own_token && lock.row && lock.row->token &&
                             *part.standing.own_token == *lock.row->token;
      holders += Runs(p) && part.standing.answers && has_token;
      if (Runs(p) && part.participates) candidates.insert(p);
      believers += part.believes && !alive.stopped;
      workers += part.at_work;
    }
    Mark(lock.without_since, holders == 0);
    Mark(lock.overlap_since, believers >= 2);
    Mark(lock.work_overlap_since, workers >= 2);
    const bool quiet = faults_ == 0 && hung_.empty();
    if (!quiet || candidates.empty() || holders > 0) return CloseClock(index);
    for (const auto& [p, since] : std::map(lock.waiting)) {
      if (!candidates.contains(p)) EndWait(lock, p);
    }
    for (const ProcessId p : candidates) lock.waiting.try_emplace(p, now_);
  }
  void Mark(std::optional<Instant>& since, bool holds) {
    if (!holds) since.reset();
    if (holds && !since) since = now_;
  }
  // Whether a candidate that waits since then has waited for too long: for the bound, not counting
  // the time before the end of the last disturbance, and of excuses within their limit.
  bool HasWaitedTooLong(Instant since) const {
    const Instant start = std::max(since, disturbed_until_);
    const Instant last_excuse = start + wedge_bound_ + kIdle;
    const Instant counted = std::max(start, std::min(excused_until_, last_excuse));
    return now_ - counted >= wedge_bound_;
  }
  void Judge(PerLock& lock) {
    for (const auto& [p, since] : lock.waiting) {
      lock.overdue = lock.overdue || HasWaitedTooLong(since);
    }
  }
  void EndWait(PerLock& lock, ProcessId candidate) {
    lock.overdue = lock.overdue || HasWaitedTooLong(lock.waiting.at(candidate));
    lock.waiting.erase(candidate);
  }
  // What makes candidates wait anew, from now or until then.
  void Disturb(Instant until) {
    for (PerLock& lock : locks_) Judge(lock);
    disturbed_until_ = std::max(disturbed_until_, until);
  }
  void Excuse(Instant until) {
    for (PerLock& lock : locks_) Judge(lock);
    excused_until_ = std::max(excused_until_, until);
  }
  void CloseClock(uint16_t index) {
    PerLock& lock = locks_[index];
    while (!lock.waiting.empty()) EndWait(lock, lock.waiting.begin()->first);
    if (std::exchange(lock.overdue, false)) Violate(Invariant::kNoWedge);
  }
  void JudgeOneLive(uint16_t index) {
    const PerLock& lock = locks_[index];
    int keepers = 0;
    for (const auto& [p, alive] : alive_) {
      const auto token = PartOf(p, index).standing.own_token;
      keepers += token && lock.row && lock.row->token == token;
    }
    if (keepers >= 2) Violate(Invariant::kOneLiveToken);
  }

  // All starts of a step since its transactions end as they do, or were too many.
  struct Pace {
    std::vector<Instant> starts;
    std::optional<std::pair<Outcome, Code>> ending;
  };
  void CountStart(const TransactionStarted& x) {
    std::vector<Instant>& starts = paces_[{x.process, x.lock, x.step}].starts;
    starts.push_back(now_);
    const auto last_second =
        std::ranges::count_if(starts, [this](Instant start) { return now_ - start < Seconds(1); });
    if (last_second <= kStartsInSecond) return;
    Violate(Invariant::kPacedCalls);
    starts.clear();
  }
  void NoticeEnding(const TransactionFinished& x) {
    const auto found = paces_.find({x.process, x.lock, x.step});
    if (found == paces_.end()) return;
    const std::pair ending(x.outcome, x.code);
    if (found->second.ending && *found->second.ending != ending) found->second.starts.clear();
    found->second.ending = ending;
  }

  // --- what is seen ---
  template <typename Other>
  void See(const Other&) {}
  void See(const ProcessStarted& x) { alive_[x.process] = {}; }
  void See(const ProcessStopped& x) { alive_.at(x.process).stopped = true; }
  void See(const ProcessPaused& x) { alive_.at(x.process).paused = true; }
  void See(const ProcessResumed& x) { alive_.at(x.process).paused = false; }
  void See(const ProcessGone& x) {
    alive_.erase(x.process);
    std::erase_if(hung_, [&](const auto& key) { return std::get<0>(key) == x.process; });
    bool left_locks = false;
    for (const auto& [key, open] : open_) {
      left_locks = left_locks || (std::get<0>(key) == x.process && open.step == kLocking);
    }
    if (left_locks) Disturb(now_ + kIdle);
    std::erase_if(open_, [&](const auto& entry) { return std::get<0>(entry.first) == x.process; });
  }
  void See(const ParticipationEnded& x) {
    PartOf(x.process, x.lock).participates = false;
    Disturb(now_);
  }
  void See(const LinkChanged& x) {
    x.link == LinkState::kUp ? (void)cut_.erase(x.node) : (void)cut_.insert(x.node);
  }
  void See(const FaultBegan&) { ++faults_; }
  void See(const FaultEnded&) { --faults_; }
  void See(const TransactionStarted& x) {
    CountStart(x);
    open_.try_emplace({x.process, x.lock, x.request}, Open{.step = x.step});
  }
  void See(const CallSent& x) {
    const auto found = open_.find(Key(x.call));
    if (found != open_.end()) found->second.calls.insert(x.call);
  }
  void See(const CallHangs& x) {
    if (IsAwaited(x.call)) hung_.insert(Key(x.call));
  }
  void See(const CallServed& x) {
    const bool ends = x.request == Request(Commit{}).index();
    if (x.step == kLocking && x.code == Code::kOk && !ends && !IsAwaited(x.call)) {
      const bool takes_part =
          alive_.contains(x.call.process) && PartOf(x.call.process, x.call.lock).participates;
      takes_part ? Excuse(now_ + kIdle) : Disturb(now_ + kIdle);
    }
    const bool fails = x.code != Code::kOk && x.code != Code::kAborted;
    if (x.step == kLocking && fails && ends) Excuse(now_ + kIdle);
  }
  void See(const CallEnded& x) {
    if (x.step == kLocking && !x.from_spanner) Excuse(now_ + kIdle);
  }
  void See(const TransactionCommitted& x) {
    if (!IsAwaited(x.call)) Excuse(now_);
  }
  void See(const TransactionFinished& x) {
    NoticeEnding(x);
    open_.erase({x.process, x.lock, x.request});
    hung_.erase({x.process, x.lock, x.request});
    if (x.step == kLocking && x.code == Code::kDeadlineExceeded) Excuse(now_ + kIdle);
  }
  void See(const LeadershipViewChanged& x) {
    Part& part = PartOf(x.process, x.lock);
    const bool changed = part.standing.own_token != x.standing.own_token;
    part.standing = x.standing;
    const std::optional<Stored>& row = locks_[x.lock].row;
    if (changed && row && row->token && row->token == x.standing.own_token) JudgeOneLive(x.lock);
  }
  void See(const BeliefChanged& x) {
    Part& part = PartOf(x.process, x.lock);
    const bool begins = x.believes && !part.believes && !alive_.at(x.process).stopped;
    part.believes = x.believes;
    if (alive_.at(x.process).stopped) part.believes = false;
    int others = 0;
    for (const auto& [p, alive] : alive_) {
      others += p != x.process && PartOf(p, x.lock).believes && !alive.stopped;
    }
    if (begins && others > 0) Violate(Invariant::kSingleLeaderBelief);
  }
  void See(const WorkChanged& x) {
    const bool begins = x.at_work && !PartOf(x.process, x.lock).at_work;
    PartOf(x.process, x.lock).at_work = x.at_work;
    int others = 0;
    for (const auto& [p, alive] : alive_) {
      others += p != x.process && PartOf(p, x.lock).at_work;
    }
    if (begins && others > 0) Violate(Invariant::kSingleWorker);
  }
  void See(const QuestionAnswered& x) {
    if (!x.answer.yes || x.answer.question != Question::kHasLock) return;
    PerLock& lock = locks_[x.lock];
    const bool owned = std::any_of(lock.owned.begin(), lock.owned.end(), [&](const Owned& o) {
      return o.owner == x.process && o.to >= x.asked_at && o.from <= now_;
    });
    if (!owned) Violate(Invariant::kHasLockTruthful);
    if (!x.answer.token) return;
    const auto own = PartOf(x.process, x.lock).standing.own_token;
    const bool smaller = std::any_of(lock.handed.begin(), lock.handed.end(), [&](const Handed& h) {
      const bool same_term = h.process == x.process && h.own_token == own;
      return !same_term && h.token >= *x.answer.token;
    });
    if (smaller) Violate(Invariant::kHandedTokenMonotonic);
    lock.handed.push_back({x.process, own, *x.answer.token});
  }
  void See(const WriteArrived& x) {
    PerLock& lock = locks_[x.lock];
    const bool legitimate = lock.row && lock.row->owner == x.process;
    if (!x.accepted) {
      ++metrics_[legitimate ? Metric::kLegitimateWriteRefused : Metric::kStaleWriteRefused];
    } else if (!x.fenced) {
      metrics_[Metric::kStaleWriteAccepted] += legitimate ? 0 : 1;
    } else if (x.token) {
      const bool below = std::any_of(lock.accepted.begin(), lock.accepted.end(),
                                     [&](uint64_t token) { return token > *x.token; });
      if (below) Violate(Invariant::kFencedWritesOrdered);
      lock.accepted.push_back(*x.token);
    }
  }
  void See(const RowCommitted& x) {
    const Row& any = x.after ? *x.after : *x.before;
    const std::string key = std::get<std::string>(any[0]);
    const std::string& own = kLocks[x.lock];
    const bool own_key = key == own || (own == "x" && key == "x_77") ||
                         (own == "x_1" && (key == "x_1_5" || key == "x_1_66"));
    if (x.writer != ProcessId{} && !own_key) Violate(Invariant::kIsolation);
    for (uint16_t lock = 0; lock < kLockCount; ++lock) {
      if (kLocks[lock] == key) SeeLockRow(lock, x);
    }
  }
  void SeeLockRow(uint16_t index, const RowCommitted& x) {
    PerLock& lock = locks_[index];
    const std::optional<Stored> before = lock.row;
    std::optional<Stored> after;
    if (x.after) after = Store(before, x);
    std::optional<Timestamp> old_token;
    std::optional<Timestamp> new_token;
    if (before) old_token = before->token;
    if (after) new_token = after->token;
    const bool changes = old_token != new_token;
    if (changes && before && before->owner != ProcessId{} && x.writer != ProcessId{} &&
        before->owner.node != x.writer.node && x.commit < *before->owner_heartbeat + Seconds(10)) {
      Violate(Invariant::kLeaseRespected);
    }
    if (changes && after && after->token) SeeGrant(lock, *after, x);
    if (lock.row && changes) lock.owned.back().to = now_;
    lock.row = after;
    if (after && after->token) lock.last = after;
    if (changes && after) lock.owned.push_back({now_, now_, after->owner});
    if (changes && new_token) JudgeOneLive(index);
  }
  Stored Store(const std::optional<Stored>& before, const RowCommitted& x) const {
    Stored stored;
    stored.token = std::get<Timestamp>((*x.after)[2]);
    const bool kept = before && before->token == stored.token;
    stored.owner = kept ? before->owner : x.writer;
    if (kept) stored.owner_heartbeat = before->owner_heartbeat;
    if (stored.owner == x.writer) stored.owner_heartbeat = std::get<Timestamp>((*x.after)[1]);
    return stored;
  }
  void SeeGrant(PerLock& lock, const Stored& after, const RowCommitted& x) {
    const bool new_owner = lock.last && lock.last->owner != after.owner;
    for (const Timestamp token : lock.tokens) {
      if (*after.token > token || (*after.token == token && !new_owner)) continue;
      Violate(Invariant::kTokenMonotonic);
      break;
    }
    lock.tokens.push_back(*after.token);
    ++metrics_[Metric::kGrants];
    if (!new_owner) return;
    ++metrics_[Metric::kTakeovers];
    const ProcessId old = lock.last->owner;
    const auto index = static_cast<uint16_t>(&lock - locks_.data());
    const bool renewing = Runs(old) && PartOf(old, index).participates &&
                          x.commit < *lock.last->owner_heartbeat + Seconds(10);
    metrics_[Metric::kNeedlessTakeovers] += renewing ? 1 : 0;
  }

  using TransactionKey = std::tuple<ProcessId, uint16_t, RequestId>;
  struct Open {
    StepName step;
    std::set<CallName> calls;
  };
  static TransactionKey Key(const CallName& call) {
    return {call.process, call.lock, call.request};
  }
  bool IsAwaited(const CallName& call) const {
    const auto found = open_.find(Key(call));
    return found != open_.end() && found->second.calls.contains(call);
  }

  Duration wedge_bound_;
  Instant now_, sum_from_;
  Instant disturbed_until_, excused_until_;
  std::array<int64_t, kCountOf<Invariant>> counts_{};
  Metrics metrics_;
  std::map<ProcessId, Alive> alive_;
  std::map<std::pair<ProcessId, uint16_t>, Part> parts_;
  std::set<int16_t> cut_;
  int faults_ = 0;
  std::map<TransactionKey, Open> open_;
  std::map<std::tuple<ProcessId, uint16_t, StepName>, Pace> paces_;
  std::set<TransactionKey> hung_;
  std::array<PerLock, 2> locks_ = {PerLock{.without_since = Instant{}},
                                   PerLock{.without_since = Instant{}}};
};

// Draws the next event, so that each node's process starts, runs and ends in a valid order.
class Chaos {
 public:
  explicit Chaos(uint32_t seed) : engine_(seed) {}

  std::vector<Observation> Make(int count) {
    while (static_cast<int>(trace_.size()) < count) {
      Pass();
      Next();
    }
    return trace_;
  }

 private:
  struct DrawnNode {
    uint32_t incarnation = 0;
    bool alive = false;
  };

  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(engine_() % below); }
  bool Chance(uint32_t one_in) { return Draw(one_in) == 0; }
  void Add(ObservedEvent what) { trace_.push_back({.at = now_, .what = std::move(what)}); }
  void Pass() {
    const std::array<int64_t, 6> pauses_ms = {0, 0, 1, 700, 4'000, 16'000};
    now_ = now_ + Milliseconds(pauses_ms[Draw(pauses_ms.size())]);
  }
  // Few values, so that equal tokens and tokens that go back are common.
  Timestamp Token() { return Stamp(Seconds(Draw(6))); }

  void Next() {
    const auto index = static_cast<int16_t>(Draw(3));
    DrawnNode& node = nodes_[static_cast<size_t>(index)];
    if (!node.alive) {
      ++node.incarnation;
      node.alive = true;
      return Add(ProcessStarted{.process = {index, node.incarnation}});
    }
    const ProcessId p = {index, node.incarnation};
    const auto lock = static_cast<uint16_t>(Draw(2));
    if (Chance(6)) return Disturb(p, lock);
    if (Chance(3)) return Transact(p, lock);
    if (Chance(2)) return Say(p, lock);
    Write(p, lock);
  }
  void Disturb(ProcessId p, uint16_t lock) {
    switch (Draw(10)) {
      case 0:
        nodes_[static_cast<size_t>(p.node)].alive = false;
        return Add(ProcessGone{.process = p, .crashed = true});
      case 1:
        return Add(ProcessPaused{.process = p});
      case 2:
        return Add(ProcessResumed{.process = p});
      case 3:
        return Add(LinkChanged{.node = p.node, .link = LinkState::kBlackHoled});
      case 4:
        return Add(LinkChanged{.node = p.node, .link = LinkState::kUp});
      case 5:
        if (Chance(3)) return Add(ProcessStopped{.process = p});
        return Add(ProcessResumed{.process = p});
      case 6:
        if (Chance(3)) return Add(ParticipationEnded{.process = p, .lock = lock});
        return Add(LinkChanged{.node = p.node, .link = LinkState::kUp});
      case 7:
        if (faults_ == 0) {
          ++faults_;
          return Add(FaultBegan{});
        }
        [[fallthrough]];
      default:
        if (faults_ == 0) return;
        --faults_;
        return Add(FaultEnded{});
    }
  }
  void Transact(ProcessId p, uint16_t lock) {
    const auto request = static_cast<RequestId>(Draw(3));
    const StepName step = Chance(2) ? kLocking : kReading;
    std::optional<uint16_t>& sent = sent_[{p, lock, request}];
    // A call of the open transaction, or one that was left by another.
    const auto left = static_cast<uint16_t>(generation_ - std::min<uint32_t>(generation_, Draw(3)));
    const CallName call = {.process = p,
                           .lock = lock,
                           .request = request,
                           .generation = sent && Chance(2) ? *sent : left};
    switch (Draw(9)) {
      case 0:
      case 1: {
        Add(TransactionStarted{.process = p, .lock = lock, .request = request, .step = step});
        if (!sent) sent = generation_;
        CallName first = call;
        first.generation = *sent;
        if (Chance(2)) Add(CallSent{.call = first, .step = step});
        return;
      }
      case 2:
        if (!Chance(4)) return;
        return Add(CallHangs{.call = call});
      case 3:
        if (!Chance(4)) return;
        return Add(
            CallServed{.call = MaybeOfOneThatIsGone(call),
                       .step = step,
                       .request = static_cast<uint8_t>(Chance(3) ? Request(Commit{}).index() : 0),
                       .code = Chance(3)   ? Code::kAborted
                               : Chance(4) ? Code::kPermissionDenied
                                           : Code::kOk});
      case 4:
        if (!Chance(4)) return;
        return Add(CallEnded{.call = call, .step = step, .from_spanner = Chance(2)});
      case 5:
        if (!Chance(4)) return;
        return Add(TransactionCommitted{.call = call, .step = step, .commit = {}});
      default:
        sent.reset();
        if (Chance(2)) ++generation_;
        return Add(TransactionFinished{.process = p,
                                       .lock = lock,
                                       .request = request,
                                       .step = step,
                                       .code = Chance(8) ? Code::kDeadlineExceeded : Code::kOk});
    }
  }
  CallName MaybeOfOneThatIsGone(CallName call) {
    if (call.process.incarnation > 1 && Chance(3)) --call.process.incarnation;
    return call;
  }
  void Say(ProcessId p, uint16_t lock) {
    switch (Draw(5)) {
      case 4:
        return Add(WorkChanged{.process = p, .lock = lock, .at_work = Chance(2)});
      case 0:
        return Add(BeliefChanged{.process = p, .lock = lock, .believes = Chance(2)});
      case 1: {
        Answer answer{.yes = !Chance(4)};
        if (!Chance(4)) answer.token = Draw(40);
        const Instant asked = now_ + Milliseconds(-static_cast<int64_t>(Draw(3)) * 700);
        return Add(
            QuestionAnswered{.process = p, .lock = lock, .answer = answer, .asked_at = asked});
      }
      case 2: {
        WriteArrived write{.process = p, .lock = lock, .fenced = Chance(2), .accepted = Chance(2)};
        if (!Chance(4)) write.token = Draw(40);
        return Add(write);
      }
      default: {
        LeadershipView standing{.answers = !Chance(4)};
        if (!Chance(5)) standing.own_token = Token();
        return Add(LeadershipViewChanged{.process = p, .lock = lock, .standing = standing});
      }
    }
  }
  void Write(ProcessId p, uint16_t lock) {
    const std::array<std::string, 6> keys = {"x", "x_1", "x_77", "x_1_5", "x_1_66", "y"};
    const std::string key = Chance(3) ? keys[Draw(keys.size())] : kLocks[lock];
    // A process that is gone may still commit.
    if (p.incarnation > 1 && Chance(8)) --p.incarnation;
    RowCommitted commit{.writer = p, .lock = lock};
    const auto found = rows_.find(key);
    if (found != rows_.end()) commit.before = found->second;
    commit.commit = ToTimestamp(now_) - Milliseconds(Draw(2));
    if (!commit.before || !Chance(6)) {
      const bool heartbeat = commit.before && Chance(2);
      commit.after =
          Row{key, commit.commit, heartbeat ? (*commit.before)[2] : Value(Token()), Null{}};
    } else if (Chance(3)) {
      commit.writer = ProcessId{};
    }
    if (commit.after) rows_[key] = *commit.after;
    if (!commit.after) rows_.erase(key);
    Add(commit);
  }

  std::mt19937 engine_;
  std::vector<Observation> trace_;
  std::array<DrawnNode, 3> nodes_;
  std::map<std::string, Row> rows_;
  // The generation of the calls of each open transaction, and of the next one.
  std::map<std::tuple<ProcessId, uint16_t, RequestId>, std::optional<uint16_t>> sent_;
  uint16_t generation_ = 0;
  Instant now_;
  int faults_ = 0;
};

// Random traces have no callbacks, no unanswered questions and no beliefs that follow standings, and this protocol gives
// nothing back: what is due at a time is read a second time by the traces of checkers_told_test.cc,
// checkers_answers_test.cc and checkers_handover_test.cc, each beside a near miss.
bool HasTracesOfItsOwn(Invariant invariant) {
  return invariant == Invariant::kToldOfLeadership || invariant == Invariant::kAnsweredInTime ||
         invariant == Invariant::kReasonedStepDown || invariant == Invariant::kPromptHandover;
}

TEST(CheckersOracleTest, CountWhatTheDefinitionsCountOnRandomTraces) {
  // A count that drifts, or a past that is pruned too early, shows as a difference.
  std::array<int64_t, kCountOf<Invariant>> seen{};
  std::array<int64_t, kCountOf<Metric>> seen_metrics{};
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    const std::vector<Observation> trace = Chaos(seed).Make(400);
    RunJudge judge(MakeScenario({"a", "b", "c"}, kLocks), Trace::kRoundTrip);
    Oracle oracle(Trace::kBound);
    for (const Observation& observation : trace) {
      judge.Observe(observation);
      oracle.Observe(observation);
    }
    const Instant end = trace.back().at + Seconds(20);
    oracle.End(end);
    const CheckReport report = judge.Finish(end);
    for (const InvariantResult& result : report.invariants) {
      if (result.verdict == Verdict::kNotApplicable) continue;
      if (HasTracesOfItsOwn(result.invariant)) continue;
      ASSERT_EQ(result.violations, oracle.Count(result.invariant))
          << WordOf(result.invariant) << " with seed " << seed;
      seen[static_cast<size_t>(result.invariant)] += result.violations;
    }
    for (const Metric metric :
         {Metric::kGrants, Metric::kTakeovers, Metric::kNeedlessTakeovers,
          Metric::kWithoutHolderSum, Metric::kWithoutHolderMax, Metric::kBeliefOverlapSum,
          Metric::kBeliefOverlapMax, Metric::kWorkOverlapSum, Metric::kWorkOverlapMax,
          Metric::kStaleWriteRefused, Metric::kStaleWriteAccepted,
          Metric::kLegitimateWriteRefused}) {
      ASSERT_EQ(report.metrics[metric], oracle.metrics()[metric])
          << WordOf(metric) << " with seed " << seed;
      seen_metrics[static_cast<size_t>(metric)] += report.metrics[metric];
    }
  }
  // Not vacuous: every invariant was broken, and every compared metric is above zero.
  for (const Invariant invariant : AllOf<Invariant>()) {
    // This protocol gives nothing back; checkers_work_test.cc has traces of those that do.
    if (invariant == Invariant::kNoWorkAfterRelease) continue;
    // Nor does it start that many transactions; checkers_pace_test.cc has traces that do.
    if (invariant == Invariant::kPacedCalls || HasTracesOfItsOwn(invariant)) continue;
    EXPECT_GT(seen[static_cast<size_t>(invariant)], 100) << WordOf(invariant);
  }
  for (const Metric metric :
       {Metric::kTakeovers, Metric::kNeedlessTakeovers, Metric::kBeliefOverlapMax,
        Metric::kWorkOverlapMax, Metric::kLegitimateWriteRefused}) {
    EXPECT_GT(seen_metrics[static_cast<size_t>(metric)], 100) << WordOf(metric);
  }
}

}  // namespace
}  // namespace whorl::sim::checkers_oracle_test
