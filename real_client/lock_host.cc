#include "real_client/lock_host.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "real_client/lock_table.h"

namespace whorl::real_client {
namespace {

// How long Stop waits for transactions under way (a release, or a claim that must not be left
// behind) after the user's work has stopped.
constexpr Duration kPatienceMax = Seconds(10);
// The same when the last one was waited for in vain: locks that are destroyed one after the other would
// add up.
constexpr Duration kPatienceWithSilence = Milliseconds(20);
// For one look at the table, and for TryLock's look at the lock.
constexpr Duration kLookTimeout = Seconds(10);
// For the look that tells a caller who gives up whether another process holds the lock.
constexpr Duration kLastLookTimeout = Seconds(2);

// Of a thread that runs a user's `lead`.
thread_local const LockHost* works_for = nullptr;

// Whether waiting cannot mend the error.
bool IsFinalHere(const Status& status, bool has_test) {
  return IsFinal(status) || (status.code == Code::kFailedPrecondition && !has_test);
}

// What the wall clock showed is found by how long ago it was, so that a step of it since changes both.
std::optional<LockTransaction::Committed> CommittedOf(const MachineHost::Flight& flight,
                                                      const TransactionResult& result) {
  const bool has_committed = flight.writes && result.outcome == Outcome::kCommitted;
  if (!has_committed || !result.commit_sent) return std::nullopt;
  const Timestamp wall = SystemNow();
  return LockTransaction::Committed{.sent = wall - (MonotonicNow() - *result.commit_sent),
                                    .commit = result.commit_timestamp};
}

// A lower bound of the lease that the protocol uses: some round it down to whole seconds.
Duration LeaseAtLeastUsed(const ProtocolInfo& info, const LockOptions& options) {
  const Duration lease = std::max(options.lease.value_or(info.lease_default), info.lease_min);
  return Seconds(lease.ns / Seconds(1).ns);
}

}  // namespace

LockHost::LockHost(Dependencies surroundings, const ProtocolInfo& info, LockOptions options)
    : around_(std::move(surroundings)),
      info_(info),
      options_(std::move(options)),
      lease_(LeaseAtLeastUsed(info, options_)),
      machine_(
          around_.loop, around_.client, clock_, *this,
          info.make_config(options_.table, options_.name, IdWithValue(options_.id, options_.value),
                           options_.lease.value_or(info.lease_default))),
      lapse_(around_.loop.context()),
      look_again_(around_.loop.context()),
      look_for_leader_(around_.loop.context()),
      patience_(around_.loop.context()) {
  term_.request_stop();
}

// --- from any thread -----------------------------------------------------------------------------

bool LockHost::IsWorkThread() const { return works_for == this; }

Leadership LockHost::Now() const {
  // Before the mutex, which another thread may have had when this process was forked.
  if (IsInChild()) return {};
  const std::lock_guard lock(mutex_);
  // The loop may be late, so the clock decides.
  if (!published_.leads || MonotonicNow() >= published_.until) return {};
  return published_;
}

std::stop_token LockHost::Term() const {
  if (IsInChild()) {
    std::stop_source stopped;
    stopped.request_stop();
    return stopped.get_token();
  }
  const std::lock_guard lock(mutex_);
  return term_.get_token();
}

// --- start and stop ------------------------------------------------------------------------------

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
  error_.clear();
  error_code_ = Code::kOk;
  writes_ = 0;
  renewed_.reset();
  machine_.Begin(/*blocking_wrapper=*/false);
  LookAtTable();
  if (options_.on_leader) LookForLeader();
}

void LockHost::LookForLeader() {
  Transaction read = ReadHoldings(info_, options_.table, options_.name);
  read.give_up_at = MonotonicNow() + lease_;
  const auto self = shared_from_this();
  RunSeparately(std::move(read), [self, part = part_](TransactionResult result) {
    self->loop().Post([self, part, result = std::move(result)] {
      if (self->part_ != part || self->phase_ != Phase::kTakingPart) return;
      if (result.status.ok()) {
        self->OnHoldings(HoldingsIn(self->info_, result.results.at(0).rows, self->lease_));
      }
      self->look_for_leader_.expires_after(std::chrono::nanoseconds(self->lease_.ns / 4));
      self->look_for_leader_.async_wait([self, part](auto cancelled) {
        if (cancelled || self->part_ != part || self->phase_ != Phase::kTakingPart) return;
        self->LookForLeader();
      });
    });
  });
}

void LockHost::OnHoldings(const std::vector<Holding>& holdings) {
  const Holding holding = CurrentHolding(holdings, options_.name);
  if (std::exchange(leader_, holding.holder) != holding.holder) options_.on_leader(holding);
}

