#include "live/foreign/live_verdict.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "live/foreign/call_recognizer.h"
#include "live/foreign/program_lines.h"
#include "live/operator.h"
#include "live/row_changes.h"
#include "protocol/protocols.h"
#include "real_client/connection.h"
#include "real_client/os.h"
#include "sim/judge/run_judge.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/rules.h"
#include "sim/world/latency.h"
#include "sim/world/start_rows.h"

namespace whorl::live {
namespace {

using sim::Instant;
using sim::Json;
using sim::Verdict;

// Of one Judge().
constexpr Duration kPatience = Seconds(2);
// Where neither the rows nor the options say it. Then nothing that depends on it is judged.
constexpr Duration kSomeLease = Seconds(10);

ProcessId ProcessOf(int16_t client) { return {.node = client, .incarnation = 1}; }
std::string NameOf(size_t client) { return Cat("client ", std::to_string(client + 1)); }

// projects/P/instances/I/databases/D of a session's name.
std::string DatabaseOf(const SessionName& session) {
  return std::string(session.view().substr(0, session.view().find("/sessions/")));
}

// --- what happened -------------------------------------------------------------------------------

struct CommitHeard {
  StepName step;
  Timestamp commit;
  std::optional<Token> own_token;
};
struct ClientSaid {
  std::string lock;
  bool leads = false;
  std::optional<Duration> lapses_in;
};
struct HeardEvent {
  Timestamp at;  // the system's time
  int16_t client = 0;
  std::variant<CommitHeard, ClientSaid> what;
};

// --- one lock ------------------------------------------------------------------------------------

class LockJudge {
 public:
  LockJudge(const JudgeRequest& request, const std::string& lock, size_t clients, Instant now)
      : request_(request),
        clients_(clients),
        judge_(ScenarioOf(request, lock, clients), RoundTrip()) {
    for (size_t client = 0; client < clients; ++client) {
      Observe(now, sim::ProcessStarted{.process = ProcessOf(static_cast<int16_t>(client))});
    }
  }

  void Take(Instant at, sim::RowCommitted change) {
    if (change.writer != ProcessId{}) writers_.insert(change.writer.node);
    change.lock = 0;
    Observe(at, std::move(change));
  }
  void TakeToken(Instant at, int16_t client, const Token& token) {
    ClientState& state = states_[client];
    state.standing.own_token = token;
    state.standing.answers = true;
    ObserveStanding(at, client);
  }
  void Take(Instant at, int16_t client, const ClientSaid& said) {
    ClientState& state = states_[client];
    state.has_spoken = true;
    state.standing.believes = said.leads;
    state.lapses_at.reset();
    if (said.leads && said.lapses_in) state.lapses_at = at + *said.lapses_in;
    ObserveStanding(at, client);
    SetBelieves(at, client, said.leads);
  }

  // `hole`: why nothing holds for sure any more; empty: it does.
  Json Report(Instant now, Timestamp start, const std::string& hole) {
    LapseUntil(now);
    Json verdicts = Json::array();
    for (const sim::InvariantResult& result : judge_.Finish(std::max(now, last_)).invariants) {
      std::string because = WhyUnknown(result.invariant);
      const bool is_violated = result.verdict == Verdict::kViolated && because.empty();
      if (because.empty() && !is_violated) because = hole;
      Verdict verdict = result.verdict;
      if (verdict != Verdict::kNotApplicable && !because.empty()) verdict = Verdict::kUnknown;
      Json one = {{"invariant", WordOf(result.invariant)},
                  {"verdict", WordOf(verdict)},
                  {"promise", WordOf(result.promise)}};
      if (verdict == Verdict::kUnknown) {
        one["because"] = because.empty() ? result.unknown_because : because;
      }
      if (is_violated) {
        one["violations"] = result.violations;
        one["first"] = {{"at", FormatRfc3339(start + (result.first->at - Instant{}))},
                        {"text", result.first->text}};
      }
      verdicts.push_back(std::move(one));
    }
    return verdicts;
  }

 private:
  struct ClientState {
    LeadershipView standing;
    bool has_spoken = false;
    bool believes = false;
    std::optional<Instant> lapses_at;
  };

