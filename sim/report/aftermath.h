// Finds the harm that came of a violation: of the writes after it, those that came too late, and those that their
// rightful holder could not make.
//
// Which writes are stale, sim/judge/lock_writes.h says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/judge/run.h"
#include "sim/judge/run_judge.h"
#include "sim/report/story.h"
#include "sim/scenario/names.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

class Aftermath : public ObservationSink {
 public:
  // Of what comes after observation `last`. `scenario` outlives this.
  Aftermath(const Scenario& scenario, uint64_t last);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  // In the order of time: the first write of each kind, and since when its process ran again. If no write did
  // harm, one line that says so. REQUIRES: it has heard the whole run.
  std::vector<StoryLine> Lines(uint16_t lock) const;

 private:
  enum class HarmKind : uint8_t { kStaleRefused, kStaleAccepted, kLegitimateRefused };
  struct Harm {
    HarmKind kind = HarmKind::kStaleRefused;
    uint16_t lock = 0;
    ProcessId process;               // of the first one
    Instant at;                      // of the first one
    std::optional<Instant> resumed;  // when its process last ran again, after the violation
    int64_t writes = 0;
  };

  void Add(HarmKind kind, const WriteArrived& write);
  static std::string TextOf(const Harm& harm);

  const Names names_;
  RunJudge judge_;
  uint64_t last_;
  Instant now_;
  bool has_writes_ = false;                      // one arrived, before or after
  std::vector<std::optional<Instant>> resumed_;  // by node
  std::vector<Harm> harms_;                      // in the order of time
};

}  // namespace whorl::sim
