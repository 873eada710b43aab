// Judges whether work is alive by the signs that it gives: it is dead when it has given none for `within`.
//
// Invariants:
//   1. Only time in which the judge itself ran counts: of a longer time between two looks, no more than
//      two usual ones. Work that was suspended or frozen with its process could not give a sign.
//   2. It compares no clock of others: a sign is whatever has changed since the last look.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace whorl::real_client {

class Liveness {
 public:
  Liveness(Duration within, LocalInstant began) : within_(within), looked_(began) {}

  // The usual time from one look to the next.
  Duration every() const { return std::clamp(within_ / 10, Milliseconds(10), Seconds(1)); }
  LocalInstant NextLook() const { return looked_ + every(); }
  // Call it about as often as `every()` says, with whether there was a sign since the last call.
  bool IsAlive(bool has_sign, LocalInstant now) {
    silent_ = has_sign ? Duration() : silent_ + std::min(now - looked_, every() * 2);
    looked_ = now;
    return silent_ < within_;
  }

 private:
  Duration within_;
  LocalInstant looked_;
  Duration silent_;  // for how long there was no sign
};

}  // namespace whorl::real_client
