#include "check/json_lines.h"

#include <charconv>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/scenario/error_text.h"
#include "sim/scenario/units.h"

namespace whorl::check {
namespace {

using nlohmann::json;
using sim::Cat;
using sim::Quoted;

// Thrown within this file only, with what is wrong.
struct Wrong {
  std::string text;
};

// The first member that is there, by any of its spellings; null if none is.
const json* Find(const json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found != object.end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

std::string TextOf(const json& object, const char* name, bool required = true) {
  const json* found = Find(object, {name});
  if (found == nullptr) {
    if (required) throw Wrong{Cat("wants ", Quoted(name))};
    return {};
  }
  if (!found->is_string()) throw Wrong{Cat(Quoted(name), " is a string")};
  return found->get<std::string>();
}

Timestamp ParseTime(const std::string& text, std::string_view name) {
  const std::optional<Timestamp> time = ParseRfc3339(text);
  if (!time) {
    throw Wrong{Cat(Quoted(name), " is a time such as 2026-01-31T00:00:00.5Z, not ", Quoted(text))};
  }
  return *time;
}

Timestamp TimeOf(const json& object, const char* name) {
  return ParseTime(TextOf(object, name), name);
}

// "10s", "-5ms", or seconds as whorl logs them: "10.000000000".
Duration DurationOf(std::string text, std::string_view name) {
  const std::string given = text;
  const bool negative = text.starts_with('-');
  if (negative) text.erase(0, 1);
  if (!text.empty() && text.find_first_not_of("0123456789.") == std::string::npos) text += "s";
  const auto parsed = sim::ParseDuration(text);
  const auto* duration = std::get_if<Duration>(&parsed);
  if (duration == nullptr) {
    throw Wrong{Cat(Quoted(name), " is ", sim::kDurationExample, ", not ", Quoted(given))};
  }
  return negative ? -*duration : *duration;
}

Statement StatementOf(std::string_view event) {
  if (event == "leads") return Statement::kLeads;
  if (event == "lost" || event == "leads_not") return Statement::kLeadsNot;
  if (event == "works") return Statement::kWorks;
  if (event == "rests") return Statement::kRests;
  if (event == "stopped" || event == "gone") return Statement::kGone;
  return Statement::kOther;
}

Value ValueOf(const json& value, const ColumnInfo& column, Timestamp commit) {
  if (value.is_null()) return Null{};
  switch (column.type) {
    case Type::kTimestamp: {
      if (!value.is_string()) break;
      const auto text = value.get<std::string>();
      // A pending commit timestamp is the record's; the emulator shows the last second there is.
      if (text == "spanner.commit_timestamp()" || text.starts_with("9999-12-31T23:59:59"))
        return commit;
      return ParseTime(text, column.name);
    }
    case Type::kInt64: {
      if (value.is_number_integer()) return value.get<int64_t>();
      if (!value.is_string()) break;
      const auto text = value.get<std::string>();
      int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size()) break;
      return number;
    }
    default:
      if (value.is_string()) return value.get<std::string>();
  }
  throw Wrong{Cat("column ", Quoted(column.name), " is ", WordOf(column.type), ", not ",
                  Quoted(value.dump()))};
}

// An object, or one as text.
json ObjectIn(const json& mod, std::initializer_list<const char*> names) {
  const json* found = Find(mod, names);
  if (found == nullptr) return json::object();
  if (found->is_object()) return *found;
  if (found->is_string()) {
    json parsed = json::parse(found->get<std::string>(), nullptr, /*allow_exceptions=*/false);
    if (parsed.is_object()) return parsed;
  }
  throw Wrong{Cat(Quoted(*names.begin()), " is an object, or one as a string")};
}

}  // namespace

class LineReader {
 public:
  LineReader(const JsonLines& options, const Place& place, std::vector<Operation>& out)
      : options_(options), place_(place), out_(out) {}

