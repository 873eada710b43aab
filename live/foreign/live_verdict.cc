#include "live/foreign/live_verdict.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "check/clock.h"
#include "live/foreign/call_recognizer.h"
#include "live/foreign/lock_judge.h"
#include "live/foreign/program_lines.h"
#include "live/operator.h"
#include "live/row_changes.h"
#include "protocol/protocols.h"
#include "real_client/connection.h"
#include "real_client/os.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/rules.h"
#include "sim/scenario/verdict.h"

namespace whorl::live {
namespace {

using sim::Json;
using sim::Verdict;

// The longest that one Judge() works.
constexpr Duration kPatience = Seconds(2);

// projects/P/instances/I/databases/D of a session's name.
std::string DatabaseOf(const SessionName& session) {
  return std::string(session.view().substr(0, session.view().find("/sessions/")));
}

// The times before which all commits, and all that clients say, are known and can be judged.
struct Horizon {
  Timestamp commits;
  Timestamp words;
};

// --- one database --------------------------------------------------------------------------------

class DatabaseJudge {
 public:
  // `reads_rows`: at each commit, since the server does not tell them.
  DatabaseJudge(const JudgedAs& as, const std::string& table, const std::string& database,
                const std::shared_ptr<grpc::Channel>& channel, bool reads_rows)
      : as_(as),
        rules_(as.rules()),
        reads_rows_(reads_rows),
        operator_(channel, as.protocol, database, table) {}

  void Add(CommittedRow row) {
    has_table_ = true;
    if (hole_.empty()) pending_[row.commit].rows.push_back(std::move(row));
  }
  void Add(Timestamp commit, CommitHeard heard) {
    if (hole_.empty()) pending_[commit].heard.push_back(std::move(heard));
  }
  LockJudge& LockOf(const std::string& name) {
    return locks_.try_emplace(name, as_, name).first->second;
  }

  // Judges until `until`, by the steady clock. Leaves what is not judged yet.
  void Judge(const Horizon& horizon, LocalInstant until) {
    while (!pending_.empty() && pending_.begin()->first <= horizon.commits && hole_.empty() &&
           (!reads_rows_ || real_client::MonotonicNow() < until)) {
      auto first = pending_.extract(pending_.begin());
      Take(first.key(), first.mapped());
    }
    if (!hole_.empty()) pending_.clear();
    Horizon known = horizon;
    if (!pending_.empty() && pending_.begin()->first <= horizon.commits) {
      known.commits = pending_.begin()->first - Nanoseconds(1);
      known.words = std::min(known.words, known.commits);
    }
    for (auto& [name, lock] : locks_) lock.JudgeUntil(known.commits, known.words);
  }

  void Report(const std::string& database, Json& locks) const {
    for (const auto& [name, lock] : locks_) {
      locks.push_back({{"database", database}, {"lock", name}, {"verdicts", lock.Report(hole_)}});
    }
  }
  int64_t judged() const { return judged_; }
  size_t waiting() const {
    size_t waiting = 0;
    for (const auto& [commit, one] : pending_) waiting += one.heard.size();
    return waiting;
  }
  // Why not all is known; empty: it is.
  std::string Hole() {
    if (!hole_.empty() || has_table_ || judged_ == 0) return hole_;
    return operator_.WhyNotThisTable();
  }

 private:
  struct PendingCommit {
    std::vector<CommittedRow> rows;
    std::vector<CommitHeard> heard;
  };

  void Take(Timestamp commit, PendingCommit& one) {
    if (commit <= last_commit_) {
      hole_ = "a commit was heard of after a later one had been judged";
      return;
    }
    if (reads_rows_) ReadRows(commit, one);
    if (one.heard.size() > 1 && !one.rows.empty() && as_.has_own_ports()) {
      hole_ = "two commits have one timestamp, and their rows cannot be told apart";
    } else if (one.heard.empty() && as_.has_own_ports()) {
      hole_ = Cat("rows changed at ", FormatRfc3339(commit),
                  " by a commit that did not pass here, or in another way than Commit");
    }
    if (!hole_.empty()) return;
    for (const CommittedRow& row : one.rows) {
      if (row.before == row.after) continue;
      LockOfRow(row.after ? *row.after : *row.before)
          .Take(row, one.heard.empty() ? nullptr : &one.heard.front());
    }
    last_commit_ = commit;
    judged_ += static_cast<int64_t>(one.heard.size());
  }

