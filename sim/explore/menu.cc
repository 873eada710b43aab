#include "sim/explore/menu.h"

#include <algorithm>
#include <limits>
#include <variant>
#include <vector>

#include "sim/explore/components/canonical_world.h"
#include "sim/world/fault_effects.h"

namespace whorl::sim {
namespace {

AnyFault FaultOf(OfNode kind, const ExploreBounds& bounds) {
  switch (kind) {
    case OfNode::kPause:
      return PauseFault{.lasts = bounds.longest_pause};
    case OfNode::kCrash:
      return CrashFault{};
    case OfNode::kStop:
      return StopFault{};
    case OfNode::kStart:
      return StartFault{};
    case OfNode::kLoseRequest:
      return DropRequestFault{};
    case OfNode::kLoseReply:
      return DropReplyFault{};
    case OfNode::kAnnounce:
      return AnnounceFault{};
    case OfNode::kStandClock:
      // Promises that end where a clock stands still would be void if the menu had such a fault in vain.
      return ClockFault{.lasts = bounds.longest_pause, .stands = bounds.faults.standing_clocks > 0};
    case OfNode::kAbort:
    case OfNode::kCount:
      break;
  }
  return AbortFault{};
}

// The nodes that a fault of this kind may strike; null: all.
const std::vector<int16_t>* VictimsOf(OfNode kind, const FaultMenu& menu) {
  const auto listed = [](const std::optional<std::vector<int16_t>>& nodes) {
    return nodes ? &*nodes : nullptr;
  };
  switch (kind) {
    case OfNode::kPause:
      return listed(menu.pauses);
    case OfNode::kCrash:
      return listed(menu.crashes);
    case OfNode::kStop:
      return listed(menu.stops);
    case OfNode::kLoseRequest:
      return listed(menu.lost_requests);
    case OfNode::kLoseReply:
      return listed(menu.lost_replies);
    case OfNode::kAbort:
      return listed(menu.aborts);
    case OfNode::kAnnounce:
      return listed(menu.announcements);
    case OfNode::kStandClock:
      return listed(menu.standing_clocks);
    case OfNode::kStart:  // any node that crashed or was told to stop
    case OfNode::kCount:
      break;
  }
  return nullptr;
}

bool MayBeLate(const PendingEvent& event) {
  return std::holds_alternative<CallArrives>(event) ||
         std::holds_alternative<ReplyArrives>(event) ||
         std::holds_alternative<CommitBecomesVisible>(event) ||
         std::holds_alternative<ReleaseHeard>(event) ||
         std::holds_alternative<ResourceWrite>(event);
}

}  // namespace

bool MayStrike(OfNode kind, int16_t node, const FaultMenu& menu) {
  const std::vector<int16_t>* victims = VictimsOf(kind, menu);
  return victims == nullptr || std::ranges::find(*victims, node) != victims->end();
}

void WriteMenu(Scenario& scenario, const ExploreBounds& bounds) {
  scenario.faults.clear();
  const When never = {.count = std::numeric_limits<int64_t>::max()};
  for (size_t node = 0; node < scenario.nodes.size(); ++node) {
    for (uint32_t kind = 0; kind < kFaultsOfNode; ++kind) {
      scenario.faults.push_back({.trigger = never,
                                 .node = static_cast<int16_t>(node),
                                 .what = FaultOf(static_cast<OfNode>(kind), bounds)});
    }
  }
  // With an operator's fault in the menu, promises would be void.
  if (bounds.faults.deletes == 0) return;
  std::vector<RowOfLock> rows;
  for (size_t lock = 0; lock < scenario.locks.size(); ++lock) {
    rows.push_back({.lock = static_cast<uint16_t>(lock), .row = scenario.locks[lock]});
  }
  for (const RowOfLock& row : bounds.menu.deleted_rows.value_or(rows)) {
    scenario.faults.push_back(
        {.trigger = never, .node = FaultSpec::kNoNode, .what = DeleteRowFault{.target = row}});
  }
}

void Spend(FaultBudget& left, uint32_t fault, size_t nodes) {
  if (fault >= nodes * kFaultsOfNode) {
    --left.deletes;
    return;
  }
  switch (static_cast<OfNode>(fault % kFaultsOfNode)) {
    case OfNode::kPause:
      --left.pauses;
      return;
    case OfNode::kCrash:
      --left.crashes;
      return;
    case OfNode::kStop:
      --left.stops;
      return;
    case OfNode::kLoseRequest:
    case OfNode::kLoseReply:
      --left.losses;
      return;
    case OfNode::kAbort:
      --left.aborts;
      return;
    case OfNode::kAnnounce:
      --left.announcements;
      return;
    case OfNode::kStandClock:
      --left.standing_clocks;
      return;
    case OfNode::kStart:
    case OfNode::kCount:
      return;
  }
}

std::vector<uint32_t> DeletionsIn(const World& world) {
  const Scenario& scenario = world.setup().scenario;
  const model::StoredTable& table = world.state().database.tables.front();
  std::vector<uint32_t> found;
  for (size_t fault = scenario.nodes.size() * kFaultsOfNode; fault < scenario.faults.size();
       ++fault) {
    const RowOfLock& row = scenario.faults[fault].As<DeleteRowFault>()->target;
    if (model::FindNewest(table, {KeyOfRow(scenario, row)}) == nullptr) continue;
    found.push_back(static_cast<uint32_t>(fault));
  }
  return found;
}

bool OperatorIsAtWork(const World& world, uint32_t fault) {
  const WorldState& state = world.state();
  bool acts = std::ranges::any_of(
      state.database.transactions, [&](const model::TransactionState& transaction) {
        const CallName& name = transaction.begun_by;
        return name.process == ProcessId{} && name.generation == fault &&
               MattersByItself(world, transaction);
      });
  state.pending.ForEach([&](const PendingSlot& slot, uint32_t) {
    const auto* next = std::get_if<OperatorActs>(&slot.choice.event);
    acts = acts || (next != nullptr && next->fault == fault);
  });
  return acts;
}

bool MayAbort(const Call& call) {
  return model::IsOfReadWrite(call.request) && !std::holds_alternative<Rollback>(call.request) &&
         !call.struck_by;
}

EventFacts::EventFacts(const PendingEvent& event)
    : waits_for_pause(WaitsForPause(event)),
      may_be_late(MayBeLate(event)),
      is_commit(std::holds_alternative<CommitBecomesVisible>(event)),
      ends_fault(std::holds_alternative<FaultEnds>(event)),
      is_request(std::holds_alternative<CallArrives>(event)),
      is_reply(std::holds_alternative<ReplyArrives>(event)),
      is_by_own_clock(std::holds_alternative<TimerDue>(event) ||
                      std::holds_alternative<CallTimesOut>(event)) {}

}  // namespace whorl::sim
