// The interval of Spanner's TrueTime, at the start of a run or after a fault sets it.
#pragma once

#include "base/time.h"
#include "protocol/spanner/fields.h"

namespace whorl::sim {

struct TrueTimeSpec {
  Duration epsilon = Milliseconds(4);  // half the width of the interval
  bool truthful = true;                // false: true time lies outside the interval
  // If not truthful: how far the interval's middle is from true time. REQUIRES: beyond epsilon.
  Duration error;
  WHORL_FIELDS(TrueTimeSpec, epsilon, truthful, error);
};

}  // namespace whorl::sim
