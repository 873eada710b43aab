#include "sim/world/fault_effects.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "protocol/protocols.h"
#include "protocol/spanner/answers.h"
#include "sim/scenario/operator_write.h"
#include "sim/scenario/rules.h"

namespace whorl::sim {
namespace {

// The links under these faults; if two partitions overlap, the later one decides.
Links LinksUnder(const Scenario& scenario, const std::vector<uint32_t>& active) {
  Links links;
  for (const uint32_t index : active) {
    const auto* fault = scenario.faults[index].As<PartitionFault>();
    if (fault == nullptr) continue;
    const LinkState link =
        fault->mode == PartitionMode::kRefuse ? LinkState::kRefused : LinkState::kBlackHoled;
    if (Covers(fault->direction, Direction::kTo)) links.to = link;
    if (Covers(fault->direction, Direction::kFrom)) links.from = link;
  }
  return links;
}

// The observations of a change: one if both ways change to the same state, otherwise two.
std::vector<LinkChanged> LinkChanges(int16_t node, const Links& before, const Links& after) {
  const bool to = before.to != after.to;
  const bool from = before.from != after.from;
  if (to && from && after.to == after.from) return {{.node = node, .link = after.to}};
  std::vector<LinkChanged> changes;
  if (to) changes.push_back({.node = node, .link = after.to, .direction = Direction::kTo});
  if (from) changes.push_back({.node = node, .link = after.from, .direction = Direction::kFrom});
  return changes;
}

constexpr std::string_view kBegin = "BeginTransaction";

bool CreatesSession(const PassingCall& call) { return call.method == "CreateSession"; }

bool Is(ErrorCall kind, const PassingCall& call) {
  const bool is_begin = call.method == kBegin;
  const bool is_commit = call.method == "Commit";
  switch (kind) {
    case ErrorCall::kBegin:
      return is_begin;
    case ErrorCall::kCommit:
      return is_commit;
    case ErrorCall::kCreateSession:
      return CreatesSession(call);
    case ErrorCall::kStatement:
      return !is_begin && !is_commit && !CreatesSession(call);
    case ErrorCall::kFirstStatement:
      return call.is_first_statement;
  }
  std::abort();
}

// Whether the fault is about calls of this step and kind.
bool IsAbout(const FaultSpec& fault, const ErrorFault& error, const PassingCall& call) {
  if (error.of_call == ErrorCall::kCreateSession) return CreatesSession(call);
  // No server refuses to give a transaction up: its locks would stay until it is idle for too long.
  if (CreatesSession(call) || call.method == "Rollback") return false;
  if (error.of_call && !Is(*error.of_call, call)) return false;
  const When* when = std::get_if<When>(&fault.trigger);
  if (!error.of_step && when == nullptr) return true;
  return call.step == (error.of_step ? *error.of_step : when->step);
}

// Whether Spanner might answer the call so in place of serving it.
bool MightAnswer(Code code, const PassingCall& call) {
  if (call.comes_again && !CommitAgain().Has(code)) return false;
  return MayAnswer(call.method, code, call.can_abort || call.method == kBegin);
}

// The code with which the fault answers the call; nothing if the fault does not concern the call.
std::optional<Code> CodeFor(const FaultSpec& fault, const PassingCall& call) {
  if (fault.As<AbortFault>() != nullptr) {
    return call.can_abort && !call.is_applied ? std::optional(Code::kAborted) : std::nullopt;
  }
  const auto* error = fault.As<ErrorFault>();
  if (error == nullptr || error->applied != call.is_applied) return std::nullopt;
  if (!IsAbout(fault, *error, call)) return std::nullopt;
  const Code code = CodeOf(error->code);
  if (!error->applied && !error->impossible && !MightAnswer(code, call)) return std::nullopt;
  return code;
}

FaultAnswer AnswerOf(const FaultSpec& fault, Code code) {
  const auto* error = fault.As<ErrorFault>();
  const bool is_impossible = error != nullptr && error->impossible;
  return {.code = code, .is_impossible = is_impossible, .armed = {}};
}

// One event of a fault, passed on to the fault's kind.
class FaultStep {
 public:
  FaultStep(const Scenario& scenario, ActiveFaults& faults, uint32_t fault, int16_t node,
            FaultEffects& out)
      : scenario_(scenario),
        faults_(faults),
        fault_(fault),
        spec_(scenario.faults[fault]),
        node_(node),
        out_(out) {}

  void Due(const FaultTarget& target);
  void Over(bool same_process);

 private:
  void Add(FaultEffect effect) { out_.push_back(std::move(effect)); }
  void Observe(ObservedEvent what) { Add(ObserveFault{std::move(what)}); }
  void Began() { Observe(FaultBegan{.fault = fault_}); }
  void Ended() { Observe(FaultEnded{.fault = fault_}); }

