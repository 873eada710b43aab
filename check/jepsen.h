// Reads operations of a Jepsen history of locks: {:process 0, :type :ok, :f :acquire, :time 17, ..}. Where a
// :value names a :client, the client has the lock, not the process.
//
// A process has a lock from the reply to its acquire until it asks to release it: these spans exclude each
// other if, and only if, the history is linearizable as one of a mutex. An acquire that failed, or whose outcome
// is unknown, is no span. A release that failed (:fail) did not happen: the process still has the lock, unless
// the answer says that it had lost it. After a release with an unknown outcome (:info), or one that follows several
// acquires, it is unknown whether the process has the lock.
// Times are those of Jepsen's control node, since the test began (relative_time.h): one clock, so all offsets are
// 0. With the time at which the test began, or in nanoseconds since 1970, they are times of a clock that is off.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/record_reader.h"

namespace whorl::check {

bool IsJepsen(const Node& object);

// The operations of one file.
class JepsenHistory {
 public:
  // `wanted` lives longer.
  explicit JepsenHistory(const Wanted& wanted) : wanted_(wanted) {}

  // Throws Wrong. REQUIRES: IsJepsen(object).
  void Read(const Node& object, const Place& place, std::vector<Operation>& out);

 private:
  // What a :value says.
  struct Value {
    std::optional<std::string> lock;  // by its name, or of a pair the first
    std::optional<std::string> word;  // a text or a number by itself
    bool is_number = false;           // the word
    std::optional<uint64_t> token;
    std::optional<std::string> client;
    bool refuses = false;
    bool is_there = false;
  };
  struct Asked {  // what a process asked, until it is answered
    Value value;
    Timestamp at;
  };
  struct Held {
    int64_t times = 0;
    std::string process;  // that acquired it last
    std::optional<Timestamp> lapsed_by;
  };
  // Who has locks: the client that an operation names, or its process.
  struct Holder {
    std::map<std::string, Held> held;
    bool is_declared = false;
    bool has_acquired = false;  // or tried to
    Timestamp last;             // of its operations
  };
  struct Op {
    std::string process;
    std::string holder;
    std::optional<Asked> asked;  // by its process
    std::string type;
    std::string f;
    Value value;
    std::optional<std::string> lock;  // as a member of the operation
    std::string error;
    Timestamp at;
  };

  static Value ValueIn(const Node& value, int depth = 0);
  Timestamp TimeOf(const Node& object, const Place& place, bool& is_relative) const;
  void Acquire(const Op& op, Holder& holder, LogLine log_line, std::vector<LogLine>& out);
  void Release(const Op& op, Holder& holder, const LogLine& log_line, std::vector<LogLine>& out);
  void Renew(const Op& op, Holder& holder, LogLine log_line, std::vector<LogLine>& out);
  // The lock that an operation is about, and what its reply says beyond.
  std::string LockOf(const Op& op, Value& reply);
  // Of the lock's name nothing is known, if the process has one lock only: that.
  static std::string HeldBy(const Holder& holder, std::string name);

  const Wanted& wanted_;
  std::map<std::string, Asked> asked_;  // by process
  std::map<std::string, Holder> holders_;
};

}  // namespace whorl::check
