// Plays a network: it injects the faults of a script into the calls of one transaction, and writes a
// transcript by which two ways of running the same transaction can be compared.
//
//   Script script = {.transaction = ..., .fates = {{.call = 1, .kind = FateKind::kReplyLost}}};
//   ScriptedNetwork network(script, server);
//   std::optional<Response> heard = network.Deliver(request);  // for each call
//   network.transcript();  // "s1 INSERT begin: OK, t1", "s1 Commit t1: OK, but the reply is lost"
//
// Names of sessions and transactions differ between servers, so the transcript numbers them.
#pragma once

#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "protocol/client/session_pool.h"
#include "protocol/client/transaction.h"
#include "protocol/client/transaction_runner.h"
#include "protocol/spanner/rpc.h"

namespace whorl {

enum class FateKind : uint8_t {
  kRequestLost,     // the connection breaks before the call is served: UNAVAILABLE
  kReplyLost,       // ... after it was served
  kHangs,           // the call is neither served nor answered
  kServedAndHangs,  // the call is served but never answered
  kAnswered,        // with `status`, without being served
  kAborted,         // Spanner aborts the transaction for reasons of its own: ABORTED
  kSessionDeleted,  // the session is deleted just before the call is served
  // Just before the call is served, an older transaction writes row a and commits: the server
  // aborts the younger one that has read the row.
  kRivalCommits,
};

struct Fate {
  size_t call = 0;  // which call of the transaction, from 0
  FateKind kind = FateKind::kAnswered;
  Status status = {};
};

struct Script {
  std::string name;
  SessionKind sessions = SessionKind::kMultiplexed;
  Transaction transaction;
  std::vector<Transaction> before;  // committed before it begins
  std::vector<Fate> fates;
  Duration commit_timeout = Seconds(20);
  // The expected transcript. The last line is the transaction's result.
  std::vector<std::string> expected;
};
// For test reports.
inline void PrintTo(const Script& script, std::ostream* out) { *out << script.name; }
RetryPolicy PolicyOf(const Script& script);
SessionPoolPolicy PoolOf(const Script& script);

// "aborted ALREADY_EXISTS", "committed, rows changed: 1 0, rows read: 2".
std::string DescribeResult(const TransactionResult& result);

class ScriptedServer {
 public:
  virtual ~ScriptedServer() = default;
  // Answers without any fault.
  virtual Response Serve(const Request& request) = 0;
};

class ScriptedNetwork {
 public:
  // REQUIRES: `server` outlives it.
  ScriptedNetwork(std::vector<Fate> fates, ScriptedServer& server)
      : fates_(std::move(fates)), server_(server) {}

  // The response that the client receives; nullopt if it receives none.
  std::optional<Response> Deliver(const Request& request);
  std::vector<std::string> transcript() const;

 private:
  std::string Describe(const Request& request);
  std::string Describe(const TransactionSelector& selector);
  std::string Describe(const BeginReadWrite& begin);
  std::string Describe(const Response& response);
  std::string SessionText(const SessionName& session);
  std::string TransactionText(const TransactionId& transaction);
  void BeginRival();
  void CommitRival();
  std::optional<Response> Meet(const Fate* fate, const Request& request, std::string& what);

  const std::vector<Fate> fates_;
  ScriptedServer& server_;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<std::string> transcript_;
  std::vector<SessionName> sessions_;
  std::vector<TransactionId> transactions_;
  SessionName rival_session_;
  TransactionId rival_;
};

// One way of running a script. Returns the calls that were seen, then the result.
class ScriptBackend {
 public:
  virtual ~ScriptBackend() = default;
  virtual std::vector<std::string> Run(const Script& script) = 0;
};

}  // namespace whorl
