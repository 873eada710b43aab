// Explores every behaviour of a model (model.h), breadth first by (faults, steps): all states that
// are reached without a fault, by their distance; then those that one fault is needed for; and so
// on. So the first counterexample of a property has the fewest faults and, among these, the fewest
// steps.
//
// Invariants:
//   1. Each state is expanded once, at the least (faults, steps) at which it is reached.
//   2. The result is the same for every number of threads, but for `frontier` and the bytes.
//   3. What stays of a state is its fingerprint and its link: some 14 bytes. States themselves are
//      held from when they are found until they are expanded.
//
// A state may be missed if another one has its fingerprint: see fingerprint_set.h for how likely it
// is. Not here: time abstraction, symmetry and partial order, which are the model's; and states on
// disk.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sim/explore/engine/link_log.h"
#include "sim/explore/engine/model.h"
#include "sim/explore/engine/path.h"
#include "sim/explore/engine/result.h"
#include "sim/explore/engine/segment.h"
#include "sim/explore/engine/thread_team.h"
#include "sim/explore/engine/worker.h"

namespace whorl::explore {

template <Model M>
class Search {
 public:
  using State = typename M::State;
  using Choice = typename M::Choice;

  // One thread for each model. REQUIRES: at least one model.
  Search(std::span<M* const> models, const SearchOptions& options)
      : options_(options), model_(*models.front()), team_(static_cast<int>(models.size())) {
    const auto size = static_cast<size_t>(team_.size());
    for (M* model : models.first(size)) workers_.emplace_back(*model, known_, options_, size);
  }

  SearchResult<Choice> Run() {
    bool going = AddRoots();
    while (going && NextLevel() && !EndsHere()) going = Expand();
    return Result();
  }

 private:
  using Pieces = Segments<State>;

  // Fewer states are faster done by one worker than shared out.
  uint64_t WorthSharing() const { return options_.round / 4 * workers_.size(); }

  // --- levels ------------------------------------------------------------------------------------

  bool AddRoots() {
    Pieces roots;
    for (uint64_t i = 0; auto&& state : model_.Initial()) {
      Segment<State>& segment = roots.Open(options_.round);
      segment.states.push_back(state);
      segment.links.emplace_back(0, i++);
    }
    waiting_states_ = roots.states();
    held_bytes_ = roots.bytes();
    levels_.emplace_back();
    const bool going = Rounds(roots, frontier_, &Worker<M>::Admit);
    roots_ = frontier_.states();
    EndLevel(frontier_);
    return going;
  }

  // Visits what is (faults, steps) away, if it has not been visited with less. True if there is
  // something to expand; false at the end, or if stopped.
  bool NextLevel() {
    while (true) {
      if (!AdmitBeyondFault()) return false;
      if (frontier_.count() > 0) return true;
      if (!waiting_.empty()) {
        steps_ = waiting_.begin()->first;
      } else if (!beyond_fault_.empty()) {
        NextFault();
      } else {
        return false;
      }
    }
  }

  void NextFault() {
    ++faults_;
    levels_.emplace_back();
    waiting_ = std::exchange(beyond_fault_, {});
    known_.beyond_fault = {};
    steps_ = waiting_.begin()->first;
  }

  // Adds to the frontier what a fault led to. Most of it is new; some was found with fewer faults.
  bool AdmitBeyondFault() {
    const auto found = waiting_.find(steps_);
    if (found == waiting_.end()) return true;
    Pieces admitted;
    const bool going = Rounds(found->second, admitted, &Worker<M>::Admit);
    waiting_.erase(found);
    EndLevel(admitted);
    frontier_.Append(admitted);
    return going;
  }

  // Replaces the frontier by its successors. False if stopped.
  bool Expand() {
    for (Worker<M>& worker : workers_) worker.SetFaultsAllowed(faults_ < options_.max_faults);
    explored_ = {faults_, steps_};
    Pieces next;
    const bool going = Rounds(frontier_, next, &Worker<M>::Expand);
    ++steps_;
    frontier_.Append(next);
    EndLevel(frontier_);
    return going;
  }

