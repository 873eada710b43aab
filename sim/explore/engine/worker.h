// Does the work of one thread of a search: expands states, and keeps the successors that are new.
//
// A successor waits in a short queue while its place in the visited set is fetched into the cache; then it is looked
// up.
//
// With one thread it is then inserted at once if it is new. With several threads, a round has three phases, and threads
// wait for each other between phases:
//   1. each thread expands its part of the states, reads the visited set, which no thread changes, and lists the
//      successors that are not in the set;
//   2. each thread inserts the listed successors of all threads that belong to its own shards, in the order of their
//      parents and choices;
//   3. each thread keeps those of its own successors that turned out to be new.
// So among equal successors the one of the first parent and its first choice is kept, as with one thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/explore/engine/fingerprint_set.h"
#include "sim/explore/engine/link_log.h"
#include "sim/explore/engine/model.h"
#include "sim/explore/engine/record.h"
#include "sim/explore/engine/result.h"
#include "sim/explore/engine/segment.h"

namespace whorl::explore {

template <Model M>
class Worker {
 public:
  using State = typename M::State;
  using Choice = typename M::Choice;

  // `owners`: how many workers there are.
  Worker(M& model, Known& known, const SearchOptions& options, size_t owners)
      : model_(model), known_(known), options_(options), queue_(kQueue), shares_(owners) {}

  // Whether successors that may be new wait for the second phase.
  void SetDeferring(bool deferring) { deferring_ = deferring; }
  void SetFaultsAllowed(bool allowed) { faults_allowed_ = allowed; }

  // Takes all choices of the segment's states.
  void Expand(const Segment<State>& segment) {
    for (size_t i = 0; i < segment.states.size(); ++i) {
      ExpandState(segment.states[i], segment.first + i);
    }
  }

  // Visits the segment's states, as if they were successors.
  void Admit(Segment<State>& segment) {
    for (size_t i = 0; i < segment.states.size(); ++i) {
      Candidate& candidate = queue_[tail_ % kQueue];
      candidate.state = std::move(segment.states[i]);
      Enqueue(candidate, segment.links[i], false);
    }
  }

  // Looks up the successors that are still in the queue.
  void Flush() {
    while (head_ != tail_) LookUp(queue_[head_++ % kQueue]);
  }

  // Inserts the waiting successors of `other` that belong to the shards of this owner.
  void SettleShare(Worker& other, size_t owner) const {
    std::vector<uint32_t>& share = other.shares_[owner];
    for (const uint32_t i : share) other.waiting_[i].is_new = IsNew(other.waiting_[i]);
    share.clear();
  }

  void KeepNew() {
    for (size_t i = 0; i < waiting_count_; ++i) {
      if (waiting_[i].is_new) Keep(waiting_[i]);
    }
    waiting_count_ = 0;
  }

  // The states that were found and not taken from here yet.
  Segments<State>& visited() { return visited_; }
  Segments<State>& beyond_fault() { return beyond_fault_; }
  uint64_t TakeTransitions() { return std::exchange(transitions_, 0); }

  // Adds the numbers of states, since the last call, that violate each property.
  void AddViolatingTo(std::array<uint64_t, kMaxProperties>& sums) {
    for (size_t i = 0; i < kMaxProperties; ++i) sums[i] += std::exchange(violating_[i], 0);
  }

  size_t bytes() const {
    size_t bytes = (waiting_.size() + kQueue) * sizeof(Candidate);
    if constexpr (requires { model_.OwnBytes(); }) bytes += model_.OwnBytes();
    return bytes;
  }

 private:
  static constexpr size_t kQueue = 32;
  static constexpr size_t kSegment = 256;

  // The size of segments, by which a level is shared among threads. It is small enough for short rounds.
  size_t SegmentSize() const { return std::min(kSegment, options_.round); }

  struct Candidate {
    State state;
    FingerprintSet::Place place;
    Link link;
    bool is_fault = false;
    bool is_new = false;
  };

