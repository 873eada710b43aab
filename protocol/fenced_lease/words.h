// Declares the words of fenced_lease: its steps, notes and draws.
#pragma once

#include "protocol/names.h"

namespace whorl::fenced_lease::steps {

inline constexpr StepName kRead{"read"};
inline constexpr StepName kTake{"take"};
inline constexpr StepName kCreate{"create"};
inline constexpr StepName kBeat{"beat"};
inline constexpr StepName kRelease{"release"};

}  // namespace whorl::fenced_lease::steps

namespace whorl::fenced_lease::notes {

// Another process announced its release: it looks as soon as it can pay for a look.
inline constexpr NoteId kHeardOfRelease{"heard of a release"};

}  // namespace whorl::fenced_lease::notes

namespace whorl::fenced_lease::purposes {

inline constexpr Purpose kAttemptId{"attempt_id"};
inline constexpr Purpose kTakeDelay{"take_delay"};

}  // namespace whorl::fenced_lease::purposes
