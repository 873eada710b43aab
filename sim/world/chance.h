// All chance of a run: a counter-based generator, so that every draw is named.
//
// Invariants:
//   1. The n-th draw of a stream is a function of (seed, stream, n) alone.
//   2. Streams are named by content: names of nodes, locks and steps, what a fault says. So a
//   fault,
//      a step, a lock or a node that is added moves no draw of the others.
//   3. Integers only: std:: distributions differ between standard libraries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/machine.h"
#include "protocol/names.h"
#include "protocol/spanner/rpc.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// What the world draws for.
enum class Draw : uint8_t {
  kRequestLatency,
  kReplyLatency,
  kServiceTime,
  kReplicationTime,
  kResourceLatency,
};

// For whom the world draws: the calls of one kind that a node makes in one step for one lock.
struct DrawnFor {
  int16_t node = 0;
  uint16_t lock = 0;
  StepName step = StepName::kCheck;
  uint8_t request = 0;  // Request::index()
};

class Chance {
 public:
  // REQUIRES: the scenario came from the loader, or keeps its promises.
  Chance(uint64_t seed, const Scenario& scenario);

  // Uniform 64 bits.
  uint64_t Bits(Draw draw, const DrawnFor& whom);
  // The same, for what a fault of the scenario does to a call.
  uint64_t BitsOfFault(uint32_t fault, Draw draw, const DrawnFor& whom);
  // Uniform in [lo, hi], for a process's lock: for its protocol machine, or for the transaction of
  // a step that it runs.
  int64_t Between(ProcessId process, uint16_t lock, std::optional<StepName> step, Purpose purpose,
                  int64_t lo, int64_t hi);

 private:
  // A node's part in one lock.
  struct Participation {
    uint64_t name = 0;
    uint32_t incarnation = 0;     // whose draws `inside` counts
    std::vector<uint32_t> calls;  // drawn so far, by step, request and draw
    std::vector<uint32_t> inside;
  };
  Participation& ParticipationOf(int16_t node, uint16_t lock) {
    return participations_[static_cast<size_t>(node) * locks_ + lock];
  }

  uint64_t seed_;
  size_t locks_;
  std::vector<Participation> participations_;  // nodes x locks
  std::vector<uint64_t> faults_;               // their names
  // By the fault's name and the call's.
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> drawn_of_faults_;
};

// The view of Chance from inside a process.
class ProcessEntropy final : public Entropy {
 public:
  // `step`: of the transaction that draws; nothing for the protocol machine itself.
  ProcessEntropy(Chance& chance, ProcessId process, uint16_t lock,
                 std::optional<StepName> step = std::nullopt)
      : chance_(chance), process_(process), lock_(lock), step_(step) {}
  int64_t Between(Purpose purpose, int64_t lo, int64_t hi) override {
    return chance_.Between(process_, lock_, step_, purpose, lo, hi);
  }

 private:
  Chance& chance_;
  ProcessId process_;
  uint16_t lock_;
  std::optional<StepName> step_;
};

}  // namespace whorl::sim
