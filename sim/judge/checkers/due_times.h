// Finds what is overdue without looking at everything that could be: the checkers that are judged of runs keep
// here by when something has to happen, of the parts and locks that wait for it. Those are few at any time, and
// all parts of a run with a thousand locks are many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/scenario/instant.h"

namespace whorl::sim {

struct DueTimes {
  struct Due {
    size_t place = 0;  // the checker's own: the index of a part, or of a lock
    Instant at;
    WHORL_FIELDS(Due, place, at);
  };

  std::vector<Due> dues;      // by place; none is kNever
  Instant earliest = kNever;  // or earlier, if that one is due no more: TakePassed corrects it
  WHORL_FIELDS(DueTimes, dues, earliest);

  // kNever: nothing is due there any more.
  void Set(size_t place, Instant at) {
    const auto it = std::ranges::lower_bound(dues, place, {}, &Due::place);
    const bool is_there = it != dues.end() && it->place == place;
    if (at == kNever) {
      if (is_there) dues.erase(it);
      return;
    }
    if (is_there) {
      it->at = at;
    } else {
      dues.insert(it, {.place = place, .at = at});
    }
    earliest = std::min(earliest, at);
  }

  // Whether TakePassed is worth calling.
  bool MayHavePassed(Instant now) const { return now > earliest; }
  // What was due before `now`, by place; it is due no more.
  std::vector<Due> TakePassed(Instant now) {
    std::vector<Due> passed;
    std::erase_if(dues, [&](const Due& due) {
      if (due.at >= now) return false;
      passed.push_back(due);
      return true;
    });
    earliest = kNever;
    for (const Due& due : dues) earliest = std::min(earliest, due.at);
    return passed;
  }
};

}  // namespace whorl::sim
