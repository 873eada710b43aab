// Runs one scenario on real processes. It starts the nodes, each behind its own port of the proxy,
// and a Spanner for this run alone; it plays the resource, and it injects the faults.
//
// Invariants:
//   1. The coordinator's state belongs to the thread that calls Run. The proxy's threads post their
//      questions to it and wait for the answer. A fault that a step triggers has struck before the
//      call, or the process, goes on.
//   2. When Run returns, all its processes, threads and sockets are gone, whether it succeeded or
//      failed.
// coordinator.cc starts, stops and hears the nodes, coordinator_calls.cc decides about calls that
// pass the proxy, coordinator_faults.cc carries out the effects of faults.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "live/backend.h"
#include "live/call_names.h"
#include "live/child_node.h"
#include "live/operator.h"
#include "live/proxy/fault_proxy.h"
#include "live/record.h"
#include "live/wire_calls.h"
#include "sim/scenario/scenario.h"
#include "sim/world/fault_effects.h"
#include "sim/world/latency.h"
#include "sim/world/node_clock.h"
#include "sim/world/triggers.h"

namespace whorl::live {

class Coordinator final : public CallInterceptor {
 public:
  // `seed` decides the latencies that the network adds.
  // REQUIRES: the scenario outlives this, and RefusalsOf(kind, scenario, program) is empty.
  // `program`, if not empty, takes part in the lock in the place of each node's machine
  // (foreign/README.md).
  Coordinator(BackendKind kind, const sim::Scenario& scenario, uint64_t seed,
              std::string program = {});
  ~Coordinator() override;

  // Ends the run early: at the first write that arrives after a fault has struck and for which
  // `enough` is true.
  void EndWhen(std::function<bool(const sim::ObservedEvent&)> enough) {
    enough_ = std::move(enough);
  }

  // Takes the scenario's duration and some seconds. kUnavailable if the run was not possible.
  // REQUIRES: called once.
  absl::StatusOr<Record> Run();

 private:
  enum class ProcessState : uint8_t { kDown, kRunning, kStopped };
  struct LiveNode {
    ProcessState state = ProcessState::kDown;
    uint32_t incarnation = 0;
    uint16_t port = 0;
    std::unique_ptr<ChildNode> process;
    std::unique_ptr<ChildNode> spare;  // already connected: the next incarnation
    bool spare_ready = false;
    int pauses = 0;
    sim::NodeClock clock;
    std::set<SessionName> sessions;       // named by its calls
    std::set<SessionName> lost_sessions;  // deleted by a fault
  };
  class Chance final : public sim::FaultChance {
   public:
    explicit Chance(std::mt19937_64& random) : random_(random) {}
    bool Hits(uint32_t /*fault*/, int64_t percent) override {
      return std::uniform_int_distribution<int64_t>(0, 99)(random_) < percent;
    }
    Duration Delay(uint32_t /*fault*/, const sim::DelaySpec& delay) override {
      return sim::Pick(delay, random_());
    }

   private:
    std::mt19937_64& random_;
  };
  using Answer = std::function<void(Interception)>;
  // A call that is on its way to Spanner, at Spanner, or on its way back.
  struct Passing {
    NamedCall call;
    WireCall wire;
    sim::Instant arrived;
    bool at_spanner = false;  // its request has passed
    bool drop_request = false;
    bool drop_reply = false;
    bool slowed = false;
    bool is_applied = false;            // Spanner has served it, and answered OK
    std::optional<uint32_t> struck_by;  // the fault that answers it in Spanner's place
    Answer held;                        // set while a black hole holds the request
  };
  struct OpenTransaction {
    sim::Instant last_call;
    int calls = 0;  // calls under way
    bool aborted = false;
    std::optional<Code> doomed;  // what a fault has answered, and Spanner answers from then on
    bool committing = false;     // its Commit may be at Spanner, which does not abort it any more
  };

  struct WriteOnItsWay {
    sim::WriteSent write;
    sim::Instant due;
    bool waits = false;  // until its process has stopped at the point where a fault may slow it
  };
  using Writes = std::map<uint64_t, WriteOnItsWay>;  // in the order in which they were sent

  // --- the run as a whole (coordinator.cc)
  absl::Status Prepare();
  absl::Status InsertRows();
  void RunScenario();
  void Close();
  void ReadVersions();
  void Fail(const std::string& why);
  sim::Instant Now() const;
  void At(sim::Instant at, std::function<void()> task);
  void RecordEvent(sim::ObservedEvent what);
  LiveNode& NodeAt(int16_t node) { return nodes_[static_cast<size_t>(node)]; }
  ProcessId ProcessOf(int16_t node) { return {node, NodeAt(node).incarnation}; }

  // --- nodes (coordinator.cc)
  void PrepareSpare(int16_t node);
  void StartNode(int16_t node, std::optional<uint32_t> fault);
  void EndProcess(int16_t node, bool crashed);
  void StopNode(int16_t node);
  void PauseNode(int16_t node);
  void ResumeNode(int16_t node);
  void OnReport(int16_t node, uint32_t incarnation, Report& report);
  void OnReportedEvent(ReportedEvent& event);
  void OnAtPoint(int16_t node, uint32_t incarnation, const AtPoint& point);
  void OnAnnounces(int16_t node, uint16_t lock);
  void OnWrite(const sim::WriteSent& write, sim::Instant sent_at);
  void AwaitWrite(uint64_t number);
  void AwaitWritesOf(int16_t node);
  void OnWriteArrived(const sim::WriteSent& write);
  Duration Draw(const sim::LatencyTable& table) { return sim::Pick(table, random_()); }