  void Read(const json& value, int depth = 0) {
    constexpr int kDeepest = 8;
    if (depth > kDeepest) throw Wrong{"is nested more deeply than any change record"};
    if (value.is_array()) {
      for (const json& element : value) Read(element, depth + 1);
      return;
    }
    if (!value.is_object()) throw Wrong{"is no JSON object"};
    if (Find(value, {"commit_timestamp", "commitTimestamp"}) != nullptr) return Record(value);
    if (value.contains("event")) return Line(value);
    // What a query of a change stream answers: lists, of which those of other records are of no use.
    bool is_answer = false;
    for (const char* name :
         {"ChangeRecord", "change_record", "data_change_record", "dataChangeRecord"}) {
      const auto found = value.find(name);
      if (found == value.end()) continue;
      is_answer = true;
      if (!found->is_null()) Read(*found, depth + 1);
    }
    for (const char* name : {"heartbeat_record", "child_partitions_record", "heartbeatRecord",
                             "childPartitionsRecord"}) {
      is_answer = is_answer || value.contains(name);
    }
    if (!is_answer) {
      throw Wrong{
          "is neither a data change record (\"commit_timestamp\") nor a line of a process "
          "(\"event\"); docs/CHECKING.md has both"};
    }
  }

 private:
  void Add(decltype(Operation::what) what) {
    out_.push_back({.place = place_, .what = std::move(what)});
  }

  static Timestamp CommitOf(const json& record) {
    const json& commit = *Find(record, {"commit_timestamp", "commitTimestamp"});
    if (commit.is_string()) return ParseTime(commit.get<std::string>(), "commit_timestamp");
    if (commit.is_object() && commit.contains("seconds")) {
      const json& seconds = commit["seconds"];
      const json* nanos = Find(commit, {"nanos"});
      if (seconds.is_number_integer() && (nanos == nullptr || nanos->is_number_integer())) {
        const auto time = Timestamp::FromParts(seconds.get<int64_t>(),
                                               nanos == nullptr ? 0 : nanos->get<int64_t>());
        if (time) return *time;
      }
    }
    throw Wrong{"\"commit_timestamp\" is a time such as 2026-01-31T00:00:00.5Z"};
  }

  void Record(const json& record) {
    const Timestamp commit = CommitOf(record);
    const json* table = Find(record, {"table_name", "tableName"});
    if (!options_.table_.empty() && table != nullptr && *table != json(options_.table_)) return;
    const json* kind = Find(record, {"mod_type", "modType"});
    const json* mods = Find(record, {"mods"});
    if (kind == nullptr || mods == nullptr || !mods->is_array()) {
      throw Wrong{"a data change record wants \"mod_type\" and \"mods\", a list"};
    }
    RowChangeKind change = RowChangeKind::kUpdated;
    if (*kind == "INSERT") {
      change = RowChangeKind::kInserted;
    } else if (*kind == "DELETE") {
      change = RowChangeKind::kDeleted;
    } else if (*kind != "UPDATE") {
      throw Wrong{"\"mod_type\" is INSERT, UPDATE or DELETE"};
    }
    for (const json& mod : *mods) Mod(mod, commit, change);
  }

  void Mod(const json& mod, Timestamp commit, RowChangeKind kind) {
    if (!mod.is_object()) throw Wrong{"\"mods\" is a list of objects"};
    const json keys = ObjectIn(mod, {"keys", "keysJson", "keys_json"});
    const json after =
        ObjectIn(mod, {"new_values", "newValuesJson", "newValues", "new_values_json"});
    const json before =
        ObjectIn(mod, {"old_values", "oldValuesJson", "oldValues", "old_values_json"});
    RowChange change = {.lock = {}, .commit = commit, .kind = kind, .after = {}, .before = {}};
    for (const ColumnInfo& column : options_.protocol_.columns) {
      const std::string name(column.name);
      std::optional<Value> was;
      std::optional<Value> is;
      if (column.key) {
        const auto key = keys.find(name);
        if (key == keys.end() || !key->is_string()) {
          throw Wrong{Cat("\"keys\" wants ", Quoted(name), ", a string: is it ",
                          options_.protocol_.name, "'s table?")};
        }
        was = is = key->get<std::string>();
        change.lock = key->get<std::string>();
      } else {
        if (const auto value = after.find(name); value != after.end()) {
          is = ValueOf(*value, column, commit);
        } else if (kind == RowChangeKind::kInserted) {
          is = Null{};
        }
        // An old value is never pending.
        if (const auto value = before.find(name); value != before.end()) {
          was = ValueOf(*value, column, commit);
        }
      }
      change.after.push_back(std::move(is));
      change.before.push_back(std::move(was));
    }
    if (options_.Wants(change.lock)) Add(std::move(change));
  }

