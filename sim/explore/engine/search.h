// Explores every behaviour of a model (model.h), breadth first by (faults, steps): first all states that are reached
// without a fault, by their distance; then those that need one fault; and so on. So the first counterexample of a
// property has the fewest faults and, among those, the fewest steps.
//
// Invariants:
//   1. Each state is expanded once, at the least (faults, steps) at which it is reached.
//   2. The result is the same for every number of threads, except `frontier` and the bytes.
//   3. With one thread, states are judged when they are visited, and visited and expanded in the order of
//      their numbers in the log.
//   4. A state is held from when it is found until it is expanded. After that only its fingerprint and its link are
//      kept: some 14 bytes.
//
// A state may be missed if another one has its fingerprint; fingerprint_set.h says how likely that is. Not here: time
// abstraction, symmetry and partial order, which the model may have; and states on disk. A checkpoint has only links,
// from which states are made again (restore.h).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sim/explore/engine/link_log.h"
#include "sim/explore/engine/model.h"
#include "sim/explore/engine/path.h"
#include "sim/explore/engine/record.h"
#include "sim/explore/engine/restore.h"
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

  // The search has one thread for each model. REQUIRES: at least one model.
  Search(std::span<M* const> models, const SearchOptions& options)
      : options_(options), model_(*models.front()), team_(static_cast<int>(models.size())) {
    const auto size = static_cast<size_t>(team_.size());
    for (M* model : models.first(size))
      workers_.emplace_back(*model, record_.known, options_, size);
  }

  // Searches from the initial states.
  SearchResult<Choice> Run() {
    AddRoots();
    return GoOn();
  }

  // Goes on where a search of this model with these options was saved, with any number of threads. The result is that
  // of a search that was never interrupted. Throws BadCheckpoint if the checkpoint is of another model.
  SearchResult<Choice> Run(Checkpoint from) {
    record_ = std::move(from.record);
    if (Restore(from.waiting)) return GoOn();
    return Result();
  }

 private:
  using Pieces = Segments<State>;

  // The number of states from which on sharing them among the workers is faster than one worker.
  uint64_t WorthSharing() const { return options_.round / 4 * workers_.size(); }

  SearchResult<Choice> GoOn() {
    bool going = !record_.is_expanding || Expand();
    while (going && NextLevel() && !EndsHere()) going = Expand();
    if (ending_ == Ending::kComplete || ending_ == Ending::kViolation) Save();
    return Result();
  }

  // --- levels ------------------------------------------------------------------------------------

  void AddRoots() {
    Pieces roots;
    for (uint64_t i = 0; auto&& state : model_.Initial()) {
      Segment<State>& segment = roots.Open(options_.round);
      segment.states.push_back(state);
      segment.links.emplace_back(0, i++);
    }
    record_.levels.emplace_back();
    Worker<M>& worker = workers_.front();
    for (Segment<State>& segment : roots) worker.Admit(segment);
    worker.Flush();
    Collect(worker);
    record_.roots = found_.states();
    EndLevel();
  }

  // Visits the next states by (faults, steps) that were not visited before. True if there are states to expand; false
  // at the end of the search, or if it was stopped.
  bool NextLevel() {
    while (true) {
      if (!AdmitBeyondFault()) return false;
      if (frontier_.count() > 0) return true;
      if (!waiting_.empty()) {
        record_.steps = waiting_.begin()->first;
      } else if (!beyond_fault_.empty()) {
        NextFault();
      } else {
        return false;
      }
    }
  }

  void NextFault() {
    ++record_.faults;
    record_.levels.emplace_back();
    waiting_ = std::exchange(beyond_fault_, {});
    record_.known.beyond_fault = {};
    record_.steps = waiting_.begin()->first;
  }

  // Adds to the frontier the states that a fault led to, except those that were found with fewer faults.
  bool AdmitBeyondFault() {
    const auto at = waiting_.find(record_.steps);
    if (at == waiting_.end()) return true;
    if (!Rounds(at->second, &Worker<M>::Admit)) return false;
    waiting_.erase(at);
    EndLevel();
    return true;
  }

  // Replaces the frontier by its successors. False if stopped.
  bool Expand() {
    for (Worker<M>& worker : workers_) {
      worker.SetFaultsAllowed(record_.faults < options_.max_faults);
    }
    record_.explored = {record_.faults, record_.steps};
    record_.is_expanding = true;
    if (!Rounds(frontier_, &Worker<M>::Expand)) return false;
    EndExpanding();
    return true;
  }

  void EndExpanding() {
    record_.is_expanding = false;
    ++record_.steps;
    EndLevel();
  }

  // Numbers the states that were found, keeps their links, records their violations, and adds them to the frontier.
  void EndLevel() {
    if (found_.count() == 0) return;
    record_.batches.push_back(
        {.faults = record_.faults, .steps = record_.steps, .first = record_.log.size()});
    for (Segment<State>& segment : found_) {
      segment.first = record_.log.size();
      for (const Link link : segment.links) record_.log.Append(link);
      Note(segment);
      held_bytes_ -= segment.bytes();
      segment.links = {};
      segment.findings = {};
      held_bytes_ += segment.bytes();
    }
    record_.levels.back().steps = record_.steps;
    frontier_.Append(found_);
  }

  void Note(const Segment<State>& segment) {
    for (const Finding& finding : segment.findings) {
      if (!noted_.emplace(finding.property, finding.kind).second) continue;
      record_.findings.emplace_back(segment.first + finding.position, finding);
    }
  }

  // --- checkpoints -------------------------------------------------------------------------------

  void Save() const {
    if (!options_.save) return;
    WaitingLinks waiting = {.frontier = frontier_.states()};
    for (const Segment<State>& segment : found_) {
      for (const Finding& finding : segment.findings) {
        waiting.findings.push_back(finding);
        waiting.findings.back().position += waiting.found.size();
      }
      AppendLinks(segment, waiting.found);
    }
    for (const auto& [steps, pieces] : waiting_) AppendLinks(pieces, waiting.waiting[steps]);
    for (const auto& [steps, pieces] : beyond_fault_) {
      AppendLinks(pieces, waiting.beyond_fault[steps]);
    }
    options_.save(record_, waiting);
  }

  static void AppendLinks(const Segment<State>& segment, LinkLog& links) {
    for (const Link link : segment.links) links.Append(link);
  }
  static void AppendLinks(const Pieces& pieces, LinkLog& links) {
    for (const Segment<State>& segment : pieces) AppendLinks(segment, links);
  }

  // Makes the waiting states of the checkpoint again. False if stopped.
  bool Restore(const WaitingLinks& waiting) {
    for (const auto& [number, finding] : record_.findings) {
      noted_.emplace(finding.property, finding.kind);
    }
    const int faults = record_.faults;
    Restoring<M> restoring(model_, record_, waiting.frontier);
    restoring.NeedFrontier(frontier_);
    const int found_steps = record_.steps + (record_.is_expanding ? 1 : 0);
    restoring.Need(waiting.found, Found::kVisited, {faults, found_steps}, found_);
    for (const Finding& finding : waiting.findings) restoring.AddFinding(finding, found_);
    for (const auto& [steps, links] : waiting.waiting) {
      restoring.Need(links, Found::kAny, {faults, steps}, waiting_[steps]);
    }
    for (const auto& [steps, links] : waiting.beyond_fault) {
      restoring.Need(links, Found::kBeyondFault, {faults + 1, steps}, beyond_fault_[steps]);
    }
    waiting_states_ = waiting.states();
    const bool has_made_all = restoring.Make([&] {
      held_bytes_ = restoring.bytes();
      Progress now = Now();
      now.is_restoring = true;
      now.made = restoring.made();
      Ask(now);
      return going_;
    });
    held_bytes_ = restoring.bytes();
    return has_made_all;
  }

  // --- rounds ------------------------------------------------------------------------------------

  // Calls a function of Worker with each segment of `from`, frees the segment, and adds the states that the workers
  // found to `found_`. False if stopped; `from` then keeps the segments that were not done.
  template <typename Function>
  bool Rounds(Pieces& from, Function function) {
    uint64_t left = from.states();
    for (size_t done = 0; done < from.count() && going_;) {
      const size_t begin = done;
      if (workers_.size() > 1 && left >= WorthSharing()) {
        done = SharedRound(from, done, left, function);
      } else {
        done = LoneRound(from, done, function);
      }
      for (Worker<M>& worker : workers_) Collect(worker);
      for (size_t i = begin; i < done; ++i) left -= Free(from[i]);
      CheckLimits();
    }
    from.DropEmpty();
    return going_;
  }

  // Does one round. Returns the first segment that was not done.
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

  // The end of the shortest part from `begin` on that has at least `size` states; the end of all if there are fewer.
  static size_t PartEnd(Pieces& from, size_t begin, uint64_t size) {
    size_t end = begin;
    for (uint64_t states = 0; end < from.count() && states < size; ++end) {
      states += from[end].states.size();
    }
    return end;
  }

  void Collect(Worker<M>& worker) {
    record_.levels.back().transitions += worker.TakeTransitions();
    record_.levels.back().states += worker.visited().states();
    held_bytes_ += worker.visited().bytes() + worker.beyond_fault().bytes();
    waiting_states_ += worker.visited().states() + worker.beyond_fault().states();
    worker.AddViolatingTo(record_.violating);
    found_.Append(worker.visited());
    if (worker.beyond_fault().count() > 0) {
      beyond_fault_[record_.steps + 1].Append(worker.beyond_fault());
    }
  }

  // Frees the segment. Returns how many states it had.
  uint64_t Free(Segment<State>& segment) {
    const uint64_t states = segment.states.size();
    waiting_states_ -= states;
    held_bytes_ -= segment.bytes();
    segment = {};
    return states;
  }

  // Checks the limits between two rounds, and saves if `progress` says so.
  void CheckLimits() {
    const Continue next = Ask(Now());
    if (!going_ || next == Continue::kSave) Save();
  }

  Continue Ask(const Progress& progress) {
    peak_bytes_ = std::max(peak_bytes_, progress.bytes);
    if (progress.bytes > options_.max_bytes) {
      End(Ending::kMemory);
      return Continue::kNo;
    }
    const Continue next = options_.progress ? options_.progress(progress) : Continue::kYes;
    if (next == Continue::kNo) End(Ending::kStopped);
    return next;
  }

  void End(Ending ending) {
    ending_ = ending;
    going_ = false;
  }

  bool EndsHere() {
    if (options_.stop_at_violation && !record_.findings.empty()) End(Ending::kViolation);
    return !going_;
  }

  // --- results -----------------------------------------------------------------------------------

  Progress Now() const {
    Progress now = {.frontier = waiting_states_, .faults = record_.faults, .steps = record_.steps};
    for (const FaultLevel& level : record_.levels) {
      now.states += level.states;
      now.transitions += level.transitions;
    }
    now.bytes = record_.known.bytes() + record_.log.bytes() + held_bytes_;
    for (const Worker<M>& worker : workers_) now.bytes += worker.bytes();
    return now;
  }

  SearchResult<Choice> Result() {
    NumberTheRest();
    const Progress now = Now();
    SearchResult<Choice> result = {{.ending = ending_,
                                    .states = now.states,
                                    .transitions = now.transitions,
                                    .frontier = now.frontier,
                                    .explored_faults = record_.explored.first,
                                    .explored_steps = record_.explored.second,
                                    .levels = record_.levels,
                                    .violating = record_.violating},
                                   {}};
    for (const auto& [number, finding] : record_.findings) {
      result.violations.push_back(ViolationOf(number, finding));
    }
    result.expected_omissions = FingerprintSet::ExpectedOmissions(now.states);
    result.visited_bytes = record_.known.visited.bytes() + record_.log.bytes();
    result.peak_bytes = std::max(peak_bytes_, now.bytes);
    return result;
  }

  // Numbers the states of a level that did not end, so that their violations are reported, too.
  void NumberTheRest() {
    if (record_.is_expanding) return EndExpanding();
    EndLevel();
  }

  Violation<Choice> ViolationOf(uint64_t number, const Finding& finding) {
    Walk<M> walk = WalkTo(model_, record_.log, record_.roots, number);
    return {.property = finding.property,
            .kind = finding.kind,
            .faults = walk.faults,
            .path = std::move(walk.path)};
  }

  const SearchOptions options_;
  M& model_;
  ThreadTeam team_;
  SearchRecord record_;
  std::deque<Worker<M>> workers_;

  Pieces frontier_;
  Pieces found_;                        // states of the level that is not done yet
  std::map<int, Pieces> waiting_;       // by steps: states of this fault level, found by a fault
  std::map<int, Pieces> beyond_fault_;  // by steps: states with one more fault
  uint64_t waiting_states_ = 0;         // the states in all of these
  size_t held_bytes_ = 0;               // the bytes that these states hold

  std::set<std::pair<int, uint64_t>> noted_;  // properties and kinds that have a finding
  size_t peak_bytes_ = 0;
  bool going_ = true;
  Ending ending_ = Ending::kComplete;
};

// Explores with one thread for each model, from a checkpoint on if there is one (Search::Run).
template <Model M>
SearchResult<typename M::Choice> Explore(std::span<M* const> models,
                                         const SearchOptions& options = {},
                                         std::optional<Checkpoint> from = {}) {
  Search<M> search(models, options);
  return from ? search.Run(*std::move(from)) : search.Run();
}

// Explores with `options.jobs` threads, which all read `model`.
template <typename M>
  requires Model<const M>
SearchResult<typename M::Choice> Explore(const M& model, const SearchOptions& options = {},
                                         std::optional<Checkpoint> from = {}) {
  const std::vector<const M*> models(static_cast<size_t>(std::max(options.jobs, 1)), &model);
  return Explore<const M>(std::span<const M* const>(models), options, std::move(from));
}

}  // namespace whorl::explore
