// Observes each call that a client makes for a transaction. By it the testbed (live/) labels calls,
// so that a proxy knows the protocol's step, and stops processes between two steps.
#pragma once

#include <cstdint>

#include "protocol/names.h"
#include "protocol/spanner/rpc.h"
#include "real_client/headers.h"
#include "real_client/transaction_client.h"

namespace whorl::real_client {

// Identifies a call within its transaction; a resent call has the same identity.
struct SentCall {
  StepName step;
  uint16_t attempt = 0;
  uint16_t call = 0;
  uint8_t request = 0;  // Request::index()
};

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // Both functions run on the client's thread and block it.
  //
  // Called before the call is sent; the returned headers are added to the call's own.
  virtual Headers OnSend(TransactionClient::RunId run, const SentCall& call) = 0;
  // Called with Spanner's reply, or the transport's error, before the runner acts on it.
  virtual void OnReply(TransactionClient::RunId run, const SentCall& call,
                       const Response& response) = 0;
};

}  // namespace whorl::real_client
