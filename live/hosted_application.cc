#include "live/hosted_application.h"

#include <utility>

namespace whorl::live {

class HostedApplication::Host {
 public:
  explicit Host(HostedApplication& application) : own_(application) {}

  ProcessId process() const { return own_.around_.process; }
  uint16_t lock() const { return own_.around_.lock; }
  sim::Instant Now() const { return own_.around_.time.Now(); }
  LocalInstant Monotonic() const { return own_.around_.time.Local().monotonic; }
  const sim::ApplicationConfig& application_config() const { return own_.config_; }
  sim::ApplicationState& application() { return own_.state_; }
  sim::Instant& asked_at(AskId ask) { return own_.asked_at_[ask]; }
  std::vector<sim::ApplicationEffect>& application_effects() { return own_.effects_; }

  void Observe(sim::ObservedEvent what) { own_.around_.reporter.ReportEvent(std::move(what)); }
  void Observe(const sim::QuestionAnswered& answered) {
    own_.around_.reporter.ReportEvent(answered);
    if (answered.answer.ask == sim::kAskHasLock) own_.answered_ = answered;
  }
  void Observe(const sim::WriteSent& write) {
    own_.around_.reporter.ReportEvent(write);
    own_.writes_.emplace_back(write);
  }
  void Queue(Event event) { own_.around_.queue(std::move(event)); }
  void SetTimer(sim::ApplicationTimer timer, LocalInstant at) { own_.timers_.Set(timer, at); }
  void CancelTimer(sim::ApplicationTimer timer) { own_.timers_.Cancel(timer); }
  // The coordinator plays the resource and has received the report of the write.
  void SendWrite(const sim::WriteToResource&) {}

 private:
  HostedApplication& own_;
};

HostedApplication::HostedApplication(Dependencies around)
    : around_(std::move(around)),
      config_(ApplicationConfigOf(
          around_.scenario, around_.scenario.nodes[static_cast<size_t>(around_.process.node)])),
      timers_(around_.loop, around_.time, [this](sim::ApplicationTimer timer) {
        Give(sim::ApplicationTimerFired{.timer = timer});
      }) {}

CallName HostedApplication::OwnName() const {
  CallName name;
  name.process = around_.process;
  name.lock = around_.lock;
  return name;
}

// A fault strikes at the end of the step that wrote, as in the simulation: the work that ends by the write
// has ended.
void HostedApplication::StopAtWrites() {
  std::vector<sim::ObservedEvent> sent = std::exchange(writes_, {});
  if (sent.empty() || !around_.points.Has(steps::kWrite, Phase::kSent)) return;
  around_.reporter.StopAt(OwnName(), steps::kWrite, Phase::kSent, std::move(sent));
}

void HostedApplication::Give(const sim::ApplicationEvent& event) {
  Host host(*this);
  sim::GiveApplication(host, event);
  StopAtWrites();
  around_.take_queued();
}

void HostedApplication::Carry(const LeadershipChanged& changed) {
  Host host(*this);
  sim::Apply(host, changed);
  StopAtWrites();
}

std::optional<sim::QuestionAnswered> HostedApplication::Carry(Answer answer) {
  answered_.reset();
  Host host(*this);
  sim::Apply(host, std::move(answer));
  StopAtWrites();
  return std::exchange(answered_, std::nullopt);
}

void HostedApplication::Carry(Note note) {
  Host host(*this);
  sim::Apply(host, std::move(note));
}

}  // namespace whorl::live
