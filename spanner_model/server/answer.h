// What calls to a server come to.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/spanner/status.h"

namespace whorl::server {

using MessagePtr = std::shared_ptr<const google::protobuf::Message>;

// A status; and, if that is OK, the messages: one of a unary call, at least one of a stream.
struct Answer {
  Status status;
  std::vector<MessagePtr> messages;
};

inline Answer Refused(Status status) { return {.status = std::move(status)}; }
template <typename Proto>
Answer AnswerWith(Proto proto) {
  Answer answer;
  answer.messages.push_back(std::make_shared<const Proto>(std::move(proto)));
  return answer;
}

// Whoever hands a call in gives it a tag of its own.
using CallTag = uint64_t;

// Each call is answered once; before that it may be parked, also more than once: for a lock, for a
// time to read at, for the end of its commit, or for a change of the schema.
struct CallOutcome {
  CallTag tag = 0;
  std::optional<Answer> answer;  // nothing: it is parked
};

}  // namespace whorl::server