  void ReadRows(Timestamp commit, PendingCommit& one) {
    std::vector<Row> before;
    std::vector<Row> after;
    Status status = operator_.RowsAt(commit - Nanoseconds(1), before);
    if (status.ok()) status = operator_.RowsAt(commit, after);
    if (!left_ || !status.ok()) hole_ = operator_.WhyNotThisTable();
    if (!hole_.empty()) return;
    if (!status.ok()) {
      hole_ = Cat("the rows as of ", FormatRfc3339(commit),
                  " could not be read: ", Printable(status.message, 300));
      return;
    }
    has_table_ = true;
    if (!left_) {
      for (const Row& row : before) LockOfRow(row);
    } else if (!SameRows(*left_, before, rules_.key_column)) {
      hole_ = Cat("rows changed before ", FormatRfc3339(commit),
                  " by a commit that did not pass here, or in another way than Commit");
      return;
    }
    for (sim::RowCommitted& change : ChangesBetween(before, after, rules_.key_column)) {
      one.rows.push_back({.database = {},
                          .commit = commit,
                          .before = std::move(change.before),
                          .after = std::move(change.after)});
    }
    left_ = std::move(after);
  }

  LockJudge& LockOfRow(const Row& row) {
    const std::string key = LockInKeyOf(rules_, row);
    for (auto& [name, lock] : locks_) {
      if (rules_.is_side_row(name, key) && !sim::IsHeld(rules_, row)) return lock;
    }
    return LockOf(key);
  }

  const JudgedAs& as_;
  const sim::Rules& rules_;
  const bool reads_rows_;
  Operator operator_;
  std::map<std::string, LockJudge> locks_;
  std::map<Timestamp, PendingCommit> pending_;  // by commit timestamp
  std::optional<std::vector<Row>> left_;        // the rows after the last commit that was judged
  Timestamp last_commit_;
  int64_t judged_ = 0;
  bool has_table_ = false;
  std::string hole_;
};

}  // namespace

// --- all of it -----------------------------------------------------------------------------------

class LiveVerdict::Impl {
 public:
  Impl(const JudgeRequest& request, JudgedServer server, size_t clients)
      : request_(request),
        table_(request.Table()),
        server_(std::move(server)),
        as_{.protocol = *FindProtocol(request.protocol),
            .lease = request.lease,
            .clients = clients,
            .is_servers_clock = server_.rows != nullptr} {
    // Otherwise calls show how far the two are apart.
    if (as_.is_servers_clock) clock_.Declare({.least = {}, .most = {}});
  }

  void Note(const CallRecord& record) {
    if (record.call.session.empty()) return;
    const std::string database = DatabaseOf(record.call.session);
    const std::lock_guard lock(noting_);
    databases_of_client_[record.client] = database;
    auto& recognizer = recognizers_
                           .try_emplace({database, record.client}, as_.protocol, table_,
                                        ProcessId{.node = record.client, .incarnation = 1},
                                        std::vector<CallRecognizer::Lock>{{}})
                           .first->second;
    const uint64_t number = ++calls_;
    recognizer.OnRequest(number, record.call, StepOccasion::kAnyTime);
    const Status status = record.answered ? record.status : Error(Code::kUnavailable, "lost");
    const auto heard =
        recognizer.OnReply(number, status, {.begun = record.begun, .commit = record.commit});
    if (!record.commit) return;
    const Timestamp received = server_.now();
    CommitHeard commit = {.client = record.client,
                          .step = {},
                          .own_token = {},
                          .sent = received - record.took,
                          .received = received};
    // The clock has moved on by the commit wait alone.
    if (server_.time_stands) commit.sent = std::min(*record.commit, received);
    if (heard) commit.step = heard->transaction.word();
    if (heard) commit.own_token = heard->own_token;
    if (!as_.is_servers_clock) clock_.Call(commit.sent, *record.commit, received, "a client");
    heard_.push_back({.database = database, .commit = *record.commit, .heard = std::move(commit)});
  }

