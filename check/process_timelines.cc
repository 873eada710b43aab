#include "check/process_timelines.h"

#include <algorithm>
#include <utility>

#include "check/known_row.h"
#include "check/no_protocol.h"
#include "sim/scenario/rules.h"

namespace whorl::check {
namespace {

class Sweep {
 public:
  Sweep(const ProtocolInfo& protocol, const Processes& processes)
      : protocol_(protocol), rules_(RulesFor(protocol)), processes_(processes) {}

  ProcessTimelines Take(const std::vector<Moment>& moments) {
    FindLocks(moments);
    for (const Moment& moment : moments) {
      std::visit([&](const auto& what) { On(what, moment.at); }, moment.operation.what);
    }
    std::vector<NodeLives> taking_part;
    for (NodeLives& node : lives_.nodes) {
      if (node.takes_part) {
        taking_part.push_back(std::move(node));
      } else {
        lives_.others.push_back(node.name);
      }
    }
    lives_.nodes = std::move(taking_part);
    return std::move(lives_);
  }

 private:
  struct State {  // of a process, now
    size_t node = 0;
    std::set<std::string> believes;
    std::map<std::string, Timestamp> works;  // since when
    std::set<std::string> holds;
    bool IsBusy() const { return !believes.empty() || !works.empty() || !holds.empty(); }
  };
  struct LockState {
    KnownRow columns;
    std::string owner;
    std::string last_node;
    bool is_known = false;
  };

  void FindLocks(const std::vector<Moment>& moments) {
    std::set<std::string> named;  // by processes
    std::set<std::string> keys;   // of rows
    for (const Moment& moment : moments) {
      if (const auto* row = std::get_if<RowChange>(&moment.operation.what)) keys.insert(row->lock);
      if (const auto* log_line = std::get_if<LogLine>(&moment.operation.what))
        named.insert(log_line->lock);
      if (const auto* call = std::get_if<CommitRecord>(&moment.operation.what))
        named.insert(call->lock);
    }
    named.erase("");
    if (protocol_.takes_one_lock) {
      lives_.locks = {named.empty() ? std::string("lock") : *named.begin()};
      return;
    }
    const std::set<std::string> all = [&] {
      std::set<std::string> both = named;
      both.insert(keys.begin(), keys.end());
      return both;
    }();
    for (const std::string& key : all) {
      const bool is_side = !named.contains(key) && std::ranges::any_of(all, [&](const auto& lock) {
        return lock != key && rules_.is_side_row(lock, key);
      });
      if (!is_side) lives_.locks.push_back(key);
    }
  }

  // Empty: a row that is none of a lock's.
  std::string LockOf(const std::string& key) const {
    if (protocol_.takes_one_lock) return lives_.locks.front();
    return std::ranges::find(lives_.locks, key) == lives_.locks.end() ? std::string() : key;
  }

  State& StateOf(const std::string& process) {
    const auto found = states_.find(process);
    if (found != states_.end()) return found->second;
    const Process* who = processes_.Find(process);
    const std::string name = who == nullptr || who->node.empty() ? process : who->node;
    size_t place = 0;
    while (place < lives_.nodes.size() && lives_.nodes[place].name != name) ++place;
    if (place == lives_.nodes.size()) lives_.nodes.emplace_back().name = name;
    State& state = states_[process];
    state.node = place;
    return state;
  }
  NodeLives& NodeOf(const State& state) { return lives_.nodes[state.node]; }

  Life& LifeOf(const std::string& process, const State& state) {
    std::vector<Life>& lives = NodeOf(state).lives;
    const auto last = std::find_if(lives.rbegin(), lives.rend(),
                                   [&](const Life& life) { return life.process == process; });
    if (last != lives.rend()) return *last;
    lives.emplace_back().process = process;
    return lives.back();
  }

  void AddSign(const std::string& process, Timestamp at, bool commits, bool lapses = false) {
    const State& state = StateOf(process);
    LifeOf(process, state)
        .signs.push_back(
            {.at = at, .commits = commits, .is_busy = state.IsBusy(), .lapses = lapses});
  }

  // `at`: when it ended; nothing if that is not known.
  void EndWork(State& state, std::optional<Timestamp> at, const std::string& lock = {}) {
    for (auto work = state.works.begin(); work != state.works.end();) {
      if (!lock.empty() && work->first != lock) {
        ++work;
        continue;
      }
      if (at) NodeOf(state).work.push_back({.from = work->second, .to = *at});
      work = state.works.erase(work);
    }
  }

  void On(const RowChange& change, Timestamp at) {
    const std::string lock = LockOf(change.lock);
    if (lock.empty()) return;
    LockState& state = locks_[lock];
    if (!state.is_known && change.kind != RowChangeKind::kInserted) {
      KnownRow before = change.before;
      for (size_t i = 0; i < before.size() && i < change.after.size(); ++i) {
        if (!before[i] && change.kind == RowChangeKind::kUpdated) before[i] = change.after[i];
      }
      state.owner = OwnerIn(before);
      lives_.held_before[lock] = state.owner;
    }
    state.is_known = true;
    KnownRow after = change.after;
    FillIn(after, state.columns, protocol_);
    if (change.kind == RowChangeKind::kDeleted) after.clear();
    const std::string owner = OwnerIn(after);
    if (!state.owner.empty() && state.owner != owner) {
      StateOf(state.owner).holds.erase(lock);
      NodeOf(StateOf(state.owner)).takes_part = true;
    }
    state.columns = std::move(after);
    state.owner = owner;
    if (owner.empty()) return;
    State& of_owner = StateOf(owner);
    of_owner.holds.insert(lock);
    NodeLives& node = NodeOf(of_owner);
    node.takes_part = true;
    node.locks.insert(lock);
    if (node.name != state.last_node) {
      lives_.grants.push_back({.lock = lock, .at = at, .node = node.name});
      state.last_node = node.name;
    }
    AddSign(owner, at, /*commits=*/true);
  }