  // --- calls (coordinator_calls.cc)
  live::Interception OnRequest(const ProxiedCall& call, const std::string& message) override;
  live::Interception OnReply(const ProxiedCall& call, const Status& status,
                             const std::vector<std::string>& messages) override;
  live::Interception Ask(std::function<void(const Answer&)> question);
  void InterceptRequest(uint64_t number, Passing passing, const Answer& answer);
  void NoticeSession(const Passing& passing);
  void NoticeSent(Passing& passing);  // to Spanner
  bool AnswersInItsPlace(Passing& passing, const Answer& answer);
  live::Interception InterceptReply(uint64_t number, const Status& status, const WireReply& reply);
  void NoticeServed(const Passing& passing, const Status& status, const WireReply& reply);
  void NoticeTransaction(const Passing& passing, const Status& status, const WireReply& reply);
  std::optional<Code> AnswerOf(Passing& passing);
  void AbortIdle();
  void Hang(const Passing& passing);
  Duration AddedLatency(Passing& passing, sim::Direction way);
  void ReleaseHeld(int16_t node, bool passes);
  void OnCallEnded(const CallName& call);
  Passing* FindPassing(const CallName& call);

  // --- faults (coordinator_faults.cc)
  void Observe(const sim::ObservedEvent& what);  // gives it to the triggers, which strike at once
  void StrikeAll(const std::vector<sim::Triggers::Hit>& hits);
  void Begin(uint32_t fault, const CallName* trigger);
  bool HasTarget(const sim::FaultSpec& fault);
  bool IsTarget(const sim::FaultSpec& fault, const CallName& call);
  Writes::iterator FindNewestWrite(ProcessId process, uint16_t lock);
  sim::PassingCall AtSpanner(const Passing& passing) const;
  bool CanAbort(const WireCall& wire) const;
  bool IsStartedByFault(int16_t node) const;
  // Carries out the effects of the machine of faults, in their order.
  void CarryOut(const sim::FaultEffects& effects);
  void CarryOut(const sim::ObserveFault& observed);
  void CarryOut(const sim::PauseProcess& pause) { PauseNode(pause.node); }
  void CarryOut(const sim::ResumeProcess& resume) { ResumeNode(resume.node); }
  void CarryOut(const sim::CrashProcess& crash);
  void CarryOut(const sim::StopProcess& stop);
  void CarryOut(const sim::StartProcess& start) { StartNode(start.node, std::nullopt); }
  void CarryOut(const sim::StartAgain& start);
  void CarryOut(const sim::EndLater& end);
  void CarryOut(const sim::SetLink& set);
  void CarryOut(const sim::ReleaseMessages& release);
  void CarryOut(const sim::LeaveSlowCalls& leave);
  void CarryOut(const sim::TakeSession& take);
  void CarryOut(const sim::TellOfRelease& tell);
  void CarryOut(const sim::SetNodeClock& set);
  // refusals.h refuses these faults before the run.
  void CarryOut(const sim::ReleaseNodeClock& /*release*/) {}
  void CarryOut(const sim::SetSpannerClocks& /*set*/) {}
  void CarryOut(const sim::ActAsOperator& acts);
  void CarryOut(const sim::DropRequest& drop);
  void CarryOut(const sim::DuplicateRequest& /*copy*/) {}  // refused before a run: refusals.cc
  void CarryOut(const sim::DropReply& drop);
  void CarryOut(const sim::MarkCall& mark);
  // A latency begins before its trigger's message goes on, so that the message has it (AddedLatency).
  void CarryOut(const sim::DelayMessage& /*delay*/) {}
  void CarryOut(const sim::DelayWrite& delay);
  // Whether a fault waited for the node's next call. `loses` is LosesRequest or LosesReply.
  template <typename Loses>
  bool HasFaultFor(int16_t node, const Loses& loses) {
    sim::FaultEffects effects;
    const bool lost = loses(scenario_, faults_, node, effects);
    CarryOut(effects);
    return lost;
  }

  const BackendKind kind_;
  const sim::Scenario& scenario_;
  const std::string program_;
  const sim::Latencies& latencies_;
  std::mt19937_64 random_;
  Chance chance_{random_};
  boost::asio::io_context context_{1};
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Operator> operator_;
  std::unique_ptr<FaultProxy> proxy_;
  std::vector<LiveNode> nodes_;
  // Processes that have ended. They are kept, since the coordinator may kill a process while it
  // handles a report of that process.
  std::vector<std::unique_ptr<ChildNode>> gone_;
  sim::Triggers triggers_;
  std::map<uint64_t, Passing> passing_;
  std::map<std::pair<SessionName, TransactionId>, OpenTransaction> open_;
  sim::ActiveFaults faults_;
  Writes writes_;
  uint64_t last_write_ = 0;
  // The greatest token that the fencing resource has seen, by lock.
  std::vector<std::optional<TokenNumber>> greatest_;
  LocalInstant started_;  // by CLOCK_BOOTTIME
  bool running_ = false;
  std::function<bool(const sim::ObservedEvent&)> enough_;  // null: the run never ends early
  bool struck_ = false;                                    // at least one fault has struck
  bool has_enough_ = false;
  absl::Status failure_;
  std::atomic<bool> closed_ = false;
  Record record_;
};

}  // namespace whorl::live
