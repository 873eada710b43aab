#include "sim/judge/ledger.h"

#include <algorithm>
#include <string>
#include <variant>

namespace whorl::sim {

bool TakesTheLock(const Rules& rules, const RowCommitted& x, ProcessId owner) {
  if (!x.after || !IsHeld(rules, *x.after)) return false;
  if (!x.before) return true;
  const auto token = rules.token_column;
  if (token && (*x.before)[*token] == (*x.after)[*token]) return false;
  const bool is_theirs = x.writer != ProcessId{} && x.writer == owner;
  return !is_theirs || x.step != rules.renewing_step;
}

Ledger::Ledger(const CheckerSetup& setup)
    : processes_(setup.nodes.size()),
      participations_(setup.ParticipationCount()),
      locks_(setup.locks.size()) {}

// --- processes and links -----------------------------------------------------------------------

void Ledger::On(const ProcessStarted& x, const CheckerSetup& setup) {
  ProcessState& state = NewestProcess(x.process.node);
  state = {.incarnation = x.process.incarnation,
           .gone = false,
           .cut_to = state.cut_to,
           .cut_from = state.cut_from};
  for (const uint16_t lock : setup.Node(x.process.node).locks) {
    participations_[setup.ParticipationIndex(x.process.node, lock)].participates = true;
  }
  RecountAll(x.process.node, setup);
}

void Ledger::On(const ProcessStopped& x, const CheckerSetup& setup) {
  if (!IsCurrent(x.process)) return;
  NewestProcess(x.process.node).stopped = true;
  for (const uint16_t lock : setup.Node(x.process.node).locks) {
    SetBelief(x.process.node, lock, false, setup);
  }
  RecountAll(x.process.node, setup);
}

std::optional<ProcessLost> Ledger::On(const ProcessGone& x, const CheckerSetup& setup) {
  if (!IsCurrent(x.process)) return std::nullopt;
  const int16_t node = x.process.node;
  NewestProcess(node).gone = true;
  for (const uint16_t lock : setup.Node(node).locks) {
    SetBelief(node, lock, false, setup);
    SetAtWork(node, lock, false, setup);
    SetOwnToken(node, lock, std::nullopt, setup);
    Participation& participation = participations_[setup.ParticipationIndex(node, lock)];
    participation.participates = false;
    participation.answers = false;
    participation.standing_believes = false;
  }
  RecountAll(node, setup);
  return ProcessLost{.process = x.process};
}

void Ledger::On(const ProcessPaused& x, const CheckerSetup& setup) {
  if (!IsCurrent(x.process)) return;
  NewestProcess(x.process.node).paused = true;
  RecountAll(x.process.node, setup);
}

void Ledger::On(const ProcessResumed& x, const CheckerSetup& setup) {
  if (!IsCurrent(x.process)) return;
  NewestProcess(x.process.node).paused = false;
  RecountAll(x.process.node, setup);
}

void Ledger::On(const ParticipationEnded& x, const CheckerSetup& setup) {
  if (!IsCurrent(x.process)) return;
  participations_[setup.ParticipationIndex(x.process.node, x.lock)].participates = false;
  Recount(x.process.node, x.lock, setup);
}

void Ledger::On(const QuestionAsked& x, const CheckerSetup& setup) {
  if (x.question != Question::kLock || !IsCurrent(x.process)) return;
  participations_[setup.ParticipationIndex(x.process.node, x.lock)].participates = true;
  Recount(x.process.node, x.lock, setup);
}

void Ledger::On(const LinkChanged& x, const CheckerSetup& setup) {
  ProcessState& state = NewestProcess(x.node);
  if (Covers(x.direction, Direction::kTo)) state.cut_to = x.link != LinkState::kUp;
  if (Covers(x.direction, Direction::kFrom)) state.cut_from = x.link != LinkState::kUp;
  RecountAll(x.node, setup);
}

void Ledger::On(const SpannerAvailability& x, const CheckerSetup& setup) {
  spanner_available_ = x.available;
  for (size_t node = 0; node < processes_.size(); ++node) {
    RecountAll(static_cast<int16_t>(node), setup);
  }
}

// --- rows --------------------------------------------------------------------------------------

std::optional<Version> Ledger::NextVersion(const Lock& lock, const RowCommitted& x,
                                           const CheckerSetup& setup) const {
  if (!x.after) return std::nullopt;
  const Rules& rules = *setup.rules;
  if (!IsHeld(rules, *x.after)) return Version{};
  Version next;
  next.held = true;
  if (rules.token_column) next.token = Token::In((*x.after)[*rules.token_column]);
  const bool kept = next.token && lock.newest && lock.newest->token == next.token;
  next.owner = kept ? lock.newest->owner : x.writer;
  if (kept) next.lease_until = lock.newest->lease_until;
  if (next.owner != ProcessId{} && next.owner == x.writer) {
    next.lease_until = rules.lease_until(*x.after, setup.Node(x.writer.node).lease);
  }
  next.released = next.owner != ProcessId{} && rules.is_released(*x.after);
  return next;
}

TokenChange Ledger::TokenChangeOf(const VersionChanged& change, const RowCommitted& x,
                                  const Rules& rules) {
  const bool was_held = change.before && change.before->held;
  const ProcessId owner = was_held ? change.before->owner : ProcessId{};
  if (TakesTheLock(rules, x, owner)) return TokenChange::kGranted;
  if (!was_held) return TokenChange::kKept;
  const bool by_its_owner = x.writer != ProcessId{} && owner == x.writer;
  if (change.after && change.after->held) {
    return by_its_owner && x.step == rules.renewing_step ? TokenChange::kRenewed
                                                         : TokenChange::kKept;
  }
  return by_its_owner && x.step == rules.releasing_step ? TokenChange::kReleased
                                                        : TokenChange::kRemoved;
}

std::optional<VersionChanged> Ledger::On(const RowCommitted& x, const CheckerSetup& setup) {
  const Row& row = x.after ? *x.after : *x.before;
  const bool own_row =
      x.lock < locks_.size() && setup.locks[x.lock].key == row[setup.rules->key_column];
  const std::optional<uint16_t> index = own_row ? x.lock : setup.LockOfRow(row);
  if (!index) return std::nullopt;

  Lock& lock = locks_[*index];
  VersionChanged change{.lock = *index, .writer = x.writer, .commit = x.commit};
  change.before = lock.newest;
  change.last_owner = lock.last_owner;
  change.last_lease_until = lock.last_lease_until;
  lock.newest = NextVersion(lock, x, setup);
  change.after = lock.newest;
  if (lock.newest && lock.newest->held) {
    lock.last_owner = lock.newest->owner;
    lock.last_lease_until = lock.newest->lease_until;
  }

  change.kind = TokenChangeOf(change, x, *setup.rules);
  if (change.kind == TokenChange::kKept) return change;
  const auto after = change.after ? change.after->token : std::nullopt;
  lock.holders = static_cast<int>(Keepers(lock, after).size());
  for (const std::optional<Version>& version : {change.before, change.after}) {
    if (!version) continue;
    for (const KeptToken& kept : Keepers(lock, version->token)) Recount(kept.node, *index, setup);
    if (IsCurrent(version->owner)) Recount(version->owner.node, *index, setup);
  }
  return change;
}

ProcessId Ledger::OwnerOf(uint16_t lock) const {
  const std::optional<Version>& newest = locks_[lock].newest;
  return newest ? newest->owner : ProcessId{};
}

// --- what processes know -----------------------------------------------------------------------

std::optional<BeliefBegan> Ledger::On(const BeliefChanged& x, const CheckerSetup& setup) {
  if (!IsCurrent(x.process)) return std::nullopt;
  const bool believed = participations_[setup.ParticipationIndex(x.process.node, x.lock)].believes;
  const bool believes = x.believes && !NewestProcess(x.process.node).stopped;
  SetBelief(x.process.node, x.lock, believes, setup);
  if (!believes || believed) return std::nullopt;
  return BeliefBegan{.process = x.process, .lock = x.lock};
}

std::optional<WorkBegan> Ledger::On(const WorkChanged& x, const CheckerSetup& setup) {
  if (!IsCurrent(x.process)) return std::nullopt;
  const bool was_at_work = IsAtWork(x.process, x.lock, setup);
  SetAtWork(x.process.node, x.lock, x.at_work, setup);
  if (!x.at_work || was_at_work) return std::nullopt;
  return WorkBegan{.process = x.process, .lock = x.lock};
}

Ledger::StandingEffects Ledger::On(const LeadershipViewChanged& x, const CheckerSetup& setup) {
  StandingEffects effects;
  if (!IsCurrent(x.process)) return effects;
  Participation& participation = participations_[setup.ParticipationIndex(x.process.node, x.lock)];
  if (participation.standing_believes && !x.standing.believes && participation.participates &&
      !NewestProcess(x.process.node).stopped) {
    effects.stepped_down = SteppedDown{.process = x.process, .lock = x.lock};
  }
  participation.standing_believes = x.standing.believes;
  participation.answers = x.standing.answers;
  if (participation.own_token != x.standing.own_token) {
    SetOwnToken(x.process.node, x.lock, x.standing.own_token, setup);
    effects.own_token = OwnTokenChanged{.process = x.process, .lock = x.lock};
  }
  Recount(x.process.node, x.lock, setup);
  return effects;
}

std::optional<Token> Ledger::OwnToken(ProcessId process, uint16_t lock,
                                      const CheckerSetup& setup) const {
  if (!IsCurrent(process)) return std::nullopt;
  return participations_[setup.ParticipationIndex(process.node, lock)].own_token;
}

std::span<const Ledger::KeptToken> Ledger::Keepers(const Lock& lock,
                                                   std::optional<Token> token) const {
  if (!token) return {};
  const auto begin = std::lower_bound(
      lock.kept.begin(), lock.kept.end(), *token,
      [](const KeptToken& kept, const Token& sought) { return kept.token < sought; });
  auto end = begin;
  while (end != lock.kept.end() && end->token == *token) ++end;
  return {begin, end};
}

std::vector<ProcessId> Ledger::Holders(uint16_t lock) const {
  std::vector<ProcessId> holders;
  const std::optional<Version>& newest = locks_[lock].newest;
  if (!newest) return holders;
  for (const KeptToken& kept : Keepers(locks_[lock], newest->token)) {
    holders.push_back({.node = kept.node, .incarnation = NewestProcess(kept.node).incarnation});
  }
  return holders;
}

std::vector<ProcessId> Ledger::Believers(uint16_t lock, const CheckerSetup& setup) const {
  return ProcessesWhere(&Participation::believes, lock, setup);
}

std::vector<ProcessId> Ledger::Workers(uint16_t lock, const CheckerSetup& setup) const {
  return ProcessesWhere(&Participation::at_work, lock, setup);
}

bool Ledger::IsAtWork(ProcessId process, uint16_t lock, const CheckerSetup& setup) const {
  return IsCurrent(process) &&
         participations_[setup.ParticipationIndex(process.node, lock)].at_work;
}

std::vector<ProcessId> Ledger::Candidates(uint16_t lock, const CheckerSetup& setup) const {
  return ProcessesWhere(&Participation::is_candidate, lock, setup);
}

std::vector<ProcessId> Ledger::ProcessesWhere(bool Participation::* flag, uint16_t lock,
                                              const CheckerSetup& setup) const {
  std::vector<ProcessId> processes;
  for (size_t i = 0; i < processes_.size(); ++i) {
    const auto node = static_cast<int16_t>(i);
    if (!(participations_[setup.ParticipationIndex(node, lock)].*flag)) continue;
    processes.push_back({.node = node, .incarnation = processes_[i].incarnation});
  }
  return processes;
}

bool Ledger::TakesPart(ProcessId process, uint16_t lock, const CheckerSetup& setup) const {
  return IsCurrent(process) &&
         participations_[setup.ParticipationIndex(process.node, lock)].participates;
}

bool Ledger::IsCandidate(ProcessId process, uint16_t lock, const CheckerSetup& setup) const {
  return IsCurrent(process) &&
         participations_[setup.ParticipationIndex(process.node, lock)].is_candidate;
}

void Ledger::SetOwnToken(int16_t node, uint16_t lock, std::optional<Token> token,
                         const CheckerSetup& setup) {
  Participation& participation = participations_[setup.ParticipationIndex(node, lock)];
  Lock& its = locks_[lock];
  if (participation.own_token) {
    its.kept.erase(std::lower_bound(its.kept.begin(), its.kept.end(),
                                    KeptToken{.token = *participation.own_token, .node = node}));
  }
  participation.own_token = token;
  if (token) {
    const KeptToken kept{.token = *token, .node = node};
    its.kept.insert(std::lower_bound(its.kept.begin(), its.kept.end(), kept), kept);
  }
  its.holders = its.newest ? static_cast<int>(Keepers(its, its.newest->token).size()) : 0;
}

void Ledger::SetBelief(int16_t node, uint16_t lock, bool believes, const CheckerSetup& setup) {
  Participation& participation = participations_[setup.ParticipationIndex(node, lock)];
  locks_[lock].believers += (believes ? 1 : 0) - (participation.believes ? 1 : 0);
  participation.believes = believes;
}

void Ledger::SetAtWork(int16_t node, uint16_t lock, bool at_work, const CheckerSetup& setup) {
  Participation& participation = participations_[setup.ParticipationIndex(node, lock)];
  locks_[lock].workers += (at_work ? 1 : 0) - (participation.at_work ? 1 : 0);
  participation.at_work = at_work;
}

// If heartbeats replace the token, the owner may not know the newest token yet, and in a protocol
// without tokens there is only the row's owner: in both cases the row's owner has the newest
// version.
bool Ledger::HasNewest(int16_t node, uint16_t lock, const CheckerSetup& setup) const {
  const Participation& participation = participations_[setup.ParticipationIndex(node, lock)];
  const Version& newest = *locks_[lock].newest;
  if (participation.own_token && newest.token == participation.own_token) return true;
  const ProcessId process = {.node = node, .incarnation = NewestProcess(node).incarnation};
  return setup.rules->renewing_step.has_value() && newest.owner == process;
}

uint32_t Ledger::StateBits(int16_t node, uint16_t lock, const CheckerSetup& setup) const {
  const ProcessState& state = NewestProcess(node);
  const Participation& its = participations_[setup.ParticipationIndex(node, lock)];
  const bool has_newest = !state.gone && locks_[lock].newest && HasNewest(node, lock, setup);
  uint32_t bits = 0;
  for (const bool fact : {state.gone, state.stopped, state.paused, state.cut_to, state.cut_from,
                          its.participates, its.answers, its.believes, its.at_work, has_newest}) {
    bits = bits << 1 | (fact ? 1 : 0);
  }
  return bits;
}

void Ledger::Recount(int16_t node, uint16_t lock, const CheckerSetup& setup) {
  const ProcessState& state = NewestProcess(node);
  Participation& participation = participations_[setup.ParticipationIndex(node, lock)];
  Lock& its = locks_[lock];
  const bool runs = !state.gone && !state.stopped && !state.paused && !state.cut_to &&
                    !state.cut_from && spanner_available_;
  const bool is_candidate = runs && participation.participates;
  const bool is_answered =
      runs && participation.answers && its.newest && HasNewest(node, lock, setup);
  its.candidates += (is_candidate ? 1 : 0) - (participation.is_candidate ? 1 : 0);
  its.answered += (is_answered ? 1 : 0) - (participation.is_answered ? 1 : 0);
  participation.is_candidate = is_candidate;
  participation.is_answered = is_answered;
}

void Ledger::RecountAll(int16_t node, const CheckerSetup& setup) {
  for (const uint16_t lock : setup.Node(node).locks) Recount(node, lock, setup);
}

}  // namespace whorl::sim
