#include "sim/scenario/fields.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <variant>

#include "base/nearest_word.h"
#include "base/parse_duration.h"
#include "base/text.h"
#include "protocol/protocols.h"
#include "sim/scenario/faults/meant.h"

namespace whorl::sim {
namespace {

[[noreturn]] void EndOfProgram(std::string_view key) {
  std::fprintf(stderr, "sim/scenario/fields.cc: \"%.*s\" is not described so\n",
               static_cast<int>(key.size()), key.data());
  std::abort();
}

std::string ExpectedInteger(const KeyInfo& key) {
  const std::string min = std::to_string(key.min);
  const bool bounded = key.max < static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ||
                       key.max == std::numeric_limits<uint64_t>::max();
  if (!bounded) return Cat("expected an integer of at least ", min);
  const std::string max = std::to_string(key.max);
  if (min == max) return Cat("expected ", min);
  return Cat("expected an integer from ", min, " to ", max);
}

std::string Got(const JsonValue& value) { return Cat(", got ", Described(value)); }

// REQUIRES: a form of a duration.
std::string_view ExpectedDuration(Form form) {
  return form == Form::kPositiveDuration ? "expected more than 0s" : "expected 0s or more";
}

bool IsArray(const JsonValue& value, Problems& problems) {
  if (value.kind() == JsonKind::kArray) return true;
  problems.Add(value, Cat("expected an array", Got(value)));
  return false;
}

bool IsString(const JsonValue& value, std::string_view expected, Problems& problems) {
  if (value.kind() == JsonKind::kString) return true;
  problems.Add(value, Cat("expected ", expected, Got(value)));
  return false;
}

}  // namespace

std::string Described(const JsonValue& value) {
  switch (value.kind()) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBoolean:
      return std::string(value.text());
    case JsonKind::kNumber:
      return Cat("the number ", Printable(value.text()));
    case JsonKind::kString:
      return Cat("the string ", Quoted(value.text()));
    case JsonKind::kArray:
      return "an array";
    case JsonKind::kObject:
      return "an object";
  }
  return "";
}

std::optional<Duration> ReadDuration(const JsonValue& value, Form form, Problems& problems) {
  if (!IsString(value, kDurationExample, problems)) return std::nullopt;
  const std::variant<Duration, std::string> parsed = ParseDuration(value.text());
  if (const std::string* wrong = std::get_if<std::string>(&parsed)) {
    problems.Add(value, *wrong);
    return std::nullopt;
  }
  const Duration duration = std::get<Duration>(parsed);
  const int64_t least = form == Form::kPositiveDuration ? 1
                        : form == Form::kDuration       ? 0
                                                        : -kMaxDuration.ns;
  if (duration.ns >= least) return duration;
  problems.Add(value, Cat(ExpectedDuration(form), Got(value)));
  return std::nullopt;
}

std::optional<std::string> ReadName(const JsonValue& value, bool stars, Problems& problems) {
  if (!IsString(value, "a name", problems)) return std::nullopt;
  const std::string_view name = value.text();
  if (name.empty()) {
    problems.Add(value, "expected a name that is not empty");
  } else if (name.size() > kMaxNameBytes) {
    problems.Add(value, Cat("expected a name of at most ", std::to_string(kMaxNameBytes),
                            " bytes, got one of ", std::to_string(name.size())));
  } else if (Printable(name, name.size()) != name) {
    problems.Add(value, Cat("expected a name without control characters", Got(value)));
  } else if (!stars && name.find('*') != std::string_view::npos) {
    problems.Add(value, Cat("expected a name without *, which stands for a pattern", Got(value)));
  } else {
    return std::string(name);
  }
  return std::nullopt;
}

bool IsRepeated(const JsonValue& entry, std::span<const std::string> before, std::string_view what,
                Problems& problems) {
  if (std::find(before.begin(), before.end(), entry.text()) == before.end()) return false;
  problems.Add(entry, Cat(what, " ", Quoted(entry.text()), " is named twice"));
  return true;
}

std::string UnknownWord(std::string_view what, std::string_view word,
                        std::span<const std::string_view> known) {
  const std::string meant = what == "fault" ? FaultMeantBy(word) : "";
  const std::string hint = meant.empty() ? DidYouMean(word, known) : Cat("; ", meant, ".");
  return Cat("unknown ", what, " ", Quoted(word), hint.empty() ? "." : hint, " Known ", what,
             "s: ", ListOf(known), ".");
}

