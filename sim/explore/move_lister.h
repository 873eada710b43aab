// Lists the moves of a state: which events can happen, which faults can strike, and when time goes on.
//
// LockModel lists the moves of worlds (lock_model.cc), MemoizedModel those of interned components
// (memoized_model.cc). Each has a View, which describes a state and receives its moves:
//   Instant now() const; const FaultBudget& left() const;
//   ForEachEvent(visit)     visit(event, facts, due) for each pending event that no pause and no fault holds up;
//                           `event` is the view's own handle of the event
//   ForEachNode(visit)      visit(node) with NodeFacts
//   ForEachDeletion(visit)  visit(fault) for each operator that has not begun and would find its row
//   MessageOf(event)        of a request or a reply: MessageFacts
//   AddEvent(event), AddAdvance(to), AddFault(fault, faults), AddFaultOf(event, fault)
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "sim/explore/bounds.h"
#include "sim/explore/menu.h"
#include "sim/scenario/instant.h"
#include "sim/world/world.h"

namespace whorl::sim {

struct NodeFacts {
  int16_t node = 0;
  Life life = Life::kDown;
  uint32_t incarnation = 0;
  bool is_paused = false;
};

// Facts of the call to which a message belongs.
struct MessageFacts {
  int16_t node = -1;  // the sender; -1: not a node
  bool is_awaited = false;
  bool may_abort = false;
};

template <typename View>
class MoveLister {
 public:
  MoveLister(View& view, const ExploreBounds& bounds)
      : view_(view), bounds_(bounds), now_(view.now()) {}

  void List() {
    view_.ForEachEvent([this](const auto& event, const EventFacts& facts, Instant due) {
      this->ListEvent(event, facts, due);
    });
    view_.ForEachNode([this](const NodeFacts& node) { this->ListFaultsOf(node); });
    if (view_.left().deletes > 0) {
      view_.ForEachDeletion([this](uint32_t fault) { view_.AddFault(fault, 1); });
    }
    const Instant end = bounds_.horizon ? Instant{bounds_.horizon->ns} : kNever;
    if (!urgent_ && next_ < end && next_ > now_) view_.AddAdvance(next_);
  }

 private:
  // Time stops at `at` or earlier.
  void StopAt(Instant at) { next_ = std::min(next_, at); }
  void StopAtGrid() {
    const int64_t grid = bounds_.grid.ns;
    StopAt({(now_.ns / grid + 1) * grid});
  }

  template <typename Event>
  void ListEvent(const Event& event, const EventFacts& facts, Instant due) {
    // By a clock that is fast or slow, an event happens exactly when it is due. Such a clock changes the small
    // distances between times of one instant, and a process that acts before its clock shows the time would
    // act again and again while no time passes.
    const bool is_exact = facts.is_by_own_clock && bounds_.clocks.rate_ppm > 0;
    const bool is_due = due < now_ + (is_exact ? Nanoseconds(1) : kSameInstant);
    if (is_due || facts.ends_fault) view_.AddEvent(event);
    if (facts.ends_fault && !is_due) StopAtGrid();
    // The small distances between commit timestamps are no reason to leave the grid.
    if (!is_due) return StopAt(is_exact ? due : BeginOfInstant(due));
    // How much later TrueTime may let it happen.
    const Duration lateness = facts.is_commit ? bounds_.clocks.truetime * 2 : Duration{};
    if (facts.may_be_late && now_ + kSameInstant <= due + lateness + bounds_.grid * bounds_.delay) {
      StopAtGrid();
    } else {
      urgent_ = true;
    }
    if (due == now_ && (facts.is_request || facts.is_reply)) ListFaultsOf(event, facts);
  }

  template <typename Event>
  void ListFaultsOf(const Event& event, const EventFacts& facts) {
    const MessageFacts message = view_.MessageOf(event);
    if (message.node < 0 || !message.is_awaited) return;
    const auto strike = [&](OfNode kind) {
      if (!MayStrike(kind, message.node, bounds_.menu)) return;
      view_.AddFaultOf(event, MenuIndex(message.node, kind));
    };
    if (view_.left().losses > 0) {
      strike(facts.is_request ? OfNode::kLoseRequest : OfNode::kLoseReply);
    }
    if (view_.left().aborts > 0 && facts.is_request && message.may_abort) strike(OfNode::kAbort);
  }

  void ListFaultsOf(const NodeFacts& node) {
    const auto strike = [&](OfNode kind, int faults) {
      if (MayStrike(kind, node.node, bounds_.menu)) {
        view_.AddFault(MenuIndex(node.node, kind), faults);
      }
    };
    if (MayStartAgain(node.life, node.incarnation)) {
      strike(OfNode::kStart, 0);
      StopAtGrid();
    }
    if (node.life == Life::kDown) return;
    if (view_.left().crashes > 0) strike(OfNode::kCrash, 1);
    // What a process is told, it hears when it is not paused.
    const bool can_hear = node.life == Life::kRunning && !node.is_paused;
    if (view_.left().stops > 0 && can_hear) strike(OfNode::kStop, 1);
    if (view_.left().announcements > 0 && can_hear) strike(OfNode::kAnnounce, 1);
    if (node.is_paused) return;
    if (view_.left().pauses > 0) strike(OfNode::kPause, 1);
    if (view_.left().standing_clocks > 0) strike(OfNode::kStandClock, 1);
  }

  View& view_;
  const ExploreBounds& bounds_;
  const Instant now_;
  Instant next_ = kNever;  // the next time at which time stops
  bool urgent_ = false;    // something has to happen before time goes on
};

}  // namespace whorl::sim
