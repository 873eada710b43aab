// Declares the words of spindle_v2: its steps, notes and draws.
#pragma once

#include "protocol/names.h"

namespace whorl::spindle_v2::steps {

inline constexpr StepName kCheck{"check"};
inline constexpr StepName kFirstInsert{"first_insert"};
inline constexpr StepName kReread{"reread"};
inline constexpr StepName kTakeoverInsert{"takeover_insert"};
inline constexpr StepName kTakeoverUpdate{"takeover_update"};
inline constexpr StepName kHeartbeatUpdate{"heartbeat_update"};
inline constexpr StepName kHeartbeatDelete{"heartbeat_delete"};

}  // namespace whorl::spindle_v2::steps

namespace whorl::spindle_v2::notes {

inline constexpr NoteId kGotFirstLock{"got the first lock"};        // token
inline constexpr NoteId kGotNextLock{"got the next lock"};          // token
inline constexpr NoteId kTokenUpdateFailed{"token update failed"};  // error

}  // namespace whorl::spindle_v2::notes

namespace whorl::spindle_v2::purposes {

inline constexpr Purpose kHeartbeatPause{"heartbeat_pause"};

}  // namespace whorl::spindle_v2::purposes