  std::string Says(size_t client, const std::string& line) {
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto text_of = [&](const char* name) {
      const bool is_text = json.is_object() && json.contains(name) && json[name].is_string();
      return is_text ? json[name].get<std::string>() : std::string();
    };
    const std::string event = text_of("event");
    const bool is_checks = std::ranges::find(kChecksEvents, event) != std::end(kChecksEvents);
    ProgramLine parsed = ProgramLogs{};
    if (!is_checks) {
      if (std::string wrong = ParseProgramLine(line, parsed); !wrong.empty()) {
        return Cat("the body ", wrong);
      }
      if (!std::holds_alternative<ProgramLeads>(parsed)) {
        return "a client says leads, leads_not, works, rests, answer or write here";
      }
    }
    if (event == "answer" && !as_.has_own_ports()) {
      return "an answer can be judged if each program has a port of its own (--clients)";
    }
    const std::string name = text_of("lock");
    if (name.empty()) return "\"lock\" is missing: the lock's name";
    const std::lock_guard judging(judging_);
    std::string database;
    {
      const std::lock_guard lock(noting_);
      const auto found = databases_of_client_.find(static_cast<int16_t>(client));
      if (found == databases_of_client_.end()) {
        return Cat(NameOfClient(client), " has made no call yet");
      }
      database = found->second;
    }
    std::string wrong;
    DatabaseJudge* judge = JudgeOf(database, wrong);
    if (judge == nullptr) return wrong;
    said_last_ = Now();
    LockJudge& lock = judge->LockOf(name);
    if (is_checks) {
      wrong = lock.Take(static_cast<int16_t>(client), said_last_, json);
      return wrong.empty() ? wrong : Cat("the body ", wrong);
    }
    lock.Take(static_cast<int16_t>(client), said_last_, std::get<ProgramLeads>(parsed));
    return {};
  }

  bool promised_only() const { return request_.promised_only; }

  void KeepUp() {
    constexpr uint64_t kEvery = 64;
    if (server_.rows == nullptr || ++kept_up_ % kEvery != 0) return;
    const std::unique_lock judging(judging_, std::try_to_lock);
    if (!judging.owns_lock()) return;
    std::string wrong;
    JudgeAll(HorizonNow(), wrong);
  }

  Json Judge(bool has_ended) {
    const std::lock_guard judging(judging_);
    Json locks = Json::array();
    Json holes = Json::array();
    std::string wrong;
    Horizon horizon = HorizonNow();
    if (has_ended) horizon = {.commits = Timestamp::Max(), .words = Now()};
    JudgeAll(horizon, wrong);
    if (!wrong.empty()) holes.push_back(wrong);
    int64_t judged = 0;
    size_t waiting = 0;
    for (auto& [database, judge] : judges_) {
      judge.Report(database, locks);
      judged += judge.judged();
      waiting += judge.waiting();
      const std::string hole = judge.Hole();
      if (!hole.empty()) holes.push_back(hole);
    }
    return {{"protocol", request_.protocol}, {"table", table_},
            {"judged_commits", judged},      {"waiting", waiting},
            {"holes", std::move(holes)},     {"locks", std::move(locks)}};
  }

 private:
  // Besides leads and leads_not, which are a program's own lines.
  static constexpr std::string_view kChecksEvents[] = {"works", "rests", "answer", "write"};

  struct Heard {
    std::string database;
    Timestamp commit;
    CommitHeard heard;
  };

  // Later than all that was said, so that a leadership lasts even while time stands still.
  Timestamp Now() { return std::max(server_.now(), said_last_ + Nanoseconds(1)); }

  // REQUIRES: judging_ is held.
  Horizon HorizonNow() {
    // In this order: a Commit that arrives in between gets a later timestamp.
    const Timestamp now = Now();
    const std::optional<Timestamp> under_way = server_.commit_under_way();
    if (under_way && server_.time_stands) return last_;
    Horizon horizon = {.commits = now, .words = now};
    if (under_way) {
      horizon.commits = now - (real_client::SystemNow() - *under_way) - Nanoseconds(1);
    }
    const std::lock_guard lock(noting_);
    if (clock_.IsKnown()) {
      horizon.commits = std::min(horizon.commits, clock_.TrueTime(horizon.commits).earliest);
    }
    horizon.words = std::min(horizon.words, horizon.commits);
    // The horizon never moves back: what is before it was judged.
    last_ = {.commits = std::max(last_.commits, horizon.commits),
             .words = std::max(last_.words, horizon.words)};
    return last_;
  }

  // REQUIRES: judging_ is held.
  void JudgeAll(const Horizon& horizon, std::string& wrong) {
    const LocalInstant until = real_client::MonotonicNow() + kPatience;
    std::vector<Heard> heard;
    {
      const std::lock_guard lock(noting_);
      heard = std::exchange(heard_, {});
    }
    if (server_.rows != nullptr) {
      for (CommittedRow& row : server_.rows->Take()) {
        if (DatabaseJudge* judge = JudgeOf(row.database, wrong)) judge->Add(std::move(row));
      }
    }
    for (Heard& one : heard) {
      if (DatabaseJudge* judge = JudgeOf(one.database, wrong)) {
        judge->Add(one.commit, std::move(one.heard));
      }
    }
    for (auto& [database, judge] : judges_) judge.Judge(horizon, until);
  }