// A process that took part in another protocol's table would lead beside the one that leads there.
void LockHost::LookAtTable() {
  const ProtocolInfo* whose = nullptr;
  auto probe = table_seen_ ? std::nullopt : ForeignProbeOf(info_, options_.table, whose);
  if (!probe) return Give(Started{});
  probe->give_up_at = MonotonicNow() + kLookTimeout;
  around_.client.Run(*std::move(probe),
                     [self = shared_from_this(), part = part_, whose](TransactionResult result) {
                       self->loop().Post([self, part, whose, status = result.status] {
                         if (self->part_ == part && self->phase_ == Phase::kTakingPart) {
                           self->OnTableSeen(*whose, status);
                         }
                       });
                     });
}

void LockHost::OnTableSeen(const ProtocolInfo& whose, const Status& read) {
  const Status status = JudgeForeignProbe(info_, options_.table, whose, read);
  table_seen_ = status.ok();
  if (table_seen_) return Give(Started{});
  NoticeStatus(operator_steps::kProbe, status);
  if (options_.observer) {
    options_.observer->OnTransaction({.step = WordOf(operator_steps::kProbe),
                                      .renews_lease = false,
                                      .outcome = WordOf(Outcome::kUnknown),
                                      .status = status,
                                      .took = {}});
  }
  if (IsFinalHere(status, /*has_test=*/false)) {
    FailWaiters(LockResult::Failed(status), [](const Waiter&) { return true; });
  } else {
    NoticeLooked();
  }
  if (phase_ != Phase::kTakingPart) return;
  look_again_.expires_after(std::chrono::seconds(1));
  look_again_.async_wait([self = shared_from_this(), part = part_](auto cancelled) {
    if (!cancelled && self->part_ == part && self->phase_ == Phase::kTakingPart) {
      self->LookAtTable();
    }
  });
}

void LockHost::Lead(Patience patience, LocalInstant until, std::function<void(LockResult)> done) {
  if (phase_ == Phase::kStopping) {
    return done(LockResult::Failed(
        Error(Code::kCancelled, "the lock " + options_.name + " is being given back")));
  }
  Waiter waiter{.patience = patience, .timer = nullptr, .done = std::move(done)};
  if (patience == Patience::kTryOnce) until = MonotonicNow() + kLookTimeout;
  if (patience != Patience::kForever) {
    waiter.timer = std::make_unique<LoopTimer>(around_.loop.context(), BootClock::At(until));
    waiter.timer->async_wait([self = shared_from_this(), part = part_](auto cancelled) {
      if (cancelled || self->part_ != part) return;
      self->GiveUp([](const Waiter& waits) {
        return waits.timer && waits.timer->expiry() <= BootClock::now();
      });
    });
  }
  waiters_.push_back(std::move(waiter));
  Begin();
  if (Now().leads) return AnswerWaiters(LockResult::Leads());
  NoticeLooked();
}

void LockHost::Stop(std::function<void()> done, std::optional<Duration> release_timeout) {
  if (phase_ == Phase::kIdle) return done();
  stopped_.push_back(std::move(done));
  if (phase_ == Phase::kStopping) return;
  phase_ = Phase::kStopping;
  release_timeout_ = release_timeout;
  AnswerWaiters(LockResult::Failed(
      Error(Code::kCancelled, "the lock " + options_.name + " was given up meanwhile")));
  Publish();
  machine_.Give(StopRequested{.reason = StopReason::kCancelled});
  // The results of reads are no longer needed.
  machine_.CancelReads();
  if (!works_) EndWork();
}

void LockHost::EndWork() {
  work_stopped_ = true;
  const Duration usual =
      *around_.spanner_unresponsive ? kPatienceWithSilence : std::min(lease_, kPatienceMax);
  const Duration patience = release_timeout_.value_or(usual);
  patience_.expires_after(std::chrono::nanoseconds(patience.ns));
  patience_.async_wait([self = shared_from_this(), part = part_](auto cancelled) {
    if (cancelled || self->part_ != part) return;
    *self->around_.spanner_unresponsive = true;
    self->machine_.CancelTransactions();
  });
  Give(WorkStopped{});
}

void LockHost::NoticeEnd() {
  if (phase_ != Phase::kStopping || !work_stopped_ || machine_.has_transactions()) return;
  phase_ = Phase::kIdle;
  ++part_;
  stays_ = false;
  machine_.End();
  patience_.cancel();
  lapse_.cancel();
  look_again_.cancel();
  look_for_leader_.cancel();
  leader_.reset();
  asked_for_.reset();
  answer_.reset();
  for (const auto& [ask, done] : std::exchange(asks_, {})) done(Answer{.ask = ask});
  for (const std::function<void()>& done : std::exchange(stopped_, {})) done();
}

