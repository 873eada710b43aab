#include "check/otlp.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>

#include "base/text.h"
#include "check/time_spelling.h"

namespace whorl::check {
namespace {

constexpr std::array<std::string_view, 7> kOfResources = {
    "resourceSpans", "resource_spans",  "batches",         "resourceLogs",
    "resource_logs", "resourceMetrics", "resource_metrics"};
constexpr std::array<std::string_view, 6> kOfScopes = {
    "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans",
    "scopeLogs",  "scope_logs"};
constexpr std::array<std::string_view, 3> kOfAll = {"spans", "logRecords", "log_records"};

bool IsIn(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Each list of these names that is there; OTLP leaves empty ones out.
template <typename Each>
void ForEach(const Node& object, std::span<const std::string_view> names, Each&& each) {
  for (const std::string_view name : names) {
    const Node* list = Find(object, name);
    if (list == nullptr) continue;
    if (!list->IsArray()) throw Wrong{Cat(Quoted(name), " is a list")};
    for (const Node& element : *list) {
      if (!element.IsObject()) throw Wrong{Cat(Quoted(name), " is a list of objects")};
      each(element, name);
    }
  }
}
template <typename Each>
void ForEach(const Node& object, std::string_view name, Each&& each) {
  const std::array<std::string_view, 1> names = {name};
  ForEach(object, names, [&](const Node& element, std::string_view) { each(element); });
}

// Texts, numbers and booleans, as text.
std::string TextOf(const Node& value, std::string_view name) {
  if (value.IsString()) return std::string(value.text);  // not only OTLP's
  if (!value.IsObject()) throw Wrong{"the \"value\" of an attribute is an object"};
  const Node* found = Find(
      value, {"stringValue", "string_value", "intValue", "int_value", "boolValue", "bool_value"});
  if (found == nullptr && value.first == nullptr) return {};
  if (found != nullptr && found->IsString()) return std::string(found->text);
  if (found != nullptr && found->IsInteger()) return std::to_string(found->integer);
  if (found != nullptr && !found->text.empty()) return std::string(found->text);
  throw Wrong{Cat("the attribute ", Quoted(name), " is a text, a whole number or a boolean")};
}

// The text of an attribute; empty if it is not there.
std::string AttributeOf(const Node* object, std::string_view name) {
  std::string text;
  if (object == nullptr || !object->IsObject()) return text;
  ForEach(*object, "attributes", [&](const Node& attribute) {
    const Node* value = Find(attribute, "value");
    if (value == nullptr || TextIn(attribute, "key", /*required=*/false) != name) return;
    text = TextOf(*value, name);
  });
  return text;
}

std::string FirstOf(const Node* object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (std::string text = AttributeOf(object, name); !text.empty()) return text;
  }
  return {};
}

// Whether an attribute of it, or of one of its events, is of ours.
bool IsOurs(const Node& object) {
  bool is_ours = false;
  ForEach(object, "attributes", [&](const Node& attribute) {
    is_ours = is_ours || TextIn(attribute, "key", /*required=*/false).starts_with("whorl.");
  });
  if (Find(object, "events") == nullptr) return is_ours;
  ForEach(object, "events", [&](const Node& event) { is_ours = is_ours || IsOurs(event); });
  return is_ours;
}

// Nothing if there is none, or it is 0, as OTLP has it.
std::optional<Timestamp> NanosIn(const Node& object,
                                 std::initializer_list<std::string_view> names) {
  const Node* found = Find(object, names);
  int64_t ns = 0;
  if (found == nullptr) return std::nullopt;
  if (found->IsInteger()) ns = found->integer;
  if (found->IsString()) {
    const std::string_view text = found->text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (error != std::errc() || end != text.data() + text.size()) ns = -1;
  }
  if (ns < 0 || (!found->IsInteger() && !found->IsString())) {
    throw Wrong{Cat(Quoted(*names.begin()), " is in nanoseconds since 1970")};
  }
  if (ns == 0) return std::nullopt;
  return Timestamp::FromUnixNanos(ns);
}

class Reader {
 public:
  Reader(const Node* resource, const Wanted& wanted, const Place& place,
         std::vector<Operation>& out)
      : resource_(resource), wanted_(wanted), place_(place), out_(out) {}