  // Numbers the new states, keeps their links, and notes what they violate.
  void EndLevel(Pieces& found) {
    for (Segment<State>& segment : found) {
      if (segment.links.empty()) continue;  // was done before
      segment.first = log_.size();
      for (const Link link : segment.links) log_.Append(link);
      Note(segment);
      held_bytes_ -= segment.bytes();
      segment.links = {};
      segment.findings = {};
      held_bytes_ += segment.bytes();
      levels_.back().steps = steps_;
    }
  }

  void Note(const Segment<State>& segment) {
    for (const Finding& finding : segment.findings) {
      if (!noted_.emplace(finding.property, finding.kind).second) continue;
      findings_.emplace_back(segment.first + finding.position, finding);
    }
  }

  // --- rounds ------------------------------------------------------------------------------------

  // Calls a function of Worker with each segment of `from`, freeing it afterwards, and adds what is
  // found to `to`. False if stopped; `from` then keeps what was not done.
  template <typename Function>
  bool Rounds(Pieces& from, Pieces& to, Function function) {
    uint64_t left = from.states();
    for (size_t done = 0; done < from.count() && going_;) {
      const size_t begin = done;
      if (workers_.size() > 1 && left >= WorthSharing()) {
        done = SharedRound(from, done, left, function);
      } else {
        done = LoneRound(from, done, function);
      }
      for (Worker<M>& worker : workers_) Collect(worker, to);
      for (size_t i = begin; i < done; ++i) left -= Free(from[i]);
      CheckLimits();
    }
    from.DropEmpty();
    return going_;
  }

  // Returns the first segment that is left.
  template <typename Function>
  size_t LoneRound(Pieces& from, size_t begin, Function function) {
    Worker<M>& worker = workers_.front();
    worker.SetDeferring(false);
    const size_t end = PartEnd(from, begin, options_.round);
    for (size_t i = begin; i < end; ++i) (worker.*function)(from[i]);
    worker.Flush();
    return end;
  }

  template <typename Function>
  size_t SharedRound(Pieces& from, size_t begin, uint64_t left, Function function) {
    const uint64_t size = std::min<uint64_t>(options_.round, left / workers_.size() + 1);
    std::vector<size_t> bounds = {begin};
    for (size_t i = 0; i < workers_.size(); ++i) {
      bounds.push_back(PartEnd(from, bounds.back(), size));
    }
    team_.Run([&](int number) {
      Worker<M>& worker = workers_[static_cast<size_t>(number)];
      worker.SetDeferring(true);
      for (size_t i = bounds[number]; i < bounds[number + 1]; ++i) (worker.*function)(from[i]);
      worker.Flush();
    });
    team_.Run([&](int number) {
      const auto owner = static_cast<size_t>(number);
      for (Worker<M>& other : workers_) workers_[owner].SettleShare(other, owner);
    });
    team_.Run([&](int number) { workers_[static_cast<size_t>(number)].KeepNew(); });
    return bounds.back();
  }

  // The end of a part that has at least `size` states, if there are so many.
  static size_t PartEnd(Pieces& from, size_t begin, uint64_t size) {
    size_t end = begin;
    for (uint64_t states = 0; end < from.count() && states < size; ++end) {
      states += from[end].states.size();
    }
    return end;
  }

  void Collect(Worker<M>& worker, Pieces& to) {
    levels_.back().transitions += worker.TakeTransitions();
    levels_.back().states += worker.visited().states();
    held_bytes_ += worker.visited().bytes() + worker.beyond_fault().bytes();
    waiting_states_ += worker.visited().states() + worker.beyond_fault().states();
    to.Append(worker.visited());
    if (worker.beyond_fault().count() > 0) beyond_fault_[steps_ + 1].Append(worker.beyond_fault());
  }