std::optional<size_t> ReadWord(const JsonValue& value, std::string_view what,
                               std::span<const std::string_view> words, Problems& problems) {
  if (!IsString(value, Cat("the name of one ", what), problems)) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), value.text());
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  problems.Add(value, UnknownWord(what, value.text(), words));
  return std::nullopt;
}

std::optional<DelaySpec> ReadDelay(const JsonValue& value, Problems& problems) {
  if (value.kind() == JsonKind::kString) {
    const auto always = ReadDuration(value, Form::kPositiveDuration, problems);
    if (!always) return std::nullopt;
    return DelaySpec{.min = *always, .p50 = *always, .p99 = *always, .max = *always};
  }
  if (value.kind() != JsonKind::kObject) {
    problems.Add(value, Cat("expected a duration such as \"200ms\", or an object with \"p50\", "
                            "\"p99\" and \"max\", got ",
                            Described(value)));
    return std::nullopt;
  }
  const size_t before = problems.size();
  const ObjectFields fields(value, ObjectId::kDelay, problems);
  DelaySpec delay;
  delay.min = fields.Time("min").value_or(delay.min);
  delay.p50 = fields.Time("p50").value_or(delay.p50);
  delay.p99 = fields.Time("p99").value_or(delay.p99);
  delay.max = fields.Time("max").value_or(delay.max);
  if (problems.size() > before) return std::nullopt;
  if (delay.min <= delay.p50 && delay.p50 <= delay.p99 && delay.p99 <= delay.max) return delay;
  problems.Add(value, "expected min <= p50 <= p99 <= max");
  return std::nullopt;
}

ObjectFields::ObjectFields(const JsonValue& value, ObjectId id, Problems& problems)
    : value_(value), info_(&DescribeObject(id)), problems_(&problems) {
  if (value.kind() != JsonKind::kObject) {
    problems.Add(value, Cat("expected an object", Got(value)));
    return;
  }
  const std::vector<std::string_view> known = info_->KeyNames();
  std::vector<bool> present(known.size());
  for (const JsonValue& member : value.Children()) {
    const auto found = std::find(known.begin(), known.end(), member.key());
    if (found != known.end()) {
      present[static_cast<size_t>(found - known.begin())] = true;
    } else if (member.key().starts_with(kCommentPrefix)) {
      IsString(member, "a string, since this key is a comment", problems);
    } else if (!problems.Full()) {
      problems.AddAtKey(member, UnknownWord("key", member.key(), known));
    }
  }
  for (size_t i = 0; i < present.size(); ++i) {
    if (!present[i] && info_->keys[i].required) ReportMissing(info_->keys[i]);
  }
}

void ObjectFields::ReportMissing(const KeyInfo& key) const {
  problems_->Add(value_, Cat("missing key ", Quoted(key.name), " (", key.about, ")"));
}

std::pair<const KeyInfo*, std::optional<JsonValue>> ObjectFields::Look(std::string_view key) const {
  const KeyInfo* info = info_->Find(key);
  if (info == nullptr) EndOfProgram(key);
  return {info, value_.Find(key)};
}

std::pair<const KeyInfo*, std::optional<JsonValue>> ObjectFields::Look(std::string_view key,
                                                                       Form form) const {
  auto found = Look(key);
  if (found.first->form != form) EndOfProgram(key);
  return found;
}

std::optional<std::string> ObjectFields::Text(std::string_view key) const {
  const auto [info, value] = Look(key, Form::kText);
  if (!value.has_value() || !IsString(*value, "a string", *problems_)) return std::nullopt;
  if (value->text().find_first_not_of(" \t\r\n") != std::string_view::npos) {
    return std::string(value->text());
  }
  problems_->Add(*value, Cat("expected a string that is not empty (", info->about, ")"));
  return std::nullopt;
}

std::optional<std::string> ObjectFields::Name(std::string_view key) const {
  const auto [info, value] = Look(key);
  if (info->form != Form::kName && info->form != Form::kNewName) EndOfProgram(key);
  if (!value.has_value()) return std::nullopt;
  return ReadName(*value, info->form == Form::kName, *problems_);
}

std::optional<bool> ObjectFields::Boolean(std::string_view key) const {
  const auto [info, value] = Look(key, Form::kBoolean);
  if (!value.has_value()) return std::nullopt;
  if (value->kind() == JsonKind::kBoolean) return value->IsTrue();
  problems_->Add(*value, Cat("expected true or false", Got(*value)));
  return std::nullopt;
}