  void ExpandState(const State& from, uint64_t number) {
    uint64_t next_choice = 0;
    constexpr bool kIsTold = requires { model_.BeginExpanding(from, number); };
    if constexpr (kIsTold) model_.BeginExpanding(from, number);
    model_.ForEachChoice(from, [&](const Choice& choice, int faults) {
      const uint64_t choice_number = next_choice++;
      if (faults > 0 && !faults_allowed_) return;
      if (choice_number >= Link::kChoices) throw std::length_error("a state has too many choices");
      Candidate& candidate = queue_[tail_ % kQueue];
      if (!model_.Take(from, choice, candidate.state)) return;
      ++transitions_;
      Enqueue(candidate, Link(number, choice_number), faults > 0);
    });
    if constexpr (kIsTold) model_.EndExpanding();
  }

  // REQUIRES: `candidate` is the free place at the queue's tail.
  void Enqueue(Candidate& candidate, Link link, bool is_fault) {
    candidate.place = FingerprintSet::PlaceOf(model_.Fingerprint(candidate.state));
    known_.visited.Prefetch(candidate.place);
    if (is_fault) known_.beyond_fault.Prefetch(candidate.place);
    candidate.link = link;
    candidate.is_fault = is_fault;
    ++tail_;
    if (tail_ - head_ == kQueue) LookUp(queue_[head_++ % kQueue]);
  }

  void LookUp(Candidate& candidate) {
    if (!deferring_) {
      if (IsNew(candidate)) Keep(candidate);
    } else if (!known_.visited.Contains(candidate.place)) {
      Wait(candidate);
    }
  }

  void Wait(Candidate& candidate) {
    shares_[candidate.place.shard % shares_.size()].push_back(
        static_cast<uint32_t>(waiting_count_));
    if (waiting_count_ == waiting_.size()) waiting_.emplace_back();
    std::swap(waiting_[waiting_count_++], candidate);
  }

  bool IsNew(const Candidate& candidate) const {
    if (!candidate.is_fault) return known_.visited.Insert(candidate.place);
    return !known_.visited.Contains(candidate.place) && known_.beyond_fault.Insert(candidate.place);
  }

  void Keep(Candidate& candidate) {
    Segment<State>& segment = (candidate.is_fault ? beyond_fault_ : visited_).Open(SegmentSize());
    if (!candidate.is_fault) Judge(candidate.state, segment);
    if constexpr (requires { model_.BytesOf(candidate.state); }) {
      segment.held_bytes += model_.BytesOf(candidate.state);
    }
    segment.states.push_back(std::move(candidate.state));
    segment.links.push_back(candidate.link);
  }

  void Judge(const State& state, Segment<State>& segment) {
    for (uint32_t bits = model_.Judge(state) & options_.watched; bits != 0; bits &= bits - 1) {
      const int property = std::countr_zero(bits);
      ++violating_[static_cast<size_t>(property)];
      const uint64_t kind = KindOf(state, property);
      if (!judged_.emplace(property, kind).second) continue;
      segment.findings.push_back(
          {.position = segment.states.size(), .property = property, .kind = kind});
    }
  }

  uint64_t KindOf(const State& state, int property) {
    if constexpr (requires { model_.Kind(state, property); }) {
      if (options_.each_kind) return model_.Kind(state, property);
    }
    return 0;
  }

  M& model_;
  Known& known_;
  const SearchOptions& options_;
  bool deferring_ = false;
  bool faults_allowed_ = true;

  std::vector<Candidate> queue_;  // a ring
  size_t head_ = 0;
  size_t tail_ = 0;

  std::vector<Candidate> waiting_;  // only the first `waiting_count_` are in use
  size_t waiting_count_ = 0;
  std::vector<std::vector<uint32_t>> shares_;  // by owner: indexes in `waiting_`

  Segments<State> visited_;
  Segments<State> beyond_fault_;
  uint64_t transitions_ = 0;
  std::set<std::pair<int, uint64_t>> judged_;  // properties and kinds that this worker has found
  std::array<uint64_t, kMaxProperties> violating_ = {};
};

}  // namespace whorl::explore
