// Answers to an application's questions from local state, without asking Spanner.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "protocol/machine.h"
#include "protocol/token.h"

namespace whorl {

// The part of a protocol's state from which answers are made.
struct LocalKnowledge {
  std::string_view protocol;
  std::string_view id;  // this process's
  bool leads = false;
  std::optional<Token> token;  // the current grant's; empty if the protocol has no tokens
  Duration lease;
  int64_t iterations = 0;
};

// The answer to Lock and Unlock is "no": such a protocol has no blocking wrapper.
Answer AnswerLocally(const Asked& asked, const LocalKnowledge& known);

}  // namespace whorl
