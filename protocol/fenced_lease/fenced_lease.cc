#include "protocol/fenced_lease/fenced_lease.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "protocol/fenced_lease/row.h"
#include "protocol/fenced_lease/words.h"
#include "protocol/local_answer.h"
#include "protocol/random_id.h"
#include "protocol/step_context.h"

namespace whorl::fenced_lease {
namespace {

constexpr int64_t kMillion = 1'000'000;

using Context = StepContext<Config, State>;

// Rounded up, so that a leader's deadline is never late and a follower's wait never short.
Duration DriftOver(const Config& config, Duration time) {
  return {(time.ns * config.constants.rho_ppm + kMillion - 1) / kMillion};
}
Duration Lengthened(const Context& here, Duration time) {
  return time + DriftOver(here.config, time);
}
Duration BeatEvery(const Context& here, Duration lease) {
  return lease * here.config.constants.beat_percent / 100;
}

// --- effects -----------------------------------------------------------------------------------

void Set(Context& here, TimerOfLease timer, LocalInstant at) {
  here.out.emplace_back(SetTimer{.timer = timer, .at = at});
}
void Cancel(Context& here, TimerOfLease timer) {
  here.out.emplace_back(CancelTimer{.timer = timer});
}

void Remark(Context& here, NoteId note, std::vector<Value> values) {
  here.out.emplace_back(Note{.note = note, .values = std::move(values)});
}

// An attempt id says by its last letter whether the process may believe in it at once: an answer
// that was lost for long can be judged by nothing but the row.
std::string AttemptText(const State& state, const Attempt& attempt) {
  return state.prefix + "-" + std::to_string(attempt.number.n) + (attempt.cautious ? "c" : "");
}

// The smallest id that no transaction under way has.
RequestId FreeRequest(const State& state) {
  RequestId request = 0;
  while (std::ranges::any_of(state.flights,
                             [&](const Flight& flight) { return flight.request == request; })) {
    ++request;
  }
  return request;
}

void Fly(Context& here, Flight flight, Transaction&& transaction) {
  flight.request = FreeRequest(here.state);
  RequestTransaction(here.out, flight.request, std::move(transaction));
  here.state.flights.push_back(std::move(flight));
}

Transaction WriteOf(StepName step, Sql sql, std::vector<Value> parameters,
                    LocalInstant give_up_at) {
  Transaction transaction = OneStatement(step, Mode::kReadWrite, sql, std::move(parameters));
  transaction.lock_mode = LockMode::kOptimistic;
  transaction.give_up_at = give_up_at;
  return transaction;
}

bool IsFlying(const State& state, FlightKind kind) {
  return std::ranges::any_of(state.flights, [&](const Flight& flight) {
    return flight.kind == kind && (kind != FlightKind::kRead || flight.wanted);
  });
}

// The earliest time for the next look, which is paid for if it is now: invariant 8.
LocalInstant PayForLook(Context& here) {
  const Constants& constants = here.config.constants;
  const LocalInstant now = here.now.monotonic;
  if (constants.looks_at_once == std::numeric_limits<int64_t>::max()) return now;
  const Duration each = here.config.lease / constants.beats_in_lease;
  std::optional<LocalInstant>& paid_until = here.state.looks_paid_until;
  const LocalInstant paid = std::max(paid_until.value_or(now), now);
  const LocalInstant earliest = paid - each * (constants.looks_at_once - 1);
  if (earliest > now) return earliest;
  paid_until = paid + each;
  return now;
}

void SendRead(Context& here) {
  if (IsFlying(here.state, FlightKind::kRead)) return;
  Cancel(here, kPoll);
  const LocalInstant earliest = PayForLook(here);
  if (earliest > here.now.monotonic) return Set(here, kPoll, earliest);
  Transaction transaction = OneStatement(steps::kRead, Mode::kStrongRead, here.config.read,
                                         ValuesOf(here.config.lock_name));
  transaction.return_read_timestamp = here.state.first_look;
  transaction.give_up_at = here.now.monotonic + here.config.lease;
  Fly(here, {.kind = FlightKind::kRead, .started = here.now.monotonic}, std::move(transaction));
}

// The answer to a read that is under way is no longer needed.
void StopLooking(Context& here) {
  Cancel(here, kPoll);
  Cancel(here, kTake);
  for (Flight& flight : here.state.flights) flight.wanted = flight.kind != FlightKind::kRead;
}

int64_t LeaseMs(const Config& config) { return config.lease.ns / 1'000'000; }

// TAKE or CREATE. Its answer after a whole lease would be of no use.
void SendClaim(Context& here, Claim claim) {
  State& state = here.state;
  if (IsFlying(state, FlightKind::kClaim)) return;
  StopLooking(here);
  claim.attempt.number = state.claims.Next();
  const Config& config = here.config;
  std::vector<Value> parameters = {config.lock_name, state.id, LeaseMs(config),
                                   AttemptText(state, claim.attempt)};
  if (!claim.create) parameters.emplace_back(claim.seen);
  Transaction transaction = WriteOf(claim.create ? steps::kCreate : steps::kTake,
                                    claim.create ? config.create : config.take,
                                    std::move(parameters), here.now.monotonic + config.lease);
  Fly(here, {.kind = FlightKind::kClaim, .claim = std::move(claim)}, std::move(transaction));
}

void SendCreate(Context& here) {
  SendClaim(here, {.attempt = {.cautious = true},
                   .create = true,
                   .seen = {},
                   .seen_lease = std::max(here.state.longest_lease, here.config.lease),
                   .sent = {}});
}

void SendTake(Context& here, Timestamp seen, Duration seen_lease, bool cautious = false) {
  SendClaim(here, {.attempt = {.cautious = cautious}, .seen = seen, .seen_lease = seen_lease});
}

void SendBeat(Context& here) {
  const Term& term = *here.state.term;
  const LocalInstant now = here.now.monotonic;
  Fly(here, {.kind = FlightKind::kBeat, .term = term.attempt.number},
      WriteOf(steps::kBeat, here.config.beat,
              ValuesOf(here.config.lock_name, term.token, AttemptText(here.state, term.attempt)),
              term.deadline));
  // Should this one stay without an acknowledgement, another follows.
  Set(here, kBeat,
      now + std::max(here.config.lease / here.config.constants.beats_in_lease,
                     here.state.commit_latency * 2));
}

void SendRelease(Context& here, const Attempt& attempt, Timestamp token) {
  Fly(here, {.kind = FlightKind::kRelease},
      WriteOf(steps::kRelease, here.config.release,
              ValuesOf(here.config.lock_name, token, AttemptText(here.state, attempt)),
              here.now.monotonic + here.config.lease));
}

// --- terms -------------------------------------------------------------------------------------

LocalInstant DeadlineOf(const Config& config, LocalInstant sent) {
  return sent + config.lease - DriftOver(config, config.lease) - config.guard;
}
// Without a Commit nothing was granted: then it counts from the clock's zero, the earliest time.
LocalInstant SentOf(const Claim& claim) { return claim.sent.value_or(LocalInstant{}); }
LocalInstant DeadlineOf(const Config& config, const Claim& claim) {
  return DeadlineOf(config, SentOf(claim));
}

void Believe(Context& here) {
  here.state.term->believes = true;
  Remark(here, whorl::notes::kGotLock, {here.state.term->token});
  here.out.emplace_back(LeadershipChanged{.leader = true});
}

// The row is this process's own, as of `claim`, whose Commit was sent at claim.sent.
void BeginTerm(Context& here, const Claim& claim, Timestamp token, Timestamp renewed) {
  State& state = here.state;
  const LocalInstant sent = SentOf(claim);
  const LocalInstant deadline = DeadlineOf(here.config, sent);
  state.unknown.clear();
  state.seen.reset();
  state.poll_pause = Duration{};
  state.claim_pause = Duration{};
  StopLooking(here);
  state.term = Term{.attempt = claim.attempt,
                    .token = token,
                    .renewed = renewed,
                    .sent = sent,
                    .deadline = deadline,
                    .believes = false};
  Set(here, kDeadline, deadline);
  Set(here, kBeat, sent + BeatEvery(here, here.config.lease));
  if (here.now.monotonic >= state.not_before) return Believe(here);
  Set(here, kBelieve, *state.not_before);
}

enum class Ending : uint8_t { kForGood, kGivenBack };

void EndTerm(Context& here, Ending ending, std::string why) {
  State& state = here.state;
  const Term term = *std::exchange(state.term, std::nullopt);
  state.last_term = term.attempt.number;
  for (const TimerOfLease timer : {kBeat, kBelieve, kDeadline}) Cancel(here, timer);
  if (term.believes) {
    Remark(here, whorl::notes::kLostLock, {std::move(why)});
    // A process that stops has already called back.
    if (!state.stopping) here.out.emplace_back(LeadershipChanged{.leader = false});
  }
  if (ending == Ending::kGivenBack) return SendRelease(here, term.attempt, term.token);
  if (!state.stopping) SendRead(here);
}

// A row whose term ends here is not given back, even by a process that stops: its work still runs,
// or the row would have been given back before. Others take it when its lease is over, as after a
// crash.
void OnDeadline(Context& here) {
  EndTerm(here, Ending::kForGood, "no heartbeat was acknowledged in time");
}

// --- claims ------------------------------------------------------------------------------------

// No belief before the last holder's must have ended, now that the row is known to be the
// process's own: `wait` from now.
void HoldBack(Context& here, Duration wait) {
  if (wait <= Duration{}) return;
  const LocalInstant until = here.now.monotonic + wait;
  here.state.not_before = std::max(here.state.not_before.value_or(until), until);
}

// How long after an answer the holder before may still believe. A commit timestamp is not below
// true time at its Commit's first sending, nor above it once it was answered; so what lies between
// two of them has passed.
Duration WaitAfter(const Context& here, const Claim& claim, Timestamp token) {
  if (!claim.attempt.cautious) return {};
  if (claim.create) return Lengthened(here, claim.seen_lease);
  const Duration passed = std::clamp(token - claim.seen, Duration{}, claim.seen_lease);
  return Lengthened(here, claim.seen_lease - passed);
}

void OnWon(Context& here, const Claim& claim, Timestamp token) {
  HoldBack(here, WaitAfter(here, claim, token));
  // Too late for a term: the row is this process's, which the read finds.
  if (here.now.monotonic >= DeadlineOf(here.config, claim)) return SendRead(here);
  BeginTerm(here, claim, token, token);
}

// A pause that doubles, from one look to the next.
void LookAfter(Context& here, Duration& pause) {
  const Constants& constants = here.config.constants;
  pause = pause.ns == 0 ? constants.poll_delay : pause * 2;
  pause =
      std::min(pause, std::max(constants.poll_delay, here.config.lease / constants.polls_in_lease));
  Set(here, kPoll, here.now.monotonic + pause);
}

// After a look at an unchanged row.
void PollLater(Context& here) { LookAfter(here, here.state.poll_pause); }

// After a claim that began no term. The look may be followed by the next claim at once, so only the first
// such look comes at once.
void LookAgain(Context& here) {
  Duration& pause = here.state.claim_pause;
  if (pause.ns > 0) return LookAfter(here, pause);
  pause = here.config.constants.poll_delay;
  SendRead(here);
}

void OnClaimEnded(Context& here, Claim claim, const TransactionResult& result) {
  State& state = here.state;
  claim.sent = result.commit_sent;
  const bool won = result.outcome == Outcome::kCommitted && result.results.front().row_count == 1;
  if (state.stopping) {
    // No work was begun under it, but that of the term before may still run. Neither then nor while
    // it may not be believed in yet is it given back, but left to expire: invariants 5 and 7.
    const bool waits =
        !state.work_stopped || claim.attempt.cautious || here.now.monotonic < state.not_before;
    if (won && !waits) SendRelease(here, claim.attempt, result.commit_timestamp);
    return;
  }
  if (won) return OnWon(here, claim, result.commit_timestamp);
  if (result.outcome == Outcome::kUnknown) {
    Remark(here, whorl::notes::kOutcomeUnknown, {FormatStatus(result.status)});
    std::erase_if(state.unknown, [&](const Claim& other) {
      return DeadlineOf(here.config, other) <= here.now.monotonic;
    });
    state.unknown.push_back(std::move(claim));
    return LookAgain(here);
  }
  // Another process was faster, or an earlier attempt of this one was.
  const bool overtaken =
      result.outcome == Outcome::kCommitted || result.status.code == Code::kAlreadyExists;
  if (overtaken) return LookAgain(here);
  Remark(here, whorl::notes::kClaimFailed, {FormatStatus(result.status)});
  PollLater(here);
}

// --- what a follower sees ----------------------------------------------------------------------

// Empty if the attempt is another process's.
std::optional<Attempt> ParseOwn(const State& state, std::string_view attempt) {
  const auto name = ParseNumberedName(attempt);
  if (!name || name->base != state.prefix) return std::nullopt;
  return Attempt{.number = name->number, .cautious = name->more == "c"};
}

// The row names an attempt of this process, which has no term: an answer was lost, came too late,
// or a term is over.
void OnOwnRow(Context& here, const LockRow& row, const Attempt& own) {
  State& state = here.state;
  const auto known = std::ranges::find(state.unknown, own.number,
                                       [](const Claim& claim) { return claim.attempt.number; });
  if (known != state.unknown.end()) {
    Remark(here, whorl::notes::kOutcomeReadBack, {true});
    const Claim claim = *known;
    state.unknown.clear();
    HoldBack(here, WaitAfter(here, claim, row.token));
    if (here.now.monotonic < DeadlineOf(here.config, claim)) {
      return BeginTerm(here, claim, row.token, row.heartbeat);
    }
  } else if (own.cautious && own.number != state.last_term) {
    // Which owner it displaced is no longer known, nor how long ago it was committed.
    HoldBack(here, Lengthened(here, std::max(state.longest_lease, here.config.lease)));
  }
  // No other process can believe in this process's row, so there is none to wait for.
  SendTake(here, row.heartbeat, row.lease);
}

// How much of the time since the heartbeat has passed: by Spanner's clock, which may say anything,
// but not before the last look that did not show it.
Duration AgeOf(const Context& here, const LockRow& row) {
  const Duration most =
      here.state.seen ? here.now.monotonic - here.state.seen->looked : BeatEvery(here, row.lease);
  return std::clamp(row.age, Duration{}, std::max(most, Duration{}));
}

void OnNewHeartbeat(Context& here, const LockRow& row) {
  State& state = here.state;
  const Duration age = AgeOf(here, row);
  const Duration delay{here.entropy.Between(
      purposes::kTakeDelay, 0, row.lease.ns / here.config.constants.take_delays_in_lease)};
  state.seen = Seen{.heartbeat = row.heartbeat,
                    .lease = row.lease,
                    .take_at = here.now.monotonic + Lengthened(here, row.lease) + delay};
  state.poll_pause = Duration{};
  state.claim_pause = Duration{};
  const Duration to_beat = std::max(BeatEvery(here, row.lease) - age, Duration{});
  Set(here, kPoll, here.now.monotonic + to_beat + here.config.constants.poll_delay);
  Set(here, kTake, state.seen->take_at);
}

void OnRow(Context& here, const LockRow& row, bool first_look,
           const std::optional<Timestamp>& read_timestamp) {
  State& state = here.state;
  state.longest_lease = std::max(state.longest_lease, row.lease);
  if (const auto own = ParseOwn(state, row.attempt)) return OnOwnRow(here, row, *own);
  if (!state.unknown.empty()) Remark(here, whorl::notes::kOutcomeReadBack, {false});
  if (row.released) return SendTake(here, row.heartbeat, row.lease);
  const bool abandoned =
      first_look && read_timestamp && *read_timestamp - row.heartbeat >= row.lease * 2;
  if (abandoned) return SendTake(here, row.heartbeat, row.lease, /*cautious=*/true);
  if (!state.seen || state.seen->heartbeat != row.heartbeat) return OnNewHeartbeat(here, row);
  if (here.now.monotonic >= state.seen->take_at) {
    return SendTake(here, row.heartbeat, row.lease);
  }
  PollLater(here);
  Set(here, kTake, state.seen->take_at);
}

void OnBadRow(Context& here, std::string what) {
  Remark(here, whorl::notes::kBadRow, {here.config.lock_name, std::move(what)});
  here.state.seen.reset();
  Cancel(here, kTake);
  // As often as at a heartbeat: a mended row has to be taken within no_wedge's bound.
  Set(here, kPoll, here.now.monotonic + BeatEvery(here, here.config.lease));
}

void OnRead(Context& here, const Flight& flight, const TransactionResult& result) {
  State& state = here.state;
  if (!flight.wanted || state.term || state.stopping || IsFlying(state, FlightKind::kClaim)) return;
  if (result.outcome != Outcome::kCommitted) {
    Remark(here, whorl::notes::kReadFailed, {FormatStatus(result.status)});
    return PollLater(here);
  }
  const bool first_look = std::exchange(state.first_look, false);
  if (result.results.front().rows.empty()) {
    state.seen.reset();
    return SendCreate(here);
  }
  auto parsed = ParseRow(result.results.front().rows.front(), here.config.lease);
  if (auto* what = std::get_if<std::string>(&parsed)) return OnBadRow(here, std::move(*what));
  OnRow(here, std::get<LockRow>(parsed), first_look, result.read_timestamp);
  if (state.seen && flight.started) state.seen->looked = *flight.started;
}

// Only a hint: the row decides, as after any other look. One that is under way may have left too
// early to show it.
void OnReleaseAnnounced(Context& here) {
  State& state = here.state;
  if (state.term || state.stopping || state.prefix.empty()) return;
  if (IsFlying(state, FlightKind::kClaim)) return;
  for (Flight& flight : state.flights) flight.wanted = flight.kind != FlightKind::kRead;
  Remark(here, notes::kHeardOfRelease, {});
  SendRead(here);
}

// --- heartbeats --------------------------------------------------------------------------------

// By how much Spanner's time has outrun this clock's since the Commit acknowledged before: a clock
// that did not stand still cannot fall behind by more than its rate and TrueTime's uncertainty.
Duration OutrunBy(const Context& here, const Term& term, Timestamp commit) {
  const Duration by_own_clock = Lengthened(here, here.now.monotonic - term.sent);
  return (commit - term.renewed) - by_own_clock - here.config.constants.clock_slack;
}

void OnBeaten(Context& here, const TransactionResult& result) {
  Term& term = *here.state.term;
  if (result.results.front().row_count == 0) {
    return EndTerm(here, Ending::kForGood, "the row is not this term's any more");
  }
  const LocalInstant sent = result.commit_sent.value_or(term.sent);
  Duration& latency = here.state.commit_latency;
  const int64_t weight = here.config.constants.old_latency_weight;
  latency = (latency * weight + (here.now.monotonic - sent)) / (weight + 1);
  if (result.commit_timestamp <= term.renewed) return;  // an older one, acknowledged late
  const Duration outrun = OutrunBy(here, term, result.commit_timestamp);
  if (outrun > Duration{}) {
    Remark(here, whorl::notes::kClockStoodStill, {outrun.ns / 1'000'000});
    return EndTerm(here, Ending::kForGood, "the clock stood still");
  }
  term.renewed = result.commit_timestamp;
  term.sent = std::max(term.sent, sent);
  term.deadline = DeadlineOf(here.config, term.sent);
  Set(here, kDeadline, term.deadline);
  if (!here.state.stopping) Set(here, kBeat, term.sent + BeatEvery(here, here.config.lease));
}

void OnBeatEnded(Context& here, Serial of_term, const TransactionResult& result) {
  if (!here.state.term || here.state.term->attempt.number != of_term) return;
  if (result.outcome == Outcome::kCommitted) return OnBeaten(here, result);
  // A newer heartbeat took its place before it was sent.
  if (result.status.code == Code::kCancelled) return;
  Remark(here, whorl::notes::kHeartbeatFailed, {FormatStatus(result.status)});
}

// --- releases ----------------------------------------------------------------------------------

// A row that is not given back expires.
void OnReleaseEnded(Context& here, const TransactionResult& result) {
  const bool released =
      result.outcome == Outcome::kCommitted && result.results.front().row_count == 1;
  if (released) here.out.emplace_back(AnnounceRelease{});
}

// --- events ------------------------------------------------------------------------------------

void OnStarted(Context& here) {
  State& state = here.state;
  state.id = here.config.id;
  if (state.id.empty()) state.id = DrawUuid(here.entropy, whorl::purposes::kInstanceId);
  state.prefix = DrawHex128(here.entropy, purposes::kAttemptId);
  if (here.config.lease > here.config.lease_asked) {
    Remark(here, whorl::notes::kLeaseRaised,
           {here.config.lease_asked.ns / 1'000'000, LeaseMs(here.config)});
  }
  SendRead(here);
}

void OnStop(Context& here) {
  State& state = here.state;
  if (std::exchange(state.stopping, true)) return;
  Cancel(here, kPoll);
  Cancel(here, kTake);
  if (!state.term) return;
  // A term that was never believed in is not given back: invariant 5.
  if (!state.term->believes) return EndTerm(here, Ending::kForGood, "stopped");
  Cancel(here, kBeat);
  here.out.emplace_back(LeadershipChanged{.leader = false});
}

void OnWorkStopped(Context& here) {
  if (!here.state.stopping) return;
  here.state.work_stopped = true;
  if (here.state.term) EndTerm(here, Ending::kGivenBack, "stopped");
}

bool Leads(const State& state, LocalInstant now) {
  return state.term && state.term->believes && !state.stopping && now < state.term->deadline;
}

void OnAsked(Context& here, const Asked& asked) {
  const bool leads = Leads(here.state, here.now.monotonic);
  here.out.emplace_back(AnswerLocally(asked, {.protocol = "fenced_lease",
                                              .id = here.state.id,
                                              .leads = leads,
                                              .token = leads ? here.state.term->token : Timestamp{},
                                              .lease = here.config.lease,
                                              .iterations = here.state.claims}));
}

void OnTimer(Context& here, TimerId timer) {
  State& state = here.state;
  switch (static_cast<TimerOfLease>(timer)) {
    case kPoll:
      return SendRead(here);
    case kTake:
      if (state.seen) SendTake(here, state.seen->heartbeat, state.seen->lease);
      return;
    case kBeat:
      if (state.term) SendBeat(here);
      return;
    case kBelieve:
      if (state.term && !state.term->believes) Believe(here);
      return;
    case kDeadline:  // looked at before every event
      return;
  }
}

void OnEnded(Context& here, const TransactionEnded& ended) {
  std::vector<Flight>& flights = here.state.flights;
  const auto found = std::ranges::find(flights, ended.request, &Flight::request);
  if (found == flights.end()) return;
  const Flight flight = std::move(*found);
  flights.erase(found);
  switch (flight.kind) {
    case FlightKind::kRead:
      return OnRead(here, flight, ended.result);
    case FlightKind::kClaim:
      return OnClaimEnded(here, flight.claim, ended.result);
    case FlightKind::kBeat:
      return OnBeatEnded(here, flight.term, ended.result);
    case FlightKind::kRelease:
      return OnReleaseEnded(here, ended.result);
  }
}

}  // namespace

Config MakeConfig(const std::string& table, std::string lock_name, std::string id, Duration lease,
                  Duration guard) {
  const Parameter name{.name = "name", .type = Type::kString};
  const Parameter writer{.name = "id", .type = Type::kString};
  const Parameter lease_ms{.name = "lease_ms", .type = Type::kInt64};
  const Parameter attempt{.name = "attempt", .type = Type::kString};
  const Parameter token{.name = "token", .type = Type::kTimestamp};
  const Parameter seen{.name = "seen", .type = Type::kTimestamp};
  Config config;
  config.lock_name = std::move(lock_name);
  config.id = std::move(id);
  config.lease_asked = lease;
  config.lease = std::clamp(Milliseconds(lease.ns / 1'000'000), kLeaseMin, kLeaseMax);
  config.guard = guard;
  config.read = Sql::Intern(
      "SELECT heartbeat, token, writer, lease_ms, attempt, CURRENT_TIMESTAMP() AS now FROM " +
          table + " WHERE name=@name",
      {name});
  config.take = Sql::Intern(
      "UPDATE " + table +
          " SET heartbeat=PENDING_COMMIT_TIMESTAMP(), token=PENDING_COMMIT_TIMESTAMP(), "
          "writer=@id, lease_ms=@lease_ms, attempt=@attempt "
          "WHERE name=@name AND heartbeat=@seen",
      {name, writer, lease_ms, attempt, seen});
  config.create = Sql::Intern(
      "INSERT INTO " + table +
          " (name, heartbeat, token, writer, lease_ms, attempt) VALUES (@name, "
          "PENDING_COMMIT_TIMESTAMP(), PENDING_COMMIT_TIMESTAMP(), @id, @lease_ms, @attempt)",
      {name, writer, lease_ms, attempt});
  config.beat = Sql::Intern("UPDATE " + table +
                                " SET heartbeat=PENDING_COMMIT_TIMESTAMP() "
                                "WHERE name=@name AND token=@token AND attempt=@attempt",
                            {name, token, attempt});
  config.release =
      Sql::Intern("UPDATE " + table +
                      " SET heartbeat=PENDING_COMMIT_TIMESTAMP(), writer=NULL, attempt=NULL "
                      "WHERE name=@name AND token=@token AND attempt=@attempt",
                  {name, token, attempt});
  return config;
}

void Step(const Config& config, State& state, LocalTime now, Entropy& entropy, const Event& event,
          std::vector<Effect>& out) {
  Context here{config, state, now, entropy, out};
  if (now.monotonic >= state.not_before) state.not_before.reset();
  if (now.monotonic >= state.looks_paid_until) state.looks_paid_until.reset();
  if (state.term && now.monotonic >= state.term->deadline) OnDeadline(here);
  if (std::holds_alternative<Started>(event)) return OnStarted(here);
  if (std::holds_alternative<StopRequested>(event)) return OnStop(here);
  if (std::holds_alternative<WorkStopped>(event)) return OnWorkStopped(here);
  if (const auto* asked = std::get_if<Asked>(&event)) return OnAsked(here, *asked);
  if (const auto* fired = std::get_if<TimerFired>(&event)) return OnTimer(here, fired->timer);
  if (std::holds_alternative<ReleaseAnnounced>(event)) return OnReleaseAnnounced(here);
  OnEnded(here, std::get<TransactionEnded>(event));
}

LeadershipView LeadershipViewOf(const State& state) {
  LeadershipView standing;
  if (!state.term) return standing;
  standing.own_token = state.term->token;
  standing.believes = state.term->believes && !state.stopping;
  standing.answers = standing.believes;
  if (standing.believes) standing.believes_until = state.term->deadline;
  return standing;
}

}  // namespace whorl::fenced_lease
