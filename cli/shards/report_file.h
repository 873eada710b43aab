// Writes and reads files with reports of shards: one JSON document each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cli/shards/coverage.h"
#include "sim/report/json_print.h"
#include "sim/scenario/json_text.h"

namespace whorl::cli {

struct ShardFormat {
  std::string_view name;  // "whorl-replay-shard"
  int version = 1;
  std::string_view command;  // that writes it: "whorl replay --shard"
};

// {"format": ..., "version": ..., "whorl": ..., "shards": ..., "covered": ...}, to which the rest is added.
sim::Json HeadOfShardReport(const ShardFormat& format, const Coverage& coverage);

// Calls `read` with the document of the file. It may throw as the readers below do.
//   kInvalidArgument: it is no such report, damaged, or of another version.
//   kUnavailable: it cannot be read.
absl::Status ReadShardReport(const std::string& path, const ShardFormat& format,
                             const std::function<void(const sim::Json&)>& read);

// The reports to merge are often all that is left of hours of work: an error if `out` is one of them.
absl::Status CheckOutIsNoInput(const std::vector<std::string>& merged, const std::string& out);

// Readers of what JsonPrinter (sim/report/json_print.h) prints of plain values, and of parts of reports. For
// anything else they throw std::invalid_argument with what is wrong, or an exception of the JSON library.

[[noreturn]] void Refuse(const std::string& what);
// Why `read` refuses what it reads; empty if it does not. JSON's own exceptions speak of the library's types,
// so their texts are not shown. `no_json`: what to say of text that is no JSON.
std::string RefusalOf(std::string_view no_json, const std::function<void()>& read);

// The value of a key that has to be there.
const sim::Json& At(const sim::Json& json, std::string_view key);

// Refuses a document whose "format" is not `name`, and says which one it has.
void CheckFormatName(const sim::Json& json, std::string_view name);

// The number that a string holds.
uint64_t Unsigned(const sim::Json& json, int base = 10);

// `asked`: how many runs there are in all, if that is known.
Coverage ReadCoverage(const sim::Json& shards, const sim::Json& covered,
                      std::optional<uint64_t> asked);

namespace json_read_internal {

Duration SecondsOf(const sim::Json& json);

template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsMaybe = false;
template <typename T>
inline constexpr bool kIsMaybe<std::optional<T>> = true;

}  // namespace json_read_internal

template <HasFields T>
void ReadFields(const sim::Json& json, T& value);

template <typename T>
void ReadValue(const sim::Json& json, T& value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    value = Unsigned(json);
  } else if constexpr (std::is_same_v<T, Duration>) {
    value = json_read_internal::SecondsOf(json);
  } else if constexpr (HasWord<T>) {
    const auto word = json.get<std::string>();
    for (const T one : AllOf<T>()) {
      if (WordOf(one) != word) continue;
      value = one;
      return;
    }
    Refuse("unknown word " + word);
  } else if constexpr (json_read_internal::kIsMaybe<T>) {
    value.reset();
    if (!json.is_null()) ReadValue(json, value.emplace());
  } else if constexpr (json_read_internal::kIsList<T>) {
    value.clear();
    for (const sim::Json& element : json) ReadValue(element, value.emplace_back());
  } else if constexpr (HasFields<T>) {
    ReadFields(json, value);
  } else {
    value = json.get<T>();
  }
}

template <HasFields T>
void ReadFields(const sim::Json& json, T& value) {
  auto tied = T::Tie(value);
  [&]<size_t... I>(std::index_sequence<I...>) {
    (ReadValue(At(json, fields_internal::NthName(T::FieldNames(), I)), std::get<I>(tied)), ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(tied)>>());
}

}  // namespace whorl::cli
