// Labels the calls of a node's client, so that the proxy can recognise them, and reports each call.
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

// The content of a call's header, by which the proxy recognises it.
struct NamedCall {
  CallName name;
  StepName step;
  uint8_t request = 0;  // Request::index()
};
std::string FormatCallHeader(const NamedCall& call);
// nullopt for any other text.
std::optional<NamedCall> ParseCallHeader(std::string_view text);

class CallNames final : public real_client::CallObserver {
 public:
  using RunId = real_client::TransactionClient::RunId;

  CallNames(ProcessId process, Reporter& reporter, const Points& points)
      : process_(process), reporter_(reporter), points_(points) {}

  // Starts a transaction by calling `run`; none of its calls is sent before this has stored the name.
  // The process and the generation of `name` are set here.
  RunId Start(CallName name, StepName step, const std::function<RunId()>& run);
  // Forgets a transaction that has ended; returns the name under which it was started.
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
  uint32_t generation_ = 0;           // of the newest transaction; guarded by mutex_
};

}  // namespace whorl::live
