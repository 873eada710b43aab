#include "real_client/lock_host.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace whorl::real_client {
namespace {

// How long the end of a part waits for what is under way (a release, a claim that must not be left
// behind) once the work has stopped.
constexpr Duration kPatienceMax = Seconds(10);

LocalTime LocalNow() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {.monotonic = MonotonicNow(),
          .wall = Timestamp::FromUnixNanos(
              std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count())};
}

// What waiting does not mend.
bool IsFinal(const Status& status, bool has_test) {
  switch (status.code) {
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kPermissionDenied:
    case Code::kUnauthenticated:
    case Code::kUnimplemented:
      return true;
    case Code::kFailedPrecondition:
      return !has_test;
    default:
      return false;
  }
}

// Some protocols use whole seconds of what they were given, so this is not above what they use.
Duration LeaseAtLeastUsed(const ProtocolInfo& info, const LockOptions& options) {
  const Duration lease = std::max(options.lease.value_or(info.lease_default), info.lease_min);
  return Seconds(lease.ns / Seconds(1).ns);
}

}  // namespace

LockHost::LockHost(Surroundings surroundings, const ProtocolInfo& info, LockOptions options)
    : around_(std::move(surroundings)),
      info_(info),
      options_(std::move(options)),
      lease_(LeaseAtLeastUsed(info, options_)),
      config_(info.make_config(options_.table, options_.name, options_.id,
                               options_.lease.value_or(info.lease_default))),
      lapse_(around_.loop.context()),
      patience_(around_.loop.context()) {
  term_.request_stop();
}

// --- from any thread -----------------------------------------------------------------------------

Leadership LockHost::Now() const {
  const std::lock_guard lock(mutex_);
  // The loop may be late: the clock decides.
  if (!published_.leads || MonotonicNow() >= published_.until) return {};
  return published_;
}

std::stop_token LockHost::Term() const {
  const std::lock_guard lock(mutex_);
  return term_.get_token();
}

// --- a part --------------------------------------------------------------------------------------

void LockHost::Start() {
  if (phase_ == Phase::kStopping) return;
  stays_ = true;
  Begin();
}

void LockHost::Begin() {
  if (phase_ != Phase::kIdle) return;
  phase_ = Phase::kTakingPart;
  work_stopped_ = false;
  ended_ = 0;
  failure_ = {};
  answered_ = false;
  renewed_.reset();
  state_ = MakeProtocolState(config_, /*blocking_wrapper=*/false);
  Give(Started{});
}

void LockHost::Lead(Patience patience, Duration until, std::function<void(Status)> done) {
  if (phase_ == Phase::kStopping) {
    return done(Error(Code::kCancelled, "the lock " + options_.name + " is being given back"));
  }
  Waiter waiter{.patience = patience, .timer = nullptr, .done = std::move(done)};
  if (patience == Patience::kUntil) {
    waiter.timer = std::make_unique<LoopTimer>(around_.loop.context(), BootClock::At(until));
    waiter.timer->async_wait([self = shared_from_this(), part = part_](auto cancelled) {
      if (cancelled || self->part_ != part) return;
      self->FailWaiters(self->NotYet(), [](const Waiter& waits) {
        return waits.timer && waits.timer->expiry() <= BootClock::now();
      });
    });
  }
  waiters_.push_back(std::move(waiter));
  Begin();
  if (Now().leads) return AnswerWaiters({});
  NoticeLooked();
}

void LockHost::Stop(std::function<void()> done) {
  if (phase_ == Phase::kIdle) return done();
  stopped_.push_back(std::move(done));
  if (phase_ == Phase::kStopping) return;
  phase_ = Phase::kStopping;
  AnswerWaiters(Error(Code::kCancelled, "the lock " + options_.name + " was given up meanwhile"));
  Publish();
  StepMachine(StopRequested{.reason = StopReason::kCancelled});
  // What a read would tell is of no use any more.
  for (const auto& [request, flight] : flights_) {
    if (!flight.writes) around_.client.Cancel(flight.run);
  }
  if (!works_) EndWork();
}

void LockHost::EndWork() {
  work_stopped_ = true;
  patience_.expires_after(std::chrono::nanoseconds(std::min(lease_, kPatienceMax).ns));
  patience_.async_wait([self = shared_from_this(), part = part_](auto cancelled) {
    if (cancelled || self->part_ != part) return;
    for (const auto& [request, flight] : self->flights_) self->around_.client.Cancel(flight.run);
  });
  Give(WorkStopped{});
}

