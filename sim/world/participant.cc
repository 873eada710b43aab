#include <algorithm>
#include <utility>
#include <vector>

#include "sim/world/call_draws.h"
#include "sim/world/fault_effects.h"
#include "sim/world/hosting.h"
#include "sim/world/parts.h"

namespace whorl::sim {
namespace {

// The stream of draws from which an announcement's latency comes.
constexpr StepName kAnnouncedRelease{"release"};

// Hosts the application of one participant (hosting.h).
class Hosting {
 public:
  Hosting(WorldContext& work, int16_t node, Participant& participant)
      : work_(work), node_(node), participant_(participant) {}

  ProcessId process() const { return work_.ProcessOf(node_); }
  uint16_t lock() const { return participant_.lock; }
  Instant Now() const { return work_.state.now; }
  LocalInstant Monotonic() const { return work_.MonotonicOf(node_); }
  const ApplicationConfig& application_config() const {
    return work_.setup.applications[static_cast<size_t>(node_)];
  }
  ApplicationState& application() { return participant_.application; }
  Instant& asked_at(AskId ask) {
    if (ask < kAskMore) return participant_.asked_at;
    const auto place = static_cast<size_t>(ask - kAskMore);
    std::vector<Instant>& all = participant_.asked_more_at;
    if (place >= all.size()) all.resize(place + 1);
    return all[place];
  }
  std::vector<ApplicationEffect>& application_effects() { return work_.out.application_effects; }

  template <typename What>
  void Observe(What&& what) {
    work_.Observe(std::forward<What>(what));
  }
  template <typename What>
  void Queue(What&& what) {
    QueueForMachine(work_, node_, participant_, std::forward<What>(what));
  }
  void SetTimer(ApplicationTimer timer, LocalInstant at) {
    SetTimerAt(work_, node_, participant_, TimerOwner::kApplication, static_cast<uint16_t>(timer),
               at);
  }
  void CancelTimer(ApplicationTimer timer) {
    CancelTimerOf(work_, participant_, TimerOwner::kApplication, static_cast<uint16_t>(timer));
  }
  void SendWrite(const WriteToResource& write) {
    const DrawnFor whom = {.node = node_, .lock = participant_.lock, .step = steps::kWrite};
    DrawnFaultChance chance(*work_.chance, Draw::kResourceLatency, whom);
    const Duration latency =
        work_.PickLatency(work_.latencies.resource, Draw::kResourceLatency, whom) +
        AddedWriteLatency(work_.scenario, work_.state.faults, node_, chance);
    work_.Schedule(
        work_.state.now + latency, ChoiceKind::kDeliver, -1,
        ResourceWrite{.process = process(), .lock = participant_.lock, .token = write.token});
  }

