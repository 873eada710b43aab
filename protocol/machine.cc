#include "protocol/machine.h"

#include <array>

namespace whorl {

std::string_view QuestionText(Question question) {
  constexpr std::array<std::string_view, kQuestionCount> kTexts = {
      "HasLock", "HasLock2", "Leader", "Duration", "Iterations", "Lock", "Unlock"};
  return kTexts[static_cast<size_t>(question)];
}

std::string_view StopReasonText(StopReason stop) {
  constexpr std::array<std::string_view, 2> kWords = {"cancelled", "deadline"};
  return kWords[static_cast<size_t>(stop)];
}

std::string_view NoteText(NoteId note) {
  constexpr std::array<std::string_view, kNoteCount> kTexts = {"lease raised to its minimum",
                                                               "got the first lock",
                                                               "got the next lock",
                                                               "read failed",
                                                               "token update failed",
                                                               "heartbeat failed",
                                                               "got the lock",
                                                               "lost the lock",
                                                               "claim failed",
                                                               "outcome unknown",
                                                               "outcome read back",
                                                               "the clock stood still",
                                                               "the row cannot be read",
                                                               "held by another",
                                                               "release failed",
                                                               "heard of a release"};
  return kTexts[static_cast<size_t>(note)];
}

}  // namespace whorl
