#include "sim/hunt/run_coverage.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include "sim/world/mix.h"

namespace whorl::sim {
namespace {

constexpr uint64_t kKindBits = (uint64_t{1} << 48) - 1;
constexpr uint64_t kNoSlack = 255;  // nobody has a lease
constexpr int kWidestBucket = 4;    // four leases and more

// Facts of StateBits: paused, believes, at work, owns the newest version.
constexpr uint32_t kOfOthers = 0b0010000111;

// What of the ledger an observation may change.
enum class Change : uint8_t { kNothing, kOneProcess, kAll };

template <typename Observed>
constexpr Change ChangeBy() {
  if constexpr (!requires(Ledger& ledger, const Observed& x, const CheckerSetup& setup) {
                  ledger.On(x, setup);
                }) {
    return Change::kNothing;
  } else if constexpr (requires(const Observed& x) { x.process; }) {
    return Change::kOneProcess;
  } else {
    return Change::kAll;
  }
}

// By ObservedEvent::index().
template <size_t... I>
constexpr std::array<Change, sizeof...(I)> ChangesOf(std::index_sequence<I...> /*places*/) {
  return {ChangeBy<std::variant_alternative_t<I, ObservedEvent>>()...};
}
constexpr auto kChanges = ChangesOf(std::make_index_sequence<std::variant_size_v<ObservedEvent>>());

// REQUIRES: ChangeBy says one process.
int16_t NodeOf(const ObservedEvent& what) {
  return std::visit(
      [](const auto& x) {
        if constexpr (requires { x.process; }) return x.process.node;
        return int16_t{-1};
      },
      what);
}

}  // namespace

uint8_t SlackBucket(Duration slack, Duration lease) {
  // In sixteenths of the lease: below one, below four, below a lease, below four leases, and more.
  const auto parts = static_cast<uint64_t>(slack.ns < 0 ? -slack.ns : slack.ns) /
                     static_cast<uint64_t>(std::max<int64_t>(lease.ns / 16, 1));
  const int width = static_cast<int>(std::bit_width(parts)) + 1;
  const int bucket = std::min(width / 2, kWidestBucket);
  return static_cast<uint8_t>(slack.ns < 0 ? 2 * kWidestBucket + 1 - bucket : bucket);
}

RunCoverage::RunCoverage(const Scenario& scenario)
    : protocol_(FindProtocol(scenario.protocol)), locks_(scenario.locks.size()) {
  for (const FaultSpec& fault : scenario.faults) faults_.push_back(fault.kind());
  for (size_t node = 0; node < scenario.nodes.size(); ++node) {
    for (const uint16_t lock : scenario.nodes[node].locks) {
      locks_[lock].nodes.push_back({.node = static_cast<int16_t>(node)});
    }
  }
}

void RunCoverage::Hear(const Observation& observation, const RunJudge& judge) {
  const ObservedEvent& what = observation.what;
  if (const auto* began = std::get_if<FaultBegan>(&what)) in_force_.push_back(began->fault);
  if (const auto* ended = std::get_if<FaultEnded>(&what)) std::erase(in_force_, ended->fault);
  const Change change = kChanges[what.index()];
  if (change != Change::kNothing) {
    Refresh(judge, change == Change::kOneProcess ? NodeOf(what) : kAllNodes, observation.at);
  }
  if (const auto reached = PhaseReachedBy(what, *protocol_)) {
    // An operator's transactions are steps of nobody.
    if (reached->call.process.node >= 0) Note(*reached, judge, observation.at);
  }
}

// Takes in what has changed in the ledger, of a node or of all.
void RunCoverage::Refresh(const RunJudge& judge, int16_t node, Instant at) {
  const Ledger& ledger = judge.ledger();
  for (size_t i = 0; i < locks_.size(); ++i) {
    const auto lock = static_cast<uint16_t>(i);
    OfLock& its = locks_[i];
    if (its.has_believer) its.last_belief = at;
    if (its.has_holder) its.last_holder = at;
    NoteNearMisses(judge, lock, at);
    its.has_believer = ledger.BelieverCount(lock) > 0;
    its.has_holder = ledger.AnsweredCount(lock) > 0;
    its.is_stale = true;
    for (OfNode& other : its.nodes) other.is_stale |= node == kAllNodes || node == other.node;
  }
}

// Notes how near to a violation the change is.
void RunCoverage::NoteNearMisses(const RunJudge& judge, uint16_t lock, Instant at) {
  OfLock& its = locks_[lock];
  const Ledger& ledger = judge.ledger();
  const std::optional<Version>& newest = ledger.Newest(lock);
  const int16_t owner = newest ? newest->owner.node : int16_t{-1};
  if (owner >= 0 && owner != its.owner) its.was_taken = its.lease_until.has_value();
  if (owner >= 0 && its.owner >= 0 && owner != its.owner && its.lease_until) {
    const Duration lease = judge.setup().Node(its.owner).lease;
    NoteNearMiss(NearMissKind::kLease, judge, lock, at - *its.lease_until, lease, *its.lease_until);
  }
  its.owner = owner;
  its.lease_until.reset();
  if (newest && newest->lease_until && !newest->released) {
    its.lease_until = ToInstant(*newest->lease_until);
  }
  if (ledger.BelieverCount(lock) > 0) {
    const int16_t believer = ledger.Believers(lock, judge.setup()).front().node;
    if (its.was_taken && !its.has_believer && its.last_believer >= 0 &&
        believer != its.last_believer) {
      const Duration lease = judge.setup().Node(its.last_believer).lease;
      NoteNearMiss(NearMissKind::kBelief, judge, lock, at - its.last_belief, lease,
                   its.last_belief);
    }
    its.last_believer = believer;
  }
  if (!judge.disturbances().IsQuiet()) last_disturbed_ = at;
  if (ledger.AnsweredCount(lock) == 0 && ledger.CandidateCount(lock) > 0) {
    const Duration bound = judge.setup().locks[lock].wedge_bound;
    const Instant since = std::max(its.last_holder, last_disturbed_);
    NoteNearMiss(NearMissKind::kWedge, judge, lock, bound - (at - since), bound, since);
  }
}

// `left` of `whole` was left before a violation.
void RunCoverage::NoteNearMiss(NearMissKind kind, const RunJudge& judge, uint16_t lock,
                               Duration left, Duration whole, Instant at) {
  static constexpr std::array<Invariant, 3> kInvariants = {
      Invariant::kLeaseRespected, Invariant::kSingleLeaderBelief, Invariant::kNoWedge};
  const auto place = static_cast<size_t>(kind);
  if (!judge.IsPromised(kInvariants[place], lock, at)) return;
  const int64_t distance = left.ns / std::max<int64_t>(whole.ns / 1024, 1);
  std::optional<Nearest>& nearest = nearest_[place];
  if (!nearest || distance < nearest->distance) nearest = {.distance = distance, .at = at};
}

void RunCoverage::ReadStates(const RunJudge& judge, uint16_t lock) {
  OfLock& its = locks_[lock];
  its.is_stale = false;
  for (OfNode& node : its.nodes) {
    if (!std::exchange(node.is_stale, false)) continue;
    node.state = judge.ledger().StateBits(node.node, lock, judge.setup());
  }
  // What is true of any other node, a bit for each fact. How many nodes there are is no part of it.
  for (OfNode& node : its.nodes) {
    node.others = 0;
    for (const OfNode& other : its.nodes) {
      if (other.node != node.node) node.others |= other.state & kOfOthers;
    }
  }
}

void RunCoverage::Note(const ReachedPhase& reached, const RunJudge& judge, Instant at) {
  OfLock& its = locks_[reached.call.lock];
  if (its.is_stale) ReadStates(judge, reached.call.lock);
  const auto node = std::ranges::find(its.nodes, reached.call.process.node, &OfNode::node);
  const Duration lease = judge.setup().Node(reached.call.process.node).lease;
  const uint64_t of_lease = its.lease_until ? SlackBucket(*its.lease_until - at, lease) : kNoSlack;
  const uint64_t of_belief = its.has_believer ? 0 : SlackBucket(at - its.last_belief, lease);
  const uint64_t of_holder = its.has_holder ? 0 : SlackBucket(at - its.last_holder, lease);
  const uint64_t fault =
      in_force_.empty() ? 0 : 1 + static_cast<uint64_t>(faults_[in_force_.back()]);
  uint64_t kind = Combine(reached.step.key(),
                          static_cast<uint64_t>(reached.phase) | uint64_t{reached.told} << 8 |
                              fault << 16 | of_lease << 24 | of_belief << 32 | of_holder << 40);
  kind = Combine(kind, uint64_t{node->state} << 32 | node->others) & kKindBits;
  uint64_t& recent = recent_[kind % recent_.size()];
  if (reached.phase == Phase::kSent) node->sent = at;
  if (std::exchange(recent, kind) == kind) return;
  // In powers of two of a thousandth of the lease.
  const auto took = static_cast<uint64_t>((at - node->sent).ns) /
                    static_cast<uint64_t>(std::max<int64_t>(lease.ns / 1024, 1));
  const uint64_t moment = static_cast<uint64_t>(reached.phase) | uint64_t{reached.told} << 8 |
                          uint64_t{node->state & kOfOthers} << 24;
  const uint64_t cell = moment | static_cast<uint64_t>(std::bit_width(took)) << 16;
  seen_.push_back({.kind = kind,
                   .at = at,
                   .cell = Combine(reached.step.key(), cell) & kKindBits,
                   .moment = Combine(reached.step.key(), moment) & kKindBits});
}

std::vector<KindSeen> RunCoverage::Take() {
  std::ranges::sort(seen_, [](const KindSeen& a, const KindSeen& b) {
    return std::pair(a.kind, a.at.ns) < std::pair(b.kind, b.at.ns);
  });
  const auto repeated = std::ranges::unique(seen_, {}, &KindSeen::kind);
  seen_.erase(repeated.begin(), repeated.end());
  return std::move(seen_);
}

void KnownKinds::Add(uint64_t run, std::span<const KindSeen> kinds) {
  for (const KindSeen& seen : kinds) Add(seen.kind, {.first = run, .runs = 1});
}

void KnownKinds::Add(uint64_t kind, const Count& count) {
  Count& mine = counts_[kind];
  mine.first = mine.runs == 0 ? count.first : std::min(mine.first, count.first);
  mine.runs += count.runs;
}

void KnownKinds::Add(const KnownKinds& other) {
  for (const auto& [kind, count] : other.counts_) Add(kind, count);
}

int64_t KnownKinds::RunsWith(uint64_t kind) const {
  const auto found = counts_.find(kind);
  return found == counts_.end() ? 0 : found->second.runs;
}

int64_t KnownKinds::NewSince(uint64_t run) const {
  return std::ranges::count_if(counts_,
                               [&](const auto& entry) { return entry.second.first >= run; });
}

int64_t KnownKinds::RunsAlone() const {
  std::set<uint64_t> runs;
  for (const auto& [kind, count] : counts_) {
    if (count.runs == 1) runs.insert(count.first);
  }
  return static_cast<int64_t>(runs.size());
}

}  // namespace whorl::sim