void LockHost::NoticeEnd() {
  if (phase_ != Phase::kStopping || !work_stopped_ || !flights_.empty()) return;
  phase_ = Phase::kIdle;
  ++part_;
  stays_ = false;
  timers_.clear();
  patience_.cancel();
  lapse_.cancel();
  state_ = {};
  asked_for_.reset();
  answer_.reset();
  for (const auto& [ask, done] : std::exchange(asks_, {})) done(Answer{.ask = ask});
  for (const std::function<void()>& done : std::exchange(stopped_, {})) done();
}

void LockHost::Ask(Question question, std::function<void(const Answer&)> done) {
  if (phase_ != Phase::kTakingPart) return done(Answer{.question = question});
  do {
    // Small numbers: spindle_v2 has requests of their own for asks, from 0x8000 on.
    last_ask_ = static_cast<AskId>((last_ask_ + 1) & 0x3fff);
  } while (asks_.contains(last_ask_));
  asks_[last_ask_] = std::move(done);
  StepMachine(Asked{.ask = last_ask_, .question = question});
}

void LockHost::HearOfRelease() {
  if (phase_ == Phase::kTakingPart) Give(ReleaseAnnounced{});
}

// --- the machine ---------------------------------------------------------------------------------

void LockHost::Give(const Event& event) {
  StepMachine(event);
  Publish();
  NoticeLooked();
  NoticeEnd();
}

void LockHost::StepMachine(const Event& event) {
  std::vector<Effect> effects;
  Step(config_, state_, LocalNow(), entropy_, event, effects);
  for (Effect& effect : effects) {
    std::visit([this](auto& what) { Do(what); }, effect);
  }
}

void LockHost::Do(RunTransaction& effect) {
  const Transaction& transaction = effect.transaction;
  Flight& flight = flights_[effect.request];
  flight = {.run = 0,
            .step = transaction.step,
            .writes = transaction.mode == Mode::kReadWrite,
            .has_mutations = !transaction.mutations.empty(),
            .has_test = !std::holds_alternative<NoTest>(transaction.body),
            .began = MonotonicNow()};
  flight.run = around_.client.Run(
      std::move(effect.transaction),
      [self = shared_from_this(), request = effect.request](TransactionResult result) mutable {
        LockLoop& loop = self->around_.loop;
        loop.Post([self = std::move(self), request, result = std::move(result)]() mutable {
          self->OnEnded(request, std::move(result));
        });
      });
}

void LockHost::OnEnded(RequestId request, TransactionResult result) {
  const auto found = flights_.find(request);
  const Flight flight = found->second;
  flights_.erase(found);
  ++ended_;
  if (options_.observer) {
    options_.observer->OnTransaction(flight.step, result, MonotonicNow() - flight.began);
  }
  NoticeRenewal(flight, result);
  failure_ = result.status;
  answered_ = IsAnswer(failure_);
  StepMachine(
      TransactionEnded{.request = request, .step = flight.step, .result = std::move(result)});
  Publish();
  if (!failure_.ok() && !Now().leads && IsFinal(failure_, flight.has_test)) {
    FailWaiters(failure_, [](const Waiter&) { return true; });
  }
  NoticeLooked();
  NoticeEnd();
}

void LockHost::NoticeRenewal(const Flight& flight, const TransactionResult& result) {
  if (!flight.writes || result.outcome != Outcome::kCommitted) return;
  const bool changed = std::ranges::any_of(
      result.results, [](const StatementResult& heard) { return heard.row_count > 0; });
  if (changed || flight.has_mutations) renewed_ = flight.began;
}

void LockHost::Do(const SetTimer& effect) {
  const uint64_t number = ++last_timer_;
  timers_.erase(effect.timer);
  Timer& timer =
      timers_
          .emplace(effect.timer,
                   Timer{LoopTimer(around_.loop.context(), BootClock::At(effect.at)), number})
          .first->second;
  timer.timer.async_wait([self = shared_from_this(), id = effect.timer, number](auto cancelled) {
    if (cancelled) return;
    const auto found = self->timers_.find(id);
    if (found == self->timers_.end() || found->second.number != number) return;
    self->timers_.erase(found);
    self->Give(TimerFired{.timer = id});
  });
}

void LockHost::Do(const CancelTimer& effect) { timers_.erase(effect.timer); }

void LockHost::Do(const CancelTransaction& effect) {
  const auto found = flights_.find(effect.request);
  if (found != flights_.end()) around_.client.Cancel(found->second.run);
}

void LockHost::Do(const Answer& effect) {
  auto asked = asks_.extract(effect.ask);
  if (!asked.empty()) asked.mapped()(effect);
}

void LockHost::Do(const Note& effect) {
  if (options_.observer) options_.observer->OnNote(effect);
}

// --- how it stands -------------------------------------------------------------------------------

