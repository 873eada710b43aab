// Decodes those parts of a call that the coordinator needs, from the bytes that pass the proxy.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/spanner/rpc.h"

namespace whorl::live {

struct WireCall {
  std::string method;
  SessionName session;
  TransactionId transaction;  // the one in which it runs or that it ends; empty: none
  bool begins_read_write = false;
  bool begins_read_only = false;
  bool is_commit = false;
  bool is_rollback = false;
  bool is_statement = false;                      // ExecuteSql, streaming or not
  int64_t sequence_number = 0;                    // of that
  uint8_t request = 0;                            // Request::index()
  std::string sql;                                // of the first statement; empty: none
  std::map<std::string, std::string> parameters;  // of it, as JSON has them; neither lists nor NULL
  std::optional<Timestamp> token;                 // @token of these, if that is a timestamp
  std::string table;  // of a Read, or of a Commit's first mutation; empty: none

  bool IsOfReadWrite() const { return begins_read_write || !transaction.empty(); }
};
WireCall ReadCall(const std::string& method, const std::string& message);

struct WireReply {
  TransactionId begun;              // the transaction that the call has begun; empty: none
  std::optional<Timestamp> commit;  // the commit timestamp, if this answers a Commit
};
WireReply ReadReply(const std::string& method, const std::vector<std::string>& messages);

}  // namespace whorl::live
