#include "check/jepsen.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "check/relative_time.h"

namespace whorl::check {
namespace {

// Operations of what is done under a lock, or beside it.
constexpr std::array<std::string_view, 24> kOfNoLock = {
    "has-lock", "is-locked", "locked?", "owner",  "read",     "write", "cas",       "add",
    "txn",      "append",    "inc",     "incr",   "r",        "w",     "increment", "enqueue",
    "dequeue",  "drain",     "insert",  "update", "transfer", "init",  "generate",  "ping"};
constexpr std::array<std::string_view, 20> kRefusals = {
    "false",      "fail",         "failed",      "failure",      "refused",     "denied",
    "busy",       "timeout",      "timed-out",   "not-acquired", "rejected",    "conflict",
    "nope",       "no",           "unavailable", "already-held", "not-granted", "locked-by-other",
    "not-leader", "held-by-other"};
constexpr std::array<std::string_view, 8> kGrants = {"true",    "ok",        "acquired", "granted",
                                                     "success", "succeeded", "done",     "yes"};
constexpr std::array<std::string_view, 14> kNotHeld = {
    "not-held",      "not held",      "not-owner",    "not owner", "not-lock-owner",
    "not-locked",    "not locked",    "not-acquired", "no-lock",   "not-holding",
    "not-the-owner", "does not hold", "does not own", "expired"};

template <typename Words>
bool Has(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != std::end(words);
}

std::string WithoutColon(std::string_view word) {
  if (word.starts_with(':')) word.remove_prefix(1);  // JSON may keep it
  return std::string(word);
}

std::string NameOf(const Node& value) {
  if (value.IsString()) return WithoutColon(value.text);
  if (value.IsInteger()) return std::to_string(value.integer);
  throw Wrong{"a lock is named by a string or a number"};
}

bool IsFalse(const Node& value) {
  return value.text == "false" || (value.IsString() && Has(kRefusals, WithoutColon(value.text)));
}

std::optional<uint64_t> TokenIn(const Node& value) {
  if (value.IsInteger() && value.integer >= 0) return static_cast<uint64_t>(value.integer);
  uint64_t token = 0;
  if (!value.IsString() || value.text.empty()) return std::nullopt;
  const char* const end = value.text.data() + value.text.size();
  const auto read = std::from_chars(value.text.data(), end, token);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return token;
}

// All texts of a value: an error may be a keyword, or a list with one.
std::string AllTexts(const Node* value, int depth = 0) {
  constexpr int kDeepest = 4;
  if (value == nullptr || depth > kDeepest) return {};
  std::string text(value->text);
  for (const Node& child : *value) text += Cat(" ", AllTexts(&child, depth + 1));
  return text;
}

bool SaysNotHeld(std::string error) {
  std::ranges::transform(error, error.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return std::ranges::any_of(
      kNotHeld, [&](std::string_view word) { return error.find(word) != std::string::npos; });
}

}  // namespace

bool IsJepsen(const Node& object) {
  return Find(object, "type") != nullptr && Find(object, "f") != nullptr &&
         Find(object, "process") != nullptr;
}

JepsenHistory::Value JepsenHistory::ValueIn(const Node& value, int depth) {
  constexpr int kDeepest = 3;
  Value says;
  if (value.IsNull() || depth > kDeepest) return says;
  says.is_there = true;
  if (IsFalse(value)) says.refuses = true;
  if (value.IsInteger() || value.IsString()) {
    says.word = NameOf(value);
    says.is_number = TokenIn(value).has_value();
  }
  if (value.IsArray()) {
    const auto [first, second] = PairIn(value);
    if (first == nullptr || !(first->IsString() || first->IsInteger())) return says;
    const Value of_second = ValueIn(*second, depth + 1);
    says.lock = NameOf(*first);
    says.refuses = of_second.refuses;
    says.token = of_second.token;
    if (!says.token) says.token = TokenIn(*second);
  }
  if (value.IsObject()) {
    if (const Node* lock = Find(value, {"lock", "lock-name", "lock_name", "key", "name"})) {
      says.lock = NameOf(*lock);
    }
    if (const Node* token = Find(value, {"token", "fence", "fencing-token", "fencing_token"})) {
      says.token = TokenIn(*token);
    }
    if (const Node* client = Find(value, "client"); client != nullptr && client->IsString()) {
      says.client = NameOf(*client);
    }
    for (const std::string_view name :
         {"acquired", "granted", "locked", "held", "success", "ok", "ok?", "result", "acquired?"}) {
      const Node* flag = Find(value, name);
      if (flag != nullptr && IsFalse(*flag)) says.refuses = true;
    }
  }
  return says;
}

std::string JepsenHistory::HeldBy(const Holder& holder, std::string name) {
  if (!holder.held.contains(name) && holder.held.size() == 1) return holder.held.begin()->first;
  return name;
}

std::string JepsenHistory::LockOf(const Op& op, Value& reply) {
  constexpr std::string_view kUnnamed = "lock";
  const Value asked = op.asked ? op.asked->value : Value();
  const auto result = [&] {  // the word of the reply is no name
    if (reply.word && reply.is_number && wanted_.jepsen.value != Meaning::kNothing) {
      uint64_t token = 0;
      std::from_chars(reply.word->data(), reply.word->data() + reply.word->size(), token);
      reply.token = token;
    }
  };
  if (op.lock || reply.lock) {
    if (!reply.lock) result();
    return op.lock ? *op.lock : *reply.lock;
  }
  if (asked.lock) {
    result();
    return *asked.lock;
  }
  if (asked.word) {
    if (reply.word == asked.word) {
      reply.refuses = false;  // a name that sounds so
    } else {
      result();
    }
    return *asked.word;
  }
  if (!reply.word || reply.refuses || Has(kGrants, *reply.word)) return std::string(kUnnamed);
  switch (wanted_.jepsen.value) {
    case Meaning::kLock:
      return *reply.word;
    case Meaning::kToken:
      result();
      [[fallthrough]];
    case Meaning::kNothing:
      return std::string(kUnnamed);
    case Meaning::kNotKnown:
      break;
  }
  wanted_.Counts().Pass(
      "a :value that names the lock, or is its token (--value lock, token, nothing)", *reply.word,
      Bearing::kMayDecide);
  return std::string(kUnnamed);
}

Timestamp JepsenHistory::TimeOf(const Node& object, const Place& place, bool& is_relative) const {
  const Node* time = Find(object, "time");
  if (time == nullptr || !time->IsInteger()) throw Wrong{"wants :time, in nanoseconds"};
  // No test takes three years.
  constexpr int64_t kRelativeMost = 100'000'000'000'000'000;
  if (time->integer < -kRelativeMost) throw Wrong{":time is before its test began"};
  is_relative = false;
  if (time->integer > kRelativeMost) return Timestamp::FromUnixNanos(time->integer);
  const auto& began = wanted_.jepsen.began;
  auto of_file = began.find(place.file);
  if (of_file == began.end()) of_file = began.find(std::string_view());
  if (of_file != began.end()) return of_file->second + Duration{time->integer};
  is_relative = true;
  return Relative(Duration{time->integer});
}

void JepsenHistory::Acquire(const Op& op, Holder& holder, LogLine log_line,
                            std::vector<LogLine>& out) {
  holder.has_acquired = true;
  if (op.type != "ok") {
    wanted_.Counts().Use(Used::kGoesOn);
    return out.push_back(std::move(log_line));
  }
  ++wanted_.jepsen_counts->operations;
  Value reply = op.value;
  const std::string lock = LockOf(op, reply);
  if (!wanted_.Wants(lock)) {
    wanted_.Counts().Pass(kOfAnotherLock, lock);
    return out.push_back(std::move(log_line));
  }
  if (reply.refuses) {
    ++wanted_.jepsen_counts->acquires_refused;
    wanted_.Counts().Use(Used::kGoesOn);
    return out.push_back(std::move(log_line));
  }
  Held& held = holder.held[lock];
  if (held.lapsed_by && *held.lapsed_by < op.at) held.times = 0;
  if (++held.times > 1) {
    ++wanted_.jepsen_counts->acquires_again;
    if (held.process != op.process) {
      wanted_.Counts().Pass("an acquire of a :client that had the lock, by another process",
                            op.holder, Bearing::kMayDecide);
    }
  }
  held.process = op.process;
  log_line.lock = lock;
  log_line.statement = Statement::kLeads;
  log_line.token = reply.token;
  if (wanted_.jepsen.lease) {
    // It is had since some time between the question and the answer.
    const Duration took = op.asked ? op.at - op.asked->at : Duration{};
    log_line.lapses_in = std::max(*wanted_.jepsen.lease - took, Duration{});
    held.lapsed_by = op.at + *wanted_.jepsen.lease;
  }
  out.push_back(std::move(log_line));
}

void JepsenHistory::Renew(const Op& op, Holder& holder, LogLine log_line,
                          std::vector<LogLine>& out) {
  Value reply = op.value;
  const std::string lock = HeldBy(holder, LockOf(op, reply));
  const auto held = holder.held.find(lock);
  const bool renews = op.type == "ok" && !reply.refuses && held != holder.held.end() &&
                      wanted_.jepsen.lease && wanted_.Wants(lock);
  if (!renews) {
    wanted_.Counts().Use(Used::kGoesOn);
    return out.push_back(std::move(log_line));
  }
  const Duration took = op.asked ? op.at - op.asked->at : Duration{};
  log_line.lock = lock;
  // No renewal of a log: whether it believes so until the lease's end since the question, or since the answer, is
  // not known, so that its belief may last.
  log_line.statement = Statement::kLeads;
  log_line.lapses_in = std::max(*wanted_.jepsen.lease - took, Duration{});
  held->second.lapsed_by = op.at + *wanted_.jepsen.lease;
  out.push_back(std::move(log_line));
}

void JepsenHistory::Release(const Op& op, Holder& holder, const LogLine& log_line,
                            std::vector<LogLine>& out) {
  Value reply = op.value;
  std::string lock = op.lock                            ? *op.lock
                     : reply.lock                       ? *reply.lock
                     : op.asked && op.asked->value.lock ? *op.asked->value.lock
                     : op.asked && op.asked->value.word ? *op.asked->value.word
                     : reply.word                       ? *reply.word
                                                        : std::string("lock");
  lock = HeldBy(holder, std::move(lock));
  const auto say = [&](Statement statement, Timestamp at, std::optional<Timestamp> asked = {}) {
    LogLine& one = out.emplace_back(log_line);
    one.lock = lock;
    one.statement = statement;
    one.at = at;
    one.asked = asked;
    // The history begins after it was acquired.
    one.ends = statement == Statement::kLeadsNot && !holder.held.contains(lock);
  };
  const auto held = holder.held.find(lock);
  if (!wanted_.Wants(lock)) wanted_.Counts().Pass(kOfAnotherLock, lock);
  if (!wanted_.Wants(lock) || (held == holder.held.end() && holder.has_acquired)) {
    if (wanted_.Wants(lock)) wanted_.Counts().Use(Used::kGoesOn);
    out.push_back(log_line);  // of what it does not have
    return;
  }
  if (op.type == "invoke") {
    wanted_.Counts().Use(Used::kGoesOn);
    return say(Statement::kMayEnd, op.at);
  }
  // Without the question it was asked since the line before.
  const bool was_asked = op.asked.has_value();
  if (!was_asked) say(Statement::kMayEnd, held == holder.held.end() ? op.at : holder.last);
  const auto asked = was_asked ? std::optional(op.asked->at) : std::nullopt;
  JepsenCounts& counts = *wanted_.jepsen_counts;
  ++counts.operations;
  if (op.type == "fail") {
    if (SaysNotHeld(op.error)) {
      ++counts.releases_not_held;
      say(Statement::kLeadsNot, op.at, asked);
      if (held != holder.held.end()) holder.held.erase(held);
      return;
    }
    ++counts.releases_failed;
    wanted_.Counts().Use(Used::kGoesOn);
    return say(Statement::kHasStill, op.at);
  }
  const bool is_last = held == holder.held.end() || --held->second.times <= 0;
  if (op.type == "info" || reply.refuses) {
    ++counts.releases_unknown;
    wanted_.Counts().Use(Used::kGoesOn);
    if (is_last && held != holder.held.end()) holder.held.erase(held);
    return;
  }
  if (!is_last) {
    wanted_.Counts().Use(Used::kLost);
    return;  // it may have it until the last one
  }
  say(Statement::kLeadsNot, op.at, asked);
  if (held != holder.held.end()) holder.held.erase(held);
}

void JepsenHistory::Read(const Node& object, const Place& place, std::vector<Operation>& out) {
  const Node& who = *Find(object, "process");
  if (!who.IsString() && !who.IsInteger()) throw Wrong{":process is a number, a name, or :nemesis"};
  Op op;
  op.process = NameOf(who);
  const Node& f = *Find(object, "f");
  if (!f.IsString()) throw Wrong{":f is a keyword, such as :acquire"};
  op.f = WithoutColon(f.text);
  if (op.process == "nemesis") return wanted_.Counts().Pass("of the nemesis", op.f);
  const Node& type = *Find(object, "type");
  op.type = type.IsString() ? WithoutColon(type.text) : std::string();
  if (!Has(std::array<std::string_view, 4>{"invoke", "ok", "fail", "info"}, op.type)) {
    throw Wrong{Cat(":type is :invoke, :ok, :fail or :info, not ", Quoted(AllTexts(&type)))};
  }
  bool is_relative = false;
  op.at = TimeOf(object, place, is_relative);
  if (const Node* lock = Find(object, {"lock", "key"})) op.lock = NameOf(*lock);
  if (const Node* value = Find(object, "value")) op.value = ValueIn(*value);
  op.error = AllTexts(Find(object, {"error", "exception"}));
  if (const auto asked = asked_.find(op.process); asked != asked_.end()) {
    op.asked = std::move(asked->second);
    asked_.erase(asked);
  }
  op.holder = op.value.client                      ? *op.value.client
              : op.asked && op.asked->value.client ? *op.asked->value.client
                                                   : op.process;
  Holder& holder = holders_[op.holder];
  const std::optional<Verb> verb = wanted_.jepsen.verbs.Find(op.f);
  if (verb && verb != Verb::kIgnore && !std::exchange(holder.is_declared, true)) {
    // Each operation is there, and so is each time at which it took a lock or gave it back.
    ProcessDeclaration declared = {.process = op.holder,
                                   .node = {},
                                   .lease = {},
                                   .clock_least = {},
                                   .clock_most = {},
                                   .resolution = {},
                                   .logs = {Kind::kLeading}};
    if (is_relative) declared.clock_least = declared.clock_most = Duration{};
    out.push_back({.place = place, .what = std::move(declared)});
  }
  LogLine log_line = {.process = op.holder,
                      .lock = {},
                      .at = op.at,
                      .number = {},
                      .statement = Statement::kOther,
                      .lapses_in = {},
                      .token = {},
                      .sender = {}};
  std::vector<LogLine> says;
  if (verb == Verb::kAcquire) {
    Acquire(op, holder, std::move(log_line), says);
  } else if (verb == Verb::kRelease) {
    Release(op, holder, log_line, says);
  } else if (verb == Verb::kRenew) {
    Renew(op, holder, std::move(log_line), says);
  } else if (verb == Verb::kIgnore || Has(kOfNoLock, op.f)) {
    wanted_.Counts().Pass(":f of no lock", op.f);
    says.push_back(std::move(log_line));
  } else {
    wanted_.Counts().Pass(":f not recognised (--verbs acquire=.. release=..)", op.f);
    log_line.statement = Statement::kNotUnderstood;
    log_line.unclear = Cat(":f ", op.f);
    says.push_back(std::move(log_line));
  }
  if (op.type == "invoke")
    asked_.insert_or_assign(op.process, Asked{.value = op.value, .at = op.at});
  holder.last = op.at;
  for (LogLine& one : says) out.push_back({.place = place, .what = std::move(one)});
}

}  // namespace whorl::check
