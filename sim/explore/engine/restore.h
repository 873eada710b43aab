// Makes the states of a checkpoint again; the checkpoint has only their links.
//
// It walks through the tree of links, depth first, and takes each choice that leads to a needed state once. So it holds
// only the states of one path besides those that it makes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/explore/engine/link_log.h"
#include "sim/explore/engine/model.h"
#include "sim/explore/engine/record.h"
#include "sim/explore/engine/segment.h"

namespace whorl::explore {

// What is done with the fingerprint of a state that is made again.
enum class Found {
  kVisited,      // it has to be in the visited set
  kBeyondFault,  // it is added to Known::beyond_fault
  kAny,
};

template <Model M>
class Restoring {
 public:
  using State = typename M::State;
  using Choice = typename M::Choice;

  // `frontier`: how many of the log's last states wait to be expanded. REQUIRES: `record` outlives this, and a search
  // has saved it (of this model or of another one).
  Restoring(M& model, SearchRecord& record, uint64_t frontier)
      : model_(model), record_(record), first_waiting_(record.log.size() - frontier) {
    for (size_t i = 0; i < record.batches.size(); ++i) {
      const Batch& batch = record.batches[i];
      const bool is_last = i + 1 == record.batches.size();
      const uint64_t end = is_last ? record.log.size() : record.batches[i + 1].first;
      runs_.emplace(Cost(batch.faults, batch.steps),
                    Run{.links = &record.log, .begin = batch.first, .end = end});
    }
  }

  // Asks for the states of these links: they are made and put into `into`, in the order of the links. `cost`: their
  // faults and steps. REQUIRES: `links` outlives this, and `into` is empty.
  void Need(const LinkLog& links, Found found, std::pair<int, int> cost, Segments<State>& into) {
    links.VisitFrom(0, [&](uint64_t, Link link) {
      Segment<State>& segment = into.Open(kSegment);
      segment.states.emplace_back();
      segment.links.push_back(link);
      return true;
    });
    bytes_ += into.bytes();
    runs_.emplace(cost, Run{.links = &links, .end = links.size(), .into = &into, .found = found});
  }
  // Asks for the last states of the log.
  void NeedFrontier(Segments<State>& into) {
    for (uint64_t i = first_waiting_; i < record_.log.size(); ++i) {
      Segment<State>& segment = into.Open(kSegment);
      if (segment.states.empty()) segment.first = i;
      segment.states.emplace_back();
    }
    bytes_ += into.bytes();
    frontier_ = &into;
  }
  static void AddFinding(Finding finding, Segments<State>& into) {
    Segment<State>& segment = into[finding.position / kSegment];
    finding.position %= kSegment;
    segment.findings.push_back(finding);
  }

  // Makes all states that were asked for. Calls go_on() now and then; stops and returns false if that returns false.
  // Throws BadCheckpoint.
  // REQUIRES: NeedFrontier was called.
  template <typename GoOn>
  bool Make(GoOn go_on) {
    MarkNeeded();
    for (uint64_t i = 0; auto&& state : model_.Initial()) {
      const uint64_t initial = i++;
      for (uint64_t root = 0; root < record_.roots; ++root) {
        if (record_.log[root].choice() != initial || !needed_[root]) continue;
        State copy = state;
        Reach(std::move(copy), Place{.number = root});
        if (!Walk(go_on)) return false;
      }
    }
    if (reached_ != to_reach_) {
      throw BadCheckpoint("another model: not all of its states can be reached");
    }
    return true;
  }

  uint64_t made() const { return made_; }
  // The bytes of all states that were put into an `into`.
  size_t bytes() const { return bytes_; }

 private:
  using Cost = std::pair<int, int>;  // faults and steps
  static constexpr size_t kSegment = 256;

  // Links whose parents never decrease: a batch of the log, or all links of another log.
  struct Run {
    const LinkLog* links = nullptr;
    uint64_t begin = 0;
    uint64_t end = 0;
    Segments<State>* into = nullptr;  // null: the links are a batch of the log
    Found found = Found::kVisited;
  };

  // Identifies a state by its link: an index into a run, or into the log.
  struct Place {
    uint64_t number = 0;
    Cost cost = {};
    const Run* run = nullptr;  // null: the log
  };

  struct Successor {
    Choice choice;
    Place place;
  };

  // A state on the path, and those needed successors that are not made yet, in reverse order.
  struct Reached {
    State state;
    std::vector<Successor> successors;
  };

  void MarkNeeded() {
    needed_.assign(record_.log.size(), false);
    std::fill(needed_.begin() + static_cast<std::ptrdiff_t>(first_waiting_), needed_.end(), true);
    for (const auto& [cost, run] : runs_) {
      if (run.into == nullptr) continue;
      to_reach_ += run.links->size();
      run.links->VisitFrom(0, [&](uint64_t, Link link) {
        needed_[link.parent()] = true;
        return true;
      });
    }
    // Paths to violations are shown at the end of the search, so the states on them are checked now.
    for (const auto& [number, finding] : record_.findings) needed_[number] = true;
    record_.log.VisitBackwards([&](uint64_t i, Link link) {
      if (i >= record_.roots && needed_[i]) needed_[link.parent()] = true;
    });
    to_reach_ += static_cast<uint64_t>(std::ranges::count(needed_, true));
  }

