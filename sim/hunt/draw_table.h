// Counts what the runs of a hunt contain: which events, which of them soon after which, and at which steps
// they strike. A hunt never finds what its runs never contain.
//
// Invariants:
//   1. What a run contains is a function of its observations and its scenario, whether it breaks a promise
//      or not.
//   2. Tables of parts of the runs add up to the table of all of them.
// Deliberately left out: whether an event made a difference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "protocol/names.h"
#include "protocol/protocols.h"
#include "sim/scenario/faults/kinds.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/driver.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// An event of a run: its number. Kinds of faults come first, then questions, then the other events.
using DrawnEvent = uint8_t;
enum class OtherEvent : uint8_t {
  kLockFailed,
  kDeadline,
  kStoppedAtWork,
  kAskedWhileStopping,
  kCrowd,
  kLong,
  kQuietHour,
};
constexpr size_t kDrawnEvents = kFaultKindCount + kCountOf<Question> + 7;
// "pause", "HasLock2()", "Lock() fails".
std::string DrawnEventText(DrawnEvent event);

// Two events of which the second follows soon: on one node, or where one of them has none.
inline constexpr Duration kSoonAfter = Seconds(10);

// What one run contains.
class EventsOfRun final : public ObservationSink {
 public:
  explicit EventsOfRun(const Scenario& scenario);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  const std::set<DrawnEvent>& events() const { return events_; }
  const std::set<std::pair<DrawnEvent, DrawnEvent>>& pairs() const { return pairs_; }
  // An event, and the step that its node did: "take committed", or "between steps".
  const std::set<std::pair<DrawnEvent, std::string>>& steps() const { return steps_; }

 private:
  static constexpr int16_t kNoNode = -1;
  struct Last {
    DrawnEvent event = 0;
    int16_t node = kNoNode;
    Instant at;
  };

  void Note(DrawnEvent event, int16_t node, Instant at);
  void NoteOther(OtherEvent event, int16_t node, Instant at);
  std::string StepOf(int16_t node) const;
  void HearOf(const ObservedEvent& what, Instant at);

  const Scenario* scenario_;
  const ProtocolInfo* protocol_;
  std::set<DrawnEvent> events_;
  std::set<std::pair<DrawnEvent, DrawnEvent>> pairs_;
  std::set<std::pair<DrawnEvent, std::string>> steps_;
  std::vector<Last> recent_;
  // By node: the phase that its process reached last.
  std::vector<std::pair<StepName, Phase>> reached_;
  std::vector<bool> is_stopping_;
  std::vector<bool> is_at_work_;
};

struct DrawTable {
  int64_t runs = 0;
  std::array<int64_t, kDrawnEvents> events{};
  std::map<std::pair<DrawnEvent, DrawnEvent>, int64_t> pairs;
  std::map<std::pair<DrawnEvent, std::string>, int64_t> steps;
  friend bool operator==(const DrawTable&, const DrawTable&) = default;

  void Add(const EventsOfRun& run);
};

}  // namespace whorl::sim