 private:
  WorldContext& work_;
  const int16_t node_;
  Participant& participant_;
};

// Announcements do not go through Spanner, so no fault between a node and Spanner stops them.
void SendAnnouncements(WorldContext& work, int16_t sender, const Participant& participant) {
  if (!work.scenario.network.announce_releases) return;
  const uint16_t lock = participant.lock;
  for (size_t i = 0; i < work.state.nodes.size(); ++i) {
    const std::vector<uint16_t>& locks = work.scenario.nodes[i].locks;
    const auto node = static_cast<int16_t>(i);
    if (node == sender || std::ranges::find(locks, lock) == locks.end()) continue;
    // Takes as long as a message to the resource: another service at the same distance.
    const Duration latency =
        work.PickLatency(work.latencies.resource, Draw::kResourceLatency,
                         {.node = sender, .lock = lock, .step = kAnnouncedRelease});
    work.Schedule(work.state.now + latency, ChoiceKind::kDeliver, node, ReleaseHeard{.lock = lock});
  }
}

void DoEffect(WorldContext& work, int16_t node, Participant& participant, Effect&& effect) {
  Hosting host(work, node, participant);
  if (auto* run = std::get_if<RunTransaction>(&effect)) {
    StartTransaction(work, node, participant, std::move(*run));
  } else if (const auto* set = std::get_if<SetTimer>(&effect)) {
    SetTimerAt(work, node, participant, TimerOwner::kMachine, set->timer, set->at);
  } else if (const auto* cancel = std::get_if<CancelTimer>(&effect)) {
    CancelTimerOf(work, participant, TimerOwner::kMachine, cancel->timer);
  } else if (const auto* given_up = std::get_if<CancelTransaction>(&effect)) {
    GiveUpTransaction(work, node, participant, given_up->request);
  } else if (const auto* changed = std::get_if<LeadershipChanged>(&effect)) {
    Apply(host, *changed);
  } else if (auto* answer = std::get_if<Answer>(&effect)) {
    Apply(host, std::move(*answer));
  } else if (std::holds_alternative<AnnounceRelease>(effect)) {
    SendAnnouncements(work, node, participant);
  } else {
    Apply(host, std::move(std::get<Note>(effect)));
  }
}

// `event` may be gone as soon as the machine has taken its step: effects queue more of them.
void StepMachine(WorldContext& work, int16_t node, size_t place, const Event& event) {
  Participant& participant = work.NodeAt(node).participants[place];
  const ProtocolConfig& config = work.setup.configs[static_cast<size_t>(node)][place];
  const LocalTime now = work.ClocksOf(node);
  ProcessEntropy entropy(*work.chance, work.ProcessOf(node), participant.lock);
  std::vector<Effect>& effects = work.out.effects;
  effects.clear();
  Step(config, participant.machine, now, entropy, event, effects);
  NoticeStanding(work, node, participant, now);
  for (Effect& effect : effects) DoEffect(work, node, participant, std::move(effect));
}

}  // namespace

Participant* FindParticipant(WorldContext& work, ProcessId process, uint16_t lock) {
  Node& node = work.NodeAt(process.node);
  if (node.life == Life::kDown || node.incarnation != process.incarnation) return nullptr;
  for (Participant& participant : node.participants) {
    if (participant.lock == lock) return &participant;
  }
  return nullptr;
}

void RunMachines(WorldContext& work) {
  std::vector<Outbox::MachineEvent>& events = work.out.machine_events;
  // What a step queues is taken after what was queued before it.
  for (size_t next = 0; next < events.size(); ++next) {
    const int16_t node_index = events[next].node;
    if (work.NodeAt(node_index).life == Life::kDown) continue;
    StepMachine(work, node_index, events[next].participant, events[next].event);
  }
  events.clear();
}

void StepApplication(WorldContext& work, int16_t node, Participant& participant,
                     const ApplicationEvent& event) {
  Hosting host(work, node, participant);
  GiveApplication(host, event);
}

void NoticeStanding(WorldContext& work, int16_t node, Participant& participant,
                    const LocalTime& now) {
  LeadershipView standing = LeadershipViewOf(participant.machine, now);
  if (standing == participant.standing) return;
  if (standing.believes_until != participant.standing.believes_until) {
    participant.belief_lapsed = false;
    CancelTimerOf(work, participant, TimerOwner::kBeliefLapses, 0);
    if (standing.believes_until) {
      SetTimerAt(work, node, participant, TimerOwner::kBeliefLapses, 0, *standing.believes_until);
    }
  }
  participant.standing = standing;
  work.Observe(LeadershipViewChanged{
      .process = work.ProcessOf(node), .lock = participant.lock, .standing = std::move(standing)});
  UpdateBelief(work, node, participant);
}

void UpdateBelief(WorldContext& work, int16_t node, Participant& participant) {
  const bool believes = participant.standing.believes && !participant.belief_lapsed &&
                        work.NodeAt(node).life == Life::kRunning;
  if (believes == participant.believes) return;
  participant.believes = believes;
  work.Observe(BeliefChanged{
      .process = work.ProcessOf(node), .lock = participant.lock, .believes = believes});
}

}  // namespace whorl::sim