  // Extends and shortens the path until no needed successor is left.
  template <typename GoOn>
  bool Walk(GoOn go_on) {
    constexpr uint64_t kLookUpEvery = 256;
    while (!path_.empty()) {
      Reached& from = path_.back();
      if (from.successors.empty()) {
        path_.pop_back();
        continue;
      }
      const Successor successor = std::move(from.successors.back());
      from.successors.pop_back();
      State to = from.state;
      if (!model_.Take(from.state, successor.choice, to)) {
        throw BadCheckpoint("another model: one of its choices leads nowhere");
      }
      Reach(std::move(to), successor.place);
      if (++taken_ % kLookUpEvery == 0 && !go_on()) return false;
    }
    return true;
  }

  // Stores the state if it was asked for; adds it to the path if it has needed successors.
  void Reach(State&& state, const Place& place) {
    ++reached_;
    LookUp(state, place.run == nullptr ? Found::kVisited : place.run->found);
    if (place.run != nullptr) return Put(*place.run->into, place.number, std::move(state));
    if (place.number >= first_waiting_) {
      return Put(*frontier_, place.number - first_waiting_, std::move(state));
    }
    std::vector<Successor> successors = SuccessorsOf(state, place);
    path_.push_back({.state = std::move(state), .successors = std::move(successors)});
  }

  void LookUp(const State& state, Found found) {
    if (found == Found::kAny) return;
    const FingerprintSet::Place place = FingerprintSet::PlaceOf(model_.Fingerprint(state));
    if (found == Found::kBeyondFault) {
      record_.known.beyond_fault.Insert(place);
    } else if (!record_.known.visited.Contains(place)) {
      throw BadCheckpoint("another model: one of its states is another one here");
    }
  }

  void Put(Segments<State>& into, uint64_t i, State&& state) {
    Segment<State>& segment = into[i / kSegment];
    if constexpr (requires { model_.BytesOf(state); }) {
      const size_t bytes = model_.BytesOf(state);
      segment.held_bytes += bytes;
      bytes_ += bytes;
    }
    segment.states[i % kSegment] = std::move(state);
    ++made_;
  }

  // The needed links whose parent this is, in the order of their choices.
  std::vector<std::pair<uint64_t, Place>> LinksFrom(const Place& parent) const {
    std::vector<std::pair<uint64_t, Place>> found;
    for (const int faults : {0, 1}) {
      const Cost cost = {parent.cost.first + faults, parent.cost.second + 1};
      const auto [begin, end] = runs_.equal_range(cost);
      for (auto at = begin; at != end; ++at) {
        const Run& run = at->second;
        const uint64_t first = run.links->FirstNotLess(parent.number, run.begin, run.end);
        run.links->VisitFrom(first, [&](uint64_t i, Link link) {
          if (i >= run.end || link.parent() != parent.number) return false;
          const bool is_of_log = run.into == nullptr;
          if (!is_of_log || needed_[i]) {
            const Place place = {.number = i, .cost = cost, .run = is_of_log ? nullptr : &run};
            found.emplace_back(link.choice(), place);
          }
          return true;
        });
      }
    }
    std::ranges::sort(found, {}, [](const auto& link) { return link.first; });
    return found;
  }

  std::vector<Successor> SuccessorsOf(const State& state, const Place& place) const {
    const std::vector<std::pair<uint64_t, Place>> links = LinksFrom(place);
    std::vector<Successor> successors;
    size_t next = 0;
    uint64_t number = 0;
    model_.ForEachChoice(state, [&](const Choice& choice, int faults) {
      for (; next < links.size() && links[next].first == number; ++next) {
        const Place& to = links[next].second;
        if (to.cost.first != place.cost.first + faults) {
          throw BadCheckpoint("another model: a choice is a fault in only one of both");
        }
        successors.push_back({.choice = choice, .place = to});
      }
      ++number;
    });
    if (next != links.size())
      throw BadCheckpoint("another model: one of its choices is not offered");
    std::ranges::reverse(successors);
    return successors;
  }

  M& model_;
  SearchRecord& record_;
  const uint64_t first_waiting_;  // states of the log from here on wait to be expanded
  std::multimap<Cost, Run> runs_;
  Segments<State>* frontier_ = nullptr;
  std::vector<bool> needed_;  // states of the log: those to make, and those on the way to them
  uint64_t to_reach_ = 0;     // the number of needed states: of the log, and of other links
  uint64_t reached_ = 0;
  uint64_t made_ = 0;
  size_t bytes_ = 0;
  uint64_t taken_ = 0;
  std::vector<Reached> path_;
};

}  // namespace whorl::explore
