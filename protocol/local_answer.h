// What a process says of a lock whose holder it knows without asking Spanner.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/machine.h"
#include "protocol/spanner/time.h"

namespace whorl {

// What of a protocol's state the answers are made from.
struct LocalKnowledge {
  std::string_view protocol;
  std::string_view id;  // of this process
  bool leads = false;
  std::optional<Timestamp> token;  // of its grant; nothing: the protocol has none
  Duration lease;
  int64_t iterations = 0;
};

// Lock and Unlock are answered "no": such a protocol has no blocking wrapper.
Answer AnswerLocally(const Asked& asked, const LocalKnowledge& known);

}  // namespace whorl
