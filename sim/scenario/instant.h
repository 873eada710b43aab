// Represents true time in a simulation: nanoseconds since its start. The code under test cannot see
// it.
#pragma once

#include <compare>
#include <cstdint>

#include "base/time.h"
#include "protocol/counting.h"

namespace whorl::sim {

struct Instant {
  int64_t ns = 0;
  friend constexpr auto operator<=>(const Instant&, const Instant&) = default;
  template <typename Form>
  void AddTo(Form& form) const;
};

constexpr Instant operator+(Instant t, Duration d) { return {SaturatingAdd(t.ns, d.ns)}; }
constexpr Duration operator-(Instant a, Instant b) { return Duration{a.ns} - Duration{b.ns}; }
inline constexpr Instant kNever = {std::numeric_limits<int64_t>::max()};

// Every simulation starts at midnight of 2026-01-01: whole seconds keep traces readable.
inline constexpr Timestamp kStartTime = Timestamp::FromUnixNanos(1'767'225'600'000'000'000);

constexpr Timestamp ToTimestamp(Instant t) { return kStartTime + Duration{t.ns}; }
constexpr Instant ToInstant(Timestamp t) { return {(t - kStartTime).ns}; }

template <typename Form>
void Instant::AddTo(Form& form) const {
  if constexpr (TakesWhatMatters<Form>) {
    if (*this != kNever) return form.Add(ToTimestamp(*this));
  }
  form.AddWord(static_cast<uint64_t>(ns));
}

}  // namespace whorl::sim
