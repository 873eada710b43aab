// Declares the words of lease_lock: its steps, notes and draws.
#pragma once

#include "protocol/names.h"

namespace whorl::lease_lock::steps {

inline constexpr StepName kAcquire{"acquire"};
inline constexpr StepName kHeartbeat{"heartbeat"};
inline constexpr StepName kRelease{"release"};
inline constexpr StepName kGet{"get"};

}  // namespace whorl::lease_lock::steps

namespace whorl::lease_lock::notes {

inline constexpr NoteId kHeldBy{
    "held by another"};  // who holds the lock that one waits for, and until when

}  // namespace whorl::lease_lock::notes

namespace whorl::lease_lock::purposes {

inline constexpr Purpose kKeyOrder{"key_order"};

}  // namespace whorl::lease_lock::purposes
