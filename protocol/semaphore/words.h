// Declares the words of semaphore: its steps.
#pragma once

#include "protocol/names.h"

namespace whorl::semaphore::steps {

inline constexpr StepName kUpdate{"update"};
inline constexpr StepName kQuery{"query"};

}  // namespace whorl::semaphore::steps
