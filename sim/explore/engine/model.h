// Defines what the search asks of a model: a system given by its initial states and by the choices that each state
// offers.
//
//   using State    a value with a default; a copy of it is independent
//   using Choice   a value, small: a path is a list of them
//
//   Initial()                     the initial states, a range of State
//   ForEachChoice(state, visit)   calls visit(choice, faults) for each choice, always in the same
//                                 order; `faults` is 1 if the choice is a fault, otherwise 0. A
//                                 state without choices is an end: horizons and budgets are the
//                                 model's business.
//   Take(from, choice, to)        writes the successor into `to`, whose former value is not read.
//                                 False if the choice leads nowhere. Called from within `visit`.
//   Fingerprint(state)            a Key128 of the state's canonical form (key.h)
//   Judge(state)                  a bit for each violated property, 0 if there is none
//
// and, only where it has them:
//   Kind(state, property)         a number for the kind of the violation. With
//                                 SearchOptions::each_kind, each kind is found.
//   BytesOf(state)                the bytes of the state besides sizeof(State), for the memory limit
//   OwnBytes()                    the bytes of the model besides its states, for the memory limit
//   BeginExpanding(from, number)  the search is about to take all choices of this state, which it does once.
//   EndExpanding()                `number`: the state's in the search's log. A thread's numbers ascend; in a
//                                 round, they are above those of the threads before it.
//
// States with equal fingerprints must offer choices that lead to equal fingerprints with the same faults; then
// results do not depend on which of these states is kept. The choices of a state and the results of Take must depend
// only on the arguments, since paths are rebuilt by taking choices again. If several threads search, each has a model
// of its own, or all read one model, which must allow that.
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>

#include "sim/explore/engine/key.h"

namespace whorl::explore {

template <typename M>
concept Model = std::default_initializable<typename M::State> &&
                requires(M& model, const typename M::State& from, typename M::State& to,
                         const typename M::Choice& choice) {
                  { model.Initial() } -> std::ranges::range;
                  model.ForEachChoice(from, [](const typename M::Choice&, int) {});
                  { model.Take(from, choice, to) } -> std::same_as<bool>;
                  { model.Fingerprint(from) } -> std::same_as<Key128>;
                  { model.Judge(from) } -> std::same_as<uint32_t>;
                };

inline constexpr int kMaxProperties = 32;

}  // namespace whorl::explore
