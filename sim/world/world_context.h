// Serves one call into a World: its state, and the few functions that everything it leads to needs.
// The headers that take a WorldContext declare the rest, each what other files call. Internal: no
// file outside of sim/world/ includes this, except tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sim/world/latency.h"
#include "sim/world/node_clock.h"
#include "sim/world/world.h"

namespace whorl::sim {

// Refers to the state of a world and to its driver's Chance and Outbox.
struct WorldContext {
  const WorldSetup& setup;
  WorldState& state;
  Chance* chance;  // null if no draw is needed (World::Trigger, the constructor of World)
  Outbox& out;
  // The place of the call that the event is about, if it is about one: FindCall looks there first.
  uint32_t call_of_event = PendingSlot::kNone;
  bool is_early = false;  // the event may not be due yet: World::TakeEarly
  const Scenario& scenario = setup.scenario;
  const Latencies& latencies = LatenciesOf(setup.scenario.spanner.preset);

  Node& NodeAt(int16_t node) { return state.nodes[static_cast<size_t>(node)]; }
  const NodeSpec& SpecOf(int16_t node) const { return scenario.nodes[static_cast<size_t>(node)]; }
  // REQUIRES: there is a call in this place.
  Call& CallAt(uint32_t place) { return state.calls[place].call(); }
  ProcessId ProcessOf(int16_t node) { return {node, NodeAt(node).incarnation}; }
  LocalTime ClocksOf(int16_t node) {
    return ReadClocks(NodeAt(node).clock, NodeAt(node).started, state.now);
  }
  // What the process's monotonic clock shows.
  LocalInstant MonotonicOf(int16_t node) {
    return ReadMonotonic(NodeAt(node).clock, NodeAt(node).started, state.now);
  }
  // When the node's monotonic clock shows this.
  Instant WhenShown(int16_t node, LocalInstant monotonic) {
    return WhenShows(NodeAt(node).clock, NodeAt(node).started, monotonic);
  }
  Duration PickLatency(const LatencyTable& table, Draw draw, const DrawnFor& whom) {
    return Pick(table, chance->Bits(draw, whom));
  }

  // `what` is an alternative of ObservedEvent.
  template <typename What>
  void Observe(What&& what) {
    out.observed.emplace_back(state.now, std::forward<What>(what));
  }
  // The place of the pending event. `event` is a PendingEvent or an alternative of it; `call`: the
  // place of the call that it is about.
  template <typename What>
  uint32_t Schedule(Instant at, ChoiceKind kind, int16_t node, const What& event,
                    uint32_t call = PendingSlot::kNone) {
    return state.pending.Schedule(std::max(at, state.now),
                                  {.kind = kind, .node = node, .event = event}, call);
  }
  void Cancel(uint32_t place) { state.pending.Remove(place); }
};

}  // namespace whorl::sim