  static Duration RoundTrip() { return sim::RoundTripP999(sim::Preset::kRegional); }
  static sim::Scenario ScenarioOf(const JudgeRequest& request, const std::string& lock,
                                  size_t clients) {
    sim::Scenario scenario;
    scenario.protocol = request.protocol;
    scenario.locks = {lock};
    for (size_t client = 0; client < clients; ++client) {
      scenario.nodes.push_back(
          {.name = NameOf(client), .locks = {0}, .lease = request.lease.value_or(kSomeLease)});
    }
    return scenario;
  }

  // Why neither commits nor what clients have said decide it; empty if they do.
  std::string WhyUnknown(Invariant invariant) const {
    switch (invariant) {
      case Invariant::kTokenMonotonic:
        return {};
      case Invariant::kLeaseRespected:
        if (!request_.lease && !sim::RulesOf(request_.protocol).lease_ms_column) {
          return "the rows do not say how long a lease is; --lease does";
        }
        return OneWriter();
      case Invariant::kOneLiveToken:
        return OneWriter();
      case Invariant::kSingleLeaderBelief:
        for (const int16_t client : writers_) {
          const auto state = states_.find(client);
          if (state != states_.end() && state->second.has_spoken) continue;
          return Cat(NameOf(static_cast<size_t>(client)), " does not say whether it leads");
        }
        return writers_.empty() ? "no client has written" : "";
      default:
        return "commits do not decide it";
    }
  }
  std::string OneWriter() const {
    if (writers_.size() > 1) return {};
    return clients_ > 1 ? "only one client has written"
                        : "all programs use one port; --clients gives each one of its own";
  }

  void Observe(Instant at, sim::ObservedEvent what) {
    LapseUntil(at);
    last_ = std::max(last_, at);
    judge_.Observe({.at = last_, .what = std::move(what)});
  }
  void ObserveStanding(Instant at, int16_t client) {
    Observe(at, sim::LeadershipViewChanged{
                    .process = ProcessOf(client), .lock = 0, .standing = states_[client].standing});
  }
  void SetBelieves(Instant at, int16_t client, bool believes) {
    if (std::exchange(states_[client].believes, believes) == believes) return;
    last_ = std::max(last_, at);
    judge_.Observe({.at = last_,
                    .what = sim::BeliefChanged{
                        .process = ProcessOf(client), .lock = 0, .believes = believes}});
  }
  void LapseUntil(Instant at) {
    while (true) {
      auto next = states_.end();
      for (auto state = states_.begin(); state != states_.end(); ++state) {
        const auto& lapses = state->second.lapses_at;
        if (!lapses || *lapses > at) continue;
        if (next == states_.end() || *lapses < *next->second.lapses_at) next = state;
      }
      if (next == states_.end()) return;
      SetBelieves(*std::exchange(next->second.lapses_at, std::nullopt), next->first, false);
    }
  }

  const JudgeRequest& request_;
  const size_t clients_;
  sim::RunJudge judge_;
  std::set<int16_t> writers_;
  std::map<int16_t, ClientState> states_;
  Instant last_;
};

// --- one database --------------------------------------------------------------------------------

class DatabaseJudge {
 public:
  DatabaseJudge(const JudgeRequest& request, std::shared_ptr<grpc::Channel> channel,
                const std::string& database, size_t clients)
      : request_(request),
        rules_(sim::RulesOf(request.protocol)),
        clients_(clients),
        operator_(channel, *FindProtocol(request.protocol), database, request.table) {}

  // Judges until `until`, by the steady clock. Leaves what is not judged yet.
  void Judge(std::deque<HeardEvent>& events, Timestamp start, LocalInstant until) {
    while (!events.empty() && hole_.empty() && real_client::MonotonicNow() < until) {
      const HeardEvent one = std::move(events.front());
      events.pop_front();
      now_ = std::max(now_, Instant{} + (one.at - start));
      if (const auto* said = std::get_if<ClientSaid>(&one.what)) {
        LockOf(said->lock).Take(now_, one.client, *said);
      } else {
        TakeCommit(one.client, std::get<CommitHeard>(one.what));
      }
    }
    if (!hole_.empty()) events.clear();
  }

  void Report(const std::string& database, Instant now, Timestamp start, Json& locks) {
    for (auto& [name, lock] : locks_) {
      locks.push_back({{"database", database},
                       {"lock", name},
                       {"verdicts", lock.Report(std::max(now, now_), start, hole_)}});
    }
  }
  int64_t judged() const { return judged_; }
  const std::string& hole() const { return hole_; }

