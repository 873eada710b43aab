// Computes a digest of a model's behaviour, by which a checkpoint of another model is recognised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>

#include "sim/explore/engine/key.h"
#include "sim/explore/engine/model.h"

namespace whorl::explore {

// A key of the first `states` states, breadth first, with their successors, faults and judgements. Models that differ
// only in later states have equal digests.
template <Model M>
Key128 DigestOf(M& model, size_t states) {
  Key128 digest;
  const auto add = [&digest](uint64_t word) { digest = Extend(digest, word); };
  std::set<std::pair<uint64_t, uint64_t>> known;
  std::deque<typename M::State> open;
  const auto meet = [&](const typename M::State& state) {
    const Key128 key = model.Fingerprint(state);
    add(key.high);
    add(key.low);
    add(model.Judge(state));
    if (known.emplace(key.high, key.low).second) open.push_back(state);
  };
  for (auto&& state : model.Initial()) meet(state);
  for (; !open.empty() && states > 0; --states) {
    const typename M::State from = std::move(open.front());
    open.pop_front();
    model.ForEachChoice(from, [&](const typename M::Choice& choice, int faults) {
      typename M::State to = from;
      const bool leads_somewhere = model.Take(from, choice, to);
      add(leads_somewhere ? static_cast<uint64_t>(faults) : ~uint64_t{0});
      if (leads_somewhere) meet(to);
    });
  }
  return digest;
}

}  // namespace whorl::explore
