// Lists the faults that a search may let strike, as faults of its scenario, and tells what a search has to know
// of each kind of event.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/explore/bounds.h"
#include "sim/scenario/scenario.h"
#include "sim/world/pending.h"
#include "sim/world/world.h"

namespace whorl::sim {

// Times this close belong to the same instant: the steps of commit timestamps.
inline constexpr Duration kSameInstant = Milliseconds(1);
// The beginning of the instant that contains `at`. Time stops at such beginnings only.
constexpr Instant BeginOfInstant(Instant at) { return {at.ns - at.ns % kSameInstant.ns}; }

// The menu has the faults of each node, in this order, and then the faults of locks.
enum class OfNode : uint8_t {
  kPause,
  kCrash,
  kStop,
  kStart,
  kLoseRequest,
  kLoseReply,
  kAbort,
  kAnnounce,
  kStandClock,
  kCount
};
inline constexpr auto kFaultsOfNode = static_cast<uint32_t>(OfNode::kCount);

constexpr uint32_t MenuIndex(int16_t node, OfNode kind) {
  return static_cast<uint32_t>(node) * kFaultsOfNode + static_cast<uint32_t>(kind);
}

// Replaces the scenario's faults by the menu. These faults strike by World::Trigger only: the step of their
// trigger is never reached.
void WriteMenu(Scenario& scenario, const ExploreBounds& bounds);
// Whether the node may start again: it crashed, or it was told to stop.
constexpr bool MayStartAgain(Life life, uint32_t incarnation) {
  return life != Life::kRunning && incarnation > 0;
}
bool MayStrike(OfNode kind, int16_t node, const FaultMenu& menu);
// Takes the fault off the budget.
void Spend(FaultBudget& left, uint32_t fault, size_t nodes);

// The deletions of the menu that find their row. REQUIRES: the world's scenario has the menu.
std::vector<uint32_t> DeletionsIn(const World& world);
// Whether the operator of this fault is still at work. An operator does one thing after the other, and his
// transaction is found by the fault's number.
bool OperatorIsAtWork(const World& world, uint32_t fault);
// Whether Spanner may abort the transaction of a call that is on its way.
bool MayAbort(const Call& call);

// What a search has to know of an event, by its kind.
struct EventFacts {
  explicit EventFacts(const PendingEvent& event);

  bool waits_for_pause = false;
  bool may_be_late = false;  // it may happen later than it is due
  bool is_commit = false;    // a commit becomes visible
  bool ends_fault = false;
  bool is_request = false;       // a request arrives
  bool is_reply = false;         // a reply arrives
  bool is_by_own_clock = false;  // it is due when a process's clock says so
};

}  // namespace whorl::sim
