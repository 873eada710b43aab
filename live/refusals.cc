#include "live/refusals.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>

#include "base/located_error.h"
#include "base/text.h"
#include "protocol/protocols.h"

namespace whorl::live {
namespace {

using sim::FaultSpec;

// The number of processes, each with a connection, that two cores can run without delays.
constexpr size_t kNodesMax = 32;

// Whether the fault is to hold up or lose the reply that its trigger says has arrived.
bool NeedsReply(const FaultSpec& fault) {
  const auto* when = std::get_if<sim::When>(&fault.trigger);
  if (when == nullptr || when->phase != Phase::kReplied || when->node != fault.node) return false;
  if (fault.As<sim::DropReplyFault>() != nullptr) return true;
  const bool is_of_messages = fault.As<sim::PartitionFault>() || fault.As<sim::LatencyFault>();
  return is_of_messages && Covers(DirectionOf(fault.what), sim::Direction::kFrom);
}

// Why this fault cannot be made real, and what to do instead; nullopt if it can.
std::optional<std::string_view> WhyNot(const FaultSpec& fault) {
  if (fault.As<sim::TrueTimeFault>() != nullptr) {
    return "nobody can make a real Spanner's TrueTime lie or widen; run it without --on";
  }
  if (fault.As<sim::CurrentTimestampFault>() != nullptr) {
    return "a real CURRENT_TIMESTAMP cannot be set wrong; run it without --on";
  }
  if (fault.As<sim::DuplicateRequestFault>() != nullptr) {
    return "the proxy passes each call on once; run it without --on";
  }
  const auto* error = fault.As<sim::ErrorFault>();
  if (error != nullptr && error->of_call == sim::ErrorCall::kCreateSession) {
    return "a real client creates sessions when it likes, for no step that the proxy would know; "
           "run it without --on";
  }
  if (fault.node == FaultSpec::kLeader) {
    return "which real process believes that it leads is only known after the run; name a node, or "
           "run it without --on";
  }
  if (NeedsReply(fault)) {
    return "at `replied` the real reply is in its process, where no network holds it up or loses "
           "it; say "
           "`served` or `committed`, use `pause`, or run it without --on";
  }
  const auto* clock = fault.As<sim::ClockFault>();
  if (clock == nullptr || !clock->stands) return std::nullopt;
  return "a machine's clock cannot be made to stand still for one of its processes; use "
         "`pause`, or run it without --on";
}

// What a program that was not written here cannot do.
std::vector<std::string> OfProgram(const sim::Scenario& scenario) {
  std::vector<std::string> refusals;
  const auto refuse = [&](std::string_view where, std::string_view why) {
    refusals.push_back(
        Cat(Printable(scenario.path, 1000), ": ", where, " cannot be had with --program: ", why));
  };
  if (FindProtocol(scenario.protocol)->statements == nullptr) {
    refuse("/protocol", Cat(scenario.protocol,
                            " does not say its statements, by which its steps are recognised"));
  }
  if (!scenario.workload.ask.empty()) {
    refuse("/workload/ask", "a program is asked has_lock, lock and unlock alone");
  }
  for (size_t i = 0; i < scenario.nodes.size(); ++i) {
    const sim::NodeSpec& node = scenario.nodes[i];
    const std::string at = Cat("/nodes/", std::to_string(i));
    if (node.clock.offset.ns != 0 || node.clock.rate_ppm != 0) {
      refuse(Cat(at, "/clock"), "a program reads the machine's clock");
    }
  }
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    if (scenario.faults[i].As<sim::ClockFault>() != nullptr) {
      refuse(Cat("/faults/", std::to_string(i), "/do"), "a program reads the machine's clock");
    }
    if (scenario.faults[i].As<sim::AnnounceFault>() != nullptr) {
      refuse(Cat("/faults/", std::to_string(i), "/do"), "a program hears of no release");
    }
  }
  return refusals;
}

std::string Place(const sim::Scenario& scenario, const FaultSpec& fault, size_t index) {
  return Cat(AtLine(scenario.path, fault.line), ": /faults/", std::to_string(index), "/do");
}

}  // namespace

std::vector<std::string> RefusalsOf(BackendKind kind, const sim::Scenario& scenario,
                                    const std::string& program) {
  std::vector<std::string> refusals =
      program.empty() ? std::vector<std::string>() : OfProgram(scenario);
  const std::string on = Cat(" cannot be made real on the ", WordOf(kind), ": ");
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    const FaultSpec& fault = scenario.faults[i];
    if (kind == BackendKind::kOmni && fault.As<sim::SessionLossFault>() != nullptr) {
      refusals.push_back(Cat(Place(scenario, fault, i), ": ", FaultKindText(fault.kind()), on,
                             "its sessions are multiplexed, and are not deleted"));
    }
    if (const auto why = WhyNot(fault)) {
      refusals.push_back(
          Cat(Place(scenario, fault, i), ": ", FaultKindText(fault.kind()), on, *why));
    }
  }
  const std::string path = Printable(scenario.path, 1000);
  const sim::SpannerSpec& spanner = scenario.spanner;
  if (spanner.current_timestamp_error.ns != 0) {
    refusals.push_back(Cat(path, ": /spanner/current_timestamp_error", on,
                           "a real CURRENT_TIMESTAMP cannot be set wrong; run it without --on"));
  }
  if (!spanner.truetime.truthful) {
    refusals.push_back(Cat(path, ": /spanner/truetime/truthful", on,
                           "a real TrueTime does not lie; run it without --on"));
  }
  if (spanner.default_isolation != sim::DefaultIsolation::kSerializable) {
    refusals.push_back(Cat(path, ": /spanner/default_isolation", on,
                           "it is an option of the database there; run it without --on"));
  }
  if (!scenario.schedule.empty()) {
    refusals.push_back(Cat(AtLine(scenario.path, scenario.schedule.front().line), ": /schedule", on,
                           "nobody can choose the order of real events; run it without --on"));
  }
  if (!scenario.branches.empty()) {
    refusals.push_back(
        Cat(path, ": /branches", on, "real chance is not drawn from seeds; run it without --on"));
  }
  if (scenario.constants != sim::Constants::kShipped) {
    refusals.push_back(Cat(path, ": /constants", on,
                           "real processes have the numbers that ship; run it without --on"));
  }
  if (!spanner.splits.empty()) {
    refusals.push_back(Cat(path, ": /spanner/splits", on,
                           "nobody can divide a real table at will; run it without --on"));
  }
  if (scenario.nodes.size() > kNodesMax) {
    refusals.push_back(Cat(path, ": /nodes", on, "more than ", std::to_string(kNodesMax),
                           " processes would be late on their own; run it without --on"));
  }
  return refusals;
}

}  // namespace whorl::live
