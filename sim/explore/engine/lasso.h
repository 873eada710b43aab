// Looks for a run in which something bad lasts for ever although everybody gets a turn: a path to a
// cycle of bad states (the stem) and the way round (the loop).
//
// The loop is fair if, for each fairness class, a choice of that class is in it; "time goes on" is
// one. It has no faults: they are finitely many. A state that offers no choice is no loop.
//
// How: one search visits all states and collects the bad ones, by value; Tarjan's algorithm finds the
// strongly connected components of their graph; a component whose inner choices cover every class
// has a fair loop. Shown is the one from the state with the fewest faults and steps, by its shortest
// way round, and a second search finds the stem.
//
// Not here: fairness towards single choices ("what is offered for ever is taken at last"). A model
// with such choices has to make their due time a part of its states, so that time cannot pass it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/explore/engine/components.h"
#include "sim/explore/engine/key.h"
#include "sim/explore/engine/model.h"
#include "sim/explore/engine/path.h"
#include "sim/explore/engine/result.h"
#include "sim/explore/engine/search.h"

namespace whorl::explore {

template <typename Choice>
struct Lasso {
  Path<Choice> stem;         // to where the loop begins and ends
  std::vector<Choice> loop;  // not empty
  int faults = 0;            // in the stem
};

template <typename Choice>
struct LassoResult {
  // The search of all states. Without a lasso, kComplete says that there is none; otherwise nothing is
  // known. A lasso among the states that memory had room for is one.
  SearchResult<Choice> search;
  uint64_t bad_states = 0;
  uint64_t bad_transitions = 0;  // between them, without faults
  std::optional<Lasso<Choice>> lasso;
};

// The model itself, but with a judge of its own.
template <Model M, typename JudgeState>
class Rejudged {
 public:
  using State = typename M::State;
  using Choice = typename M::Choice;

  Rejudged(M& model, JudgeState judge) : model_(model), judge_(std::move(judge)) {}

  decltype(auto) Initial() { return model_.Initial(); }
  template <typename Visit>
  void ForEachChoice(const State& state, Visit visit) {
    model_.ForEachChoice(state, visit);
  }
  bool Take(const State& from, const Choice& choice, State& to) {
    return model_.Take(from, choice, to);
  }
  Key128 Fingerprint(const State& state) { return model_.Fingerprint(state); }
  uint32_t Judge(const State& state) { return judge_(state) ? 1 : 0; }

 private:
  M& model_;
  JudgeState judge_;
};

// `bad(state)` says whether a state is bad, `fairness(choice)` is the bit set of the classes that a
// choice is of, and `required` the classes that a fair loop has.
template <Model M, typename Bad, typename Fairness>
class LassoSearch {
 public:
  using State = typename M::State;
  using Choice = typename M::Choice;

  LassoSearch(M& model, Bad bad, Fairness fairness, uint32_t required, const SearchOptions& options)
      : model_(model), bad_(bad), fairness_(fairness), required_(required), options_(options) {
    options_.stop_at_violation = false;
    options_.watched = 0;
  }

  LassoResult<Choice> Run() {
    Collect();
    if (result_.search.ending == Ending::kStopped) return result_;
    Connect();
    if (const std::optional<uint32_t> entry = FairEntry(graph_, required_)) Show(*entry);
    return result_;
  }

 private:
  // The bad states, in the order of (faults, steps), and their keys.
  void Collect() {
    SearchOptions options = options_;
    options.watched = 1;
    options.max_bytes = std::numeric_limits<size_t>::max();
    options.progress = [this](const Progress& progress) { return Proceed(progress); };
    const auto found = Search(options, [this](const State& state) {
      if (!bad_(state)) return false;
      states_.push_back(state);
      bytes_ += sizeof(State);
      if constexpr (requires { model_.BytesOf(state); }) bytes_ += model_.BytesOf(state);
      return false;
    });
    result_.search = found;
    if (out_of_memory_) result_.search.ending = Ending::kMemory;
    result_.search.peak_bytes += bytes_;
    result_.bad_states = states_.size();
  }

  Continue Proceed(const Progress& progress) {
    Progress with_states = progress;
    with_states.bytes += bytes_;
    out_of_memory_ = with_states.bytes > options_.max_bytes;
    if (out_of_memory_) return Continue::kNo;
    return options_.progress ? options_.progress(with_states) : Continue::kYes;
  }

