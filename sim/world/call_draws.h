// Makes the random draws for one message or call.
#pragma once

#include <cstdint>

#include "sim/world/chance.h"
#include "sim/world/fault_effects.h"
#include "sim/world/latency.h"
#include "sim/world/world.h"

namespace whorl::sim {

inline DrawnFor DrawnForCall(const Call& call) {
  return {.node = call.name.process.node,
          .lock = call.name.lock,
          .step = call.step,
          .request = static_cast<uint8_t>(call.request.index())};
}

// Chance of faults.
class DrawnFaultChance final : public FaultChance {
 public:
  DrawnFaultChance(Chance& chance, Draw draw, const DrawnFor& whom)
      : chance_(chance), draw_(draw), whom_(whom) {}
  bool Hits(uint32_t fault, int64_t percent) override {
    const uint64_t bits = chance_.BitsOfFault(fault, draw_, whom_);
    return (bits >> 32) * 100 >> 32 < static_cast<uint64_t>(percent);
  }
  Duration Delay(uint32_t fault, const DelaySpec& delay) override {
    return Pick(delay, chance_.BitsOfFault(fault, draw_, whom_));
  }

 private:
  Chance& chance_;
  Draw draw_;
  DrawnFor whom_;
};

}  // namespace whorl::sim
