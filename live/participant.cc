#include "live/participant.h"

#include <string>
#include <utility>

#include "protocol/protocols.h"

namespace whorl::live {
namespace {

using real_client::TransactionClient;

ProtocolConfig ConfigOf(const sim::Scenario& scenario, const sim::NodeSpec& spec, uint16_t lock) {
  const ProtocolInfo& protocol = *FindProtocol(scenario.protocol);
  return protocol.make_config(std::string(protocol.table), scenario.locks[lock], spec.id,
                              spec.lease);
}

}  // namespace

Participant::Participant(Dependencies around, uint16_t lock)
    : around_(around),
      lock_(lock),
      machine_(around.loop, around.client, around.time, *this,
               ConfigOf(around.scenario, spec(), lock)),
      application_({.scenario = around.scenario,
                    .process = around.process,
                    .lock = lock,
                    .loop = around.loop,
                    .time = around.time,
                    .reporter = around.reporter,
                    .points = around.points,
                    .queue = [this](Event event) { machine_.Queue(std::move(event)); },
                    .take_queued =
                        [this] {
                          machine_.TakeQueued();
                          OnDrained();
                        }}) {}

CallName Participant::OwnName() const {
  CallName name;
  name.process = around_.process;
  name.lock = lock_;
  return name;
}

// --- start and stop--------------------------------------------------------------------------------

void Participant::Start() {
  machine_.Begin(spec().use == sim::Use::kLock);
  application_.Give(sim::ApplicationStarted{});
}

void Participant::StopGracefully() {
  application_.Give(sim::ApplicationStopRequested{.believes = Believes()});
}

void Participant::ClockChanged() {
  NoticeStanding();
  machine_.ClockChanged();
  application_.ClockChanged();
}

// --- the machine ---------------------------------------------------------------------------------

void Participant::OnLeadershipChanged(const LeadershipChanged& changed) {
  application_.Carry(changed);
}

void Participant::OnAnswer(Answer answer) {
  const auto answered = application_.Carry(std::move(answer));
  // If the question is a transaction, the end of the transaction ends the step.
  const bool local = FindProtocol(around_.scenario.protocol)->answers_locally;
  if (answered && local) reached_.push_back({.step = steps::kHasLock, .what = *answered});
}

void Participant::OnNote(Note note) { application_.Carry(std::move(note)); }

void Participant::NoticeStanding() {
  LeadershipView standing = machine_.standing();
  std::optional<sim::Instant> lapses_at;
  if (standing.believes_until) lapses_at = around_.time.WhenShown(*standing.believes_until);
  if (standing == standing_ && lapses_at == lapses_at_) return;
  standing_ = standing;
  lapses_at_ = lapses_at;
  around_.reporter.ReportEvent(
      sim::LeadershipViewChanged{
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
