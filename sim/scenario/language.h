// Describes the scenario language: every object, its keys, which values they take and what they are
// for.
//
// One description serves the loader (known and required keys, ranges, allowed words), the error
// messages, scenarios/schema.json (schema.h) and scenarios/LANGUAGE.md (guide.h) with its examples.
// Invariants:
//   1. The loader cannot read a key that is not described here (ObjectFields checks it).
//   2. The words of an enumeration are in the enumerators' order.
//   3. The defaults are printed from the structs in scenario.h; none is written down twice.
//   4. Each example is valid on its own in a scenario of spindle_v2 with the nodes a, b, pod-1,
//      pod-2 and spare, which nothing starts. The examples of faults strike in it; a test runs
//      them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

inline constexpr int64_t kMaxNodes = 1000;
inline constexpr size_t kMaxLocks = 1000;
inline constexpr size_t kMaxFaults = 20'000;  // after patterns were expanded
inline constexpr size_t kMaxBranches = 1000;
inline constexpr size_t kMaxNameBytes = 100;  // the limit for names of nodes and locks, and for ids
// In any object of this language, a key that begins so is a comment: its string is ignored.
inline constexpr std::string_view kCommentPrefix = "//";

enum class ObjectId : uint8_t {
  kScenario,
  kNode,
  kClock,
  kSpanner,
  kTrueTime,
  kNetwork,
  kWorkload,
  kFault,
  kWhen,
  kDelay,
  kChoice,
  kBranch,
  kExpect,
  kBound,
  // Of files of rules, which are faults for the calls of any program.
  kRules,
  kRule,
  kMatch,
};

// The form of a key's value.
enum class Form : uint8_t {
  kText,     // a string that is not empty
  kName,     // the same, short, and without control characters
  kNewName,  // the name of a new node: a kName without *, which is for patterns
  kNames,    // an array of distinct names, not empty
  kBoolean,
  kInteger,           // in [min, max]
  kDuration,          // 0 to ten years
  kPositiveDuration,  // the same without 0
  kSignedDuration,    // ten years either way
  kStart,             // a duration, or "never"
  kWord,              // one of `words`
  kWords,             // an array of distinct ones
  kObject,            // the object `object`
  kObjects,           // an array of them
  kDelay,             // a duration above 0, or the object `object`
  kNodes,             // an array, not empty, of names and of objects
  kRows,              // an array of objects whose keys are the protocol's columns
  kMetrics,           // an object whose keys are metrics
  kLimit,             // a count, or a duration where the metric is a time
  kParameters,        // an object whose keys are names of SQL parameters
};

struct KeyInfo {
  std::string_view name;
  Form form = Form::kText;
  std::string about;  // one line
  bool required = false;
  std::optional<ObjectId> object = std::nullopt;
  std::vector<std::string_view> words = {};
  int64_t min = 0;
  uint64_t max = std::numeric_limits<int64_t>::max();
  std::string otherwise = {};  // the default as JSON; empty if there is none to show
};

struct ObjectInfo {
  std::string_view name;
  std::vector<KeyInfo> keys;
  std::string_view example = {};  // JSON; each kind of fault has its own

  const KeyInfo* Find(std::string_view key) const;
  std::vector<std::string_view> KeyNames() const;
};
const ObjectInfo& DescribeObject(ObjectId id);

// A key that a kind of fault takes, as that kind means it.
struct FaultKey {
  KeyInfo key;  // required: by this kind
  // When the kind takes it, as it follows the kind's name: ", with `for`".
  std::string_view only = {};
  bool names_kinds = true;  // whether the key's description begins with the kinds that take it
};

// All that the language says of a kind of fault (faults/<kind>.cc).
struct FaultInfo {
  std::string_view word;
  std::string_view about;
  std::vector<FaultKey> keys = {};  // beyond those that every fault takes; required ones first
  bool has_node = true;             // it takes `node`, and `stagger`
  bool is_noun = true;              // "a pause"; words with _ are none anyway
  std::string_view example;         // JSON
  // What a rule of this kind does to a call of any program; empty if rules do not have it.
  std::string_view of_calls = {};
  FaultKind kind{};  // Faults() sets it

  bool Takes(std::string_view key) const;
};
// In the order of FaultKind.
std::span<const FaultInfo> Faults();
const FaultInfo& InfoOf(FaultKind kind);
// The keys of a fault that only some kinds take, in the order in which they are described.
std::span<const std::string_view> FaultKeys();
// The kinds that a rule may have, in the order of the words of its key "do".
std::span<const FaultKind> KindsOfRules();
// Those of FaultKeys() that a rule takes if its kind does.
std::span<const std::string_view> RuleKeys();
bool RuleTakes(FaultKind kind, std::string_view key);
bool RuleNeeds(FaultKind kind, std::string_view key);

}  // namespace whorl::sim
