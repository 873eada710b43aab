#include "check/jepsen.h"

namespace whorl::check {
namespace {

// A keyword as a word: JSON may keep its colon.
std::string_view WordIn(const Node& object, std::string_view name) {
  std::string_view word = TextIn(object, name);
  if (word.starts_with(':')) word.remove_prefix(1);
  return word;
}

std::string NameOf(const Node& value) {
  if (value.IsString()) return std::string(value.text);
  if (value.IsInteger()) return std::to_string(value.integer);
  throw Wrong{"a lock is named by a string or a number"};
}

// Independent keys are pairs of key and value.
std::string LockOf(const Node& object) {
  if (const Node* lock = Find(object, {"lock", "key"})) return NameOf(*lock);
  const Node* value = Find(object, "value");
  const Node* key = value == nullptr ? nullptr : PairIn(*value)[0];
  if (key != nullptr) return NameOf(*key);
  return "lock";
}

}  // namespace

bool IsJepsen(const Node& object) {
  return Find(object, "type") != nullptr && Find(object, "f") != nullptr &&
         Find(object, "process") != nullptr;
}

void ReadJepsen(const Node& object, const Wanted& wanted, const Place& place,
                std::vector<Operation>& out) {
  const Node& process = *Find(object, "process");
  if (process.IsString()) return;  // the nemesis
  if (!process.IsInteger()) throw Wrong{":process is a number, or :nemesis"};
  const Node* time = Find(object, "time");
  if (time == nullptr || !time->IsInteger()) throw Wrong{"wants :time, in nanoseconds"};
  const std::string_view type = WordIn(object, "type");
  const std::string_view f = WordIn(object, "f");
  const bool acquires = f == "acquire" || f == "lock";
  const bool releases = f == "release" || f == "unlock";
  Said said = {.process = std::to_string(process.integer),
               .lock = {},
               .at = Timestamp::FromUnixNanos(time->integer),
               .number = {},
               .statement = Statement::kOther,
               .lapses_in = {},
               .token = {}};
  if (acquires || releases) said.lock = LockOf(object);
  if (wanted.Wants(said.lock)) {
    if (acquires && type == "ok") said.statement = Statement::kLeads;
    if (releases && type == "invoke") said.statement = Statement::kLeadsNot;
  }
  if (type == "invoke") {
    out.push_back({.place = place,
                   .what = Declared{.process = said.process,
                                    .node = {},
                                    .lease = {},
                                    .clock_least = Duration{},
                                    .clock_most = Duration{},
                                    .resolution = {},
                                    .logs = {Kind::kLeading}}});
  }
  out.push_back({.place = place, .what = std::move(said)});
}

}  // namespace whorl::check
