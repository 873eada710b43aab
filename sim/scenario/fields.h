// Reads the objects of a scenario by their description (language.h).
//
// Invariants:
//   1. The constructor of ObjectFields reports every unknown and every missing key. A reader that
//      finds a wrong type, an unknown word or a value out of range reports it and returns nothing.
//   2. Reading a key that the description lacks, or describes with another form, is a mistake in
//      this program and ends it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "protocol/names.h"
#include "sim/scenario/json_document.h"
#include "sim/scenario/language.h"

namespace whorl::sim {

// The problems found in one text, in any order.
class Problems {
 public:
  static constexpr size_t kMax = 100;

  void Add(const JsonValue& value, std::string text) {
    Add({value.position(), value.Pointer(), std::move(text)});
  }
  // Adds a problem at a member's key rather than at its value.
  void AddAtKey(const JsonValue& member, std::string text) {
    Add({member.key_position(), member.Pointer(), std::move(text)});
  }
  void Add(Problem problem) {
    if (!Full()) list_.push_back(std::move(problem));
  }
  // More problems than anyone reads: the caller can stop looking for others.
  bool Full() const { return list_.size() >= kMax; }
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }

  // For the parser, which starts the list.
  std::vector<Problem>& list() { return list_; }

 private:
  std::vector<Problem> list_;
};

// "the number 5", "the string \"x\"", "an object" and so on.
std::string Described(const JsonValue& value);

// Reads a duration in the range of `form` (kDuration, kPositiveDuration or kSignedDuration).
// Reports a problem and returns nothing if `value` is none.
std::optional<Duration> ReadDuration(const JsonValue& value, Form form, Problems& problems);

// Reads a name: not empty, not too long, printable, and without * unless `stars`. Reports a problem
// and returns nothing otherwise.
std::optional<std::string> ReadName(const JsonValue& value, bool stars, Problems& problems);

// Whether `entry` repeats one of those before it, which is reported. `what` is "lock" or the like.
bool IsRepeated(const JsonValue& entry, std::span<const std::string> before, std::string_view what,
                Problems& problems);

// `unknown node "bb"; did you mean "b"? Known nodes: a, b.`
std::string UnknownWord(std::string_view what, std::string_view word,
                        std::span<const std::string_view> known);

// Reads a delay: a duration, or an object (ObjectId::kDelay). Reports a problem and returns nothing if `value` is none.
std::optional<DelaySpec> ReadDelay(const JsonValue& value, Problems& problems);

// The index of `value`'s string in `words`. Reports an unknown `what` and returns nothing
// otherwise.
std::optional<size_t> ReadWord(const JsonValue& value, std::string_view what,
                               std::span<const std::string_view> words, Problems& problems);

class ObjectFields {
 public:
  // `value` may be of any kind. If it is not an object, that is reported and there are no keys.
  ObjectFields(const JsonValue& value, ObjectId id, Problems& problems);

  const JsonValue& value() const { return value_; }
  // The value of a key, of any type.
  std::optional<JsonValue> Find(std::string_view key) const { return Look(key).second; }
  bool Has(std::string_view key) const { return Find(key).has_value(); }

  // Each returns nothing if the key is absent or if a problem was reported.
  std::optional<std::string> Text(std::string_view key) const;
  std::optional<std::string> Name(std::string_view key) const;
  std::optional<bool> Boolean(std::string_view key) const;
  std::optional<int64_t> Integer(std::string_view key) const;
  std::optional<uint64_t> Unsigned(std::string_view key) const;
  std::optional<Duration> Time(std::string_view key) const;
  // `what` is "step" or the like where there are many words; empty where there are a few choices.
  template <typename Enum>
  std::optional<Enum> Word(std::string_view key, std::string_view what = {}) const {
    const std::optional<size_t> index = WordIndex(key, what);
    if (!index.has_value()) return std::nullopt;
    return static_cast<Enum>(*index);
  }
  // A step of the scenario's protocol; like Word, with the protocol's steps as the words.
  std::optional<StepName> Step(std::string_view key, std::string_view what = {}) const;
  // The elements of an array. If the value is no array, that is reported and there are none.
  std::vector<JsonValue> Entries(std::string_view key) const;
  std::optional<std::vector<std::string>> Names(std::string_view key, std::string_view what) const;
  template <typename Enum>
  std::vector<Enum> Words(std::string_view key, std::string_view what) const {
    std::vector<Enum> words;
    for (const size_t index : WordIndexes(key, what)) words.push_back(static_cast<Enum>(index));
    return words;
  }
  // The object at a key, if there is one.
  std::optional<ObjectFields> Object(std::string_view key) const;

 private:
  std::pair<const KeyInfo*, std::optional<JsonValue>> Look(std::string_view key) const;
  // The same; ends the program if the key does not have that form.
  std::pair<const KeyInfo*, std::optional<JsonValue>> Look(std::string_view key, Form form) const;
  std::optional<size_t> WordIndex(std::string_view key, std::string_view what) const;
  std::vector<size_t> WordIndexes(std::string_view key, std::string_view what) const;
  void ReportMissing(const KeyInfo& key) const;

  JsonValue value_;
  const ObjectInfo* info_;
  Problems* problems_;
};

}  // namespace whorl::sim