// A protocol that answers from what it knows does so within the call; another one asks Spanner, and
// is asked again when its token has changed, or from time to time while it says no.
void LockHost::AskForToken(const Standing& standing) {
  if (!standing.believes) {
    asked_for_.reset();
    answer_.reset();
    return;
  }
  const Duration now = MonotonicNow();
  if (!info_.answers_locally && asked_for_ == standing.own_token &&
      (answer_ || now < ask_again_at_)) {
    return;
  }
  asked_for_ = standing.own_token;
  ask_again_at_ = now + lease_ / 4;
  Ask(Question::kHasLock, [this](const Answer& answer) {
    answer_.reset();
    if (answer.yes) answer_ = answer;
  });
}

Leadership LockHost::Stands() {
  if (phase_ != Phase::kTakingPart) return {};
  const Standing standing = StandingOf(state_, LocalNow());
  if (info_.has_tokens) AskForToken(standing);
  if (!standing.believes) return {};
  Leadership leadership{.leads = true, .token = std::nullopt, .until = {}};
  if (standing.believes_until) {
    leadership.until = *standing.believes_until;
  } else if (renewed_) {
    leadership.until = *renewed_ + lease_ + info_.lease_grace;
  }
  if (MonotonicNow() >= leadership.until) return {};
  if (info_.has_tokens) {
    if (!answer_) return {};
    leadership.token = answer_->token;
  }
  return leadership;
}

void LockHost::Publish() {
  const Leadership next = Stands();
  Leadership before;
  std::stop_source ended;
  std::stop_token begun;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(published_, next);
    if (before.leads && !next.leads) ended = term_;
    if (!before.leads && next.leads) {
      term_ = std::stop_source();
      begun = term_.get_token();
    }
  }
  if (before == next) return;
  SetLapse(next);
  if (before.leads && !next.leads) ended.request_stop();
  if (options_.observer) options_.observer->OnLeadership(next);
  if (before.leads || !next.leads) return;
  StartWork(std::move(begun), next.token);
  AnswerWaiters({});
}

// A belief ends by the clock, too: with most protocols no event of theirs says so.
void LockHost::SetLapse(const Leadership& leadership) {
  if (!leadership.leads) {
    lapse_.cancel();
    return;
  }
  lapse_.expires_at(BootClock::At(leadership.until));
  lapse_.async_wait([self = shared_from_this()](auto cancelled) {
    if (!cancelled) self->Publish();
  });
}

// --- the user's work -----------------------------------------------------------------------------

void LockHost::StartWork(std::stop_token stop, std::optional<uint64_t> token) {
  if (!options_.lead || works_) return;
  works_ = true;
  worked_in_ = stop;
  work_ = std::thread([self = shared_from_this(), stop = std::move(stop), token] {
    self->options_.lead(stop, token);
    self->around_.loop.Post([self] { self->OnWorkReturned(); });
  });
}

void LockHost::OnWorkReturned() {
  work_.join();
  works_ = false;
  if (phase_ == Phase::kStopping) return EndWork();
  // A term that began while the work of the one before had not returned yet.
  const Leadership now = Now();
  const std::stop_token stop = Term();
  if (now.leads && stop != worked_in_) StartWork(stop, now.token);
}

// --- who waits -----------------------------------------------------------------------------------

void LockHost::AnswerWaiters(const Status& status) {
  for (const Waiter& waiter : std::exchange(waiters_, {})) waiter.done(status);
}

void LockHost::FailWaiters(Status status, bool (*fails)(const Waiter&)) {
  const auto failed = std::make_shared<std::vector<Waiter>>();
  for (Waiter& waiter : waiters_) {
    if (fails(waiter)) failed->push_back(std::move(waiter));
  }
  if (failed->empty()) return;
  std::erase_if(waiters_, [](const Waiter& waiter) { return waiter.done == nullptr; });
  const auto tell = [failed, status = std::move(status)] {
    for (const Waiter& waiter : *failed) waiter.done(status);
  };
  // The part ends first, so that who hears of it can begin another one.
  if (waiters_.empty() && !stays_) return Stop(tell);
  tell();
}

Status LockHost::NotYet() const {
  if (!answered_) {
    const std::string error = failure_.ok() ? "" : "; the last error was " + FormatStatus(failure_);
    return Error(Code::kUnavailable, "no answer from Spanner in time" + error);
  }
  return Error(Code::kDeadlineExceeded,
               "the lock " + options_.name + " is held by another process");
}

// For those who do not wait: nothing is under way, and nothing was won.
void LockHost::NoticeLooked() {
  if (phase_ != Phase::kTakingPart || ended_ == 0 || !flights_.empty() || Now().leads) return;
  if (waiters_.empty() || StandingOf(state_, LocalNow()).own_token) return;
  FailWaiters(NotYet(), [](const Waiter& waiter) { return waiter.patience == Patience::kOneLook; });
}

}  // namespace whorl::real_client
