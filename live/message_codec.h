// Converts any value with fields to JSON and back, for messages between processes of one build of
// this program. Fields are identified by their position, alternatives and enumerators by their
// number, names (protocol/names.h) by their word.
//
// Invariant: FromJson(ToJson(x)) equals x. FromJson throws nlohmann::json::exception for any other
// JSON.
// Deliberately left out: handles of SQL, which mean nothing in another process.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/value.h"
#include "protocol/token.h"
#include "sim/scenario/instant.h"

namespace whorl::live {

using MessageJson = nlohmann::json;

template <typename T>
MessageJson ToJson(const T& value);
template <typename T>
void FromJson(const MessageJson& json, T& out);

// A copy of the word that lives as long as the program. Callable from any thread.
const char* InternedWord(const std::string& word);

namespace codec_internal {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVariant = false;
template <typename... T>
inline constexpr bool kIsVariant<std::variant<T...>> = true;
template <typename T>
inline constexpr bool kIsName = false;
template <typename Kind>
inline constexpr bool kIsName<Name<Kind>> = true;
template <typename T>
inline constexpr bool kIsArray = false;
template <typename T, size_t N>
inline constexpr bool kIsArray<std::array<T, N>> = true;

template <size_t I = 0, typename... T>
void ReadAlternative(size_t index, const MessageJson& json, std::variant<T...>& out) {
  if constexpr (I < sizeof...(T)) {
    if (index == I) return FromJson(json, out.template emplace<I>());
    ReadAlternative<I + 1>(index, json, out);
  } else {
    // Another build wrote the message: throws the exception of the library.
    static_cast<void>(MessageJson::array().at(index));
  }
}

template <HasFields T>
void ReadFields(const MessageJson& json, T& out) {
  auto tied = T::Tie(out);
  [&]<size_t... I>(std::index_sequence<I...>) {
    (FromJson(json.at(I), std::get<I>(tied)), ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(tied)>>());
}

}  // namespace codec_internal

template <typename T>
MessageJson ToJson(const T& value) {
  using namespace codec_internal;  // NOLINT(google-build-using-namespace): names of this header
  if constexpr (kIsName<T>) {
    return std::string(value.word());
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, Duration> || std::is_same_v<T, LocalInstant> ||
                       std::is_same_v<T, sim::Instant>) {
    return value.ns;
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    return FormatRfc3339(value);
  } else if constexpr (std::is_same_v<T, Token>) {
    return ToJson(value.ToValue());
  } else if constexpr (std::is_same_v<T, Float64>) {
    return value.value();
  } else if constexpr (kIsOptional<T>) {
    return value.has_value() ? MessageJson::array({ToJson(*value)}) : MessageJson();
  } else if constexpr (kIsVariant<T>) {
    return std::visit(
        [&](const auto& alternative) {
          return MessageJson::array({value.index(), ToJson(alternative)});
        },
        value);
  } else {
    MessageJson array = MessageJson::array();
    if constexpr (HasFields<T>) {
      VisitFields(value,
                  [&](std::string_view, const auto& field) { array.push_back(ToJson(field)); });
    } else {
      for (const auto& element : value) array.push_back(ToJson(element));
    }
    return array;
  }
}

template <typename T>
void FromJson(const MessageJson& json, T& out) {
  using namespace codec_internal;  // NOLINT(google-build-using-namespace): names of this header
  if constexpr (kIsName<T>) {
    out = T::Borrow(InternedWord(json.get<std::string>()));
  } else if constexpr (std::is_enum_v<T>) {
    out = static_cast<T>(json.get<int64_t>());
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    json.get_to(out);
  } else if constexpr (std::is_same_v<T, Duration> || std::is_same_v<T, LocalInstant> ||
                       std::is_same_v<T, sim::Instant>) {
    json.get_to(out.ns);
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    out = ParseRfc3339(json.get<std::string>()).value_or(Timestamp());
  } else if constexpr (std::is_same_v<T, Token>) {
    Value column;
    FromJson(json, column);
    out = Token::In(column).value_or(Token());
  } else if constexpr (std::is_same_v<T, Float64>) {
    out = Float64(json.get<double>());
  } else if constexpr (kIsOptional<T>) {
    out.reset();
    if (!json.is_null()) FromJson(json.at(0), out.emplace());
  } else if constexpr (kIsVariant<T>) {
    ReadAlternative(json.at(0).get<size_t>(), json.at(1), out);
  } else if constexpr (HasFields<T>) {
    ReadFields(json, out);
  } else if constexpr (kIsArray<T>) {
    for (size_t i = 0; i < out.size(); ++i) FromJson(json.at(i), out[i]);
  } else {
    out.clear();
    for (const MessageJson& element : json) FromJson(element, out.emplace_back());
  }
}

}  // namespace whorl::live
