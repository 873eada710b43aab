#include "check/record_reader.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/located_error.h"
#include "base/parse_duration.h"
#include "base/text.h"
#include "check/jepsen.h"
#include "check/no_protocol.h"
#include "check/otlp.h"
#include "check/serve_calls.h"
#include "check/time_spelling.h"

namespace whorl::check {
namespace {

Timestamp ParseTime(std::string_view text, std::string_view name) {
  if (const std::optional<Timestamp> time = ParseAnyTime(text)) return *time;
  throw Wrong{Cat(Quoted(name), " ", TimeRefusal(text))};
}

}  // namespace

std::string WhereIs(const Place& place) { return AtLine(place.file, place.line); }

// Names of tables and columns are compared as Spanner does, whatever their letter case.
bool IsNamed(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool IsKnownEvent(std::string_view event) {
  // The others are what `whorl lock run` logs beside.
  return StatementOf(event) != Statement::kOther || event == "goes_on" || event == "note" ||
         event == "failing" || event == "answers";
}

Statement StatementOf(std::string_view event) {
  // A process that renews its lease leads until that lease ends, unless it renews again.
  if (event == "leads" || event == "renewed") return Statement::kLeads;
  if (event == "lost" || event == "leads_not") return Statement::kLeadsNot;
  if (event == "works") return Statement::kWorks;
  if (event == "rests") return Statement::kRests;
  if (event == "started") return Statement::kStarted;
  if (event == "answer") return Statement::kAnswers;
  if (event == "write") return Statement::kAccepts;
  if (event == "owns") return Statement::kOwns;
  if (event == "stopped" || event == "gone") return Statement::kGone;
  return Statement::kOther;
}

namespace {

std::optional<int64_t> IntegerIn(const Node& value) {
  if (value.IsInteger()) return value.integer;
  if (!value.IsString()) return std::nullopt;
  const std::string_view text = value.text;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A pending commit timestamp is the record's; the emulator shows the last second there is.
bool IsPending(std::string_view text) {
  return text == "spanner.commit_timestamp()" || text.starts_with("9999-12-31T23:59:59");
}

Value ValueOf(const Node& value, const ColumnInfo& column, Timestamp commit) {
  if (value.IsNull()) return Null{};
  if (column.type == Type::kTimestamp && value.IsString()) {
    const std::string_view text = value.text;
    return IsPending(text) ? commit : ParseTime(text, column.name);
  }
  if (column.type == Type::kInt64) {
    if (const std::optional<int64_t> number = IntegerIn(value)) return *number;
  }
  if (column.type == Type::kString && value.IsString()) return std::string(value.text);
  throw Wrong{Cat("column ", Quoted(column.name), " is ", WordOf(column.type), ", not ",
                  value.IsString() ? Quoted(value.text) : std::string("another kind of value"))};
}

// A member that is an object, or one as text. `parsed` holds what was text.
const Node* ObjectIn(const Node& mod, std::initializer_list<std::string_view> names,
                     JsonText& parsed) {
  const Node* found = Find(mod, names);
  if (found != nullptr && found->IsString()) {
    // There may be no values.
    if (found->text.find_first_not_of(" \t\r\n") == std::string_view::npos) return nullptr;
    found = parsed.Parse(found->text);
    if (found != nullptr && found->IsNull()) return nullptr;
  }
  if (found != nullptr && found->IsObject()) return found;
  if (Find(mod, names) == nullptr) return nullptr;
  throw Wrong{Cat(Quoted(*names.begin()), " is an object, or one as a string")};
}

Timestamp CommitOf(const Node& commit) {
  if (commit.IsString()) return ParseTime(commit.text, "commit_timestamp");
  if (commit.IsObject()) {
    const Node* seconds = Find(commit, "seconds");
    const Node* nanos = Find(commit, "nanos");
    const bool fits =
        seconds != nullptr && seconds->IsInteger() && (nanos == nullptr || nanos->IsInteger());
    const auto time =
        fits ? Timestamp::FromParts(seconds->integer, nanos == nullptr ? 0 : nanos->integer)
             : std::nullopt;
    if (time) return *time;
  }
  throw Wrong{"\"commit_timestamp\" is a time such as 2026-01-31T00:00:00.5Z"};
}

// Tokens are up to 2^64 - 1: as text, since not every writer of JSON has such numbers.
std::optional<uint64_t> TokenOf(const Node& line) {
  const Node* node = Find(line, "token");
  if (node == nullptr || node->IsNull()) return std::nullopt;
  if (node->IsInteger() && node->integer >= 0) return static_cast<uint64_t>(node->integer);
  uint64_t token = 0;
  const std::string_view text = node->text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), token);
  if (!node->IsString() || error != std::errc() || end != text.data() + text.size()) {
    throw Wrong{"\"token\" is a whole number, or one as a string"};
  }
  return token;
}

std::optional<int64_t> NumberOf(const Node& line) {
  const Node* node = Find(line, "n");
  if (node == nullptr) return std::nullopt;
  const std::optional<int64_t> number = IntegerIn(*node);
  if (!number || *number < 1) {
    throw Wrong{"\"n\" is the number of the line in the process's log, from 1"};
  }
  return number;
}

// Far more than any client makes.
constexpr int64_t kAttemptsMost = 1'000'000;

int64_t AttemptsOf(const Node& line) {
  const Node* node = Find(line, "attempts");
  if (node == nullptr) return 1;
  const std::optional<int64_t> number = IntegerIn(*node);
  if (!number || *number < 1 || *number > kAttemptsMost) {
    throw Wrong{"\"attempts\" is how often the transaction was tried, from 1"};
  }
  return *number;
}

}  // namespace

std::string_view TextIn(const Node& object, std::string_view name, bool required) {
  const Node* found = Find(object, name);
  if (found == nullptr) {
    if (required) throw Wrong{Cat("wants ", Quoted(name))};
    return {};
  }
  if (!found->IsString()) throw Wrong{Cat(Quoted(name), " is a string")};
  return found->text;
}

Timestamp TimeIn(const Node& object, std::string_view name) {
  const Node* found = Find(object, name);
  if (found != nullptr && found->IsInteger()) {
    throw Wrong{Cat(Quoted(name), " ", TimeRefusal(std::to_string(found->integer)))};
  }
  return ParseTime(TextIn(object, name), name);
}

Duration ParseLength(std::string_view given, std::string_view name) {
  std::string text(given);
  const bool negative = text.starts_with('-');
  if (negative) text.erase(0, 1);
  if (!text.empty() && text.find_first_not_of("0123456789.") == std::string::npos) text += "s";
  const auto parsed = ParseDuration(text);
  const auto* duration = std::get_if<Duration>(&parsed);
  if (duration == nullptr) {
    throw Wrong{Cat(Quoted(name), " is ", kDurationExample, ", not ", Quoted(given))};
  }
  return negative ? -*duration : *duration;
}

namespace {

bool IsCloudLogEntry(const Node& value) {
  return Find(value, "logName") != nullptr ||
         (Find(value, "insertId") != nullptr && Find(value, "timestamp") != nullptr);
}

// What is wrong with a record of a kind that is known, and not read; empty: it is of no known kind.
std::string_view ForeignRecord(const Node& value) {
  if (const std::string_view wrong = ForeignTrace(value); !wrong.empty()) return wrong;
  const Node* payload = Find(value, "payload");
  const Node& event = payload != nullptr && payload->IsObject() ? *payload : value;
  if (Find(event, "op") != nullptr && Find(event, "source") != nullptr) {
    return "is an event of Debezium, which is not read: its commit timestamp is in milliseconds "
           "only. "
           "Read the change stream itself (--stream NAME)";
  }
  if (MemberIn(&value, "_metadata_spanner_commit_timestamp") != nullptr) {
    return "is a row of the table that Dataflow makes of a change stream in BigQuery, which is not "
           "read: it has no values from before. Read the change stream itself (--stream NAME)";
  }
  return {};
}

}  // namespace

void RecordReader::Read(const Node& value, int depth) {
  constexpr int kDeepest = 8;
  if (depth > kDeepest) throw Wrong{"is nested more deeply than any change record"};
  if (value.IsArray()) {
    for (const Node& element : value) Read(element, depth + 1);
    return;
  }
  if (!value.IsObject()) throw Wrong{"is no JSON object"};
  if (IsServeCall(value)) {
    ServeCalls alone;
    return (file_.calls == nullptr ? &alone : file_.calls)
        ->Read(value, protocol_, wanted_, place_, out_);
  }
  if (Find(value, {"commit_timestamp", "commitTimestamp"}) != nullptr) return Record(value);
  if (Find(value, "event") != nullptr) return Line(value);
  if (IsJepsen(value)) {
    JepsenHistory alone(wanted_);
    return (file_.jepsen == nullptr ? &alone : file_.jepsen)->Read(value, place_, out_);
  }
  if (IsOtlp(value)) return ReadOtlp(value, wanted_, place_, out_);
  if (IsCloudLogEntry(value)) return LogEntry(value, depth);
  // A query of a change stream answers lists; only those of data change records are used.
  bool is_answer = false;
  for (const std::string_view name :
       {"ChangeRecord", "change_record", "data_change_record", "dataChangeRecord"}) {
    const Node* found = MemberIn(&value, name);
    if (found == nullptr) continue;
    is_answer = true;
    if (!found->IsNull()) Read(*found, depth + 1);
  }
  for (const std::string_view name :
       {"heartbeat_record", "child_partitions_record", "heartbeatRecord", "childPartitionsRecord",
        "partition_start_record", "partition_end_record", "partition_event_record",
        "partitionStartRecord", "partitionEndRecord", "partitionEventRecord"}) {
    const Node* found = MemberIn(&value, name);
    is_answer = is_answer || found != nullptr;
    const bool is_there =
        found != nullptr && !found->IsNull() && !(found->IsArray() && found->first == nullptr);
    if (is_there) wanted_.Counts().Use(Used::kGoesOn);
  }
  if (!is_answer) {
    if (const std::string_view what = ForeignRecord(value); !what.empty()) {
      throw Wrong{std::string(what)};
    }
    throw Wrong{
        "is neither a data change record (\"commit_timestamp\") nor a line of a process "
        "(\"event\"), a Jepsen operation or spans; docs/CHECKING.md has all of them"};
  }
}

// What is logged as JSON is within.
void RecordReader::LogEntry(const Node& entry, int depth) {
  const Node* payload = Find(entry, "jsonPayload");
  if (payload == nullptr && Find(entry, "textPayload") != nullptr) {
    throw Wrong{
        "is an entry of Cloud Logging with text: write its lines to a file (gcloud logging read "
        "--format='value(textPayload)'), and say how to read them (--pattern)"};
  }
  const bool is_line = payload != nullptr && payload->IsObject() &&
                       (Find(*payload, "event") != nullptr || IsJepsen(*payload) ||
                        Find(*payload, {"commit_timestamp", "commitTimestamp"}) != nullptr);
  if (!is_line) return wanted_.Counts().Pass("entry of Cloud Logging without \"event\"");
  Read(*payload, depth + 1);
}

void RecordReader::Record(const Node& record) {
  if (IsNone(protocol_)) {
    const Node* of = Find(record, {"table_name", "tableName"});
    const bool is_named = of != nullptr && of->IsString();
    return wanted_.Counts().Pass(kOfNoProtocol, is_named ? of->text : std::string_view());
  }
  Head head = {.commit = CommitOf(*Find(record, {"commit_timestamp", "commitTimestamp"}))};
  const Node* table = Find(record, {"table_name", "tableName"});
  const bool has_table = table != nullptr && table->IsString();
  const bool is_other = table != nullptr && !(has_table && IsNamed(table->text, wanted_.table));
  if (!wanted_.table.empty() && is_other) {
    return wanted_.Counts().Pass(kOfAnotherTable, has_table ? table->text : std::string_view());
  }
  if (wanted_.table.empty() && has_table) OnlyTable(table->text);
  const Node* kind = Find(record, {"mod_type", "modType"});
  const Node* mods = Find(record, {"mods"});
  if (kind == nullptr || mods == nullptr || !mods->IsArray()) {
    throw Wrong{"a data change record wants \"mod_type\" and \"mods\", a list"};
  }
  const std::string_view word = kind->IsString() ? kind->text : std::string_view();
  if (word == "INSERT") {
    head.kind = RowChangeKind::kInserted;
  } else if (word == "DELETE") {
    head.kind = RowChangeKind::kDeleted;
  } else if (word != "UPDATE") {
    throw Wrong{"\"mod_type\" is INSERT, UPDATE or DELETE"};
  }
  for (const Node& member : record) {
    if (member.IsArray() || member.IsNull()) continue;
    const std::string_view name = member.name;
    if (name == "value_capture_type" || name == "valueCaptureType") {
      head.has_whole_rows = member.text.starts_with("NEW_ROW");
    } else if (name == "is_system_transaction" || name == "isSystemTransaction") {
      head.by_system = member.text == "true" || member.text == "TRUE";
    } else if (name == "transaction_tag" || name == "transactionTag") {
      head.tag = member.text;
    }
  }
  for (const Node& mod : *mods) Mod(mod, head);
}

// Rows of two tables may have one key.
void RecordReader::OnlyTable(std::string_view table) {
  std::string* const only = wanted_.only_table.get();
  if (only == nullptr || IsNamed(*only, table)) return;
  if (only->empty()) {
    for (const ProtocolInfo& other : Protocols()) {
      if (!IsNamed(other.table, table) || IsNamed(table, protocol_.table)) continue;
      throw Wrong{Cat("is of the table ", Quoted(table), ", which is that of ", other.name,
                      ": --protocol ", other.name, ", or --table ", table, " if ", protocol_.name,
                      " uses it")};
    }
    *only = table;
    return;
  }
  throw Wrong{Cat("is of the table ", Quoted(table), ", and records before it are of ",
                  Quoted(*only), ": which one is judged? (--table NAME)")};
}

namespace {

// A column, whatever its letter case.
const Node* ColumnIn(const Node* values, std::string_view name) {
  if (const Node* found = MemberIn(values, name)) return found;
  if (values == nullptr || !values->IsObject()) return nullptr;
  for (const Node& member : *values) {
    if (member.name.size() == name.size() && IsNamed(member.name, name)) return &member;
  }
  return nullptr;
}

}  // namespace

bool RecordReader::HasColumns(const Node* after, const Node* before, const Head& head) {
  if (head.kind == RowChangeKind::kDeleted && *wanted_.has_columns) return true;
  const HolderColumns& holder = protocol_.holder_columns;
  // Most records have all that matter.
  const auto shows = [&](std::string_view name) {
    return name.empty() || MemberIn(after, name) != nullptr;
  };
  if (shows(holder.holder) && shows(holder.token) && shows(holder.renewed) && shows(holder.until)) {
    *wanted_.has_columns = true;
    return true;
  }
  std::vector<std::string_view> others;
  bool has_any = false;
  for (const Node* values : {after, before}) {
    if (values == nullptr) continue;
    for (const Node& member : *values) {
      const auto is_it = [&](const ColumnInfo& column) {
        return IsNamed(column.name, member.name);
      };
      const bool is_known = std::ranges::any_of(protocol_.columns, is_it);
      has_any = has_any || is_known;
      if (!is_known && std::ranges::find(others, member.name) == others.end()) {
        others.push_back(member.name);
      }
    }
  }
  // An update may record those that changed only.
  const bool is_whole = head.kind == RowChangeKind::kInserted || head.has_whole_rows;
  const bool wants_all =
      is_whole && head.kind != RowChangeKind::kDeleted && (head.has_whole_rows || !others.empty());
  std::vector<std::string_view> missing;
  for (const std::string_view name : {holder.holder, holder.token, holder.renewed, holder.until}) {
    const bool is_there = name.empty() || ColumnIn(after, name) != nullptr;
    if (!is_there && std::ranges::find(missing, name) == missing.end()) missing.push_back(name);
  }
  if (has_any && (!wants_all || missing.empty())) {
    *wanted_.has_columns = true;
    return true;
  }
  if (others.empty() && !wants_all) return true;  // it says nothing, which is known
  if (*wanted_.has_columns && !wants_all) {
    wanted_.Counts().Pass("a change of columns that the protocol has not", others.front());
    return false;
  }
  throw Wrong{Cat("the table has not ", protocol_.name, "'s columns: ", ListOf(missing),
                  missing.size() == 1 ? " is missing" : " are missing",
                  others.empty() ? std::string() : Cat(", and it has ", ListOf(others)),
                  "; is it another protocol's (--protocol), or is another table meant (--table)?")};
}

Value RecordReader::KeyIn(const Node* keys, const ColumnInfo& column, std::string& lock) const {
  const Node* key = ColumnIn(keys, column.name);
  const auto number = key == nullptr ? std::nullopt : IntegerIn(*key);
  const bool wants_number = column.type == Type::kInt64;
  if (key == nullptr || (wants_number ? !number : !key->IsString())) {
    throw Wrong{Cat("\"keys\" wants ", Quoted(column.name), ", ",
                    wants_number ? "a number" : "a string", ": is it ", protocol_.name,
                    "'s table?")};
  }
  lock = wants_number ? std::to_string(*number) : std::string(key->text);
  return wants_number ? Value(*number) : Value(lock);
}

void RecordReader::Mod(const Node& mod, const Head& head) {
  if (!mod.IsObject()) throw Wrong{"\"mods\" is a list of objects"};
  // Most records have none of them as text, and need no parser.
  std::optional<JsonText> texts[3];
  const auto object = [&](size_t which, std::initializer_list<std::string_view> names) {
    const Node* found = Find(mod, names);
    if (found != nullptr && found->IsObject()) return found;
    return ObjectIn(mod, names, texts[which].emplace());
  };
  const Node* keys = object(0, {"keys", "keysJson", "keys_json"});
  const Node* after = object(1, {"new_values", "newValuesJson", "newValues", "new_values_json"});
  const Node* before = object(2, {"old_values", "oldValuesJson", "oldValues", "old_values_json"});
  RowChange change = {.lock = {},
                      .commit = head.commit,
                      .kind = head.kind,
                      .after = {},
                      .before = {},
                      .by_system = head.by_system,
                      .tag = head.tag};
  std::vector<bool> shows(protocol_.columns.size());
  change.after.reserve(protocol_.columns.size());
  change.before.reserve(protocol_.columns.size());
  for (const ColumnInfo& column : protocol_.columns) {
    std::optional<Value> was;
    std::optional<Value> is;
    const size_t at = change.after.size();
    if (column.key) {
      shows[at] = true;
      was = is = KeyIn(keys, column, change.lock);
    } else {
      if (const Node* value = ColumnIn(after, column.name)) {
        is = ValueOf(*value, column, head.commit);
        shows[at] = true;
      } else if (head.kind == RowChangeKind::kInserted) {
        is = Null{};
      }
      // An old value is never pending.
      if (const Node* value = ColumnIn(before, column.name)) {
        was = ValueOf(*value, column, head.commit);
        shows[at] = true;
      }
    }
    change.after.push_back(std::move(is));
    change.before.push_back(std::move(was));
  }
  if (!HasColumns(after, before, head)) return;
  const bool wants_more = wanted_.Counts().shown_columns().size() < shows.size();
  for (size_t i = 0; i < shows.size() && wants_more; ++i) {
    if (shows[i]) wanted_.Counts().ShowColumn(protocol_.columns[i].name);
  }
  if (!wanted_.Wants(change.lock)) return wanted_.Counts().Pass(kOfAnotherLock, change.lock);
  Add(std::move(change));
}

namespace {

// When the reply to a call came. Who logs at once has one time.
Timestamp ReceivedIn(const Node& call) {
  return TimeIn(call, Find(call, "received") == nullptr ? "time" : "received");
}

// Whether the event is about one lock, which its line has to name, and has a token.
bool NamesLock(Statement statement) {
  return statement == Statement::kLeads || statement == Statement::kWorks ||
         statement == Statement::kAnswers || statement == Statement::kOwns ||
         statement == Statement::kAccepts;
}

bool WasAccepted(const Node& write) {
  const Node* accepted = Find(write, "accepted");
  return accepted == nullptr || accepted->text != "false";
}

}  // namespace

void RecordReader::Line(const Node& line) {
  const std::string_view event = TextIn(line, "event");
  const std::string_view id = TextIn(line, "id");
  const std::string_view lock = TextIn(line, "lock", /*required=*/false);
  Declare(line, id, event == "process");
  if (event == "process") return;
  if (event == "ended") return Ended(line, id);
  if (event != "call") return Said(line, event, id, lock);
  if (Find(line, "commit") == nullptr) return CallWithoutCommit(line, id, lock);
  Add(CommitRecord{.process = std::string(id),
                   .lock = std::string(lock),
                   .number = NumberOf(line),
                   .sent = TimeIn(line, "sent"),
                   .received = ReceivedIn(line),
                   .commit = TimeIn(line, "commit"),
                   .step = std::string(TextIn(line, "step", /*required=*/false)),
                   .sender = {},
                   .attempts = AttemptsOf(line)});
}

void RecordReader::CallWithoutCommit(const Node& line, std::string_view id, std::string_view lock) {
  const std::string_view outcome = TextIn(line, "outcome", /*required=*/false);
  if (outcome == "committed") throw Wrong{"a call that committed wants \"commit\""};
  if (!wanted_.Wants(lock)) wanted_.Counts().Pass(kOfAnotherLock, lock);
  Add(LogLine{.process = std::string(id),
              .lock = std::string(lock),
              .at = ReceivedIn(line),
              .number = NumberOf(line),
              .statement = !wanted_.Wants(lock)   ? Statement::kOther
                           : outcome == "aborted" ? Statement::kAborted
                                                  : Statement::kCalled,
              .lapses_in = {},
              .asked = {},
              .token = {},
              .sender = {},
              .attempts = AttemptsOf(line)});
}

void RecordReader::Said(const Node& line, std::string_view event, std::string_view id,
                        std::string_view lock) {
  LogLine log_line = {.process = std::string(id),
                      .lock = std::string(lock),
                      .at = TimeIn(line, "time"),
                      .number = NumberOf(line),
                      .statement = StatementOf(event),
                      .lapses_in = {},
                      .is_renewal = event == "renewed",
                      .asked = {},
                      .token = {},
                      .sender = {}};
  if (log_line.statement == Statement::kAnswers) Answered(line, log_line);
  if (log_line.statement == Statement::kAccepts && !WasAccepted(line)) {
    log_line.statement = Statement::kRefuses;
  }
  const bool names_lock = NamesLock(log_line.statement);
  if (names_lock && lock.empty()) throw Wrong{Cat("the event ", Quoted(event), " wants \"lock\"")};
  log_line.ends = event == "lost" || event == "rests";
  if (names_lock) log_line.token = TokenOf(line);
  if (log_line.statement == Statement::kLeads && Find(line, "left") != nullptr) {
    log_line.lapses_in = ParseLength(TextIn(line, "left"), "left");
  }
  Count(event, log_line);
  Add(std::move(log_line));
}

void RecordReader::Answered(const Node& line, LogLine& log_line) {
  const Node* has = Find(line, "has");
  if (has == nullptr || (has->text != "true" && has->text != "false")) {
    throw Wrong{"the event \"answer\" wants \"has\": true or false"};
  }
  if (has->text == "false") {
    log_line.statement = Statement::kOther;
    log_line.shows = Kind::kAnswers;
    wanted_.Counts().Use(Used::kAnswer);
  }
  if (Find(line, "asked") != nullptr) log_line.asked = TimeIn(line, "asked");
}

void RecordReader::Count(std::string_view event, LogLine& log_line) {
  if (!wanted_.Wants(log_line.lock)) {
    PassOver(log_line, kOfAnotherLock, log_line.lock);
  } else if (!IsKnownEvent(event)) {
    log_line.statement = Statement::kNotUnderstood;
    log_line.unclear = Cat("event ", Quoted(event));
    wanted_.Counts().Pass(kEventNotRecognised, event);
  } else if (log_line.statement == Statement::kOther && !log_line.shows) {
    wanted_.Counts().Use(Used::kGoesOn);
  }
}

void RecordReader::PassOver(LogLine& log_line, std::string_view reason, std::string_view word) {
  wanted_.Counts().Pass(reason, word);
  switch (log_line.statement) {
    case Statement::kLeads:
    case Statement::kLeadsNot:
      log_line.shows = Kind::kLeading;
      break;
    case Statement::kWorks:
    case Statement::kRests:
      log_line.shows = Kind::kWorking;
      break;
    case Statement::kAnswers:
      log_line.shows = Kind::kAnswers;
      break;
    case Statement::kOwns:
      log_line.shows = Kind::kOwning;
      break;
    case Statement::kAccepts:
    case Statement::kRefuses:
      log_line.statement = Statement::kRefuses;
      return;
    case Statement::kStarted:
    case Statement::kGone:
    case Statement::kSawEnd:
    case Statement::kAborted:
    case Statement::kCalled:
    case Statement::kMayEnd:
    case Statement::kHasStill:
    case Statement::kNotUnderstood:
    case Statement::kOther:
      break;
  }
  // What it hands out, or takes, is another lock's.
  log_line.token.reset();
  log_line.lapses_in.reset();
  log_line.statement = Statement::kOther;
}

void RecordReader::Ended(const Node& line, std::string_view id) {
  const std::string_view by = TextIn(line, "by");
  if (by == id) throw Wrong{"\"by\" is another process: of itself a process says \"stopped\""};
  Add(LogLine{.process = std::string(by),
              .lock = {},
              .at = TimeIn(line, "time"),
              .number = NumberOf(line),
              .statement = Statement::kSawEnd,
              .lapses_in = {},
              .asked = {},
              .token = {},
              .sender = std::string(id)});
}

namespace {

Kind KindOf(std::string_view word) {
  if (const auto kind = ParseWord<Kind>(word)) return *kind;
  throw Wrong{
      Cat("\"logs\" names kinds of lines: leads, works, tokens, answer, owns or steps, not ",
          Quoted(word))};
}

}  // namespace

std::vector<Kind> KindsIn(const Node& logs) {
  std::vector<Kind> kinds;
  if (logs.IsArray()) {
    for (const Node& word : logs) kinds.push_back(KindOf(word.text));
    return kinds;
  }
  for (std::string_view rest = logs.text; !rest.empty();) {
    const size_t end = std::min(rest.find_first_of(" ,"), rest.size());
    if (end > 0) kinds.push_back(KindOf(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (kinds.empty()) throw Wrong{"\"logs\" is a list, or words such as \"leads works\""};
  return kinds;
}

void RecordReader::Declare(const Node& line, std::string_view id, bool wants_any) {
  const std::string_view node = TextIn(line, "node", /*required=*/false);
  const bool says_lease = Find(line, "lease") != nullptr;
  const Node* offset = Find(line, "offset");
  const Node* resolution = Find(line, "resolution");
  const Node* logs = Find(line, "logs");
  const bool says_any =
      !node.empty() || says_lease || offset != nullptr || resolution != nullptr || logs != nullptr;
  if (!says_any && !wants_any) return;
  ProcessDeclaration declared = {.process = std::string(id),
                                 .node = std::string(node),
                                 .lease = {},
                                 .clock_least = {},
                                 .clock_most = {},
                                 .resolution = {}};
  if (resolution != nullptr) {
    declared.resolution = ParseLength(TextIn(line, "resolution"), "resolution");
  }
  if (logs != nullptr) declared.logs = KindsIn(*logs);
  if (says_lease) declared.lease = ParseLength(TextIn(line, "lease"), "lease");
  if (offset != nullptr) {
    const auto [least, most] = PairIn(*offset);
    const bool is_pair = least != nullptr && least->IsString() && most->IsString();
    if (!is_pair) throw Wrong{"\"offset\" is a pair such as [\"-10ms\", \"10ms\"]"};
    declared.clock_least = ParseLength(least->text, "offset");
    declared.clock_most = ParseLength(most->text, "offset");
  }
  Add(std::move(declared));
}

}  // namespace whorl::check
