// Finds the first observation in which two runs with the same inputs differ.
//
// A Recording listens to the first run, a Comparison to the second.
// Invariant: the hashes of all observations are compared. Only the first kKeptObservations are kept
// themselves, so each later one needs 8 bytes of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/judge/run.h"
#include "sim/report/json_print.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

inline constexpr size_t kKeptObservations = size_t{1} << 18;

class Recording : public ObservationSink {
 public:
  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  const std::vector<uint64_t>& hashes() const { return hashes_; }
  // Observation `i`, from 0; null if it was not kept.
  const Observation* Kept(size_t i) const { return i < kept_.size() ? &kept_[i] : nullptr; }

 private:
  std::vector<uint64_t> hashes_;
  std::vector<Observation> kept_;
};

struct Difference {
  uint64_t ordinal = 0;  // number of the first observation that differs, from 1
  // Lines of a trace. They may be equal except for the hash: then the difference is not observable.
  std::string first;
  std::string second;
  WHORL_FIELDS(Difference, ordinal, first, second);
};

class Comparison : public ObservationSink {
 public:
  // `recording` and `scenario` outlive this.
  Comparison(const Recording& recording, const Scenario& scenario)
      : recording_(recording), printer_(NamesOf(scenario)) {}

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  // Called after the second run. `results_equal` says whether both runs had the same result, which
  // also covers events after the last observation.
  std::optional<Difference> Finish(bool results_equal) const;

 private:
  std::string FirstSide(size_t i) const;

  const Recording& recording_;
  JsonPrinter printer_;
  size_t heard_ = 0;
  std::optional<Difference> difference_;
};

}  // namespace whorl::sim