void LockHost::Ask(Question question, std::function<void(const Answer&)> done) {
  if (phase_ != Phase::kTakingPart) return done(Answer{.question = question});
  do {
    // Below 0x8000, from which spindle_v2 numbers the requests that asks cause.
    last_ask_ = static_cast<AskId>((last_ask_ + 1) & 0x3fff);
  } while (asks_.contains(last_ask_));
  asks_[last_ask_] = std::move(done);
  machine_.Give(Asked{.ask = last_ask_, .question = question});
}

void LockHost::HearOfRelease() {
  if (phase_ == Phase::kTakingPart) Give(ReleaseAnnounced{});
}

// --- the machine ---------------------------------------------------------------------------------

void LockHost::Give(const Event& event) {
  machine_.Give(event);
  OnDrained();
}

void LockHost::OnDrained() {
  Publish();
  if (std::exchange(failed_for_good_, false) && !Now().leads) {
    FailWaiters(LockResult::Failed(failure_), [](const Waiter&) { return true; });
  }
  NoticeLooked();
  NoticeEnd();
}

TransactionClient::RunId LockHost::Run(RequestId /*request*/, Transaction transaction,
                                       TransactionClient::Done done) {
  if (options_.observer) options_.observer->OnTransactionBegan(WordOf(transaction.step));
  if (transaction.mode == Mode::kReadWrite) ++writes_;
  return around_.client.Run(std::move(transaction), std::move(done));
}

void LockHost::OnTransactionEnded(RequestId /*request*/, const MachineHost::Flight& flight,
                                  const TransactionResult& result) {
  if (options_.observer) {
    options_.observer->OnTransaction({.step = WordOf(flight.step),
                                      .renews_lease = flight.step == info_.heartbeat_step,
                                      .outcome = WordOf(result.outcome),
                                      .status = result.status,
                                      .took = MonotonicNow() - flight.began,
                                      .attempts = result.attempts,
                                      .committed = CommittedOf(flight, result)});
  }
  if (flight.writes) {
    --writes_;
    if (result.outcome == Outcome::kUnknown) NoticeOwnRow();
  }
  NoticeRenewal(flight, result);
  NoticeStatus(flight.step, result.status);
  if (IsAnswer(failure_)) *around_.spanner_unresponsive = false;
  failed_for_good_ = IsFinalHere(failure_, flight.has_test);
}

void LockHost::NoticeStatus(StepName step, const Status& status) {
  ++ended_;
  failure_ = status;
  if (status.ok()) return;
  error_ = std::string(WordOf(step)) + ": " + FormatStatus(status);
  error_code_ = status.code;
}

void LockHost::NoticeRenewal(const MachineHost::Flight& flight, const TransactionResult& result) {
  if (!flight.writes || result.outcome != Outcome::kCommitted) return;
  const bool changed = std::ranges::any_of(
      result.results, [](const StatementResult& heard) { return heard.row_count > 0; });
  if (!changed && !flight.has_mutations) return;
  renewed_ = flight.began;
  NoticeOwnRow();
}

void LockHost::OnAnswer(Answer answer) {
  auto asked = asks_.extract(answer.ask);
  if (!asked.empty()) asked.mapped()(answer);
}

void LockHost::OnNote(Note note) {
  if (!options_.observer) return;
  options_.observer->OnNote({.name = WordOf(note.note), .values = std::move(note.values)});
}

// --- leadership ----------------------------------------------------------------------------------

// A protocol that can answer from its state does so within the call. Another one queries Spanner;
// it is asked again when its token has changed, and from time to time while the answer is no.
void LockHost::AskForToken(const LeadershipView& view) {
  if (!view.believes) {
    asked_for_.reset();
    answer_.reset();
    return;
  }
  const LocalInstant now = MonotonicNow();
  if (!info_.answers_locally && asked_for_ == view.own_token && (answer_ || now < ask_again_at_)) {
    return;
  }
  asked_for_ = view.own_token;
  ask_again_at_ = now + lease_ / 4;
  Ask(Question::kHasLock, [this](const Answer& answer) {
    answer_.reset();
    if (answer.yes) answer_ = answer;
  });
}

Leadership LockHost::LeadershipOf(const LeadershipView& view) const {
  if (!view.believes) return {};
  Leadership leadership{.leads = true, .token = std::nullopt, .until = {}};
  if (view.believes_until) {
    leadership.until = *view.believes_until;
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
  if (phase_ != Phase::kTakingPart) return Publish(Leadership());
  const LeadershipView view = machine_.standing();
  // The machine may answer within the call, and then its token is published with its belief.
  if (info_.has_tokens) AskForToken(view);
  Publish(LeadershipOf(view));
}

void LockHost::Publish(const Leadership& next) {
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
  AnswerWaiters(LockResult::Leads());
}

// A belief also ends by the clock, for which most protocols have no event.
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
    works_for = self.get();
    self->options_.lead(stop, token);
    self->around_.loop.Post([self] { self->OnWorkReturned(); });
  });
}

