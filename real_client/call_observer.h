// Hears of each call that a client makes for a transaction. The testbed (live/) names calls by it,
// so that a proxy knows the protocol's step of what passes, and stops processes between two steps.
#pragma once

#include <cstdint>

#include "protocol/names.h"
#include "protocol/spanner/rpc.h"
#include "real_client/headers.h"
#include "real_client/transaction_client.h"

namespace whorl::real_client {

// Which call of its transaction; one that is sent again has the same name.
struct SentCall {
  StepName step = StepName::kCheck;
  uint16_t attempt = 0;
  uint16_t call = 0;
  uint8_t request = 0;  // Request::index()
};

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // Both are called on the client's thread, which stands still meanwhile.
  //
  // The call is about to be sent, with the headers that are returned beside its own.
  virtual Headers OnSend(TransactionClient::RunId run, const SentCall& call) = 0;
  // Spanner's reply, or what the transport made up, before the runner acts on it.
  virtual void OnReply(TransactionClient::RunId run, const SentCall& call,
                       const Response& response) = 0;
};

}  // namespace whorl::real_client