std::optional<int64_t> ObjectFields::Integer(std::string_view key) const {
  const auto [info, value] = Look(key, Form::kInteger);
  if (!value.has_value()) return std::nullopt;
  const std::optional<int64_t> number = value->AsInt64();
  if (number.has_value() && *number >= info->min &&
      (*number < 0 || static_cast<uint64_t>(*number) <= info->max)) {
    return number;
  }
  problems_->Add(*value, Cat(ExpectedInteger(*info), Got(*value)));
  return std::nullopt;
}

std::optional<uint64_t> ObjectFields::Unsigned(std::string_view key) const {
  const auto [info, value] = Look(key, Form::kInteger);
  if (!value.has_value()) return std::nullopt;
  const std::optional<uint64_t> number = value->AsUint64();
  if (number.has_value() && *number <= info->max) return number;
  problems_->Add(*value, Cat(ExpectedInteger(*info), Got(*value)));
  return std::nullopt;
}

std::optional<Duration> ObjectFields::Time(std::string_view key) const {
  const auto [info, value] = Look(key);
  const bool is_time = info->form == Form::kDuration || info->form == Form::kPositiveDuration ||
                       info->form == Form::kSignedDuration;
  if (!is_time) EndOfProgram(key);
  if (!value.has_value()) return std::nullopt;
  return ReadDuration(*value, info->form, *problems_);
}

std::optional<size_t> ObjectFields::WordIndex(std::string_view key, std::string_view what) const {
  const auto [info, value] = Look(key, Form::kWord);
  if (!value.has_value()) return std::nullopt;
  if (!what.empty()) return ReadWord(*value, what, info->words, *problems_);
  const std::string_view text = value->kind() == JsonKind::kString ? value->text() : "";
  const auto found = std::find(info->words.begin(), info->words.end(), text);
  if (found != info->words.end()) return static_cast<size_t>(found - info->words.begin());
  problems_->Add(*value, Cat(info->words.size() > 1 ? "expected one of " : "expected ",
                             ListOf(info->words), Got(*value), DidYouMean(text, info->words)));
  return std::nullopt;
}

std::optional<StepName> ObjectFields::Step(std::string_view key, std::string_view what) const {
  if (!WordIndex(key, what)) return std::nullopt;
  return FindStep(Find(key)->text());
}

std::vector<JsonValue> ObjectFields::Entries(std::string_view key) const {
  const std::optional<JsonValue> value = Find(key);
  if (!value.has_value() || !IsArray(*value, *problems_)) return {};
  return value->Children();
}

std::optional<std::vector<std::string>> ObjectFields::Names(std::string_view key,
                                                            std::string_view what) const {
  const auto [info, value] = Look(key, Form::kNames);
  if (!value.has_value() || !IsArray(*value, *problems_)) return std::nullopt;
  const size_t before = problems_->size();
  if (value->ChildCount() == 0) {
    problems_->Add(*value, Cat("expected at least one ", what, ", got an empty array"));
  }
  if (value->ChildCount() > kMaxLocks) {
    problems_->Add(*value, Cat("expected at most ", std::to_string(kMaxLocks), ", got ",
                               std::to_string(value->ChildCount())));
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const JsonValue& entry : value->Children()) {
    std::optional<std::string> name = ReadName(entry, true, *problems_);
    if (!name.has_value() || IsRepeated(entry, names, what, *problems_)) continue;
    names.push_back(*std::move(name));
  }
  if (problems_->size() > before) return std::nullopt;
  return names;
}

std::vector<size_t> ObjectFields::WordIndexes(std::string_view key, std::string_view what) const {
  const auto [info, value] = Look(key, Form::kWords);
  std::vector<size_t> indexes;
  if (!value.has_value() || !IsArray(*value, *problems_)) return indexes;
  for (const JsonValue& entry : value->Children()) {
    if (problems_->Full()) return indexes;
    const std::optional<size_t> index = ReadWord(entry, what, info->words, *problems_);
    if (!index.has_value()) continue;
    if (std::find(indexes.begin(), indexes.end(), *index) == indexes.end()) {
      indexes.push_back(*index);
    } else {
      problems_->Add(entry, Cat(what, " ", Quoted(entry.text()), " is named twice"));
    }
  }
  return indexes;
}

std::optional<ObjectFields> ObjectFields::Object(std::string_view key) const {
  const auto [info, value] = Look(key, Form::kObject);
  if (!value.has_value()) return std::nullopt;
  return ObjectFields(*value, *info->object, *problems_);
}

}  // namespace whorl::sim
