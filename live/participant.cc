#include "live/participant.h"

#include <string>
#include <utility>

#include "protocol/protocols.h"
#include "sim/world/hosting.h"

namespace whorl::live {
namespace {

using real_client::TransactionClient;
using sim::Use;

ProtocolConfig ConfigOf(const sim::Scenario& scenario, const sim::NodeSpec& spec, uint16_t lock) {
  const ProtocolInfo& protocol = *FindProtocol(scenario.protocol);
  return protocol.make_config(std::string(protocol.table), scenario.locks[lock], spec.id,
                              spec.lease);
}

}  // namespace

class Participant::Hosting {
 public:
  explicit Hosting(Participant& part) : part_(part) {}

  ProcessId process() const { return part_.around_.process; }
  uint16_t lock() const { return part_.lock_; }
  sim::Instant Now() const { return part_.around_.time.Now(); }
  LocalTime Clocks() const { return part_.around_.time.Local(); }
  const sim::ApplicationConfig& application_config() const { return part_.application_config_; }
  sim::ApplicationState& application() { return part_.application_; }
  sim::Instant& asked_at() { return part_.asked_at_; }
  std::vector<sim::ApplicationEffect>& application_effects() { return part_.application_effects_; }

  void Observe(sim::ObservedEvent what) { part_.around_.reporter.ReportEvent(std::move(what)); }
  void Observe(const sim::QuestionAnswered& answered) {
    part_.around_.reporter.ReportEvent(answered);
    // If the question is a transaction, the end of the transaction ends the step.
    const bool local = FindProtocol(part_.around_.scenario.protocol)->answers_locally;
    if (answered.answer.question == Question::kHasLock && local) {
      part_.reached_.push_back({.step = steps::kHasLock, .what = answered});
    }
  }
  void Observe(const sim::WriteSent& write) {
    part_.around_.reporter.ReportEvent(write);
    part_.writes_.emplace_back(write);
  }
  void Queue(Event event) { part_.machine_.Queue(std::move(event)); }
  void SetTimer(sim::ApplicationTimer timer, Duration at) {
    part_.application_timers_.Set(timer, at);
  }
  void CancelTimer(sim::ApplicationTimer timer) { part_.application_timers_.Cancel(timer); }
  // The coordinator plays the resource and has received the report of the write.
  void SendWrite(const sim::WriteToResource&) {
    std::vector<sim::ObservedEvent> sent = std::exchange(part_.writes_, {});
    if (!part_.around_.points.Has(steps::kWrite, Phase::kSent)) return;
    part_.around_.reporter.StopAt(part_.OwnName(), steps::kWrite, Phase::kSent, std::move(sent));
  }

 private:
  Participant& part_;
};

Participant::Participant(Surroundings around, uint16_t lock)
    : around_(around),
      lock_(lock),
      machine_(around.loop, around.client, around.time, *this,
               ConfigOf(around.scenario, spec(), lock)),
      application_config_(ApplicationConfigOf(around.scenario, spec())),
      application_timers_(around.loop, around.time, [this](sim::ApplicationTimer timer) {
        GiveApplication(sim::ApplicationTimerFired{.timer = timer});
        OnSettled();
      }) {}

CallName Participant::OwnName() const {
  CallName name;
  name.process = around_.process;
  name.lock = lock_;
  return name;
}

// --- start and stop--------------------------------------------------------------------------------

void Participant::Start() {
  machine_.Begin(spec().use == Use::kLock);
  GiveApplication(sim::ApplicationStarted{});
}

void Participant::StopGracefully() {
  GiveApplication(sim::ApplicationStopRequested{.believes = Believes()});
}

void Participant::ClockChanged() {
  NoticeStanding();
  machine_.ClockChanged();
  application_timers_.ArmAgain();
}

void Participant::GiveApplication(const sim::ApplicationEvent& event) {
  Hosting host(*this);
  sim::GiveApplication(host, event);
  machine_.TakeQueued();
}

// --- the machine ---------------------------------------------------------------------------------

void Participant::OnLeadershipChanged(const LeadershipChanged& changed) {
  Hosting host(*this);
  sim::Carry(host, changed);
}

void Participant::OnAnswer(Answer answer) {
  Hosting host(*this);
  sim::Carry(host, std::move(answer));
}

void Participant::OnNote(Note note) {
  Hosting host(*this);
  sim::Carry(host, std::move(note));
}

void Participant::NoticeStanding() {
  Standing standing = machine_.standing();
  std::optional<sim::Instant> lapses_at;
  if (standing.believes_until) lapses_at = around_.time.WhenShown(*standing.believes_until);
  if (standing == standing_ && lapses_at == lapses_at_) return;
  standing_ = standing;
  lapses_at_ = lapses_at;
  around_.reporter.ReportEvent(
      sim::StandingChanged{
          .process = around_.process, .lock = lock_, .standing = std::move(standing)},
      lapses_at);
}

bool Participant::Believes() const {
  if (!standing_.believes) return false;
  return !standing_.believes_until || around_.time.Local().monotonic < *standing_.believes_until;
}

// --- transactions --------------------------------------------------------------------------------

TransactionClient::RunId Participant::Run(RequestId request, Transaction transaction,
                                          TransactionClient::Done done) {
  const StepName step = transaction.step;
  around_.reporter.ReportEvent(sim::TransactionStarted{
      .process = around_.process, .lock = lock_, .request = request, .step = step});
  CallName name = OwnName();
  name.request = request;
  const auto ended = [this, name, step, done = std::move(done)](TransactionResult result) {
    // This runs on the client's thread, before the machine gets the result.
    if (around_.points.Has(step, Phase::kReplied)) {
      around_.reporter.StopAt(name, step, Phase::kReplied);
    }
    done(std::move(result));
  };
  return around_.calls.Start(name, step,
                             [&] { return around_.client.Run(std::move(transaction), ended); });
}

void Participant::OnTransactionEnded(RequestId request,
                                     const real_client::MachineHost::Flight& flight,
                                     const TransactionResult& result) {
  around_.calls.Forget(flight.run);
  const sim::TransactionFinished finished{.process = around_.process,
                                          .lock = lock_,
                                          .request = request,
                                          .step = flight.step,
                                          .outcome = result.outcome,
                                          .code = result.status.code};
  around_.reporter.ReportEvent(finished);
  reached_.push_back({.step = flight.step, .what = finished});
}

void Participant::StopAtReached() {
  for (ReachedPoint& point : std::exchange(reached_, {})) {
    if (!around_.points.Has(point.step, Phase::kEnded)) continue;
    around_.reporter.StopAt(OwnName(), point.step, Phase::kEnded, {std::move(point.what)});
  }
}

}  // namespace whorl::live