void LockHost::OnWorkReturned() {
  work_.join();
  works_ = false;
  if (phase_ == Phase::kStopping) return EndWork();
  // A new term may have begun before the work of the previous one returned.
  const Leadership now = Now();
  const std::stop_token stop = Term();
  if (now.leads && stop != worked_in_) StartWork(stop, now.token);
}

// --- waiters -------------------------------------------------------------------------------------

void LockHost::AnswerWaiters(const LockResult& result) {
  for (const Waiter& waiter : std::exchange(waiters_, {})) waiter.done(result);
}

void LockHost::FailWaiters(LockResult result, bool (*fails)(const Waiter&)) {
  const auto failed = std::make_shared<std::vector<Waiter>>();
  for (Waiter& waiter : waiters_) {
    if (fails(waiter)) failed->push_back(std::move(waiter));
  }
  if (failed->empty()) return;
  std::erase_if(waiters_, [](const Waiter& waiter) { return waiter.done == nullptr; });
  const auto tell = [failed, result = std::move(result)] {
    for (const Waiter& waiter : *failed) waiter.done(result);
  };
  // Stops first, so that a caller that is answered can start again.
  if (waiters_.empty() && !stays_) return Stop(tell);
  tell();
}

// They go on waiting meanwhile, and may still get the lock.
void LockHost::GiveUp(bool (*gives_up)(const Waiter&)) {
  bool any = false;
  for (Waiter& waiter : waiters_) {
    if (gives_up(waiter) && !std::exchange(waiter.gives_up, true)) any = true;
  }
  if (!any) return;
  const auto fail = [](const Waiter& waiter) { return waiter.gives_up; };
  if (ended_ == 0) {
    return FailWaiters(LockResult::Failed(Error(Code::kUnavailable, std::string(kNoAnswer))), fail);
  }
  // What Spanner did not answer now it would hardly answer a moment later.
  if (!IsAnswer(failure_)) return FailWaiters(NotTaken(""), fail);
  Sight([self = shared_from_this(), part = part_, fail](LockResult result) {
    if (self->part_ == part) self->FailWaiters(std::move(result), fail);
  });
}

void LockHost::Sight(std::function<void(LockResult)> done) {
  Transaction read = ReadHoldings(info_, options_.table, options_.name);
  read.give_up_at = MonotonicNow() + kLastLookTimeout;
  RunSeparately(std::move(read), [self = shared_from_this(),
                                  done = std::move(done)](TransactionResult result) {
    self->loop().Post([self, done, result = std::move(result)] { done(self->ResultOf(result)); });
  });
}

// What the row shows: by Spanner's clock, as `whorl lock get` tells it.
LockResult LockHost::ResultOf(const TransactionResult& look) const {
  if (!look.status.ok()) {
    return NotTaken("who holds it could not be read: " + FormatStatus(look.status));
  }
  const std::vector<Holding> holdings = HoldingsIn(info_, look.results.at(0).rows, lease_);
  const Holding holding = CurrentHolding(holdings, options_.name);
  // Processes may share an id, so that alone does not tell whose row it is.
  const bool may_be_own =
      holding.holder == options_.id && (writes_ > 0 || MonotonicNow() < own_until_);
  if (holding.is_held() && !may_be_own) return LockResult::HeldBy(holding.holder);
  if (may_be_own) return NotTaken("the row is this process's own, but it does not lead yet");
  if (holding.free_at) {
    return NotTaken("whorl lock init made its row, which nobody may take before " +
                    FormatRfc3339(*holding.free_at));
  }
  if (!holdings.empty() && !holdings[0].holder.empty()) {
    return NotTaken("the lease of its last holder, " + holdings[0].holder +
                    ", has ended, but it cannot be taken yet");
  }
  return NotTaken(writes_ > 0 ? "it is free, and no answer has come to taking it" : "it is free");
}

LockResult LockHost::NotTaken(const std::string& why) const {
  std::string message = "the lock " + options_.name + " was not taken";
  if (!why.empty()) message += ": " + why;
  if (!error_.empty()) message += "; the last error was " + error_;
  return LockResult::Failed(
      Error(error_.empty() ? Code::kDeadlineExceeded : error_code_, std::move(message)));
}

// Answers TryLock: no transaction is under way, and the lock was not taken.
void LockHost::NoticeLooked() {
  if (phase_ != Phase::kTakingPart || ended_ == 0 || machine_.has_transactions() || Now().leads) {
    return;
  }
  if (waiters_.empty() || machine_.standing().own_token) return;
  GiveUp([](const Waiter& waiter) { return waiter.patience == Patience::kTryOnce; });
}

}  // namespace whorl::real_client
