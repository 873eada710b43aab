// Defines the outcome of a call to the server.
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

// The status with the remedy, where the model lacks what the call needs, or perhaps lacks it: what it
// cannot parse or type may be a part of the language that it does not know.
Status WithRemedy(Status status);
inline Answer Refused(Status status) { return {.status = WithRemedy(std::move(status))}; }
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