  // Null, with the reason in `wrong`, if there is no way to the database. REQUIRES: judging_ is held.
  DatabaseJudge* JudgeOf(const std::string& database, std::string& wrong) {
    const auto found = judges_.find(database);
    if (found != judges_.end()) return &found->second;
    if (channels_.empty()) {
      server_.upstream.channels = 1;
      const Status opened = real_client::OpenChannels(server_.upstream, channels_);
      if (!opened.ok()) {
        wrong = Cat("the table cannot be read: ", opened.message);
        return nullptr;
      }
    }
    return &judges_
                .try_emplace(database, as_, table_, database, channels_[0],
                             /*reads_rows=*/server_.rows == nullptr)
                .first->second;
  }

  const JudgeRequest request_;
  const std::string table_;
  JudgedServer server_;
  const JudgedAs as_;

  std::mutex noting_;  // guards the members below, to `heard_`
  uint64_t calls_ = 0;
  check::Clock clock_;                                  // of this machine, by Spanner's
  std::map<int16_t, std::string> databases_of_client_;  // the last one used
  std::map<std::pair<std::string, int16_t>, CallRecognizer> recognizers_;
  std::vector<Heard> heard_;

  std::atomic<uint64_t> kept_up_ = 0;
  std::mutex judging_;  // guards the members below; taken before noting_
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::map<std::string, DatabaseJudge> judges_;
  Timestamp said_last_;
  Horizon last_;
};

LiveVerdict::LiveVerdict(const JudgeRequest& request, JudgedServer server, size_t clients)
    : impl_(std::make_unique<Impl>(request, std::move(server), clients)) {}

LiveVerdict::~LiveVerdict() = default;

void LiveVerdict::Note(const CallRecord& record) { impl_->Note(record); }

void LiveVerdict::KeepUp() { impl_->KeepUp(); }

std::string LiveVerdict::Says(size_t client, const std::string& line) {
  return impl_->Says(client, line);
}

Json LiveVerdict::Judge() { return impl_->Judge(/*has_ended=*/false); }

namespace {

// A verdict of Judge() as it decides, or does not.
struct Decision {
  bool is_promised = false;
  bool decides = false;

  std::string Text() const {
    return Cat(is_promised ? "" : ", which the protocol does not promise",
               decides ? "" : " and which does not decide (--promised)");
  }
};

void AddTo(std::string& list, const std::string& word) {
  list += Cat(list.empty() ? "" : ", ", word);
}

}  // namespace

LiveVerdict::Summary LiveVerdict::Summarise() {
  Json report = impl_->Judge(/*has_ended=*/true);
  while (report["waiting"] != 0) report = impl_->Judge(/*has_ended=*/true);
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
      Decision decision = {.is_promised = result["promise"] == WordOf(Promise::kPromised)};
      decision.decides = decision.is_promised || !impl_->promised_only();
      if (verdict == Verdict::kViolated) {
        summary.has_found |= decision.decides;
        (decision.decides ? summary.lines : undeciding)
            .push_back(Cat(name, invariant, " violated ", result["violations"].dump(), " times",
                           decision.Text(),
                           "; first: ", result["first"]["text"].get<std::string>()));
      }
      if (verdict == Verdict::kPossiblyViolated) {
        summary.lines.push_back(Cat(name, invariant, " possibly violated ",
                                    result["possible"].dump(),
                                    " times; first: ", result["because"].get<std::string>()));
      }
      if (verdict == Verdict::kHolds) AddTo(holds, invariant);
      if (verdict == Verdict::kUnknown) AddTo(unknown, invariant);
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

std::string JudgeRequest::Table() const {
  return table.empty() ? std::string(FindProtocol(protocol)->table) : table;
}

std::shared_ptr<ServedRows> RowsFor(const JudgeRequest& request) {
  if (!request.IsAsked()) return nullptr;
  return std::make_shared<ServedRows>(*FindProtocol(request.protocol), request.Table());
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
  if (!check::CanJudge(*info)) {
    return Cat("--judge: ", request.protocol, " does not say which column names the holder");
  }
  return {};
}

}  // namespace whorl::live
