#include "tests/check/foreign_history.h"

#include <algorithm>
#include <tuple>

#include "sim/report/json_print.h"
#include "tests/support/split_mix.h"

namespace whorl::check {
namespace {

using nlohmann::json;
using sim::Instant;

class Draws : public SplitMix {
 public:
  using SplitMix::SplitMix;
  int64_t Below(int64_t end) {
    return static_cast<int64_t>(SplitMix::Below(static_cast<uint64_t>(std::max(end, int64_t{1}))));
  }
};

constexpr const char* kSupervisor = "the supervisor";

// Kinds of lines, and parts of one, that a program may not log.
struct KindOfLine {
  std::string_view kind;  // as a process says that it logs it
  std::vector<std::string_view> events;
};
const std::vector<KindOfLine>& KindsOfLines() {
  static const std::vector<KindOfLine> kinds = {
      {"leads", {"leads", "renewed", "lost", "leads_not"}},
      {"leads", {"leads"}},
      {"leads", {"lost", "leads_not"}},
      {"", {"renewed"}},
      {"works", {"works", "rests"}},
      {"works", {"works"}},
      {"works", {"rests"}},
      {"answer", {"answer"}},
      {"owns", {"owns"}},
      {"steps", {"call"}},
      {"", {"gone"}},
      {"", {"ended"}},
      {"", {"write"}}};
  return kinds;
}
constexpr std::pair<std::string_view, std::string_view> kFields[] =
    {  // and the kind that lacks it then
        {"token", "tokens"},
        {"asked", ""},
        {"left", ""},
        {"step", "steps"}};

std::string TimeText(Instant at) { return FormatRfc3339(sim::ToTimestamp(at)); }

}  // namespace

ForeignHistory::ForeignHistory(const sim::Scenario& scenario, const ProtocolInfo& protocol,
                               bool keeps_ids)
    : protocol_(protocol),
      keeps_ids_(keeps_ids),
      setup_(sim::MakeCheckerSetup(scenario, Milliseconds(1))) {}

std::string ForeignHistory::NameOf(ProcessId process) const {
  if (keeps_ids_) return setup_.Node(process.node).name;
  return setup_.Node(process.node).name + "#" + std::to_string(process.incarnation);
}

void ForeignHistory::Say(ProcessId process, const char* event, Instant at,
                         const std::string& lock) {
  json line = json::object();
  line["event"] = event;
  line["id"] = NameOf(process);
  if (!lock.empty()) line["lock"] = lock;
  entries_.push_back({.of = NameOf(process),
                      .is_row = false,
                      .begins = false,
                      .at = at,
                      .line = std::move(line),
                      .times = {{"time", at}},
                      .lapses = {}});
}

void ForeignHistory::On(const sim::RowCommitted& row, Instant at) {
  const auto holder =
      std::ranges::find(protocol_.columns, protocol_.holder_columns.holder, &ColumnInfo::name) -
      protocol_.columns.begin();
  const auto column = static_cast<size_t>(holder);
  const Row& shown = row.after ? *row.after : *row.before;
  const json key_value =
      json::parse(sim::DumpJson(sim::ValueJson(shown[setup_.rules->key_column])));
  const std::string key_text = key_value.dump();
  const std::string* const key = &key_text;
  const auto was_there = rows_.find(*key);
  const json before = was_there == rows_.end() ? json(nullptr) : was_there->second;
  json after = nullptr;
  if (row.after) {
    after = json::object();
    for (size_t i = 0; i < protocol_.columns.size(); ++i) {
      after[std::string(protocol_.columns[i].name)] =
          json::parse(sim::DumpJson(sim::ValueJson((*row.after)[i])));
    }
    // Ids are drawn, or shared: the row shall name its process.
    if (const auto* id = std::get_if<std::string>(&(*row.after)[column])) {
      const auto token = setup_.rules->token_column;
      // Without tokens, the process that writes its id is the owner.
      const bool is_new = !token || !row.before || (*row.before)[column] != (*row.after)[column] ||
                          (*row.before)[*token] != (*row.after)[*token];
      if (is_new && row.writer != ProcessId{}) process_of_id_[{*key, *id}] = NameOf(row.writer);
      if (const auto found = process_of_id_.find({*key, *id}); found != process_of_id_.end()) {
        after[std::string(protocol_.columns[column].name)] = found->second;
      }
    }
  }
  rows_[*key] = after;
  if (row.writer == ProcessId{} && at != Instant{}) ++outside_;
  // What was there at the start was there before the stream.
  if (row.writer == ProcessId{} && at == Instant{}) return;
  json mod = json::object();
  mod["keys"][std::string(protocol_.columns[setup_.rules->key_column].name)] = key_value;
  json old_values = json::object();
  for (const ColumnInfo& info : protocol_.columns) {
    const std::string name(info.name);
    if (info.key) continue;
    if (!after.is_null()) mod["new_values"][name] = after[name];
    const bool changed = !before.is_null() && (after.is_null() || before[name] != after[name]);
    if (changed) old_values[name] = before[name];
  }
  mod["old_values"] = old_values;
  const char* kind = before.is_null() ? "INSERT" : "UPDATE";
  if (after.is_null()) kind = "DELETE";
  json record = json::object();
  record["commit_timestamp"] = FormatRfc3339(row.commit);
  record["table_name"] = "locks";
  record["mod_type"] = kind;
  record["value_capture_type"] = "NEW_ROW_AND_OLD_VALUES";
  record["mods"] = json::array({mod});
  entries_.push_back({.of = "row " + *key,
                      .is_row = true,
                      .begins = false,
                      .at = at,
                      .line = record,
                      .times = {},
                      .lapses = {}});
}

void ForeignHistory::On(const sim::ProcessStarted& x, Instant at) {
  processes_[NameOf(x.process)] = x.process;
  Say(x.process, "started", at);
  entries_.back().begins = true;
}

void ForeignHistory::On(const sim::ProcessStopped& x, Instant at) {
  stopped_.insert(x.process);
  Say(x.process, "leads_not", at);
}

void ForeignHistory::On(const sim::ProcessGone& x, Instant at) {
  paused_.erase(x.process);
  if (!keeps_ids_) return Say(x.process, "gone", at);
  Say(x.process, "ended", at);
  entries_.back().of = kSupervisor;
  entries_.back().line["by"] = kSupervisor;
}

void ForeignHistory::On(const sim::ProcessPaused& x, Instant) { paused_[x.process]; }

void ForeignHistory::On(const sim::ProcessResumed& x, Instant at) {
  const auto lapsed = paused_.extract(x.process);
  if (lapsed.empty()) return;
  const char* const event = stopped_.contains(x.process) ? "leads_not" : "lost";
  for (const uint16_t lock : lapsed.mapped()) Say(x.process, event, at, setup_.LockName(lock));
}

void ForeignHistory::On(const sim::BeliefChanged& x, Instant at) {
  const LockOfProcess key = {x.process, x.lock};
  const bool leads = x.believes && !stopped_.contains(x.process);
  const auto was = beliefs_.extract(key);
  if (!was.empty() && was.mapped().until) entries_[was.mapped().entry].lapses = at;
  const auto paused = paused_.find(x.process);
  if (!leads && !was.empty() && was.mapped().until && paused != paused_.end()) {
    paused->second.push_back(x.lock);
    return;
  }
  // What its stop has ended, or never began, does not end now.
  const bool ends = !was.empty() && !stopped_.contains(x.process);
  Say(x.process, leads ? "leads" : ends ? "lost" : "leads_not", at, setup_.LockName(x.lock));
  if (leads) beliefs_[key] = {.entry = entries_.size() - 1, .until = believes_until_[key]};
}

void ForeignHistory::Renew(const sim::LeadershipViewChanged& x, Instant at) {
  const LockOfProcess key = {x.process, x.lock};
  const std::optional<LocalInstant> until = x.standing.believes_until;
  believes_until_[key] = until;
  const auto belief = beliefs_.find(key);
  if (belief == beliefs_.end() || !x.standing.believes || !until) return;
  const std::optional<LocalInstant> before = std::exchange(belief->second.until, until);
  if (!before || before == until) return;
  // It had more time left than until now.
  entries_[belief->second.entry].lapses = at + Seconds(1);
  belief->second.entry = entries_.size();
  Say(x.process, "renewed", at, setup_.LockName(x.lock));
}

void ForeignHistory::On(const sim::LeadershipViewChanged& x, Instant at) {
  Renew(x, at);
  std::optional<Token>& own = own_tokens_[{x.process, x.lock}];
  if (own == x.standing.own_token) return;
  own = x.standing.own_token;
  Say(x.process, "owns", at, setup_.LockName(x.lock));
  if (own) entries_.back().line["token"] = std::to_string(own->Number());
}

void ForeignHistory::On(const sim::WorkChanged& x, Instant at) {
  Say(x.process, x.at_work ? "works" : "rests", at, setup_.LockName(x.lock));
}

void ForeignHistory::On(const sim::QuestionAnswered& x, Instant at) {
  const bool asks =
      x.answer.question == Question::kHasLock || x.answer.question == Question::kHasLock2;
  if (!asks) return;
  Say(x.process, "answer", at, setup_.LockName(x.lock));
  entries_.back().line["has"] = x.answer.yes;
  entries_.back().times.emplace_back("asked", x.asked_at);
  if (x.answer.token) entries_.back().line["token"] = std::to_string(*x.answer.token);
}

void ForeignHistory::On(const sim::WriteArrived& x, Instant at) {
  if (!x.fenced || !x.token) return;
  Say(x.process, "write", at, setup_.LockName(x.lock));
  entries_.back().of = "the resource";
  entries_.back().line["id"] = "the resource";
  entries_.back().line["token"] = std::to_string(*x.token);
  entries_.back().line["accepted"] = x.accepted;
}

void ForeignHistory::On(const sim::TransactionStarted& x, Instant at) {
  transactions_[{x.process, x.lock, x.request}] = {.sent = at, .commit = {}};
}

void ForeignHistory::On(const sim::TransactionCommitted& x, Instant) {
  const auto found = transactions_.find({x.call.process, x.call.lock, x.call.request});
  if (found == transactions_.end()) return;
  // The commit may be that of one before, which was given up.
  if (x.commit < sim::ToTimestamp(found->second.sent)) return;
  found->second.commit = x.commit;
  found->second.step = x.step;
}

void ForeignHistory::On(const sim::TransactionFinished& x, Instant at) {
  const auto found = transactions_.find({x.process, x.lock, x.request});
  if (found == transactions_.end()) return;
  if (x.outcome == Outcome::kCommitted && found->second.commit) {
    json line = json::object();
    line["event"] = "call";
    line["id"] = NameOf(x.process);
    line["lock"] = setup_.LockName(x.lock);
    line["commit"] = FormatRfc3339(*found->second.commit);
    line["step"] = std::string(found->second.step.word());
    entries_.push_back({.of = NameOf(x.process),
                        .is_row = false,
                        .begins = false,
                        .at = at,
                        .line = std::move(line),
                        .times = {{"sent", found->second.sent}, {"received", at}},
                        .lapses = {}});
  }
  transactions_.erase(found);
}

void ForeignHistory::Hear(const sim::Observation& observation, uint64_t, uint64_t) {
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { On(x, observation.at); }) On(x, observation.at);
      },
      observation.what);
}

