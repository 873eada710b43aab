// What a search found, for people and for machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/explore/request.h"
#include "sim/explore/counterexample.h"
#include "sim/explore/engine/result.h"
#include "sim/explore/lock_model.h"
#include "sim/scenario/json_text.h"

namespace whorl::cli {

struct ExploreFinding {
  Invariant invariant = Invariant::kOneLiveToken;
  const explore::Violation<sim::Move>* violation = nullptr;
  uint64_t states = 0;  // that violate it
  bool promised = false;
  bool decides = false;  // that the command ends with 1
  sim::Counterexample found;
  std::string saved;  // the path of its scenario; empty: none
};

struct ExploreReport {
  const ExploreRequest& request;
  const sim::LockModel& model;
  uint32_t watched = 0;  // invariants, as bits
  explore::SearchResult<sim::Move> result;
  std::vector<ExploreFinding>
      findings;           // those that decide first; their violations are those of `result`
  size_t loop_steps = 0;  // of the loop in which nobody holds the lock
};

constexpr uint32_t BitOf(Invariant invariant) { return 1U << static_cast<uint32_t>(invariant); }
// "one_live_token, isolation", of invariants as bits.
std::string NamesOf(uint32_t invariants);
// "12 states, 34 transitions".
std::string CountsText(const explore::SearchResult<sim::Move>& result);

// On standard output.
void PrintExplored(const ExploreReport& report);
sim::Json ExploredDocument(const ExploreReport& report);

}  // namespace whorl::cli
