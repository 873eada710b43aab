// Looks for a fair run in which something bad lasts for ever: a path to a cycle of bad states (the stem), and the
// cycle (the loop).
//
// The loop is fair if it has a choice of each fairness class; "time goes on" is such a class. The loop has no faults,
// since a run has finitely many. A state that offers no choice is no loop.
//
// One search visits all states and records the graph of the bad ones, by keys and edges without states: some 40
// bytes for a state, and 8 for an edge. Each thread records what it expands, and after each round these records are
// added to the graph in the order of the states, so that the graph is the same as with one thread. A checkpoint saves
// the graph. Tarjan's algorithm finds the strongly connected components of the graph; a component whose inner choices
// cover every class has a fair loop. The result is the shortest fair loop through the state with the fewest faults and
// steps. The stem is rebuilt from the links of the search, and the states of the loop by taking its choices.
//
// Not here: fairness towards single choices ("a choice that is offered for ever is taken at last"). A model with such
// choices has to make their due time a part of its states, so that time cannot pass it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
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
  Path<Choice> stem;         // leads to the state where the loop begins and ends
  std::vector<Choice> loop;  // not empty
  int faults = 0;            // in the stem
  int respect = 0;           // in which all states of the loop are bad
};

template <typename Choice>
struct LassoResult {
  // The search of all states. If no lasso was found, there is none if the search is kComplete; otherwise there may be
  // one. A lasso that was found counts even if memory did not suffice for all states.
  SearchResult<Choice> search;
  uint64_t bad_states = 0;
  uint64_t bad_transitions = 0;  // between bad states, without faults
  std::optional<Lasso<Choice>> lasso;
};

// Like SearchOptions::save, but also gets the graph so far.
using SaveLasso = std::function<void(const SearchRecord&, const WaitingLinks&, const BadGraph&)>;

// `bad(state)`: a bit for each respect in which the state is bad; a bool if there is only one respect.
// `fairness(choice)`: a bit for each class of the choice. `required`: the classes that a fair loop needs.
// There are at most kFirstRespect respects and at most kFirstRespect classes.
template <Model M, typename Bad, typename Fairness>
class LassoSearch {
 public:
  using State = typename M::State;
  using Choice = typename M::Choice;

  LassoSearch(M& model, Bad bad, Fairness fairness, uint32_t required, const SearchOptions& options,
              SaveLasso save)
      : model_(model),
        bad_(bad),
        fairness_(fairness),
        required_(required),
        options_(options),
        save_(std::move(save)) {
    for (int i = 0; i < std::max(options_.jobs, 1); ++i)
      threads_.emplace_back(model, bad, fairness);
  }

  LassoResult<Choice> Run(std::optional<Checkpoint> from) {
    const bool goes_on = from.has_value();
    if (goes_on) graph_ = std::move(from->bad);
    Search(std::move(from));
    if (result_.search.ending == Ending::kStopped || !has_log_) return result_;
    try {
      FindFairLoop();
    } catch (const std::logic_error& error) {
      if (!goes_on) throw;
      throw BadCheckpoint(std::string("another model: ") + error.what());
    }
    return result_;
  }

 private:
  using Recorded = Recording<M, Bad, Fairness>;

  void Search(std::optional<Checkpoint> from) {
    SearchOptions options = options_;
    options.stop_at_violation = false;
    options.max_bytes = std::numeric_limits<size_t>::max();
    options.progress = [this](const Progress& progress) { return Proceed(progress); };
    options.save = [this](const SearchRecord& record, const WaitingLinks& waiting) {
      log_ = record.log;
      roots_ = record.roots;
      has_log_ = true;
      if (save_) save_(record, waiting, graph_);
    };
    std::vector<Recorded*> models;
    for (Recorded& thread : threads_) models.push_back(&thread);
    result_.search = Explore<Recorded>(models, options, std::move(from));
    if (out_of_memory_) result_.search.ending = Ending::kMemory;
    graph_.Finish();
    result_.search.peak_bytes += graph_.bytes();
    result_.bad_states = graph_.graph().nodes();
    result_.bad_transitions = graph_.graph().edges();
  }

  // Called after each round. Adds the threads' parts in the order of the threads.
  Continue Proceed(const Progress& progress) {
    for (Recorded& thread : threads_) thread.MoveTo(graph_);
    Progress with_graph = progress;
    with_graph.bytes += graph_.bytes();
    out_of_memory_ = with_graph.bytes > options_.max_bytes;
    if (out_of_memory_) return Continue::kNo;
    return options_.progress ? options_.progress(with_graph) : Continue::kYes;
  }

  // Finds a fair loop in the first respect that has one.
  void FindFairLoop() {
    uint32_t respects = 0;
    for (uint32_t node = 0; node < graph_.graph().nodes(); ++node) {
      for (const Edge& edge : graph_.graph().EdgesOf(node)) respects |= edge.classes & kRespects;
    }
    if (std::has_single_bit(respects)) return FindFairLoopIn(graph_.graph(), respects);
    for (; respects != 0 && !result_.lasso; respects &= respects - 1) {
      const uint32_t respect = respects & ~(respects - 1);
      FindFairLoopIn(graph_.graph().Within(respect), respect);
    }
  }

  void FindFairLoopIn(const Graph& graph, uint32_t respect) {
    const auto entry = FairEntry(graph, required_);
    if (!entry) return;
    Walk<M> walk = WalkTo(model_, log_, roots_, graph_.NumberOf(*entry));
    std::vector<Choice> loop =
        LoopFrom(walk.state, *entry, ShortestFairLoop(graph, *entry, required_));
    result_.lasso = {.stem = std::move(walk.path),
                     .loop = std::move(loop),
                     .faults = walk.faults,
                     .respect = std::countr_zero(respect) - kFirstRespect};
  }

  // Finds the choices of the loop by taking them one after the other: a state on the way may differ from the visited
  // state that has the same fingerprint.
  std::vector<Choice> LoopFrom(State state, uint32_t entry, const std::vector<Edge>& edges) {
    if (model_.Fingerprint(state) != graph_.KeyOf(entry)) {
      throw std::logic_error("a model offers other choices than it did");
    }
    std::vector<Choice> loop;
    for (const Edge& edge : edges) {
      std::optional<std::pair<Choice, State>> next;
      State to = state;
      model_.ForEachChoice(state, [&](const Choice& choice, int faults) {
        if (next || faults > 0 || fairness_(choice) != (edge.classes & ~kRespects)) return;
        if (!model_.Take(state, choice, to)) return;
        if (model_.Fingerprint(to) == graph_.KeyOf(edge.to)) next.emplace(choice, to);
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
  SaveLasso save_;
  std::deque<Recorded> threads_;
  LassoResult<Choice> result_;
  bool out_of_memory_ = false;
  BadGraph graph_;
  // The search's log and roots when it was last saved.
  LinkLog log_;
  uint64_t roots_ = 0;
  bool has_log_ = false;
};

// Searches with options.jobs threads, which all read `model`, from a checkpoint on if there is one. Of the options,
// `jobs`, `max_faults`, `max_bytes`, `round` and `progress` count. Throws BadCheckpoint.
template <Model M, typename Bad, typename Fairness>
LassoResult<typename M::Choice> FindLasso(M& model, Bad bad, Fairness fairness, uint32_t required,
                                          const SearchOptions& options = {}, SaveLasso save = {},
                                          std::optional<Checkpoint> from = {}) {
  return LassoSearch<M, Bad, Fairness>(model, bad, fairness, required, options, std::move(save))
      .Run(std::move(from));
}

}  // namespace whorl::explore