 private:
  void TakeCommit(int16_t client, const CommitHeard& heard) {
    if (heard.commit <= last_commit_) {
      hole_ = heard.commit == last_commit_
                  ? "two commits have one timestamp, and their rows cannot be told apart"
                  : "a commit was heard of after a later one had been judged";
      return;
    }
    std::vector<Row> before;
    std::vector<Row> after;
    Status status = operator_.RowsAt(heard.commit - Nanoseconds(1), before);
    if (status.ok()) status = operator_.RowsAt(heard.commit, after);
    if (!left_ || !status.ok()) hole_ = operator_.WhyNotThisTable();
    if (!hole_.empty()) return;
    if (!status.ok()) {
      hole_ = Cat("the rows as of ", FormatRfc3339(heard.commit),
                  " could not be read: ", Printable(status.message, 300));
      return;
    }
    if (!left_) {
      for (const Row& row : before) LockOfRow(row).Take(now_, sim::RowOfTheStart(row, Timestamp{}));
    } else if (!SameRows(*left_, before, rules_.key_column)) {
      hole_ = Cat("rows changed before ", FormatRfc3339(heard.commit),
                  " by a commit that did not pass here, or in another way than Commit");
      return;
    }
    for (sim::RowCommitted& change : ChangesBetween(before, after, rules_.key_column)) {
      change.writer = ProcessOf(client);
      change.step = heard.step;
      change.commit = heard.commit;
      const Row& row = change.after ? *change.after : *change.before;
      LockJudge& lock = LockOfRow(row);
      const bool gives_token = heard.own_token && change.after && rules_.token_column &&
                               Token::In((*change.after)[*rules_.token_column]) == heard.own_token;
      lock.Take(now_, std::move(change));
      if (gives_token) lock.TakeToken(now_, client, *heard.own_token);
    }
    left_ = std::move(after);
    last_commit_ = heard.commit;
    ++judged_;
  }

  LockJudge& LockOfRow(const Row& row) {
    const auto* key = std::get_if<std::string>(&row[rules_.key_column]);
    if (key == nullptr) return LockOf("lock");
    for (auto& [name, lock] : locks_) {
      if (rules_.is_side_row(name, *key) && !sim::IsHeld(rules_, row)) return lock;
    }
    return LockOf(*key);
  }
  LockJudge& LockOf(const std::string& name) {
    return locks_.try_emplace(name, request_, name, clients_, now_).first->second;
  }

  const JudgeRequest& request_;
  const sim::Rules& rules_;
  const size_t clients_;
  Operator operator_;
  std::map<std::string, LockJudge> locks_;
  std::optional<std::vector<Row>> left_;  // the rows after the last commit that was judged
  Timestamp last_commit_;
  Instant now_;
  int64_t judged_ = 0;
  std::string hole_;
};

}  // namespace

// --- all of it -----------------------------------------------------------------------------------

class LiveVerdict::Impl {
 public:
  Impl(const JudgeRequest& request, real_client::ConnectionOptions upstream, size_t clients)
      : request_(Completed(request)),
        info_(*FindProtocol(request_.protocol)),
        upstream_(std::move(upstream)),
        clients_(clients) {}

  void Note(const CallRecord& record) {
    if (record.call.session.empty()) return;
    const std::string database = DatabaseOf(record.call.session);
    const std::lock_guard lock(noting_);
    if (!start_) start_ = record.at;
    databases_of_client_[record.client] = database;
    auto& recognizer =
        recognizers_
            .try_emplace({database, record.client}, info_, request_.table, ProcessOf(record.client),
                         std::vector<CallRecognizer::Lock>{{}})
            .first->second;
    const uint64_t number = ++calls_;
    recognizer.OnRequest(number, record.call, StepOccasion::kAnyTime);
    const Status status = record.answered ? record.status : Error(Code::kUnavailable, "lost");
    const auto heard =
        recognizer.OnReply(number, status, {.begun = record.begun, .commit = record.commit});
    if (!record.commit) return;
    CommitHeard commit = {.step = heard ? heard->transaction : StepName{},
                          .commit = *record.commit};
    if (heard) commit.own_token = heard->own_token;
    queues_[database].push_back(
        {.at = record.at + record.took, .client = record.client, .what = commit});
  }

