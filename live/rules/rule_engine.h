// Strikes the calls of any program by rules, and writes down what passes.
//
// Invariants:
//   1. No rule answers what Spanner could not have answered (protocol/spanner/answers.h), unless it says
//      "impossible": a call that cannot be answered so is passed over, and does not count as a match. In
//      particular, a Commit that comes again after it may have been applied gets Spanner's own answer.
//   2. What a rule has said of a transaction or a session stays true: an aborted transaction stays aborted
//      until it is rolled back, and a lost session stays lost.
//   3. A call that a rule leaves without an answer, or holds back, is told of after a while.
//   4. Each call is recorded once: when it is dropped, or when its answer is sent or lost, and before its client
//      can hear it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "live/foreign/sql_steps.h"
#include "live/proxy/interceptor.h"
#include "live/rules/call_rules.h"
#include "live/wire_calls.h"
#include "sim/world/observation.h"

namespace whorl::live {

// One call, when it is answered or lost.
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
  bool answered = true;  // the client gets an answer, perhaps after a black hole
  std::string fault;     // the rule that struck it
};

// A limited number of the newest keys, and what is known of each. Programs that run for days make millions.
template <typename Key, typename Value>
class NewestOf {
 public:
  void Put(const Key& key, Value value) {
    if (values_.insert_or_assign(key, std::move(value)).second) order_.push_back(key);
    if (order_.size() <= kKept) return;
    values_.erase(order_.front());
    order_.pop_front();
  }
  // Null if there is none.
  const Value* Find(const Key& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  static constexpr size_t kKept = 100'000;
  std::map<Key, Value> values_;
  std::deque<Key> order_;
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
    // Runs the task after `later`. Called without a lock.
    std::function<void(Duration later, std::function<void()> task)> later;
    // Called for each call, one at a time; null: nothing is written down.
    std::function<void(const CallRecord&)> record;
    // Tells people which call has hung for `say_after`, and by which rule; null: nothing is said. Called without
    // a lock.
    std::function<void(const std::string& line)> say;
    Duration say_after = Seconds(10);
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
    int64_t count = 1;  // of the rule: from which match on it strikes
    bool over = false;  // it strikes no more, and counts no more matches
  };
  std::vector<Active> List() const;
  // When the oldest Commit arrived that is not recorded yet; empty: there is none.
  std::optional<Timestamp> OldestCommitUnderWay() const;

  Interception OnRequest(const ProxiedCall& call, const std::string& message) override;
  Interception OnReply(const ProxiedCall& call, const Status& status,
                       const std::vector<std::string>& messages) override;
  void OnDelivery(const ProxiedCall& call, Delivery delivery) override;
  void OnGivenUp(const ProxiedCall& call) override;

 private:
  // A transaction, by its session and its id.
  using TransactionKey = std::pair<std::string, std::string>;
  // What a rule has answered, and which.
  struct AnsweredBy {
    Status status;
    std::string rule;
  };
  enum class Committed : uint8_t { kNo, kPerhaps, kYes };
  struct TransactionSeen {
    bool is_read_only = false;
    Committed committed = Committed::kNo;  // kPerhaps: its Commit is at Spanner
    std::optional<AnsweredBy> ended_by;
  };

  struct Rule {
    CallRule rule;
    std::optional<SqlSteps> steps;  // by which its step is recognised
    LocalInstant made;
    int64_t matched = 0;
    int64_t struck = 0;
  };
  struct Passing {
    CallRecord record;
    LocalInstant arrived;
  };

  // All REQUIRE: mutex_ is held.
  // The first rule that strikes the call at this phase; null if none does.
  const CallRule* Strikes(Phase phase, const CallRecord& record);
  // Whether Spanner could do what the rule does.
  bool IsPossible(const CallRule& rule, const CallRecord& record) const;
  // The answer that follows from what rules have answered before.
  std::optional<AnsweredBy> StandingAnswer(const WireCall& call) const;
  void NotePassed(const WireCall& call);  // to Spanner
  void NoteAnswered(const CallRule& rule, const WireCall& call, const Status& status);
  void NoteReply(const WireCall& call, const Status& status, const WireReply& reply);
  TransactionSeen SeenOf(const WireCall& call) const;

  // How long the rule delays the call, or how long its effect lasts; zero for an effect at one instant.
  Duration Takes(const CallRule& rule);
  static bool IsOver(const Rule& rule, LocalInstant now);
  Interception Act(const CallRule& rule, const CallRecord& record, Duration takes);
  // After a while, says that the rule makes the call hang, if it still does then.
  void SayLater(const ProxiedCall& call, const CallRule& rule, const Interception& interception,
                Duration takes);
  // Records the call now if it is dropped, else when its answer is delivered.
  void Settle(uint64_t number, Passing passing, const Interception& interception);
  void Record(uint64_t number, Passing passing);

  const Options options_;
  mutable std::mutex mutex_;  // guards the members below
  std::mt19937_64 random_;
  int64_t last_ = 0;
  std::map<int64_t, Rule> rules_;
  std::map<uint64_t, Passing> passing_;    // at Spanner
  std::map<uint64_t, Passing> answered_;   // until their answers are delivered
  std::map<uint64_t, Timestamp> commits_;  // when they arrived, until they are recorded
  NewestOf<TransactionKey, TransactionSeen> transactions_;
  NewestOf<std::string, AnsweredBy> lost_sessions_;
  std::set<uint64_t> hanging_;                          // calls that were lost and not given up
  std::set<std::pair<std::string, std::string>> said_;  // rules, and the methods that they hold
  std::mutex recording_;                                // one record at a time
};

}  // namespace whorl::live
