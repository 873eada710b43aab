// Represents the token of a lock's row, as Spanner stores it: a commit timestamp, or an INT64 that
// counts the grants (an epoch).
//
// Tokens of one protocol are all of one type, the type of its token column, and ordered within it.
// What a protocol hands to its users is a number (Answer::token): of a timestamp, its nanoseconds.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/time.h"
#include "protocol/spanner/value.h"

namespace whorl {

// A token as users see it, where it is kept: to the code it is the number.
struct TokenNumber {
  uint64_t number = 0;

  constexpr TokenNumber() = default;
  constexpr TokenNumber(uint64_t n) : number(n) {}        // NOLINT(google-explicit-constructor)
  constexpr operator uint64_t() const { return number; }  // NOLINT(google-explicit-constructor)
  template <typename Form>
  void AddTo(Form& form) const {
    if constexpr (requires { form.AddTokenNumber(number); }) {
      form.AddTokenNumber(number);
    } else {
      form.AddWord(number);
    }
  }
};

class Token {
 public:
  constexpr Token() = default;  // 1970-01-01T00:00:00Z
  // Implicit: where a token is wanted, protocols say the commit timestamp that it is.
  constexpr Token(Timestamp commit) : value_(commit) {}  // NOLINT(google-explicit-constructor)
  constexpr explicit Token(int64_t epoch) : value_(epoch) {}
  // The token in a column; nothing if that is NULL, or of a type that no token has.
  static std::optional<Token> In(const Value& column) {
    if (const auto* commit = std::get_if<Timestamp>(&column)) return Token(*commit);
    if (const auto* epoch = std::get_if<int64_t>(&column)) return Token(*epoch);
    return std::nullopt;
  }

  // Null if it is an epoch.
  constexpr const Timestamp* commit() const { return std::get_if<Timestamp>(&value_); }
  // The number that users get. REQUIRES: an epoch is not negative.
  constexpr uint64_t Number() const {
    if (commit() != nullptr) return static_cast<uint64_t>(commit()->UnixNanos());
    return static_cast<uint64_t>(std::get<int64_t>(value_));
  }
  Value ToValue() const {
    if (commit() != nullptr) return *commit();
    return std::get<int64_t>(value_);
  }

  friend constexpr bool operator==(const Token&, const Token&) = default;
  friend constexpr auto operator<=>(const Token&, const Token&) = default;

  template <typename Fingerprint>
  void AddTo(Fingerprint& fingerprint) const {
    if (commit() != nullptr) {
      if constexpr (requires { fingerprint.AddToken(*commit()); }) {
        fingerprint.AddToken(*commit());
      } else {
        fingerprint.Add(*commit());
      }
    } else {
      fingerprint.Add(std::get<int64_t>(value_));
      fingerprint.AddWord(~uint64_t{0});  // which is no timestamp's nanoseconds
    }
  }

 private:
  std::variant<Timestamp, int64_t> value_;
};

// For people: 2026-01-01T00:00:00Z, or 42.
inline std::string FormatToken(const Token& token) { return FormatValue(token.ToValue()); }

}  // namespace whorl