  void Span(const Node& span) {
    if (!span.IsObject()) throw Wrong{"a span is an object"};
    if (const std::string_view wrong = ForeignTrace(span); !wrong.empty()) {
      throw Wrong{std::string(wrong)};
    }
    if (!Begin(span, "a span")) return;
    const std::string outcome = AttributeOf(&span, "whorl.outcome");
    const auto start = NanosIn(span, {"startTimeUnixNano", "start_time_unix_nano"});
    const auto end = NanosIn(span, {"endTimeUnixNano", "end_time_unix_nano"});
    if (!start) throw Wrong{"a span wants \"startTimeUnixNano\", in nanoseconds since 1970"};
    if (end && *end < *start) throw Wrong{"a span ends before it begins"};
    const std::string commit =
        FirstOf(&span, {"whorl.commit_timestamp", "spanner.commit_timestamp"});
    if (!commit.empty()) {
      if (!end) throw Wrong{"a call with a commit timestamp wants \"endTimeUnixNano\""};
      Call(commit, *start, *end);
    } else {
      Lasted(AttributeOf(&span, "whorl.event"), outcome, *start, end);
    }
    ForEach(span, "events", [&](const Node& event) { Event(event); });
  }

  void LogRecord(const Node& record) {
    if (!record.IsObject()) throw Wrong{"a record of a log is an object"};
    const std::string event = AttributeOf(&record, "whorl.event");
    if (event.empty()) return wanted_.Counts().Pass("record of a log without \"whorl.event\"");
    if (!Begin(record, "a record of a log")) return;
    auto at = NanosIn(record, {"timeUnixNano", "time_unix_nano"});
    if (!at) at = NanosIn(record, {"observedTimeUnixNano", "observed_time_unix_nano"});
    if (!at) throw Wrong{"a record of a log wants \"timeUnixNano\", in nanoseconds since 1970"};
    Line(event, lock_, *at);
  }

 private:
  // Whether it is of a process, or has to be.
  bool Begin(const Node& object, std::string_view what) {
    id_ = AttributeOf(&object, "whorl.id");
    if (id_.empty()) {
      id_ = FirstOf(resource_, {"whorl.id", "service.instance.id", "k8s.pod.name", "host.name"});
    }
    lock_ = AttributeOf(&object, "whorl.lock");
    if (!id_.empty()) return true;
    if (IsOurs(object)) {
      throw Wrong{
          Cat(what, " of no process: its resource wants the attribute \"service.instance.id\"")};
    }
    wanted_.Counts().Pass("of a service whose processes have no name",
                          AttributeOf(resource_, "service.name"));
    return false;
  }

  void Call(std::string_view commit, Timestamp start, Timestamp end) {
    const auto time = ParseAnyTime(commit);
    if (!time) throw Wrong{Cat("a commit timestamp ", TimeRefusal(commit))};
    out_.push_back({.place = place_,
                    .what = CommitRecord{.process = id_,
                                         .lock = lock_,
                                         .number = {},
                                         .sent = start,
                                         .received = end,
                                         .commit = *time}});
  }

