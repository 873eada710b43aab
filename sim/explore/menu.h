// Lists the faults that a search may let strike, as faults of its scenario, and what bounds say of events.
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
// When the instant begins that this is in: time stops nowhere else.
constexpr Instant BeginOfInstant(Instant at) { return {at.ns - at.ns % kSameInstant.ns}; }

// The faults of a node stand together, in this order; those of locks follow.
enum class OfNode : uint8_t { kPause, kCrash, kStart, kLoseRequest, kLoseReply, kAbort, kCount };
inline constexpr auto kFaultsOfNode = static_cast<uint32_t>(OfNode::kCount);

constexpr uint32_t MenuIndex(int16_t node, OfNode kind) {
  return static_cast<uint32_t>(node) * kFaultsOfNode + static_cast<uint32_t>(kind);
}

// Makes them the scenario's faults. They strike by World::Trigger only: the step of their trigger is
// never reached.
void WriteMenu(Scenario& scenario, const ExploreBounds& bounds);
bool MayStrike(OfNode kind, int16_t node, const FaultMenu& menu);
// Takes the fault off the budget.
void Spend(FaultBudget& left, uint32_t fault, size_t nodes);

// The deletions of the menu that find their row. REQUIRES: the world's scenario has the menu.
std::vector<uint32_t> DeletionsIn(const World& world);
// Whether the fault's operator is still at work. An operator does one thing after the other, and his transaction
// is known by the fault.
bool OperatorIsAtWork(const World& world, uint32_t fault);
// Whether Spanner may abort the transaction of a call that is on its way.
bool MayAbort(const Call& call);

// What a search asks of a kind of event.
struct EventFacts {
  explicit EventFacts(const PendingEvent& event);

  bool waits_for_pause = false;
  bool may_be_late = false;  // later than it is due
  bool is_commit = false;    // that becomes visible
  bool ends_fault = false;
  bool is_request = false;       // that arrives
  bool is_reply = false;         // that arrives
  bool is_by_own_clock = false;  // it is due when a process's clock says so
};

}  // namespace whorl::sim