  template <typename JudgeState>
  SearchResult<Choice> Search(const SearchOptions& options, JudgeState judge) {
    using Judged = Rejudged<M, JudgeState>;
    Judged judged(model_, std::move(judge));
    Judged* const models[] = {&judged};
    return Explore<Judged>(std::span<Judged* const>(models), options);
  }

  void Connect() {
    for (uint32_t i = 0; i < states_.size(); ++i) {
      numbers_.emplace_back(OrderedKey(model_.Fingerprint(states_[i])), i);
    }
    std::ranges::sort(numbers_);
    for (const State& state : states_) {
      ForEachBadSuccessor(state, [this](const Choice& choice, const State&, uint32_t to) {
        graph_.AddEdge({.to = to, .classes = fairness_(choice)});
      });
      graph_.EndNode();
    }
    result_.bad_transitions = graph_.edges();
  }

  // Calls visit(choice, successor, number of the successor).
  template <typename Visit>
  void ForEachBadSuccessor(const State& from, Visit visit) {
    State to = from;
    model_.ForEachChoice(from, [&](const Choice& choice, int faults) {
      if (faults > 0 || !model_.Take(from, choice, to)) return;
      if (const std::optional<uint32_t> number = NumberOf(to)) visit(choice, to, *number);
    });
  }

  // Nothing if it is not bad.
  std::optional<uint32_t> NumberOf(const State& state) {
    if (!bad_(state)) return std::nullopt;
    const std::pair wanted(OrderedKey(model_.Fingerprint(state)), uint32_t{0});
    const auto found = std::ranges::lower_bound(numbers_, wanted);
    if (found == numbers_.end() || found->first != wanted.first) return std::nullopt;
    return found->second;
  }

  using Words = std::pair<uint64_t, uint64_t>;
  static Words OrderedKey(const Key128& key) { return {key.high, key.low}; }

  void Show(uint32_t entry) {
    SearchOptions options = options_;
    options.watched = 1;
    options.stop_at_violation = true;
    const Key128 wanted = model_.Fingerprint(states_[entry]);
    const auto found =
        Search(options, [&](const State& state) { return model_.Fingerprint(state) == wanted; });
    if (found.violations.empty()) {  // the second search was stopped
      result_.search.ending = found.ending;
      return;
    }
    const Violation<Choice>& way = found.violations.front();
    result_.lasso = {.stem = way.path, .loop = LoopFrom(entry), .faults = way.faults};
  }

  // Takes the choices of the loop one after the other: a state on the way may be another than the one
  // that was collected, with the same fingerprint.
  std::vector<Choice> LoopFrom(uint32_t entry) {
    std::vector<Choice> loop;
    State state = states_[entry];
    for (const Edge& edge : ShortestFairLoop(graph_, entry, required_)) {
      std::optional<std::pair<Choice, State>> next;
      ForEachBadSuccessor(state, [&](const Choice& choice, const State& to, uint32_t number) {
        if (!next && number == edge.to && fairness_(choice) == edge.classes) {
          next.emplace(choice, to);
        }
      });
      if (!next) throw std::logic_error("equal states of a model offer other choices");
      loop.push_back(next->first);
      state = std::move(next->second);
    }
    return loop;
  }

  M& model_;
  Bad bad_;
  Fairness fairness_;
  uint32_t required_;
  SearchOptions options_;
  LassoResult<Choice> result_;
  bool out_of_memory_ = false;
  size_t bytes_ = 0;                                 // of `states_`
  std::vector<State> states_;                        // the bad ones
  std::vector<std::pair<Words, uint32_t>> numbers_;  // of the bad states, by their keys
  Graph graph_;                                      // of the bad states
};

// Searches with one thread. Of the options, `max_faults`, `max_bytes` and `progress` count.
template <Model M, typename Bad, typename Fairness>
LassoResult<typename M::Choice> FindLasso(M& model, Bad bad, Fairness fairness, uint32_t required,
                                          const SearchOptions& options = {}) {
  return LassoSearch<M, Bad, Fairness>(model, bad, fairness, required, options).Run();
}

}  // namespace whorl::explore