  void Lasted(std::string_view event, std::string_view outcome, Timestamp start,
              std::optional<Timestamp> end) {
    const bool leads = event == "leads";
    if (event == "call") {
      // One that committed has a commit timestamp.
      const bool is_aborted = outcome == "aborted";
      const bool wants = !lock_.empty() && wanted_.Wants(lock_);
      return Say(!wants       ? Statement::kOther
                 : is_aborted ? Statement::kAborted
                              : Statement::kCalled,
                 lock_, end.value_or(start));
    }
    if (!lock_.empty() && !leads && !event.empty() && event != "works") {
      throw Wrong{Cat("\"whorl.event\" is \"works\", \"leads\" or \"call\", not ", Quoted(event))};
    }
    if (lock_.empty()) {
      if (!event.empty()) {
        throw Wrong{Cat("a span with \"whorl.event\" ", Quoted(event), " wants \"whorl.lock\"")};
      }
      wanted_.Counts().Use(Used::kGoesOn);
      return Say(Statement::kOther, {}, end.value_or(start));
    }
    if (!wanted_.Wants(lock_)) {
      wanted_.Counts().Pass(kOfAnotherLock, lock_);
      return Say(Statement::kOther, {}, end.value_or(start));
    }
    Say(leads ? Statement::kLeads : Statement::kWorks, lock_, start, /*is_span=*/true);
    if (end) {
      Say(leads ? Statement::kLeadsNot : Statement::kRests, lock_, *end, /*is_span=*/true);
    } else {
      Say(Statement::kMayEnd, lock_, start, /*is_span=*/true);
    }
  }

  void Event(const Node& event) {
    const std::string_view name = TextIn(event, "name", /*required=*/false);
    const Statement statement = StatementOf(name);
    std::string lock = AttributeOf(&event, "whorl.lock");
    if (statement == Statement::kOther && lock.empty()) return;  // of an exception, ..
    if (lock.empty()) lock = lock_;
    const auto at = NanosIn(event, {"timeUnixNano", "time_unix_nano"});
    if (!at) throw Wrong{"an event wants \"timeUnixNano\", in nanoseconds since 1970"};
    const bool begins = statement == Statement::kLeads || statement == Statement::kWorks;
    if (begins && lock.empty()) return;  // any program may use the word
    Line(name, lock, *at);
  }

  void Line(std::string_view event, std::string_view lock, Timestamp at) {
    const Statement statement = StatementOf(event);
    if (!wanted_.Wants(lock)) {
      wanted_.Counts().Pass(kOfAnotherLock, lock);
      return Say(Statement::kOther, {}, at);
    }
    const bool begins = statement == Statement::kLeads || statement == Statement::kWorks;
    if (begins && lock.empty()) {
      throw Wrong{Cat("the event ", Quoted(event), " wants \"whorl.lock\"")};
    }
    if (statement == Statement::kOther && event == "goes_on") {
      wanted_.Counts().Use(Used::kGoesOn);
      return Say(statement, lock, at);
    }
    if (statement == Statement::kOther) {
      wanted_.Counts().Pass(kEventNotRecognised, event);
      Say(Statement::kNotUnderstood, lock, at);
      std::get<LogLine>(out_.back().what).unclear = Cat("event ", Quoted(event));
      return;
    }
    Say(statement, lock, at);
    std::get<LogLine>(out_.back().what).ends = event == "lost" || event == "rests";
  }

  void Say(Statement statement, std::string_view lock, Timestamp at, bool is_span = false) {
    out_.push_back({.place = place_,
                    .what = LogLine{.process = id_,
                                    .lock = std::string(lock),
                                    .at = at,
                                    .number = {},
                                    .statement = statement,
                                    .lapses_in = {},
                                    .token = {},
                                    .sender = {},
                                    .is_span = is_span}});
  }