  // Returns how many states it had.
  uint64_t Free(Segment<State>& segment) {
    const uint64_t states = segment.states.size();
    waiting_states_ -= states;
    held_bytes_ -= segment.bytes();
    segment = {};
    return states;
  }

  // Between two rounds: looks at the limits.
  void CheckLimits() {
    const Progress progress = Now();
    peak_bytes_ = std::max(peak_bytes_, progress.bytes);
    if (progress.bytes > options_.max_bytes) {
      End(Ending::kMemory);
    } else if (options_.progress && options_.progress(progress) == Continue::kNo) {
      End(Ending::kStopped);
    }
  }

  void End(Ending ending) {
    ending_ = ending;
    going_ = false;
  }

  bool EndsHere() {
    if (options_.stop_at_violation && !findings_.empty()) End(Ending::kViolation);
    return !going_;
  }

  // --- results -----------------------------------------------------------------------------------

  Progress Now() const {
    Progress now = {.frontier = waiting_states_, .faults = faults_, .steps = steps_};
    for (const FaultLevel& level : levels_) {
      now.states += level.states;
      now.transitions += level.transitions;
    }
    now.bytes = known_.bytes() + log_.bytes() + held_bytes_;
    for (const Worker<M>& worker : workers_) now.bytes += worker.bytes();
    return now;
  }

  SearchResult<Choice> Result() {
    const Progress now = Now();
    SearchResult<Choice> result = {.ending = ending_,
                                   .states = now.states,
                                   .transitions = now.transitions,
                                   .frontier = now.frontier,
                                   .explored_faults = explored_.first,
                                   .explored_steps = explored_.second,
                                   .levels = levels_};
    for (const auto& [number, finding] : findings_) {
      result.violations.push_back(ViolationOf(number, finding));
    }
    for (const Worker<M>& worker : workers_) {
      for (size_t i = 0; i < kMaxProperties; ++i) result.violating[i] += worker.violating()[i];
    }
    result.expected_omissions = FingerprintSet::ExpectedOmissions(now.states);
    result.visited_bytes = known_.visited.bytes() + log_.bytes();
    result.peak_bytes = std::max(peak_bytes_, now.bytes);
    return result;
  }

  Violation<Choice> ViolationOf(uint64_t number, const Finding& finding) {
    Walk<M> walk = WalkTo(model_, log_, roots_, number);
    return {.property = finding.property,
            .kind = finding.kind,
            .faults = walk.faults,
            .path = std::move(walk.path)};
  }

  const SearchOptions options_;
  M& model_;
  ThreadTeam team_;
  Known known_;
  std::deque<Worker<M>> workers_;
  LinkLog log_;
  uint64_t roots_ = 0;

  int faults_ = 0;  // of the states in the frontier
  int steps_ = 0;
  Pieces frontier_;
  std::map<int, Pieces> waiting_;       // by steps: what a fault led to, with `faults_` faults
  std::map<int, Pieces> beyond_fault_;  // the same with one more
  uint64_t waiting_states_ = 0;         // in the frontier and in both of these
  size_t held_bytes_ = 0;               // by them

  std::vector<FaultLevel> levels_;
  std::pair<int, int> explored_;
  std::set<std::pair<int, uint64_t>> noted_;            // properties and kinds
  std::vector<std::pair<uint64_t, Finding>> findings_;  // with the number of the state
  size_t peak_bytes_ = 0;
  bool going_ = true;
  Ending ending_ = Ending::kComplete;
};

// Explores with one thread for each model.
template <Model M>
SearchResult<typename M::Choice> Explore(std::span<M* const> models,
                                         const SearchOptions& options = {}) {
  return Search<M>(models, options).Run();
}

// Explores with `options.jobs` threads, which all read `model`.
template <typename M>
  requires Model<const M>
SearchResult<typename M::Choice> Explore(const M& model, const SearchOptions& options = {}) {
  const std::vector<const M*> models(static_cast<size_t>(std::max(options.jobs, 1)), &model);
  return Explore<const M>(std::span<const M* const>(models), options);
}

}  // namespace whorl::explore
