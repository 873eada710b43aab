// What whorl's checkers say so far of programs that use a protocol's table through `whorl serve` or
// `whorl proxy`.
//
// Rules:
//   1. Each client (port) is one process. The checkers are told what commits changed, by two reads of the
//      table for each commit, as of just before it and as of it; and who believes to lead, if it says so.
//   2. An invariant is judged if commits decide it, or if a client has said what it believes and that
//      decides it. Every other one is unknown, and so is all that held when a commit was missed.
//   3. A commit is judged when no commit can have an earlier timestamp any more: those under way have
//      been sent after its answer.
// Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "live/rules/rule_engine.h"
#include "real_client/options.h"
#include "sim/scenario/json_text.h"

namespace whorl::live {

struct JudgeRequest {
  std::string protocol;  // empty: nothing is judged
  std::string table;     // empty: the protocol's
  std::optional<Duration> lease;
  bool promised_only = false;  // only what the protocol promises decides

  bool IsAsked() const { return !protocol.empty(); }
};
// What is wrong with it, in words of the options; empty if nothing is.
std::string Check(const JudgeRequest& request);

class LiveVerdict {
 public:
  // `upstream`: where the table is read. REQUIRES: Check(request) is empty.
  LiveVerdict(const JudgeRequest& request, real_client::ConnectionOptions upstream, size_t clients);
  ~LiveVerdict();

  void Note(const CallRecord& record);
  // The client says something, as a line of live/foreign/README.md with the lock in it. Returns what is
  // wrong; empty if nothing is.
  std::string Says(size_t client, const std::string& line);

  // Judges the commits up to now, and says how it stands; some seconds of work at most, and the rest the
  // next time. `under_way`: when the oldest Commit that is not answered was sent; empty: there is none.
  sim::Json Judge(std::optional<Timestamp> under_way);
  // The same in lines for people, once all programs have ended.
  struct Summary {
    std::vector<std::string> lines;
    bool has_found = false;  // a violation that decides
  };
  Summary Summarise();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace whorl::live
