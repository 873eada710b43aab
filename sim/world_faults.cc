// What faults do.
#include <utility>

#include "sim/world_turn.h"

namespace whorl::sim {

// A fault that finds nothing to strike (a crash of a process that is down) does not begin.
void Turn::OnFaultBegins(const FaultBegins& begins) {
  const FaultSpec& fault = scenario_.faults[begins.fault];
  Node& node = NodeAt(fault.node);
  const bool needs_process = fault.kind == FaultKind::kPause || fault.kind == FaultKind::kCrash ||
                             fault.kind == FaultKind::kStop;
  if (needs_process && node.life == Life::kDown) return;
  if (fault.kind == FaultKind::kStop && node.life == Life::kStopped) return;
  if (fault.kind == FaultKind::kStart && node.life == Life::kRunning) return;
  Observe(FaultBegan{.fault = begins.fault});
  const bool lasts = Strike(begins, fault);
  if (!lasts) Observe(FaultEnded{.fault = begins.fault});
}

// Whether the fault goes on: its end will be said by what ends it.
bool Turn::Strike(const FaultBegins& begins, const FaultSpec& fault) {
  const auto end_after = [&](Duration duration) {
    Schedule(state_.now + duration, ChoiceKind::kFault, -1,
             FaultEnds{.fault = begins.fault, .incarnation = NodeAt(fault.node).incarnation});
  };
  switch (fault.kind) {
    case FaultKind::kPause:
      PauseNode(fault.node);
      end_after(*fault.lasts);
      return true;
    case FaultKind::kCrash:
    case FaultKind::kStop:
      fault.kind == FaultKind::kCrash ? LetGo(fault.node, /*crashed=*/true) : StopNode(fault.node);
      if (!fault.restart_after) return false;
      Schedule(state_.now + *fault.restart_after, ChoiceKind::kFault, fault.node,
               NodeStarts{.fault = begins.fault});
      return true;
    case FaultKind::kStart:
      StartNode(fault.node, std::nullopt);
      return false;
    case FaultKind::kPartition:
      ++NodeAt(fault.node).partitions;
      SetLink(fault.node,
              fault.mode == PartitionMode::kRefuse ? LinkState::kRefused : LinkState::kBlackHoled);
      if (fault.lasts) end_after(*fault.lasts);
      return true;
    case FaultKind::kDropReply:
      DropReply(fault.node, begins.trigger);
      return false;
  }
  return false;
}

void Turn::OnFaultEnds(const FaultEnds& ends) {
  const FaultSpec& fault = scenario_.faults[ends.fault];
  const bool same_process = NodeAt(fault.node).incarnation == ends.incarnation;
  if (fault.kind == FaultKind::kPause && same_process) ResumeNode(fault.node);
  if (fault.kind == FaultKind::kPartition && --NodeAt(fault.node).partitions == 0) {
    SetLink(fault.node, LinkState::kUp);
  }
  Observe(FaultEnded{.fault = ends.fault});
}

}  // namespace whorl::sim