  const Node* const resource_;
  const Wanted& wanted_;
  const Place& place_;
  std::vector<Operation>& out_;
  std::string id_;
  std::string lock_;
};

}  // namespace

std::span<const std::string_view> OtlpLists() { return kOfResources; }

bool IsOtlpList(std::string_view name, size_t deep) {
  if (deep == 0) return IsIn(kOfResources, name);
  if (deep == 1) return IsIn(kOfScopes, name);
  return deep == 2 && IsIn(kOfAll, name);
}

bool IsMetricsList(std::string_view name) {
  return name == "resourceMetrics" || name == "resource_metrics";
}

bool IsLogList(std::string_view name) { return name == "logRecords" || name == "log_records"; }

bool IsOtlp(const Node& object) {
  if (const Node* trace = Find(object, "trace")) return trace->IsObject() && IsOtlp(*trace);
  return std::ranges::any_of(kOfResources,
                             [&](std::string_view name) { return Find(object, name) != nullptr; });
}

std::string_view ForeignTrace(const Node& object) {
  if (Find(object, "processID") != nullptr || Find(object, "operationName") != nullptr ||
      (Find(object, "traceID") != nullptr && Find(object, "spans") != nullptr)) {
    return "is a trace as Jaeger shows it, which is not read: export it as OTLP's JSON "
           "(\"resourceSpans\")";
  }
  if (const Node* data = Find(object, "data"); data != nullptr && data->IsArray()) {
    for (const Node& trace : *data) {
      if (!trace.IsObject()) break;
      if (const std::string_view wrong = ForeignTrace(trace); !wrong.empty()) return wrong;
    }
  }
  if (Find(object, "localEndpoint") != nullptr && Find(object, "traceId") != nullptr) {
    return "is a span of Zipkin, which is not read: export it as OTLP's JSON (\"resourceSpans\")";
  }
  if (Find(object, "start_time") != nullptr && Find(object, "context") != nullptr) {
    return "is a span as OpenTelemetry's console exporter prints it, which is not read: export it "
           "as "
           "OTLP's JSON (\"resourceSpans\")";
  }
  return {};
}

void CheckLists(const Node& object, size_t deep) {
  const std::string_view what = deep == 1 ? "a resource" : "a scope";
  if (!object.IsObject()) throw Wrong{Cat(what, " is an object")};
  bool has_known = Find(object, {"resource", "scope", "instrumentationLibrary",
                                 "instrumentation_library"}) != nullptr;
  for (const Node& member : object) {
    const bool is_known = IsOtlpList(member.name, deep);
    has_known = has_known || is_known;
    if (!is_known && member.IsArray()) {
      throw Wrong{Cat(what, "'s spans are not known by the name ", Quoted(member.name), ", but by ",
                      deep == 1 ? "\"scopeSpans\"" : "\"spans\"")};
    }
  }
  if (!has_known) {
    throw Wrong{Cat(what, " without spans: it wants ", deep == 1 ? "\"scopeSpans\"" : "\"spans\"")};
  }
}

void ReadSpan(const Node& span, const Node* resource, const Wanted& wanted, const Place& place,
              std::vector<Operation>& out) {
  Reader(resource, wanted, place, out).Span(span);
}

void ReadLogRecord(const Node& record, const Node* resource, const Wanted& wanted,
                   const Place& place, std::vector<Operation>& out) {
  Reader(resource, wanted, place, out).LogRecord(record);
}

void ReadOtlp(const Node& object, const Wanted& wanted, const Place& place,
              std::vector<Operation>& out) {
  if (const Node* trace = Find(object, "trace"); trace != nullptr && trace->IsObject()) {
    return ReadOtlp(*trace, wanted, place, out);
  }
  ForEach(object, kOfResources, [&](const Node& of_resource, std::string_view of) {
    if (IsMetricsList(of)) return wanted.Counts().Pass("metrics of OpenTelemetry");
    CheckLists(of_resource, 1);
    Reader reader(Find(of_resource, "resource"), wanted, place, out);
    ForEach(of_resource, kOfScopes, [&](const Node& of_scope, std::string_view) {
      CheckLists(of_scope, 2);
      ForEach(of_scope, kOfAll, [&](const Node& one, std::string_view list) {
        const size_t had = out.size();
        try {
          IsLogList(list) ? reader.LogRecord(one) : reader.Span(one);
        } catch (const Wrong& wrong) {
          out.resize(had);
          wanted.Counts().Refuse(Cat(WhereIs(place), ": ", wrong.text));
        }
      });
    });
  });
}

}  // namespace whorl::check
