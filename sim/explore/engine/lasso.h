// Looks for a run in which something bad lasts for ever although everybody gets a turn: a path to a
// cycle of bad states (the stem) and the way round (the loop).
//
// The loop is fair if, for each fairness class, a choice of that class is in it; "time goes on" is
// one. It has no faults: they are finitely many. A state that offers no choice is no loop.
//
// How: one search visits all states and writes down the graph of the bad ones as it goes, by keys and
// edges and no state: some 24 bytes for a state, and 8 for an edge. Tarjan's algorithm finds the
// strongly connected components of that graph; a component whose inner choices cover every class has
// a fair loop. Shown is the one from the state with the fewest faults and steps, by its shortest way
// round. The stem is rebuilt from the links of the search, and the states of the loop by taking its
// choices.
//
// Not here: fairness towards single choices ("what is offered for ever is taken at last"). A model
// with such choices has to make their due time a part of its states, so that time cannot pass it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/explore/engine/bad_graph.h"
#include "sim/explore/engine/components.h"
#include "sim/explore/engine/link_log.h"
#include "sim/explore/engine/model.h"
#include "sim/explore/engine/path.h"
#include "sim/explore/engine/record.h"
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

// `bad(state)` says whether a state is bad, `fairness(choice)` is the bit set of the classes that a
// choice is of, and `required` the classes that a fair loop has.
template <Model M, typename Bad, typename Fairness>
class LassoSearch {
 public:
  using State = typename M::State;
  using Choice = typename M::Choice;

  LassoSearch(M& model, Bad bad, Fairness fairness, uint32_t required, const SearchOptions& options)
      : model_(model), bad_(bad), fairness_(fairness), required_(required), options_(options) {}

  LassoResult<Choice> Run() {
    Search();
    if (result_.search.ending == Ending::kStopped) return result_;
    if (const auto entry = FairEntry(graph_.graph(), required_)) {
      Walk<M> walk = WalkTo(model_, log_, roots_, graph_.VisitOf(*entry));
      std::vector<Choice> loop = LoopFrom(walk.state, *entry);
      result_.lasso = {
          .stem = std::move(walk.path), .loop = std::move(loop), .faults = walk.faults};
    }
    return result_;
  }

 private:
  void Search() {
    SearchOptions options = options_;
    options.stop_at_violation = false;
    options.max_bytes = std::numeric_limits<size_t>::max();
    options.progress = [this](const Progress& progress) { return Proceed(progress); };
    options.save = [this](const SearchRecord& record, const WaitingLinks&) {
      log_ = record.log;
      roots_ = record.roots;
    };
    using Recorded = Recording<M, Bad, Fairness>;
    Recorded recorded(model_, bad_, fairness_, graph_);
    Recorded* const models[] = {&recorded};
    result_.search = Explore<Recorded>(std::span<Recorded* const>(models), options);
    if (out_of_memory_) result_.search.ending = Ending::kMemory;
    graph_.End();
    result_.search.peak_bytes += graph_.bytes();
    result_.bad_states = graph_.graph().nodes();
    result_.bad_transitions = graph_.graph().edges();
  }

  Continue Proceed(const Progress& progress) {
    Progress with_graph = progress;
    with_graph.bytes += graph_.bytes();
    out_of_memory_ = with_graph.bytes > options_.max_bytes;
    if (out_of_memory_) return Continue::kNo;
    if (!options_.progress) return Continue::kYes;
    return options_.progress(with_graph) == Continue::kNo ? Continue::kNo : Continue::kYes;
  }

  // Takes the choices of the loop one after the other: a state on the way may be another than the one
  // that was visited, with the same fingerprint.
  std::vector<Choice> LoopFrom(State state, uint32_t entry) {
    if (model_.Fingerprint(state) != graph_.numbers()[entry]) {
      throw std::logic_error("a model offers other choices than it did");
    }
    std::vector<Choice> loop;
    for (const Edge& edge : ShortestFairLoop(graph_.graph(), entry, required_)) {
      std::optional<std::pair<Choice, State>> next;
      State to = state;
      model_.ForEachChoice(state, [&](const Choice& choice, int faults) {
        if (next || faults > 0 || fairness_(choice) != edge.classes) return;
        if (!model_.Take(state, choice, to) || !bad_(to)) return;
        if (model_.Fingerprint(to) == graph_.numbers()[edge.to]) next.emplace(choice, to);
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
  BadGraph graph_;
  LinkLog log_;  // of the search
  uint64_t roots_ = 0;
};

// Searches with one thread. Of the options, `max_faults`, `max_bytes`, `round` and `progress` count.
template <Model M, typename Bad, typename Fairness>
LassoResult<typename M::Choice> FindLasso(M& model, Bad bad, Fairness fairness, uint32_t required,
                                          const SearchOptions& options = {}) {
  return LassoSearch<M, Bad, Fairness>(model, bad, fairness, required, options).Run();
}

}  // namespace whorl::explore