  void StrikeOneCall(const std::optional<CallName>& call);
  void SlowDown(const CallName& trigger);
  bool GoesOnAfter(uint32_t incarnation);
  std::vector<uint32_t>& ActiveOnes() { return faults_.At(node_).active; }
  void Activate() { ActiveOnes().push_back(fault_); }
  void Deactivate() { std::erase(ActiveOnes(), fault_); }
  void UpdateLinks();
  void UpdateClocks();

  // One for each kind that does not strike a single call.
  void Begin(const PauseFault& /*pause*/) { Add(PauseProcess{node_}); }
  void Begin(const CrashFault& /*crash*/) { Add(CrashProcess{node_}); }
  void Begin(const StopFault& /*stop*/) { Add(StopProcess{node_}); }
  void Begin(const StartFault& /*start*/) { Add(StartProcess{node_}); }
  void Begin(const PartitionFault& /*partition*/) {
    Activate();
    UpdateLinks();
  }
  void Begin(const LatencyFault& /*latency*/) { Activate(); }
  void Begin(const AbortFault& /*abort*/) { Activate(); }
  void Begin(const ErrorFault& /*error*/) { Activate(); }
  void Begin(const DropRequestFault& /*drop*/) {}  // StrikeOneCall
  void Begin(const DropReplyFault& /*drop*/) {}
  void Begin(const DuplicateRequestFault& /*copy*/) {}
  void Begin(const UnavailableFault& /*unavailable*/) {
    if (faults_.unavailable++ == 0) Observe(SpannerAvailability{.available = false});
  }
  void Begin(const SessionLossFault& /*loss*/) { Add(TakeSession{node_}); }
  void Begin(const AnnounceFault& /*announce*/) { Add(TellOfRelease{node_}); }
  void Begin(const ClockFault& change) { Add(SetNodeClock{.node = node_, .change = change}); }
  void Begin(const TrueTimeFault& /*set*/) { BeginToSetClocks(); }
  void Begin(const CurrentTimestampFault& /*set*/) { BeginToSetClocks(); }
  void Begin(const SlowResourceFault& /*slow*/) { Activate(); }
  template <typename Kind>
    requires requires(const Kind& kind) { kind.target; }
  void Begin(const Kind& /*operators*/) {
    Add(ActAsOperator{fault_});
  }
  void BeginToSetClocks() {
    faults_.of_clocks.push_back(fault_);
    UpdateClocks();
  }

  // One for each kind that lasts. `same_process`: the node's process is the one that it struck.
  template <typename Kind>
  void End(const Kind& /*kind*/, bool /*same_process*/) {}
  void End(const PauseFault& /*pause*/, bool same_process) {
    if (same_process) Add(ResumeProcess{node_});
  }
  void End(const PartitionFault& /*partition*/, bool /*same_process*/) {
    Deactivate();
    UpdateLinks();
  }
  void End(const LatencyFault& /*latency*/, bool /*same_process*/) {
    Deactivate();
    Add(LeaveSlowCalls{node_});
  }
  void End(const AbortFault& /*abort*/, bool /*same_process*/) { Deactivate(); }
  void End(const ErrorFault& /*error*/, bool /*same_process*/) { Deactivate(); }
  void End(const SlowResourceFault& /*slow*/, bool /*same_process*/) { Deactivate(); }
  void End(const UnavailableFault& /*unavailable*/, bool /*same_process*/) {
    if (--faults_.unavailable == 0) Observe(SpannerAvailability{.available = true});
  }
  void End(const ClockFault& /*change*/, bool same_process) {
    if (same_process) Add(ReleaseNodeClock{node_});
  }
  void End(const TrueTimeFault& /*set*/, bool /*same_process*/) { EndToSetClocks(); }
  void End(const CurrentTimestampFault& /*set*/, bool /*same_process*/) { EndToSetClocks(); }
  void EndToSetClocks() {
    std::erase(faults_.of_clocks, fault_);
    UpdateClocks();
  }

