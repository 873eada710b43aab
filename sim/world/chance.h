// What a world draws from: an interface, the chance of a run, a counter-based generator in which every
// draw belongs to a named stream, and the fixed answers of those who choose every event themselves.
//
// Invariants of SeededChance:
//   1. The n-th draw of a stream is a function of (seed, stream, n) alone.
//   2. Streams are named by content: the names of nodes, locks and steps, and the text of a fault.
//      So an added fault, step, lock or node moves no draw of the others.
//   3. Integers only: std:: distributions differ between standard libraries.
//   4. It is a value: a copy beside a copy of the world goes on as the original would.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/machine.h"
#include "protocol/names.h"
#include "protocol/spanner/rpc.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/truetime_spec.h"

namespace whorl::sim {

// What the world draws for.
enum class Draw : uint8_t {
  kRequestLatency,
  kReplyLatency,
  kServiceTime,
  kReplicationTime,
  kResourceLatency,
};

// The calls that a draw is for: those of one kind that a node makes in one step for one lock.
struct DrawnFor {
  int16_t node = 0;
  uint16_t lock = 0;
  StepName step;
  uint8_t request = 0;  // Request::index()
};

class Chance {
 public:
  Chance() = default;
  Chance(const Chance&) = default;
  Chance& operator=(const Chance&) = default;
  virtual ~Chance() = default;

  // Uniform 64 bits.
  virtual uint64_t Bits(Draw draw, const DrawnFor& whom) = 0;
  // Uniform 64 bits for the effect of a fault of the scenario on a call.
  virtual uint64_t BitsOfFault(uint32_t fault, Draw draw, const DrawnFor& whom) = 0;
  // Uniform in [lo, hi], for a process's part in a lock: for the protocol machine if `step` is
  // nothing, otherwise for the transaction of that step.
  virtual int64_t Between(ProcessId process, uint16_t lock, std::optional<StepName> step,
                          Purpose purpose, int64_t lo, int64_t hi) = 0;
  // Where Spanner's clocks stand at the event that happens now.
  virtual ClockErrors ErrorsOfSpannersClocks() const { return {}; }
};

class SeededChance final : public Chance {
 public:
  // REQUIRES: the scenario came from the loader, or is valid as the loader would have it.
  SeededChance(uint64_t seed, const Scenario& scenario);

  uint64_t Bits(Draw draw, const DrawnFor& whom) override;
  uint64_t BitsOfFault(uint32_t fault, Draw draw, const DrawnFor& whom) override;
  int64_t Between(ProcessId process, uint16_t lock, std::optional<StepName> step, Purpose purpose,
                  int64_t lo, int64_t hi) override;

 private:
  struct NamedStep {
    StepName step;
    uint64_t name = 0;  // a hash of its word, which names its streams
  };
  // How often a node has drawn from one of its streams for calls.
  struct DrawnForCalls {
    uint64_t stream = 0;  // set by the first draw
    uint64_t count = 0;
  };
  // How often a process has drawn from one of its streams.
  struct DrawnInside {
    uint64_t stream = 0;
    uint32_t count = 0;
  };
  // A node's part in one lock, and how often it has drawn.
  struct Participation {
    uint64_t name = 0;
    uint32_t incarnation = 0;          // the one whose draws `inside` counts
    std::vector<DrawnForCalls> calls;  // by place of the step, request and draw
    std::vector<DrawnInside> inside;
  };
  Participation& ParticipationOf(int16_t node, uint16_t lock) {
    return participations_[static_cast<size_t>(node) * locks_ + lock];
  }

  // The step's place in steps_.
  size_t PlaceOf(StepName step) {
    const uint64_t key = step.key();
    if (key < places_.size() && places_[key] != 0) return places_[key] - size_t{1};
    return FindPlaceOf(step);
  }
  size_t FindPlaceOf(StepName step);

  uint64_t seed_;
  size_t locks_;
  std::vector<NamedStep> steps_;  // met so far
  // Of the steps that have numbers, plus one; 0 if not met. The others are so few that they are
  // searched for.
  std::array<uint8_t, StepKind::kNumbered.size()> places_{};
  std::vector<Participation> participations_;  // nodes x locks
  std::vector<uint64_t> faults_;               // their names
  // By the names of the fault and of the call.
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> drawn_of_faults_;
};

// Chance of a run that follows a schedule, and of a search: every call is as fast as its preset allows,
// every drawn pause is the longest one, and random ids differ from process to process.
class FixedChance final : public Chance {
 public:
  explicit FixedChance(const ClockErrors& clocks = {}) : clocks_(clocks) {}

  uint64_t Bits(Draw draw, const DrawnFor& whom) override;
  uint64_t BitsOfFault(uint32_t fault, Draw draw, const DrawnFor& whom) override;
  int64_t Between(ProcessId process, uint16_t lock, std::optional<StepName> step, Purpose purpose,
                  int64_t lo, int64_t hi) override;
  ClockErrors ErrorsOfSpannersClocks() const override { return clocks_; }

 private:
  ClockErrors clocks_;
};

// Chance as a process draws from it.
class ProcessEntropy final : public Entropy {
 public:
  // `step` is the step of the transaction that draws; nothing for the protocol machine itself.
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
