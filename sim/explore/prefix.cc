#include "sim/explore/prefix.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "base/text.h"
#include "base/time.h"
#include "sim/explore/menu.h"
#include "sim/scenario/writer.h"
#include "sim/world/schedule.h"

namespace whorl::sim {
namespace {

class PrefixTaker {
 public:
  PrefixTaker(const LockModel& model, const Scenario& scenario)
      : model_(model), scenario_(scenario), state_(std::move(model.Initial().front())) {}

  SchedulePrefix Take() && {
    for (const ScheduleEntry& entry : scenario_.schedule) {
      if (const std::string problem = TakeEntry(entry); !problem.empty()) {
        prefix_.problem = Cat("schedule, ", EntryText(entry, scenario_), ": ", problem);
        break;
      }
    }
    return std::move(prefix_);
  }

 private:
  const World& world() const { return state_->world; }

  std::string TakeEntry(const ScheduleEntry& entry) {
    if (!(entry.clocks == ClockErrors{})) return "clocks that are off cannot be taken so far";
    ScheduleEntry in_menu = entry;
    if (entry.fault) {
      const std::optional<uint32_t> fault = FaultInMenu(*entry.fault);
      if (!fault) return "the search has no such fault";
      in_menu.fault = fault;
    }
    for (;;) {
      const bool is_time = !entry.at || *entry.at <= world().now();
      const std::optional<Move> move = is_time ? MoveOf(in_menu) : std::nullopt;
      if (move && IsAChoice(*move)) {
        Push(*move);
        return "";
      }
      // Waiting does not help if the event is not pending by now: time alone adds no event.
      const std::optional<Move> later = is_time && !move ? std::nullopt : Advance();
      if (!later || (entry.at && later->at > *entry.at)) {
        return Cat("no choice of the search at ", FormatSeconds(world().now() - Instant{}, 3),
                   " s; what can happen there: ", WhatCanHappen(world()));
      }
      Push(*later);
    }
  }

  std::optional<uint32_t> FaultInMenu(uint32_t fault) const {
    const FaultSpec& spec = scenario_.faults[fault];
    const std::vector<FaultSpec>& menu = model_.scenario().faults;
    const auto* deleted = spec.As<DeleteRowFault>();
    const auto found = std::ranges::find_if(menu, [&](const FaultSpec& other) {
      if (other.kind() != spec.kind() || other.node != spec.node) return false;
      return deleted == nullptr || other.As<DeleteRowFault>()->target == deleted->target;
    });
    if (found == menu.end()) return std::nullopt;
    return static_cast<uint32_t>(found - menu.begin());
  }

  std::optional<Move> MoveOf(const ScheduleEntry& entry) const {
    if (entry.event == ScheduledEvent::kFaultBegins) {
      const std::optional<CallName> call = CallStruckBy(world(), entry);
      if (!call) return std::nullopt;
      return Move{
          .kind = MoveKind::kFault, .at = world().now(), .fault = *entry.fault, .call = *call};
    }
    if (entry.event == ScheduledEvent::kNodeStarts && entry.node && StartsAgain(*entry.node)) {
      return Move{.kind = MoveKind::kFault,
                  .at = world().now(),
                  .fault = MenuIndex(*entry.node, OfNode::kStart)};
    }
    const PendingSlot* slot = FindScheduled(world(), entry);
    if (slot == nullptr) return std::nullopt;
    return Move{.kind = MoveKind::kEvent, .at = world().now(), .event = slot->choice};
  }
  bool StartsAgain(int16_t index) const {
    const Node& node = world().state().nodes[static_cast<size_t>(index)];
    return MayStartAgain(node.life, node.incarnation);
  }

  bool IsAChoice(const Move& move) const {
    bool found = false;
    model_.ForEachChoice(state_, [&](const Move& other, int) { found = found || other == move; });
    return found;
  }
  std::optional<Move> Advance() const {
    std::optional<Move> advance;
    model_.ForEachChoice(state_, [&](const Move& move, int) {
      if (move.kind == MoveKind::kAdvance) advance = move;
    });
    return advance;
  }

  void Push(const Move& move) {
    model_.Step(*state_, move);
    prefix_.moves.push_back(move);
  }

  const LockModel& model_;
  const Scenario& scenario_;
  LockModel::State state_;
  SchedulePrefix prefix_;
};

}  // namespace

SchedulePrefix PrefixOf(const LockModel& model, const Scenario& scenario) {
  return PrefixTaker(model, scenario).Take();
}

}  // namespace whorl::sim