  // Empty: nobody holds it.
  std::string OwnerIn(const KnownRow& columns) const {
    whorl::Row row;
    for (const auto& value : columns) row.push_back(value.value_or(Null{}));
    row.resize(protocol_.columns.size(), Null{});
    if (!sim::IsHeld(rules_, row) || rules_.is_released(row)) return {};
    for (size_t i = 0; i < protocol_.columns.size(); ++i) {
      if (protocol_.columns[i].name != protocol_.holder_columns.holder) continue;
      if (const auto* name = std::get_if<std::string>(&row[i])) return *name;
    }
    return {};
  }

  void On(const CommitRecord& commit_record, Timestamp at) {
    const std::string& sender = commit_record.Sender();
    NodeLives& node = NodeOf(StateOf(sender));
    node.takes_part = true;
    if (!commit_record.lock.empty()) node.locks.insert(LockOf(commit_record.lock));
    AddSign(sender, at, /*commits=*/true);
    LifeOf(sender, StateOf(sender))
        .calls.push_back(
            {.from = LikelyTime(processes_, commit_record.process, commit_record.sent), .to = at});
  }

  void On(const LogLine& log_line, Timestamp at) {
    if (log_line.statement == Statement::kSawEnd && states_.contains(log_line.sender)) {
      const Life& life = LifeOf(log_line.sender, StateOf(log_line.sender));
      return life.gone ? void() : On(AsOfEnded(log_line), at);
    }
    // A program that calls pass takes no part, and what it saw of a call is no line of its sender.
    if (!log_line.sender.empty() && log_line.sender != log_line.process) return;
    State& state = StateOf(log_line.process);
    NodeLives& node = NodeOf(state);
    if (log_line.statement == Statement::kStarted && log_line.number.value_or(1) == 1) {
      StartAnew(log_line.process, at, state);
    }
    Follow(log_line, at, state);
    if (IsOfCandidate(log_line.statement)) {
      node.takes_part = true;
      if (!log_line.lock.empty()) node.locks.insert(LockOf(log_line.lock));
    }
    const bool lapses = log_line.statement == Statement::kLeadsNot;
    AddSign(log_line.process, at, /*commits=*/false, lapses);
  }

  // What the process leads, works on and has ended by the line.
  void Follow(const LogLine& log_line, Timestamp at, State& state) {
    Life& life = LifeOf(log_line.process, state);
    switch (log_line.statement) {
      case Statement::kLeads:
        state.believes.insert(log_line.lock);
        life.stopped.reset();
        break;
      case Statement::kLeadsNot:
        LeadsNot(log_line.lock, at, state, life);
        break;
      case Statement::kWorks:
        NodeOf(state).works = true;
        state.works.try_emplace(log_line.lock, at);
        life.stopped.reset();
        break;
      case Statement::kRests:
        EndWork(state, at, log_line.lock);
        break;
      case Statement::kGone:
        EndWork(state, at);
        state.believes.clear();
        life.gone = at;
        break;
      case Statement::kAnswers:
        NodeOf(state).answers.push_back(at);
        break;
      case Statement::kStarted:
      case Statement::kSawEnd:
      case Statement::kAccepts:
      case Statement::kOwns:
      case Statement::kAborted:
      case Statement::kCalled:
      case Statement::kMayEnd:
      case Statement::kHasStill:
      case Statement::kRefuses:
      case Statement::kNotUnderstood:
      case Statement::kOther:
        break;
    }
  }

  // Whether a process that says so is a candidate for a lock, and no resource.
  static bool IsOfCandidate(Statement statement) {
    return statement != Statement::kAccepts && statement != Statement::kRefuses &&
           statement != Statement::kOther;
  }

  void StartAnew(const std::string& process, Timestamp at, State& state) {
    state.believes.clear();
    EndWork(state, std::nullopt);
    Life& life = NodeOf(state).lives.emplace_back();
    life.process = process;
    life.started = at;
  }

  // Empty lock: it leads none.
  static void LeadsNot(const std::string& lock, Timestamp at, State& state, Life& life) {
    if (!lock.empty()) {
      state.believes.erase(lock);
      return;
    }
    state.believes.clear();
    life.stopped = at;
  }

  static void On(const ProcessDeclaration& /*declared*/, Timestamp /*at*/) {}

  const ProtocolInfo& protocol_;
  const sim::Rules& rules_;
  const Processes& processes_;
  ProcessTimelines lives_;
  std::map<std::string, State> states_;
  std::map<std::string, LockState> locks_;
};

}  // namespace

ProcessTimelines TimelinesOf(const ProtocolInfo& protocol, const std::vector<Moment>& moments,
                             const Processes& processes) {
  return Sweep(protocol, processes).Take(moments);
}

}  // namespace whorl::check
