// Puts a proxy with faults before a Spanner server, for programs that are not whorl's: its ports,
// the rules of its faults, and the history of the calls.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/serve/call_log.h"
#include "live/foreign/live_verdict.h"
#include "live/rules/call_rules.h"
#include "live/rules/rule_engine.h"
#include "real_client/options.h"
#include "sim/scenario/direction.h"
#include "sim/world/observation.h"

namespace whorl::cli {

struct FaultRequest {
  std::vector<std::string> files;     // of rules
  std::vector<live::CallRule> rules;  // what is in them, after Load()
  std::string history;                // file of JSON lines; empty: none
  int clients = 1;                    // ports, one for each client
  std::vector<std::string> names;     // of the clients; empty: they have none
  uint64_t seed = 1;
  // After how long it is said on standard error that a rule makes a call hang.
  Duration hangs_after = Seconds(10);
  std::shared_ptr<live::JudgeRequest> judge = std::make_shared<live::JudgeRequest>();
  // What stands behind the proxy, for the judge: without `upstream` and `commit_under_way`.
  live::JudgedServer judged;

  bool IsAsked() const {
    return !files.empty() || !history.empty() || clients > 1 || !names.empty() || judge->IsAsked();
  }
};
// --faults, --history, --clients, --hangs-after, --seed, --judge, --table, --lease.
void AddFaultOptions(CLI::App& app, const std::shared_ptr<FaultRequest>& request);
// Reads the files of rules, and checks the rest. Returns what is wrong, each with its place; empty if nothing is.
std::vector<std::string> Load(FaultRequest& request);

// A client's address, and its links to and from Spanner.
struct ServedClient {
  std::string address;
  sim::LinkState to = sim::LinkState::kUp;
  sim::LinkState from = sim::LinkState::kUp;
};

class FaultFront {
 public:
  // Stands before the server at upstream.endpoint. `port` is that of the first client; 0: a free one.
  // UNAVAILABLE if the port is taken; an error if there are no credentials, or if the history cannot be
  // written.
  static absl::Status Start(const FaultRequest& request,
                            const real_client::ConnectionOptions& upstream, int port,
                            std::unique_ptr<FaultFront>& out);
  virtual ~FaultFront() = default;
  virtual std::vector<ServedClient> Clients() const = 0;
  // Until it is called again. REQUIRES: there is such a client, from 0.
  virtual void SetLink(size_t client, sim::Direction direction, sim::LinkState state) = 0;
  virtual live::RuleEngine& rules() = 0;
  virtual const CallLog& log() const = 0;
  // Null if nothing is judged.
  virtual live::LiveVerdict* verdict() = 0;
  // Says how often each rule struck, and which did not.
  virtual std::vector<std::string> Report() const = 0;
  // Ends the proxy and writes the rest of the history.
  virtual absl::Status End() = 0;
};

}  // namespace whorl::cli
