#include "check/page_events.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include "base/keep_ties.h"
#include "check/known_row.h"
#include "check/no_protocol.h"
#include "check/process_timelines.h"
#include "protocol/token.h"
#include "sim/report/json_print.h"
#include "sim/report/row_text.h"
#include "sim/scenario/rules.h"

namespace whorl::check {
namespace {

using sim::Json;

// How long a fault is drawn; nothing: to the end.
std::optional<Duration> LengthOf(const sim::FaultSpec& fault) {
  if (const auto* pause = fault.As<sim::PauseFault>()) return pause->lasts;
  if (const auto* cut = fault.As<sim::PartitionFault>()) return cut->lasts;
  if (const auto* slow = fault.As<sim::LatencyFault>()) return slow->lasts;
  if (const auto* crash = fault.As<sim::CrashFault>()) return crash->restart_after;
  if (const auto* stop = fault.As<sim::StopFault>()) return stop->restart_after;
  return std::nullopt;
}

class Collector {
 public:
  Collector(const ProtocolInfo& protocol, const Processes& processes,
            const InferredScenario& inferred, std::optional<Duration> lease)
      : protocol_(protocol),
        rules_(RulesFor(protocol)),
        processes_(processes),
        inferred_(inferred),
        lease_(lease) {
    all_.protocol = std::string(protocol.name);
  }

  PageEvents Collect(const std::vector<Moment>& moments, const HistoryVerdict& verdict) {
    const ProcessTimelines lives = TimelinesOf(protocol_, moments, processes_);
    all_.locks = lives.locks;
    for (const NodeLives& node : lives.nodes) all_.nodes.push_back(node.name);
    all_.zero = BeginOf(moments, processes_);
    for (const Moment& moment : moments) {
      std::visit([&](const auto& what) { On(what, moment.at); }, moment.operation.what);
    }
    for (const Lapse& lapse : lapses_) {
      if (lapse.at < moments.back().at) AddLapse(lapse);
    }
    AddFaults();
    AddViolations(verdict);
    SortKeepingTies(all_.events, &PageEvent::at);
    return std::move(all_);
  }

 private:
  struct Lapse {
    std::string process;
    std::string lock;
    Timestamp at;
  };

  int16_t NodeOf(const std::string& process) const {
    const Process* who = processes_.Find(process);
    const std::string& name = who == nullptr || who->node.empty() ? process : who->node;
    const auto found = std::ranges::find(all_.nodes, name);
    return found == all_.nodes.end() ? int16_t{-1}
                                     : static_cast<int16_t>(found - all_.nodes.begin());
  }
  int LockOf(const std::string& name) const {
    if (protocol_.takes_one_lock && !name.empty()) return 0;
    const auto found = std::ranges::find(all_.locks, name);
    return found == all_.locks.end() ? -1 : static_cast<int>(found - all_.locks.begin());
  }

  PageEvent& Add(PageEventKind kind, Timestamp at, const std::string& process,
                 const std::string& lock) {
    PageEvent& event = all_.events.emplace_back();
    event.at = at;
    event.kind = kind;
    event.node = NodeOf(process);
    event.lock = LockOf(lock);
    if (event.node >= 0) {
      const std::string& node = all_.nodes[static_cast<size_t>(event.node)];
      event.fields["process"] = node;
      if (process != node) event.fields["id"] = process;
    } else if (!process.empty()) {
      event.fields["id"] = process;
    }
    if (event.lock >= 0) event.fields["lock"] = all_.locks[static_cast<size_t>(event.lock)];
    return event;
  }

