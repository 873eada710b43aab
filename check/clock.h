// Bounds the offset of a process's clock (its reading minus true time) by an interval, which facts narrow.
//
// A commit timestamp is later than the request for it was sent and earlier than its reply came, in true
// time. So a call gives: sent - commit <= offset <= received - commit.
// A bound from a call holds at the time of the call and widens afterwards, since clocks run at slightly different
// rates. A declared bound holds at all times.
//
// Invariants:
//   1. If all facts are true and no rate is further off than kDriftPpm, the offset is within At(t).
//   2. An interval is never empty: contradicting facts are reported, and from then on the clock is unknown, since
//      one of them is false or the clock was set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace whorl::check {

struct Offsets {  // at least and at most
  Duration least;
  Duration most;
};

// When something happened in true time, at the earliest and at the latest.
struct Between {
  Timestamp earliest;
  Timestamp latest;
};

class Clock {
 public:
  static constexpr int64_t kDriftPpm = 200;
  // Rounded up.
  static Duration DriftIn(Duration time);

  // Returns what contradicts the declaration, or an empty text.
  std::string Declare(Offsets offsets);
  // Returns the two facts that contradict, or an empty text.
  std::string Call(Timestamp sent, Timestamp commit, Timestamp received, const std::string& where);

  // Times are written shortened: each is less than the clock's reading by at most this.
  void Shorten(Duration resolution) { resolution_ = std::max(resolution_, resolution); }

  bool IsKnown() const { return !contradicts_ && (declared_.has_value() || shown_.has_value()); }
  Duration resolution() const { return resolution_; }
  // The offset when the clock showed `at`. REQUIRES: IsKnown().
  Offsets At(Timestamp at) const;
  // REQUIRES: IsKnown().
  Between TrueTime(Timestamp at) const {
    const Offsets offsets = At(at);
    return {.earliest = at - offsets.most, .latest = at + resolution_ - offsets.least};
  }

 private:
  struct Shown {
    Offsets offsets;
    Timestamp at;  // by this clock
    std::string least_from;
    std::string most_from;
  };
  static Offsets Worn(const Shown& shown, Timestamp at);
  // Returns what contradicts, or an empty text.
  std::string Narrow(Timestamp sent, Timestamp commit, Timestamp received,
                     const std::string& where);

  std::optional<Offsets> declared_;
  std::optional<Shown> shown_;
  Duration resolution_;
  bool contradicts_ = false;
};

}  // namespace whorl::check
