#include "check/otlp.h"

#include <charconv>
#include <initializer_list>

#include "sim/scenario/error_text.h"

namespace whorl::check {
namespace {

using sim::Cat;
using sim::Quoted;

// The lists that are there; OTLP leaves empty ones out.
template <typename Each>
void ForEach(const Node& object, std::initializer_list<std::string_view> names, Each&& each) {
  const Node* list = Find(object, names);
  if (list == nullptr) return;
  if (!list->IsArray()) throw Wrong{Cat(Quoted(*names.begin()), " is a list")};
  for (const Node& element : *list) {
    if (!element.IsObject()) throw Wrong{Cat(Quoted(*names.begin()), " is a list of objects")};
    each(element);
  }
}

// The text of an attribute; empty if it is not there.
std::string_view AttributeOf(const Node* object, std::string_view name) {
  std::string_view text;
  if (object == nullptr || !object->IsObject()) return text;
  ForEach(*object, {"attributes"}, [&](const Node& attribute) {
    const Node* value = Find(attribute, "value");
    if (TextIn(attribute, "key", /*required=*/false) != name || value == nullptr) return;
    if (!value->IsObject()) throw Wrong{"the \"value\" of an attribute is an object"};
    text = TextIn(*value, "stringValue", /*required=*/false);
  });
  return text;
}

std::string_view FirstOf(const Node* object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const std::string_view text = AttributeOf(object, name); !text.empty()) return text;
  }
  return {};
}

Timestamp NanosIn(const Node& object, std::initializer_list<std::string_view> names) {
  const Node* found = Find(object, names);
  if (found != nullptr && found->IsInteger()) return Timestamp::FromUnixNanos(found->integer);
  if (found != nullptr && found->IsString()) {
    const std::string_view text = found->text;
    int64_t ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (error == std::errc() && end == text.data() + text.size()) {
      return Timestamp::FromUnixNanos(ns);
    }
  }
  throw Wrong{Cat("a span wants ", Quoted(*names.begin()), ", in nanoseconds since 1970")};
}

class SpanReader {
 public:
  SpanReader(const Wanted& wanted, const Place& place, std::vector<Operation>& out)
      : wanted_(wanted), place_(place), out_(out) {}

  void Read(const Node& span, const Node* resource) {
    std::string_view id = AttributeOf(&span, "whorl.id");
    if (id.empty()) {
      id = FirstOf(resource, {"whorl.id", "service.instance.id", "k8s.pod.name", "host.name"});
    }
    if (id.empty()) {
      throw Wrong{"a span of no process: its resource wants the attribute \"service.instance.id\""};
    }
    id_ = id;
    lock_ = AttributeOf(&span, "whorl.lock");
    outcome_ = AttributeOf(&span, "whorl.outcome");
    const Timestamp start = NanosIn(span, {"startTimeUnixNano", "start_time_unix_nano"});
    const Timestamp end = NanosIn(span, {"endTimeUnixNano", "end_time_unix_nano"});
    if (end < start) throw Wrong{"a span ends before it begins"};
    const std::string_view commit =
        FirstOf(&span, {"whorl.commit_timestamp", "spanner.commit_timestamp"});
    if (!commit.empty()) {
      Call(commit, start, end);
    } else {
      Lasted(AttributeOf(&span, "whorl.event"), start, end);
    }
    ForEach(span, {"events"}, [&](const Node& event) { Event(event); });
  }

 private:
  void Call(std::string_view commit, Timestamp start, Timestamp end) {
    const auto time = ParseRfc3339(commit);
    if (!time) {
      throw Wrong{
          Cat("a commit timestamp is a time such as 2026-01-31T00:00:00.5Z, not ", Quoted(commit))};
    }
    out_.push_back({.place = place_,
                    .what = Called{.process = id_,
                                   .lock = lock_,
                                   .number = {},
                                   .sent = start,
                                   .received = end,
                                   .commit = *time}});
  }

  void Lasted(std::string_view event, Timestamp start, Timestamp end) {
    const bool leads = event == "leads";
    if (event == "call") {
      // One that committed has a commit timestamp.
      const bool is_aborted = outcome_ == "aborted";
      const bool wants = !lock_.empty() && wanted_.Wants(lock_);
      return Say(!wants       ? Statement::kOther
                 : is_aborted ? Statement::kAborted
                              : Statement::kCalled,
                 lock_, end);
    }
    if (!lock_.empty() && !leads && !event.empty() && event != "works") {
      throw Wrong{Cat("\"whorl.event\" is \"works\", \"leads\" or \"call\", not ", Quoted(event))};
    }
    if (!lock_.empty() && wanted_.Wants(lock_)) {
      Say(leads ? Statement::kLeads : Statement::kWorks, lock_, start);
      Say(leads ? Statement::kLeadsNot : Statement::kRests, lock_, end);
    } else {
      Say(Statement::kOther, {}, end);
    }
  }

  void Event(const Node& event) {
    const Statement statement = StatementOf(TextIn(event, "name", /*required=*/false));
    std::string_view lock = AttributeOf(&event, "whorl.lock");
    if (lock.empty()) lock = lock_;
    const bool begins = statement == Statement::kLeads || statement == Statement::kWorks;
    if (statement == Statement::kOther || (begins && lock.empty()) || !wanted_.Wants(lock)) return;
    Say(statement, lock, NanosIn(event, {"timeUnixNano", "time_unix_nano"}));
  }

  void Say(Statement statement, std::string_view lock, Timestamp at) {
    out_.push_back({.place = place_,
                    .what = Said{.process = id_,
                                 .lock = std::string(lock),
                                 .at = at,
                                 .number = {},
                                 .statement = statement,
                                 .lapses_in = {},
                                 .token = {}}});
  }

  const Wanted& wanted_;
  const Place& place_;
  std::vector<Operation>& out_;
  std::string id_;
  std::string lock_;
  std::string outcome_;
};

}  // namespace

bool IsOtlp(const Node& object) {
  return Find(object, {"resourceSpans", "resource_spans", "resourceLogs", "resourceMetrics"}) !=
         nullptr;
}

void ReadOtlp(const Node& object, const Wanted& wanted, const Place& place,
              std::vector<Operation>& out) {
  SpanReader reader(wanted, place, out);
  ForEach(object, {"resourceSpans", "resource_spans"}, [&](const Node& of_resource) {
    const Node* resource = Find(of_resource, "resource");
    ForEach(of_resource, {"scopeSpans", "scope_spans"}, [&](const Node& of_scope) {
      ForEach(of_scope, {"spans"}, [&](const Node& span) { reader.Read(span, resource); });
    });
  });
}

}  // namespace whorl::check