std::vector<std::string> ForeignHistory::Lines(const Recording& recording,
                                               LeftOut* left_out) const {
  Draws draws(recording.seed);
  Draws leaves(recording.seed + 1'000'003);
  const auto is_left_out = [&] { return leaves.Below(1'000) < recording.left_out_per_mille; };
  std::vector<std::string> what;
  std::set<std::string> silent;                          // processes
  std::set<std::pair<std::string, std::string>> events;  // of a process
  std::set<std::pair<std::string, std::string>> fields;
  std::map<std::string, std::set<std::string>> undeclared;  // kinds
  std::set<std::string> columns;
  const std::string resource = "the resource";
  std::vector<std::string> names = {resource, kSupervisor};
  for (const auto& [name, process] : processes_) names.push_back(name);
  for (const std::string& name : names) {
    for (const KindOfLine& kind : KindsOfLines()) {
      if (!is_left_out()) continue;
      what.push_back(name + " " + std::string(kind.events.front()) + ".." +
                     std::to_string(kind.events.size()));
      for (const std::string_view event : kind.events) events.emplace(name, event);
      undeclared[name].emplace(kind.kind);
      // Tokens come with these.
      undeclared[name].emplace("tokens");
    }
    for (const auto& [field, kind] : kFields) {
      if (!is_left_out()) continue;
      what.push_back(name + " ." + std::string(field));
      if (field == "left" && left_out != nullptr) left_out->lapses = true;
      fields.emplace(name, field);
      undeclared[name].emplace(kind);
      if (field == "token") undeclared[name].emplace("owns");
    }
    if (is_left_out() && name != resource && name != kSupervisor) {
      what.push_back(name + " all");
      silent.insert(name);
    }
  }
  const bool no_rows = is_left_out();
  const bool no_old_values = is_left_out();
  for (const ColumnInfo& column : protocol_.columns) {
    if (!column.key && is_left_out()) columns.emplace(column.name);
  }
  for (const std::string& column : columns) what.push_back("column " + column);
  if (no_rows) what.emplace_back("rows");
  if (no_old_values) what.emplace_back("old values");
  if (left_out != nullptr) {
    left_out->rows = no_rows;
    left_out->what = what;
  }
  std::vector<std::string> lines;
  std::map<std::string, Duration> offsets;
  std::map<std::string, int64_t> rates;  // in ppm
  const Duration most = recording.clock_error;
  for (const auto& [name, process] : processes_) {
    offsets[name] = Nanoseconds(draws.Below(2 * most.ns + 1) - most.ns);
    rates[name] = draws.Below(2 * recording.drift_ppm + 1) - recording.drift_ppm;
    json line = json::object();
    line["event"] = "process";
    line["id"] = name;
    line["node"] = setup_.Node(process.node).name;
    line["lease"] = FormatDuration(setup_.Node(process.node).lease);
    if (recording.clocks_declared) {
      line["offset"] = json::array({"-" + FormatDuration(most), FormatDuration(most)});
    }
    const bool declares = recording.left_out_per_mille == 0 || leaves.Below(2) == 0;
    json logs = json::array();
    for (const char* kind : {"leads", "works", "tokens", "answer", "owns", "steps"}) {
      if (!undeclared[name].contains(kind)) logs.push_back(kind);
    }
    if (declares && !logs.empty() && !silent.contains(name)) line["logs"] = logs;
    lines.push_back(line.dump());
  }
  // Its clock is true.
  lines.push_back(
      json{{"event", "process"}, {"id", kSupervisor}, {"offset", {"-1ms", "1ms"}}}.dump());
  std::map<std::string, size_t> last;
  for (size_t i = 0; i < entries_.size(); ++i) last[entries_[i].of] = i;
  std::map<std::string, int64_t> numbers;
  std::vector<std::tuple<Instant, size_t, std::string>> written;  // the second keeps their order
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    json line = entry.line;
    const auto shown = [&](Instant at) {
      const Duration drift = Nanoseconds((at - Instant{}).ns / 1'000'000 * rates[entry.of]);
      return at + offsets[entry.of] + drift;
    };
    for (const auto& [name, at] : entry.times) line[name] = TimeText(shown(at));
    const std::string event = entry.is_row ? "" : entry.line["event"].get<std::string>();
    if (entry.is_row && no_rows) continue;
    if (!entry.is_row && (silent.contains(entry.of) || events.contains({entry.of, event})))
      continue;
    if (entry.lapses) line["left"] = FormatDuration(shown(*entry.lapses) - shown(entry.at));
    for (const auto& [field, kind] : kFields) {
      if (fields.contains({entry.of, std::string(field)})) line.erase(std::string(field));
    }
    if (entry.is_row) {
      json& mod = line["mods"][0];
      for (const std::string& column : columns) {
        if (mod.contains("new_values")) mod["new_values"].erase(column);
        mod["old_values"].erase(column);
      }
      if (no_old_values) mod.erase("old_values");
      if (!columns.empty()) line["value_capture_type"] = "NEW_VALUES";
    }
    if (entry.begins) numbers[entry.of] = 0;
    if (!entry.is_row) line["n"] = ++numbers[entry.of];
    const bool is_missing = draws.Below(1'000) < recording.missing_per_mille && last[entry.of] != i;
    const int64_t copies = draws.Below(1'000) < recording.twice_per_mille ? 2 : 1;
    for (int64_t copy = 0; copy < copies && !is_missing; ++copy) {
      const Duration later = Nanoseconds(draws.Below(recording.disorder.ns + 1));
      written.emplace_back(entry.at + later, i, line.dump());
    }
  }
  std::ranges::sort(written);
  for (auto& [at, place, line] : written) lines.push_back(std::move(line));
  return lines;
}

}  // namespace whorl::check