  const Scenario& scenario_;
  ActiveFaults& faults_;
  const uint32_t fault_;
  const FaultSpec& spec_;
  const int16_t node_;
  FaultEffects& out_;
};

void FaultStep::Due(const FaultTarget& target) {
  if (spec_.node == FaultSpec::kLeader && node_ < 0) return;  // nobody leads
  if (node_ >= 0 && (target.life & StrikesIn(spec_.what)) == kNoLife) return;
  if (!target.exists) return;
  if (StrikesOneCall(spec_.what)) return StrikeOneCall(target.call);
  Began();
  std::visit([this](const auto& kind) { Begin(kind); }, spec_.what);
  if (target.call) SlowDown(*target.call);
  if (!GoesOnAfter(target.incarnation)) Ended();
}

// Whether the fault goes on until an event ends it. A setting for good ends at once: the world
// stays so, and that is not a disturbance.
bool FaultStep::GoesOnAfter(uint32_t incarnation) {
  if (const std::optional<Duration> after = RestartAfterOf(spec_.what)) {
    Add(StartAgain{.node = node_, .fault = fault_, .after = *after});
    return true;
  }
  const std::optional<Duration> lasts = LastsOf(spec_.what);
  if (lasts) {
    Add(EndLater{.fault = fault_, .node = node_, .incarnation = incarnation, .after = *lasts});
  }
  return lasts || GoesOn(spec_.what) || TargetOf(spec_.what) != nullptr;
}

void FaultStep::StrikeOneCall(const std::optional<CallName>& call) {
  const auto* error = spec_.As<ErrorFault>();
  int64_t later = error != nullptr ? error->calls : 1;
  if (call) --later;
  std::vector<uint32_t>& armed = faults_.At(node_).armed;
  armed.insert(armed.end(), static_cast<size_t>(later), fault_);
  if (!call) return;
  Began();
  if (spec_.As<DropRequestFault>() != nullptr) {
    Add(DropRequest{*call});
  } else if (spec_.As<DropReplyFault>() != nullptr) {
    Add(DropReply{*call});
  } else if (const auto* copy = spec_.As<DuplicateRequestFault>()) {
    Add(DuplicateRequest{.call = *call, .after = copy->after});
  } else {
    Add(MarkCall{.call = *call, .fault = fault_});
  }
  Ended();
}

// The call that triggered the fault was on its way before the fault began.
void FaultStep::SlowDown(const CallName& trigger) {
  if (spec_.As<LatencyFault>() != nullptr) Add(DelayMessage{.call = trigger, .fault = fault_});
  if (spec_.As<SlowResourceFault>() != nullptr) {
    Add(DelayWrite{.process = trigger.process, .lock = trigger.lock, .fault = fault_});
  }
}

void FaultStep::Over(bool same_process) {
  std::visit([&](const auto& kind) { End(kind, same_process); }, spec_.what);
  Ended();
}

void FaultStep::UpdateLinks() {
  ActiveFaults::OfNode& node = faults_.At(node_);
  const Links before = std::exchange(node.links, LinksUnder(scenario_, node.active));
  const Links& after = node.links;
  for (const LinkChanged& change : LinkChanges(node_, before, after)) Add(SetLink{change});
  const bool requests = before.to != after.to && after.to == LinkState::kUp;
  const bool replies = before.from != after.from && after.from == LinkState::kUp;
  if (requests || replies) {
    Add(ReleaseMessages{.node = node_, .requests = requests, .replies = replies});
  }
}

void FaultStep::UpdateClocks() {
  SetSpannerClocks set = {.truetime = scenario_.spanner.truetime,
                          .current_timestamp_error = scenario_.spanner.current_timestamp_error};
  for (const uint32_t index : faults_.of_clocks) {
    const FaultSpec& fault = scenario_.faults[index];
    if (const auto* truetime = fault.As<TrueTimeFault>()) set.truetime = truetime->truetime;
    if (const auto* clock = fault.As<CurrentTimestampFault>()) {
      set.current_timestamp_error = clock->error;
    }
  }
  Add(set);
}

// The first armed fault of the node for which `strikes` holds.
template <typename Strikes>
std::optional<uint32_t> FindArmed(const Scenario& scenario, const ActiveFaults& faults,
                                  int16_t node, const Strikes& strikes) {
  const std::vector<uint32_t>& armed = faults.At(node).armed;
  const auto found =
      std::ranges::find_if(armed, [&](uint32_t fault) { return strikes(scenario.faults[fault]); });
  return found == armed.end() ? std::nullopt : std::optional(*found);
}

template <typename Kind>
bool TakesArmed(const Scenario& scenario, ActiveFaults& faults, int16_t node, FaultEffects& out) {
  const auto fault = FindArmed(scenario, faults, node,
                               [](const FaultSpec& spec) { return spec.As<Kind>() != nullptr; });
  if (!fault) return false;
  TakeArmed(faults, node, *fault, out);
  return true;
}

}  // namespace

void OnFaultDue(const Scenario& scenario, ActiveFaults& faults, uint32_t fault,
                const FaultTarget& target, FaultEffects& out) {
  FaultStep(scenario, faults, fault, target.node, out).Due(target);
}

void OnFaultOver(const Scenario& scenario, ActiveFaults& faults, uint32_t fault, int16_t node,
                 uint32_t incarnation, uint32_t struck, FaultEffects& out) {
  FaultStep(scenario, faults, fault, node, out).Over(incarnation == struck);
}

void TakeArmed(ActiveFaults& faults, int16_t node, uint32_t fault, FaultEffects& out) {
  std::vector<uint32_t>& armed = faults.At(node).armed;
  armed.erase(std::ranges::find(armed, fault));
  out.emplace_back(ObserveFault{FaultBegan{.fault = fault}});
  out.emplace_back(ObserveFault{FaultEnded{.fault = fault}});
}

bool LosesRequest(const Scenario& scenario, ActiveFaults& faults, int16_t node, FaultEffects& out) {
  return TakesArmed<DropRequestFault>(scenario, faults, node, out);
}

bool LosesReply(const Scenario& scenario, ActiveFaults& faults, int16_t node, FaultEffects& out) {
  return TakesArmed<DropReplyFault>(scenario, faults, node, out);
}

void DuplicateIfArmed(const Scenario& scenario, ActiveFaults& faults, const CallName& call,
                      FaultEffects& out) {
  const auto fault = FindArmed(scenario, faults, call.process.node, [](const FaultSpec& spec) {
    return spec.As<DuplicateRequestFault>() != nullptr;
  });
  if (!fault) return;
  TakeArmed(faults, call.process.node, *fault, out);
  const Duration after = scenario.faults[*fault].As<DuplicateRequestFault>()->after;
  out.emplace_back(DuplicateRequest{.call = call, .after = after});
}

bool SlowsItsTrigger(const FaultSpec& fault) {
  const auto* when = std::get_if<When>(&fault.trigger);
  return fault.As<SlowResourceFault>() != nullptr && when != nullptr &&
         when->step == steps::kWrite && when->phase == Phase::kSent;
}

bool CanAnswer(const FaultSpec& fault, const PassingCall& call) {
  return CodeFor(fault, call).has_value();
}

std::optional<FaultAnswer> AnswerByFault(const Scenario& scenario, const ActiveFaults& faults,
                                         const PassingCall& call, FaultChance& chance) {
  if (call.struck_by) {
    const FaultSpec& fault = scenario.faults[*call.struck_by];
    if (const auto code = CodeFor(fault, call)) return AnswerOf(fault, *code);
  }
  const auto answers = [&](const FaultSpec& spec) {
    return StrikesOneCall(spec.what) && CanAnswer(spec, call);
  };
  if (const auto fault = FindArmed(scenario, faults, call.node, answers)) {
    const FaultSpec& spec = scenario.faults[*fault];
    FaultAnswer answer = AnswerOf(spec, *CodeFor(spec, call));
    answer.armed = *fault;
    return answer;
  }
  std::optional<FaultAnswer> answer;
  for (const uint32_t index : faults.At(call.node).active) {
    const std::optional<Code> code = CodeFor(scenario.faults[index], call);
    if (!code) continue;
    // Each fault draws, whether another one hits or not.
    const bool hits = chance.Hits(index, PercentOf(scenario.faults[index].what));
    if (hits && !answer) answer = AnswerOf(scenario.faults[index], *code);
  }
  return answer;
}

Duration AddedLatency(const Scenario& scenario, const ActiveFaults& faults, int16_t node,
                      Direction way, FaultChance& chance) {
  Duration added;
  for (const uint32_t index : faults.At(node).active) {
    const auto* fault = scenario.faults[index].As<LatencyFault>();
    if (fault == nullptr || !Covers(fault->direction, way)) continue;
    added += chance.Delay(index, fault->add);
  }
  return added;
}

Duration AddedWriteLatency(const Scenario& scenario, const ActiveFaults& faults, int16_t node,
                           FaultChance& chance) {
  Duration added;
  for (const uint32_t index : faults.At(node).active) {
    const auto* fault = scenario.faults[index].As<SlowResourceFault>();
    if (fault != nullptr) added += chance.Delay(index, fault->add);
  }
  return added;
}

Value KeyOfRow(const Scenario& scenario, const RowOfLock& target) {
  const Rules& rules = RulesOf(scenario.protocol);
  return ParseKey(rules, scenario.locks[target.lock], target.row).value_or(Null{});
}

OperatorWrite OperatorWriteOf(const Scenario& scenario, uint32_t fault) {
  const AnyFault& what = scenario.faults[fault].what;
  const RowOfLock& target = *TargetOf(what);
  return OperatorWriteOf(what, {.protocol = *FindProtocol(scenario.protocol),
                                .key = KeyOfRow(scenario, target),
                                .name = target.row});
}

}  // namespace whorl::sim
