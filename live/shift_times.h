// Adds a duration to every Timestamp inside a value, at any depth.
#pragma once

#include <tuple>
#include <type_traits>
#include <variant>

#include "base/time.h"
#include "live/message_codec.h"
#include "protocol/spanner/fields.h"
#include "protocol/token.h"

namespace whorl::live {

template <typename T>
void ShiftTimes(Duration by, T& value) {
  using namespace codec_internal;  // NOLINT(google-build-using-namespace): kinds of types
  if constexpr (std::is_same_v<T, Timestamp>) {
    value = value + by;
  } else if constexpr (std::is_same_v<T, Token>) {
    if (value.commit() != nullptr) value = *value.commit() + by;
  } else if constexpr (kIsOptional<T>) {
    if (value.has_value()) ShiftTimes(by, *value);
  } else if constexpr (kIsVariant<T>) {
    std::visit([by](auto& alternative) { ShiftTimes(by, alternative); }, value);
  } else if constexpr (HasFields<T>) {
    std::apply([by](auto&... field) { (ShiftTimes(by, field), ...); }, T::Tie(value));
  } else if constexpr (!std::is_same_v<T, std::string> && requires { value.begin(); }) {
    for (auto& element : value) ShiftTimes(by, element);
  }
}

}  // namespace whorl::live
