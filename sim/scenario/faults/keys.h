// Provides what the files of the kinds of faults share: descriptions of common keys, and access to the
// scenario that is being read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/words.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/language.h"
#include "sim/scenario/parts.h"

namespace whorl::sim {

// Keys that several kinds take, described once.
FaultKey ForKey(bool required = false);
FaultKey RestartAfterKey();
FaultKey DirectionKey();
FaultKey PercentKey();
std::vector<FaultKey> RowKeys();  // the keys of RowOfLock

// The words of an enumeration.
template <HasWords Enum>
std::vector<std::string_view> ListedWords() {
  return {AllWords<Enum>().begin(), AllWords<Enum>().end()};
}

// The words of all steps, whichever protocol has them.
std::vector<std::string_view> StepWords();

// A default as JSON.
std::string WordJson(std::string_view word);
std::string BooleanJson(bool value);

// A fault while its keys are read, for Check(): all keys by themselves were good.
struct FaultReading {
  const ObjectFields& fields;
  const Scenario& scenario;
  const FaultSpec& fault;  // trigger and kind are set, the node is not
  Problems& problems;

  bool Has(std::string_view key) const { return fields.Has(key); }
  // At the whole fault, and at one of its keys.
  void Add(std::string text) const { problems.Add(fields.value(), std::move(text)); }
  void AddAtKey(std::string_view key, std::string text) const {
    problems.AddAtKey(*fields.Find(key), std::move(text));
  }
};

// The key of a kind's field.
constexpr std::string_view KeyOfField(std::string_view field) {
  return field == "lasts" ? "for" : field;
}

// Calls visit(key, field) for every field of a kind, which may be changed.
template <typename Kind, typename Visit>
void VisitKeys(Kind& kind, const Visit& visit) {
  [[maybe_unused]] auto tied = Kind::Tie(kind);
  [&]<size_t... I>(std::index_sequence<I...>) {
    (visit(KeyOfField(fields_internal::NthName(Kind::FieldNames(), I)), std::get<I>(tied)), ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(tied)>>());
}
// The same with the field of another value of the kind: visit(key, field, other).
template <typename Kind, typename Visit>
void VisitKeys(const Kind& kind, const Kind& other, const Visit& visit) {
  [[maybe_unused]] auto others = Kind::Tie(other);
  [&]<size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] auto tied = Kind::Tie(kind);
    (visit(KeyOfField(fields_internal::NthName(Kind::FieldNames(), I)), std::get<I>(tied),
           std::get<I>(others)),
     ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(others)>>());
}

}  // namespace whorl::sim
