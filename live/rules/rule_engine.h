// Strikes the calls of any program by rules, and writes down what passes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "live/proxy/interceptor.h"
#include "live/rules/call_rules.h"
#include "live/wire_calls.h"
#include "protocol/spanner/time.h"
#include "sim/world/observation.h"

namespace whorl::live {

// One call, when it has been answered or lost.
struct CallRecord {
  Timestamp at;  // when the request arrived
  int16_t client = 0;
  std::string method;
  std::string step;  // of a protocol; empty: none is recognised
  WireCall call;
  TransactionId begun;
  std::optional<Timestamp> commit;
  Status status;
  Duration took;
  bool answered = true;  // the client gets an answer
  std::string fault;     // the rule that struck it
};

// Thread-safe.
class RuleEngine final : public CallInterceptor {
 public:
  struct Options {
    uint64_t seed = 1;
    // The system's time and a steady one.
    std::function<Timestamp()> wall;
    std::function<LocalInstant()> steady;
    // Changes a client's link to Spanner, both ways. Called without a lock.
    std::function<void(int16_t client, sim::LinkState state)> link;
    // Runs the task so much later. Called without a lock.
    std::function<void(Duration later, std::function<void()> task)> later;
    // Called for each call, one at a time; null: nothing is written down.
    std::function<void(const CallRecord&)> record;
  };
  explicit RuleEngine(Options options);

  // Adds a rule. Returns the number by which it can be taken back.
  int64_t Add(CallRule rule);
  // False if there is no such rule.
  bool Remove(int64_t number);
  struct Active {
    int64_t number = 0;
    std::string text;
    int64_t matched = 0;
    int64_t struck = 0;
    bool over = false;  // it strikes no more
  };
  std::vector<Active> List() const;
  // When the oldest Commit arrived that is not recorded yet; empty: there is none.
  std::optional<Timestamp> OldestCommitUnderWay() const;

  Interception OnRequest(const ProxiedCall& call, const std::string& message) override;
  Interception OnReply(const ProxiedCall& call, const Status& status,
                       const std::vector<std::string>& messages) override;

 private:
  struct Rule {
    CallRule rule;
    LocalInstant made;
    int64_t matched = 0;
    int64_t struck = 0;
  };
  struct Passing {
    CallRecord record;
    LocalInstant arrived;
  };

  // The first rule that strikes the call at this phase; null if none does. REQUIRES: mutex_ is held.
  const CallRule* Strikes(RulePhase phase, const CallRecord& record);
  static bool IsOver(const Rule& rule, LocalInstant now);
  Interception Act(const CallRule& rule, const CallRecord& record, Duration drawn);
  void Record(uint64_t number, const Passing& passing);

  const Options options_;
  mutable std::mutex mutex_;  // guards the members below
  std::mt19937_64 random_;
  int64_t last_ = 0;
  std::map<int64_t, Rule> rules_;
  std::map<uint64_t, Passing> passing_;
  std::map<uint64_t, Timestamp> commits_;  // when they arrived, until they are recorded
  std::mutex recording_;                   // one record at a time
};

}  // namespace whorl::live
