// What the stage has to know of a call that passes the proxy, from its bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/spanner/rpc.h"

namespace whorl::live {

struct WireCall {
  std::string method;
  SessionName session;
  TransactionId transaction;  // in which it runs, or that it ends; empty: none
  bool begins_read_write = false;
  bool is_commit = false;
  bool is_rollback = false;

  bool IsOfReadWrite() const { return begins_read_write || !transaction.empty(); }
};
WireCall ReadCall(const std::string& method, const std::string& message);

struct WireReply {
  TransactionId begun;              // by the call that this answers
  std::optional<Timestamp> commit;  // of a Commit that has committed
};
WireReply ReadReply(const std::string& method, const std::vector<std::string>& messages);

}  // namespace whorl::live