  std::string Says(size_t client, const std::string& line) {
    ProgramLine parsed;
    if (std::string wrong = ParseProgramLine(line, parsed); !wrong.empty()) {
      return Cat("the body ", wrong);
    }
    const auto* leads = std::get_if<ProgramLeads>(&parsed);
    if (leads == nullptr) return "a client says leads or leads_not here";
    if (leads->lock.empty()) return "\"lock\" is missing: the lock's name";
    const std::lock_guard lock(noting_);
    const auto database = databases_of_client_.find(static_cast<int16_t>(client));
    if (database == databases_of_client_.end()) return Cat(NameOf(client), " has made no call yet");
    queues_[database->second].push_back(
        {.at = real_client::SystemNow(),
         .client = static_cast<int16_t>(client),
         .what = ClientSaid{
             .lock = leads->lock, .leads = leads->leads, .lapses_in = leads->lapses_in}});
    return {};
  }

  bool promised_only() const { return request_.promised_only; }
  Json Judge(std::optional<Timestamp> under_way) {
    const std::lock_guard judging(judging_);
    const LocalInstant until = real_client::MonotonicNow() + kPatience;
    Timestamp start;
    {
      const std::lock_guard lock(noting_);
      start = start_.value_or(real_client::SystemNow());
      for (auto& [database, queue] : queues_) Settle(queue, under_way, settled_[database]);
    }
    const Instant now = Instant{} + (real_client::SystemNow() - start);
    Json locks = Json::array();
    Json holes = Json::array();
    int64_t judged = 0;
    size_t waiting = 0;
    for (auto& [database, settled] : settled_) {
      DatabaseJudge* judge = JudgeOf(database, holes);
      if (judge == nullptr) continue;
      judge->Judge(settled, start, until);
      judge->Report(database, now, start, locks);
      judged += judge->judged();
      waiting += settled.size();
      if (!judge->hole().empty()) holes.push_back(judge->hole());
    }
    {
      const std::lock_guard lock(noting_);
      for (const auto& [database, queue] : queues_) waiting += queue.size();
    }
    return {{"protocol", request_.protocol}, {"table", request_.table},
            {"judged_commits", judged},      {"waiting", waiting},
            {"holes", std::move(holes)},     {"locks", std::move(locks)}};
  }

 private:
  static JudgeRequest Completed(JudgeRequest request) {
    if (request.table.empty()) request.table = FindProtocol(request.protocol)->table;
    return request;
  }

  // Moves what nothing can precede any more, in the order in which it happened.
  static void Settle(std::vector<HeardEvent>& queue, std::optional<Timestamp> under_way,
                     std::deque<HeardEvent>& settled) {
    const auto rest = std::stable_partition(queue.begin(), queue.end(), [&](const HeardEvent& one) {
      return !under_way || one.at < *under_way;
    });
    std::vector<HeardEvent> commits;
    std::vector<HeardEvent> said;
    for (auto one = queue.begin(); one != rest; ++one) {
      (std::holds_alternative<CommitHeard>(one->what) ? commits : said).push_back(std::move(*one));
    }
    queue.erase(queue.begin(), rest);
    // Commits in the order of their timestamps; each was heard of no later than the next one.
    std::ranges::stable_sort(
        commits, {}, [](const HeardEvent& one) { return std::get<CommitHeard>(one.what).commit; });
    for (size_t i = commits.size(); i-- > 1;) {
      commits[i - 1].at = std::min(commits[i - 1].at, commits[i].at);
    }
    std::ranges::merge(commits, said, std::back_inserter(settled), {}, &HeardEvent::at,
                       &HeardEvent::at);
  }

  // Null, with the reason in `holes`, if there is no way to the database.
  DatabaseJudge* JudgeOf(const std::string& database, Json& holes) {
    const auto found = judges_.find(database);
    if (found != judges_.end()) return &found->second;
    if (channels_.empty()) {
      upstream_.channels = 1;
      const Status opened = real_client::OpenChannels(upstream_, channels_);
      if (!opened.ok()) {
        holes.push_back(Cat("the table cannot be read: ", opened.message));
        return nullptr;
      }
    }
    return &judges_.try_emplace(database, request_, channels_[0], database, clients_).first->second;
  }

