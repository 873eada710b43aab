// Prints what a search found, for people and for machines, and saves its counterexamples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/explore/request.h"
#include "cli/junit.h"
#include "sim/explore/counterexample.h"
#include "sim/explore/engine/result.h"
#include "sim/explore/lock_model.h"
#include "sim/scenario/json_text.h"
#include "sim/scenario/scenario.h"

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
  uint32_t watched = 0;   // invariants, as bits
  uint32_t promised = 0;  // those of them that the protocol promises
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

// On standard output. The last line says why the exit code is `code`.
void PrintExplored(const ExploreReport& report, int code);
sim::Json ExploredDocument(const ExploreReport& report);

// The search as tests, one for each invariant that was looked for.
std::vector<JunitTest> JunitTestsOf(const ExploreReport& report);

// Writes the scenario into the folder, under its name, and returns the path. An existing file is kept: if its
// text is the same nothing is written, else the scenario gets the next free name (x-2.json). Returns an error
// if the place cannot be read or written.
absl::StatusOr<std::string> SaveCounterexample(const sim::Scenario& scenario,
                                               const std::string& folder);

}  // namespace whorl::cli