  void On(const LogLine& log_line, Timestamp at) {
    if (log_line.statement == Statement::kSawEnd) return On(AsOfEnded(log_line), at);
    const auto kind = [&] {
      switch (log_line.statement) {
        case Statement::kLeads:
        case Statement::kLeadsNot:
          return PageEventKind::kBeliefChanged;
        case Statement::kWorks:
        case Statement::kRests:
          return PageEventKind::kWorkChanged;
        case Statement::kStarted:
          return log_line.number.value_or(1) == 1 ? PageEventKind::kProcessStarted
                                                  : PageEventKind::kLine;
        case Statement::kGone:
          return PageEventKind::kProcessGone;
        case Statement::kAnswers:
          return PageEventKind::kQuestionAnswered;
        case Statement::kAccepts:
          return PageEventKind::kWriteArrived;
        case Statement::kSawEnd:
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
      return PageEventKind::kLine;
    }();
    EndBeliefThatLapsed(log_line, at);
    const bool is_of_resource = kind == PageEventKind::kWriteArrived;
    PageEvent& event =
        Add(kind, at, is_of_resource ? std::string() : log_line.process, log_line.lock);
    // A process that takes no part in a lock is drawn as an empty line.
    const bool needs_node = kind != PageEventKind::kWriteArrived;
    if (needs_node && event.node < 0) event.kind = PageEventKind::kLine;
    event.is_sign = true;
    event.is_on =
        log_line.statement == Statement::kLeads || log_line.statement == Statement::kWorks;
    if (kind == PageEventKind::kBeliefChanged) event.fields["believes"] = event.is_on;
    if (kind == PageEventKind::kWorkChanged) event.fields["at_work"] = event.is_on;
    if (kind == PageEventKind::kQuestionAnswered) event.fields["has_lock"] = true;
    if (is_of_resource) {
      event.fields["resource"] = log_line.process;
      event.fields["accepted"] = event.fields["fenced"] = true;
    }
    if (log_line.lapses_in) event.fields["left"] = FormatDuration(*log_line.lapses_in);
    if (log_line.token) event.fields["token"] = std::to_string(*log_line.token);
  }

  // A belief lapses by itself unless a line says something of it before. Later lines come later.
  void EndBeliefThatLapsed(const LogLine& log_line, Timestamp at) {
    const bool is_about_all = log_line.statement == Statement::kGone ||
                              log_line.statement == Statement::kStarted || log_line.lock.empty();
    const bool is_of_belief = log_line.statement == Statement::kLeads ||
                              log_line.statement == Statement::kLeadsNot || is_about_all;
    std::erase_if(lapses_, [&](const Lapse& lapse) {
      if (lapse.process != log_line.process) return false;
      if (lapse.at < at) {
        AddLapse(lapse);
        return true;
      }
      return is_of_belief && (is_about_all || lapse.lock == log_line.lock);
    });
    if (log_line.statement == Statement::kLeads && log_line.lapses_in) {
      lapses_.push_back(
          {.process = log_line.process, .lock = log_line.lock, .at = at + *log_line.lapses_in});
    }
  }

  void AddLapse(const Lapse& lapse) {
    PageEvent& event = Add(PageEventKind::kBeliefChanged, lapse.at, lapse.process, lapse.lock);
    if (event.node < 0) event.kind = PageEventKind::kLine;
    event.lapses = true;
    event.fields["believes"] = false;
    event.fields["lapsed"] = true;
  }

  void On(const CommitRecord& commit_record, Timestamp at) {
    const uint32_t number = calls_++;
    const Timestamp sent = LikelyTime(processes_, commit_record.process, commit_record.sent);
    // As the clock allows, in the order that is certain.
    const std::pair<PageEventKind, Timestamp> parts[] = {
        {PageEventKind::kCallSent, std::min(sent, commit_record.commit)},
        {PageEventKind::kCallServed, commit_record.commit},
        {PageEventKind::kCallEnded, at}};
    for (const auto& [kind, when] : parts) {
      PageEvent& event = Add(kind, when, commit_record.Sender(), commit_record.lock);
      event.number = number;
      event.is_sign = kind != PageEventKind::kCallServed;
      event.fields["commit"] = FormatRfc3339(commit_record.commit);
    }
  }

  Json ColumnsJson(const KnownRow& columns) const {
    Json json = Json::object();
    for (size_t i = 0; i < columns.size() && i < protocol_.columns.size(); ++i) {
      if (columns[i]) json[std::string(protocol_.columns[i].name)] = sim::ValueJson(*columns[i]);
    }
    return json;
  }

  void On(const RowChange& change, Timestamp at) {
    KnownRow& row = rows_[change.lock];
    KnownRow before = change.before.empty() ? row : change.before;
    FillIn(before, row, protocol_);
    KnownRow after = change.after;
    FillIn(after, row, protocol_);
    if (change.kind == RowChangeKind::kDeleted) after.clear();
    PageEvent& event = Add(PageEventKind::kRowCommitted, at, "", change.lock);
    event.fields["commit"] = FormatRfc3339(change.commit);
    event.fields["row"] = change.lock;
    if (change.kind != RowChangeKind::kInserted) event.fields["before"] = ColumnsJson(before);
    if (!after.empty()) event.fields["after"] = ColumnsJson(after);
    event.version = VersionOf(after);
    row = std::move(after);
  }

  PageVersion VersionOf(const KnownRow& columns) const {
    PageVersion version;
    if (columns.empty()) return version;
    version.is_there = true;
    whorl::Row row;
    for (const auto& value : columns) row.push_back(value.value_or(Null{}));
    row.resize(protocol_.columns.size(), Null{});
    version.held = sim::IsHeld(rules_, row) && !rules_.is_released(row);
    if (!version.held) return version;
    for (size_t i = 0; i < protocol_.columns.size(); ++i) {
      if (protocol_.columns[i].name != protocol_.holder_columns.holder) continue;
      if (const auto* name = std::get_if<std::string>(&row[i])) version.owner = *name;
    }
    version.node = NodeOf(version.owner);
    if (rules_.token_column) version.token = TokenTextOf(row[*rules_.token_column]);
    const Process* who = processes_.Find(version.owner);
    const std::optional<Duration> lease = who != nullptr && who->lease ? who->lease : lease_;
    if (lease || rules_.lease_until.lease_ms) {
      version.lease_until = rules_.lease_until(row, lease.value_or(Duration{}));
    }
    return version;
  }
  // Times as the page shows them.
  std::string TokenTextOf(const Value& value) const {
    if (const auto* time = std::get_if<Timestamp>(&value)) {
      return sim::InstantText({(*time - all_.zero).ns});
    }
    const std::optional<Token> token = Token::In(value);
    return token ? FormatToken(*token) : std::string();
  }

  static void On(const ProcessDeclaration& /*declared*/, Timestamp /*at*/) {}

  void AddFaults() {
    for (const InferredFault& inferred : inferred_.faults) {
      const auto number = static_cast<uint32_t>(all_.faults.size());
      const int16_t node = inferred.fault.node;
      all_.faults.push_back({.text = inferred.text,
                             .node = node,
                             .is_pause = inferred.fault.As<sim::PauseFault>() != nullptr});
      const auto began = std::get<sim::Instant>(inferred.fault.trigger);
      const Timestamp from = inferred_.begins + Duration{began.ns};
      AddFault(PageEventKind::kFaultBegan, from, number, node);
      const std::optional<Duration> lasts = LengthOf(inferred.fault);
      if (lasts) AddFault(PageEventKind::kFaultEnded, from + *lasts, number, node);
    }
  }
  void AddFault(PageEventKind kind, Timestamp at, uint32_t number, int16_t node) {
    PageEvent& event = all_.events.emplace_back();
    event.at = std::max(at, all_.zero);
    event.kind = kind;
    event.node = node;
    event.number = number;
    event.fields["fault"] = number;
  }

  // A violation is certain at a time at which nothing else need have happened.
  void AddViolations(const HistoryVerdict& verdict) {
    for (const InvariantResult& found : verdict.invariants) {
      if (found.verdict == Verdict::kViolated && found.at) {
        AddViolation(WordOf(found.invariant), found.lock, *found.at, found.text);
      }
    }
    if (verdict.outside_count == 0) return;
    const OutsideWrite& first = verdict.outside_writes.front();
    AddViolation("outside_write", first.lock, first.at, first.text);
  }
  void AddViolation(std::string_view name, const std::string& lock, Timestamp at,
                    const std::string& text) {
    PageEvent& event = Add(PageEventKind::kViolated, std::max(at, all_.zero), "", lock);
    event.fields["invariant"] = name;
    event.fields["text"] = text;
  }

  const ProtocolInfo& protocol_;
  const sim::Rules& rules_;
  const Processes& processes_;
  const InferredScenario& inferred_;
  std::optional<Duration> lease_;
  PageEvents all_;
  std::map<std::string, KnownRow> rows_;
  std::vector<Lapse> lapses_;  // that may come
  uint32_t calls_ = 0;
};

}  // namespace

PageEvents PageEventsOf(const ProtocolInfo& protocol, const std::vector<Moment>& moments,
                        const Processes& processes, const InferredScenario& inferred,
                        const HistoryVerdict& verdict, std::optional<Duration> lease) {
  return Collector(protocol, processes, inferred, lease).Collect(moments, verdict);
}

}  // namespace whorl::check
