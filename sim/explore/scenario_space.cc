#include "sim/explore/scenario_space.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>

#include "base/text.h"
#include "sim/judge/expectations.h"

namespace whorl::sim {
namespace {

constexpr std::string_view kWhatCan =
    "pause, crash, stop, start at a time, drop_request, drop_reply, abort without \"for\", "
    "announce, clock with \"stands\", delete_row";

class SpaceReader {
 public:
  explicit SpaceReader(const Scenario& scenario) : from_(scenario) {
    space_.scenario = scenario;
    space_.scenario.faults.clear();
    space_.scenario.schedule.clear();
    space_.scenario.branches.clear();
    space_.scenario.expect = {};
    space_.scenario.spanner.preset = Preset::kNone;
  }

  ScenarioSpace Read() && {
    for (uint32_t i = 0; i < from_.faults.size(); ++i) {
      fault_ = i;
      std::visit([this](const auto& kind) { Add(kind); }, from_.faults[i].what);
    }
    return std::move(space_);
  }

 private:
  const FaultSpec& fault() const { return from_.faults[fault_]; }

  void Count(uint8_t& budget) {
    if (budget < kMost) ++budget;
  }
  void AddNode(std::optional<std::vector<int16_t>>& nodes) const {
    if (!nodes) nodes.emplace();
    if (fault().node == FaultSpec::kLeader) {  // any node may be the leader
      for (size_t i = 0; i < from_.nodes.size(); ++i) nodes->push_back(static_cast<int16_t>(i));
    } else {
      nodes->push_back(fault().node);
    }
  }
  // Makes both lists, since a list that is missing means all nodes: with a fault that drops replies only,
  // requests must not be lost.
  void NameLosses() {
    if (!space_.menu.lost_requests) space_.menu.lost_requests.emplace();
    if (!space_.menu.lost_replies) space_.menu.lost_replies.emplace();
  }

  void Add(const PauseFault& pause) {
    Count(space_.faults.pauses);
    AddNode(space_.menu.pauses);
    space_.longest_pause = std::max(space_.longest_pause, pause.lasts);
  }
  void Add(const CrashFault& /*crash*/) {
    Count(space_.faults.crashes);
    AddNode(space_.menu.crashes);
  }
  void Add(const StopFault& /*stop*/) {
    Count(space_.faults.stops);
    AddNode(space_.menu.stops);
  }
  void Add(const DropRequestFault& /*drop*/) {
    Count(space_.faults.losses);
    NameLosses();
    AddNode(space_.menu.lost_requests);
  }
  void Add(const DropReplyFault& /*drop*/) {
    Count(space_.faults.losses);
    NameLosses();
    AddNode(space_.menu.lost_replies);
  }
  void Add(const AbortFault& abort) {
    if (abort.lasts) return Refuse();
    Count(space_.faults.aborts);
    AddNode(space_.menu.aborts);
  }
  void Add(const AnnounceFault& /*announce*/) {
    Count(space_.faults.announcements);
    AddNode(space_.menu.announcements);
  }
  void Add(const ClockFault& clock) {
    if (!clock.stands) return Refuse();
    Count(space_.faults.standing_clocks);
    AddNode(space_.menu.standing_clocks);
    space_.longest_pause = std::max(space_.longest_pause, *clock.lasts);
  }
  void Add(const DeleteRowFault& deletion) {
    Count(space_.faults.deletes);
    if (!space_.menu.deleted_rows) space_.menu.deleted_rows.emplace();
    if (std::ranges::find(*space_.menu.deleted_rows, deletion.target) ==
        space_.menu.deleted_rows->end()) {
      space_.menu.deleted_rows->push_back(deletion.target);
    }
  }
  // A process that crashed or was told to stop may start again at any time, so only the first start of a node has
  // a time.
  void Add(const StartFault& /*start*/) {
    const auto* at = std::get_if<Instant>(&fault().trigger);
    NodeSpec& node = space_.scenario.nodes[static_cast<size_t>(fault().node)];
    if (node.start_at) return;
    if (at == nullptr) return Refuse();
    node.start_at = *at;
  }
  template <typename Kind>
  void Add(const Kind& /*kind*/) {
    Refuse();
  }

  void Refuse() {
    space_.errors.push_back(Cat(FaultText(from_, fault_),
                                " cannot be a choice of a search. What can: ", kWhatCan, "."));
  }

  static constexpr uint8_t kMost = 100;
  const Scenario& from_;
  uint32_t fault_ = 0;
  ScenarioSpace space_;
};

}  // namespace

ScenarioSpace SpaceOf(const Scenario& scenario) { return SpaceReader(scenario).Read(); }

}  // namespace whorl::sim