  std::optional<int64_t> NumberOf(const json& line) const {
    const json* number = Find(line, {"n"});
    if (number == nullptr) return std::nullopt;
    if (!number->is_number_integer() || number->get<int64_t>() < 1) {
      throw Wrong{"\"n\" is the number of the line in the process's log, from 1"};
    }
    return number->get<int64_t>();
  }

  void Line(const json& line) {
    const std::string event = TextOf(line, "event");
    const std::string id = TextOf(line, "id");
    const std::string lock = TextOf(line, "lock", /*required=*/false);
    Declare(line, id, event == "process");
    if (event == "process") return;
    if (event == "call") {
      Called called = {.process = id,
                       .lock = lock,
                       .number = NumberOf(line),
                       .sent = TimeOf(line, "sent"),
                       .received = TimeOf(line, "received"),
                       .commit = TimeOf(line, "commit")};
      return Add(std::move(called));
    }
    Said said = {.process = id,
                 .lock = lock,
                 .at = TimeOf(line, "time"),
                 .number = NumberOf(line),
                 .statement = StatementOf(event),
                 .lapses_in = {}};
    const bool begins = said.statement == Statement::kLeads || said.statement == Statement::kWorks;
    if (begins && lock.empty()) throw Wrong{Cat("the event ", Quoted(event), " wants \"lock\"")};
    if (!options_.Wants(lock)) said.statement = Statement::kOther;
    if (said.statement == Statement::kLeads && line.contains("left")) {
      said.lapses_in = DurationOf(TextOf(line, "left"), "left");
    }
    Add(std::move(said));
  }

  void Declare(const json& line, const std::string& id, bool wants_any) {
    Declared declared = {
        .process = id, .node = {}, .lease = {}, .clock_least = {}, .clock_most = {}};
    declared.node = TextOf(line, "node", /*required=*/false);
    if (line.contains("lease")) declared.lease = DurationOf(TextOf(line, "lease"), "lease");
    if (const json* offset = Find(line, {"offset"})) {
      const bool is_pair = offset->is_array() && offset->size() == 2 && (*offset)[0].is_string() &&
                           (*offset)[1].is_string();
      if (!is_pair) throw Wrong{"\"offset\" is a pair such as [\"-10ms\", \"10ms\"]"};
      declared.clock_least = DurationOf((*offset)[0].get<std::string>(), "offset");
      declared.clock_most = DurationOf((*offset)[1].get<std::string>(), "offset");
    }
    const bool says_any = !declared.node.empty() || declared.lease || declared.clock_least;
    if (says_any || wants_any) Add(std::move(declared));
  }

  const JsonLines& options_;
  const Place& place_;
  std::vector<Operation>& out_;
};

std::string JsonLines::Read(std::string_view line, const Place& place,
                            std::vector<Operation>& out) const {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  const std::string where = Cat(sim::Printable(place.file, 1'000), ":", std::to_string(place.line));
  const size_t had = out.size();
  try {
    const json value = json::parse(line);
    LineReader(*this, place, out).Read(value);
    return {};
  } catch (const json::parse_error& error) {
    out.resize(had);
    return Cat(where, ":", std::to_string(error.byte), ": is no JSON: ", Quoted(line));
  } catch (const json::out_of_range&) {  // the parser's, of a number
    out.resize(had);
    return Cat(where, ": has a number that is too large: ", Quoted(line));
  } catch (const Wrong& wrong) {
    out.resize(had);
    return Cat(where, ": ", wrong.text);
  }
}

}  // namespace whorl::check
