// Declares the words of spindle_v3: its steps and draws.
#pragma once

#include "protocol/names.h"

namespace whorl::spindle_v3::steps {

inline constexpr StepName kLook{"look"};
inline constexpr StepName kAcquire{"acquire"};
inline constexpr StepName kHeartbeat{"heartbeat"};
inline constexpr StepName kRelease{"release"};

}  // namespace whorl::spindle_v3::steps

namespace whorl::spindle_v3::purposes {

inline constexpr Purpose kWakeDelay{"wake_delay"};

}  // namespace whorl::spindle_v3::purposes
