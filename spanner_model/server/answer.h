// The outcome of a call to the server.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/spanner/status.h"

namespace whorl::server {

using MessagePtr = std::shared_ptr<const google::protobuf::Message>;

// A status and, if it is OK, the messages: one for a unary call, one or more for a stream.
struct Answer {
  Status status;
  std::vector<MessagePtr> messages;
};

// An error; the remedy is added where the model lacks what the call needs.
inline Answer Refused(Status status) {
  if (status.message.view().find("is not modelled") != std::string::npos) {
    status.message =
        status.message + "; whorl proxy puts the same faults before a server that has it";
  }
  return {.status = std::move(status)};
}
inline Status OnlyMultiplexed() {
  return Error(Code::kUnimplemented, "This server has multiplexed sessions only.");
}
template <typename Proto>
Answer AnswerWith(Proto proto) {
  Answer answer;
  answer.messages.push_back(std::make_shared<const Proto>(std::move(proto)));
  return answer;
}

// Identifies a call; chosen by the caller, unique among the calls under way.
using CallTag = uint64_t;

// Each call is answered once. Before that it may be parked, also more than once: it waits for a
// lock, for its read timestamp, for its commit to become visible, or for a schema change.
struct CallOutcome {
  CallTag tag = 0;
  std::optional<Answer> answer;  // empty: the call is parked
};

}  // namespace whorl::server
