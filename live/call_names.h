// Names the calls of a node's client for the proxy, and tells of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "live/reporter.h"
#include "protocol/names.h"
#include "protocol/spanner/rpc.h"
#include "real_client/call_observer.h"

namespace whorl::live {

// What a proxy learns of a call from its header.
struct NamedCall {
  CallName name;
  StepName step;
  uint8_t request = 0;  // Request::index()
};
std::string FormatCallHeader(const NamedCall& call);
// Nothing for a text that is none.
std::optional<NamedCall> ParseCallHeader(std::string_view text);

class CallNames final : public real_client::CallObserver {
 public:
  using RunId = real_client::TransactionClient::RunId;

  CallNames(ProcessId process, Reporter& reporter, const Points& points)
      : process_(process), reporter_(reporter), points_(points) {}

  // Starts a transaction by `run`, none of whose calls goes out before its name is known. Its
  // generation is set here.
  RunId Start(CallName name, StepName step, const std::function<RunId()>& run);
  // The name under which the transaction was started, which has ended.
  CallName Forget(RunId run);

  real_client::Headers OnSend(RunId run, const real_client::SentCall& call) override;
  void OnReply(RunId run, const real_client::SentCall& call, const Response& response) override;

 private:
  struct Running {
    CallName name;
    StepName step;
  };
  std::optional<Running> Find(RunId run);

  const ProcessId process_;
  Reporter& reporter_;
  const Points& points_;
  std::mutex mutex_;
  std::map<RunId, Running> running_;  // guarded by mutex_
  // Raised when a call ended of which something may still be under way; guarded by mutex_.
  uint16_t generation_ = 0;
};

}  // namespace whorl::live