  const JudgeRequest request_;
  const ProtocolInfo& info_;
  real_client::ConnectionOptions upstream_;
  const size_t clients_;

  std::mutex noting_;  // guards the members below, to `queues_`
  std::optional<Timestamp> start_;
  uint64_t calls_ = 0;
  std::map<int16_t, std::string> databases_of_client_;  // the last one used
  std::map<std::pair<std::string, int16_t>, CallRecognizer> recognizers_;
  std::map<std::string, std::vector<HeardEvent>> queues_;  // by database

  std::mutex judging_;  // guards the members below; taken before noting_
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::map<std::string, std::deque<HeardEvent>> settled_;
  std::map<std::string, DatabaseJudge> judges_;
};

LiveVerdict::LiveVerdict(const JudgeRequest& request, real_client::ConnectionOptions upstream,
                         size_t clients)
    : impl_(std::make_unique<Impl>(request, std::move(upstream), clients)) {}

LiveVerdict::~LiveVerdict() = default;

void LiveVerdict::Note(const CallRecord& record) { impl_->Note(record); }

std::string LiveVerdict::Says(size_t client, const std::string& line) {
  return impl_->Says(client, line);
}

Json LiveVerdict::Judge(std::optional<Timestamp> under_way) { return impl_->Judge(under_way); }

LiveVerdict::Summary LiveVerdict::Summarise() {
  Json report = impl_->Judge(std::nullopt);
  while (report["waiting"] != 0) report = impl_->Judge(std::nullopt);
  Summary summary;
  std::vector<std::string> undeciding;
  for (const Json& hole : report["holes"]) {
    summary.lines.push_back(Cat("verdict: not all is known: ", hole.get<std::string>()));
  }
  for (const Json& lock : report["locks"]) {
    const std::string name = Cat("verdict on lock ", Quoted(lock["lock"].get<std::string>()), ": ");
    std::string holds;
    std::string unknown;
    for (const Json& result : lock["verdicts"]) {
      const auto invariant = result["invariant"].get<std::string>();
      const auto verdict = ParseWord<Verdict>(result["verdict"].get<std::string>());
      const bool is_promised = result["promise"] == WordOf(Promise::kPromised);
      if (verdict == Verdict::kViolated) {
        const bool decides = is_promised || !impl_->promised_only();
        summary.has_found |= decides;
        (decides ? summary.lines : undeciding)
            .push_back(Cat(name, invariant, " violated ", result["violations"].dump(), " times",
                           is_promised ? "" : ", which the protocol does not promise",
                           decides ? "" : " and which does not decide (--promised)",
                           "; first: ", result["first"]["text"].get<std::string>()));
      }
      if (verdict == Verdict::kHolds) holds += Cat(holds.empty() ? "" : ", ", invariant);
      if (verdict == Verdict::kUnknown) unknown += Cat(unknown.empty() ? "" : ", ", invariant);
    }
    if (!holds.empty()) summary.lines.push_back(Cat(name, "holds: ", holds));
    if (!unknown.empty()) summary.lines.push_back(Cat(name, "unknown: ", unknown));
  }
  if (report["locks"].empty() && report["holes"].empty()) {
    summary.lines.push_back(Cat("verdict: no commit has touched the table ",
                                Quoted(report["table"].get<std::string>())));
  }
  summary.lines.insert(summary.lines.end(), undeciding.begin(), undeciding.end());
  return summary;
}

std::string Check(const JudgeRequest& request) {
  if (!request.IsAsked()) {
    if (!request.table.empty() || request.lease || request.promised_only) {
      return "--table, --lease and --promised need --judge";
    }
    return {};
  }
  const ProtocolInfo* info = FindProtocol(request.protocol);
  if (info == nullptr) {
    std::vector<std::string_view> names;
    for (const ProtocolInfo& protocol : Protocols()) names.push_back(protocol.name);
    return Cat("--judge: ", sim::UnknownWord("protocol", request.protocol, names));
  }
  if (info->statements == nullptr) {
    return Cat("--judge: ", request.protocol,
               " does not state its statements, by which its steps "
               "are recognised");
  }
  return {};
}

}  // namespace whorl::live
