#include "spanner_model/server/frontend.h"

#include <utility>

#include "spanner_model/server/current_call.h"

namespace whorl::server {
namespace {

Status ShuttingDown() { return Error(Code::kUnavailable, "The server is shutting down."); }

}  // namespace

// --- gates ---------------------------------------------------------------------------------------

void Gate::Open() {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_open_ = true;
    waiting.swap(waiting_);
  }
  for (const std::function<void()>& run : waiting) run();
}

void Gate::WhenOpen(std::function<void()> run) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!is_open_) {
      waiting_.push_back(std::move(run));
      return;
    }
  }
  run();
}

// --- start and shutdown --------------------------------------------------------------------------

Frontend::Frontend(BackendOptions options, std::shared_ptr<ServerClock> clock)
    : clock_(std::move(clock)), backend_(std::move(options)) {}

Frontend::~Frontend() { Shutdown(); }

Status Frontend::Start() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Status status = backend_.Start(clock_->Now());
    if (!status.ok()) return status;
  }
  timers_ = std::thread([this] { RunTimers(); });
  return {};
}

void Frontend::Shutdown() {
  std::map<CallTag, Outstanding> unanswered;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    unanswered.swap(outstanding_);
  }
  clock_->Interrupt();
  if (timers_.joinable()) timers_.join();
  for (auto& [tag, call] : unanswered) GiveAnswer(std::move(call), Refused(ShuttingDown()));
}

// --- calls ---------------------------------------------------------------------------------------

void Frontend::Handle(const Method& method, MessagePtr request, AnswerFunction done) {
  CallInfo info = {.method = method.name,
                   .session = method.session_of(*request),
                   .transaction = method.transaction_of(*request)};
  FaultAction action;
  if (method.service == kSpannerService) action = ChooseFault(info);
  Observe(info, CallPhase::kArrived, {});
  if (const auto* fail = std::get_if<FailBefore>(&action)) {
    return GiveAnswer({.info = std::move(info), .done = std::move(done)}, Refused(fail->status));
  }
  std::shared_ptr<Gate> gate;
  if (const auto* hold = std::get_if<HoldRequest>(&action)) gate = hold->gate;
  CallTag tag = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!stopping_) {
      tag = ++last_tag_;
      outstanding_.emplace(
          tag, Outstanding{
                   .info = std::move(info), .action = std::move(action), .done = std::move(done)});
    }
  }
  if (tag == 0) {
    return GiveAnswer({.info = std::move(info), .done = std::move(done)}, Refused(ShuttingDown()));
  }
  if (gate == nullptr) return Serve(method, request, tag);
  gate->WhenOpen([weak = weak_from_this(), &method, request, tag] {
    if (const auto self = weak.lock()) self->Serve(method, request, tag);
  });
}

std::unique_ptr<PlannedRequest> Frontend::Plan(const Method& method,
                                               const google::protobuf::Message& request) {
  if (method.plan == nullptr || request.ByteSizeLong() < kLongRequest) return nullptr;
  const std::string session = method.session_of(request);
  std::shared_ptr<const model::Schema> schema;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    schema = backend_.SchemaOf(session);
  }
  if (schema == nullptr) return nullptr;
  const CurrentCall current(method.name, session);
  return method.plan(request, std::move(schema));
}

void Frontend::Serve(const Method& method, const MessagePtr& request, CallTag tag) {
  const std::unique_ptr<PlannedRequest> planned = Plan(method, *request);
  Deliveries deliveries;
  bool wakes_earlier = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = outstanding_.find(tag);
    if (found == outstanding_.end()) return;  // Shutdown has answered it
    const CurrentCall current(method.name, found->second.info.session);
    std::vector<CallOutcome> outcomes;
    backend_.Handle(method, request, tag, clock_->Now(), outcomes, planned.get());
    deliveries = TakeOutcomes(std::move(outcomes));
    const std::optional<Timestamp> due = backend_.NextDue();
    wakes_earlier = due && (!next_wake_ || *due < *next_wake_);
    if (wakes_earlier) next_wake_ = due;
  }
  if (wakes_earlier) clock_->Interrupt();
  Deliver(std::move(deliveries));
}

void Frontend::RunTimers() {
  while (true) {
    Deliveries deliveries;
    std::optional<Timestamp> wake;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) return;
      const CurrentCall current("what waits for the clock", "");
      std::vector<CallOutcome> outcomes;
      backend_.RunDue(clock_->Now(), outcomes);
      deliveries = TakeOutcomes(std::move(outcomes));
      next_wake_ = wake = backend_.NextDue();
    }
    Deliver(std::move(deliveries));
    clock_->SleepUntil(wake);
  }
}

// --- answers -------------------------------------------------------------------------------------

Frontend::Deliveries Frontend::TakeOutcomes(std::vector<CallOutcome> outcomes) {
  Deliveries deliveries;
  for (CallOutcome& outcome : outcomes) {
    const auto found = outstanding_.find(outcome.tag);
    if (found == outstanding_.end()) continue;  // Shutdown has answered it
    Outstanding& call = found->second;
    if (!outcome.answer) {
      deliveries.parked.push_back(call.info);
      continue;
    }
    if (const auto* lose = std::get_if<LoseReply>(&call.action)) {
      outcome.answer = Refused(lose->status);
    }
    if (const auto* hold = std::get_if<HoldReply>(&call.action)) {
      call.held = std::move(outcome.answer);
      deliveries.held.emplace_back(hold->gate, outcome.tag);
    } else {
      deliveries.answers.emplace_back(std::move(call), std::move(*outcome.answer));
      outstanding_.erase(found);
    }
  }
  return deliveries;
}

void Frontend::Deliver(Deliveries deliveries) {
  for (const CallInfo& info : deliveries.parked) Observe(info, CallPhase::kParked, {});
  for (auto& [call, answer] : deliveries.answers) GiveAnswer(std::move(call), std::move(answer));
  for (auto& [gate, tag] : deliveries.held) {
    gate->WhenOpen([weak = weak_from_this(), held = tag] {
      if (const auto self = weak.lock()) self->AnswerHeld(held);
    });
  }
}

void Frontend::AnswerHeld(CallTag tag) {
  std::optional<Outstanding> call;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = outstanding_.find(tag);
    if (found == outstanding_.end()) return;  // Shutdown has answered it
    call = std::move(found->second);
    outstanding_.erase(found);
  }
  Answer answer = std::move(*call->held);
  GiveAnswer(std::move(*call), std::move(answer));
}

void Frontend::GiveAnswer(Outstanding call, Answer answer) {
  Observe(call.info, CallPhase::kAnswered, answer.status);
  call.done(std::move(answer));
}

// --- tests ---------------------------------------------------------------------------------------

void Frontend::SetFaults(FaultFunction faults) {
  const std::lock_guard<std::mutex> lock(tests_mutex_);
  faults_ = std::move(faults);
}

void Frontend::SetObserver(ObserverFunction observer) {
  const std::lock_guard<std::mutex> lock(tests_mutex_);
  observer_ = std::move(observer);
}

FaultAction Frontend::ChooseFault(CallInfo& info) {
  const std::lock_guard<std::mutex> lock(tests_mutex_);
  info.nth = ++calls_[info.method];
  return faults_ ? faults_(info) : FaultAction();
}

void Frontend::Observe(const CallInfo& info, CallPhase phase, const Status& status) {
  const std::lock_guard<std::mutex> lock(tests_mutex_);
  if (observer_) observer_(info, phase, status);
}

}  // namespace whorl::server
