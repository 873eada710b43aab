// Defines durations and points in time, as Spanner and its clients express them.
//
// Invariants:
//   1. Duration is a whole number of nanoseconds in an int64 (292 years either way).
//   2. Timestamp is Spanner's TIMESTAMP: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z,
//      with nanoseconds; nanos is always in [0, 1e9).
//   3. LocalInstant is a reading of a monotonic clock that one process or one machine has: no
//      length, and no other kind of time. Code that shifts the instants of a state finds them by this
//      type, so an instant that may not be there yet is a std::optional, never a zero.
//   4. Arithmetic saturates at these ends instead of overflowing; code that has to report an
//      overflow (TIMESTAMP_SUB, TIMESTAMP_DIFF) checks first.
// Deliberately left out: reading any clock. Time is an input.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace whorl {

struct Duration {
  int64_t ns = 0;

  friend constexpr auto operator<=>(const Duration&, const Duration&) = default;
  static constexpr Duration Max() { return {std::numeric_limits<int64_t>::max()}; }
};

constexpr Duration Nanoseconds(int64_t n) { return {n}; }
constexpr Duration Microseconds(int64_t n) { return {n * 1'000}; }
constexpr Duration Milliseconds(int64_t n) { return {n * 1'000'000}; }
constexpr Duration Seconds(int64_t n) { return {n * 1'000'000'000}; }

constexpr int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

constexpr int64_t SaturatingSubtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

// seconds * 1e9 + nanos, saturated. REQUIRES: nanos in (-1e9, 1e9).
constexpr int64_t SaturatingNanos(int64_t seconds, int64_t nanos) {
  // Give both the same sign first, so that the product does not overflow where the sum would not.
  if (seconds > 0 && nanos < 0) {
    --seconds;
    nanos += 1'000'000'000;
  } else if (seconds < 0 && nanos > 0) {
    ++seconds;
    nanos -= 1'000'000'000;
  }
  int64_t ns = 0;
  if (__builtin_mul_overflow(seconds, int64_t{1'000'000'000}, &ns)) {
    return seconds < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  }
  return SaturatingAdd(ns, nanos);
}

constexpr Duration operator-(Duration a) {
  return {a.ns == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max()
                                                      : -a.ns};
}
constexpr Duration operator+(Duration a, Duration b) { return {SaturatingAdd(a.ns, b.ns)}; }
constexpr Duration operator-(Duration a, Duration b) { return {SaturatingSubtract(a.ns, b.ns)}; }
constexpr Duration& operator+=(Duration& a, Duration b) { return a = a + b; }
constexpr Duration& operator-=(Duration& a, Duration b) { return a = a - b; }
// REQUIRES: the product fits (constants and configuration, checked where they are read).
constexpr Duration operator*(Duration a, int64_t n) { return {a.ns * n}; }
constexpr Duration operator/(Duration a, int64_t n) { return {a.ns / n}; }

// A reading of a monotonic clock, in nanoseconds since that clock's beginning: for a simulated
// process, since its start.
struct LocalInstant {
  int64_t ns = 0;

  friend constexpr auto operator<=>(const LocalInstant&, const LocalInstant&) = default;
  static constexpr LocalInstant Max() { return {std::numeric_limits<int64_t>::max()}; }
};

constexpr LocalInstant operator+(LocalInstant t, Duration d) { return {SaturatingAdd(t.ns, d.ns)}; }
constexpr LocalInstant operator-(LocalInstant t, Duration d) { return t + -d; }
constexpr LocalInstant& operator+=(LocalInstant& t, Duration d) { return t = t + d; }
constexpr Duration operator-(LocalInstant a, LocalInstant b) {
  return Duration{a.ns} - Duration{b.ns};
}

// "1.5s", "200ms", "0s": the shortest exact form with one unit, as scenarios write it.
std::string FormatDuration(Duration duration);

// Seconds with `digits` decimals, rounded half away from zero, as logs and reports have them: "9.980000000".
// REQUIRES: digits is in [0, 9].
std::string FormatSeconds(Duration duration, int digits = 9);

class Timestamp {
 public:
  constexpr Timestamp() = default;  // 1970-01-01T00:00:00Z
  static constexpr Timestamp FromUnixNanos(int64_t ns) {
    int64_t seconds = ns / 1'000'000'000;
    int64_t nanos = ns % 1'000'000'000;
    if (nanos < 0) {
      nanos += 1'000'000'000;
      --seconds;
    }
    return Timestamp(seconds, static_cast<int32_t>(nanos));
  }
  // Empty if outside Spanner's range, or if nanos is not in [0, 1e9).
  static constexpr std::optional<Timestamp> FromParts(int64_t seconds, int64_t nanos) {
    if (seconds < kMinSeconds || seconds > kMaxSeconds) return std::nullopt;
    if (nanos < 0 || nanos >= 1'000'000'000) return std::nullopt;
    return Timestamp(seconds, static_cast<int32_t>(nanos));
  }
  static constexpr Timestamp Min() { return Timestamp(kMinSeconds, 0); }
  static constexpr Timestamp Max() { return Timestamp(kMaxSeconds, 999'999'999); }

  constexpr int64_t seconds() const { return seconds_; }
  constexpr int32_t nanos() const { return nanos_; }
  // Saturates outside the years 1677 to 2262.
  constexpr int64_t UnixNanos() const { return SaturatingNanos(seconds_, nanos_); }
  // Spanner's clocks tick in microseconds.
  constexpr Timestamp TruncatedToMicros() const {
    return Timestamp(seconds_, nanos_ / 1'000 * 1'000);
  }

  friend constexpr auto operator<=>(const Timestamp&, const Timestamp&) = default;

 private:
  static constexpr int64_t kMinSeconds = -62'135'596'800;
  static constexpr int64_t kMaxSeconds = 253'402'300'799;
  constexpr Timestamp(int64_t seconds, int32_t nanos) : seconds_(seconds), nanos_(nanos) {}

  int64_t seconds_ = 0;
  int32_t nanos_ = 0;
};

// Saturates at Spanner's first and last timestamp.
constexpr Timestamp operator+(Timestamp t, Duration d) {
  int64_t seconds = t.seconds() + d.ns / 1'000'000'000;
  int64_t nanos = t.nanos() + d.ns % 1'000'000'000;
  if (nanos < 0) {
    nanos += 1'000'000'000;
    --seconds;
  } else if (nanos >= 1'000'000'000) {
    nanos -= 1'000'000'000;
    ++seconds;
  }
  if (const auto sum = Timestamp::FromParts(seconds, nanos)) return *sum;
  return d.ns < 0 ? Timestamp::Min() : Timestamp::Max();
}
constexpr Timestamp operator-(Timestamp t, Duration d) { return t + -d; }
// Saturates at +-292 years.
constexpr Duration operator-(Timestamp a, Timestamp b) {
  return {SaturatingNanos(a.seconds() - b.seconds(), int64_t{a.nanos()} - b.nanos())};
}

// RFC 3339 in UTC with nanoseconds, trailing zeros trimmed, "Z": what spindle hashes and what
// Spanner sends. 2026-01-01T00:00:00.5Z
std::string FormatRfc3339(Timestamp timestamp);
// Parses that form, with 0 to 9 digits of fraction; empty if the text has another form.
std::optional<Timestamp> ParseRfc3339(std::string_view text);

}  // namespace whorl
