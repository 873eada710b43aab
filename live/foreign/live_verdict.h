// Judges programs that use a protocol's table through `whorl serve` or `whorl proxy`, by check's judge, while they
// run.
//
// Rules:
//   1. The judge is told what commits changed, by whorl's own server or, before another one, by two reads of the
//      table for each commit, as of just before it and as of it; whose commits they were; and what clients say.
//   2. If a commit was missed, no invariant is said to hold.
//   3. A commit is judged when no commit can have an earlier timestamp any more: those under way have
//      been sent after its answer.
// Memory: that of check's judge for each lock (check/check.h), and of what is not judged yet.
// Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "live/foreign/served_rows.h"
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
  // REQUIRES: Check() of it is empty, and it is asked.
  std::string Table() const;
};
// What is wrong with it, in words of the options; empty if nothing is.
std::string Check(const JudgeRequest& request);

// The server whose clients are judged.
struct JudgedServer {
  real_client::ConnectionOptions upstream;  // where its tables can be read
  // What whorl's own server changes; null: it is another one, so rows are read.
  std::shared_ptr<ServedRows> rows;
  std::function<Timestamp()> now;  // by the server's clock, or that of this machine
  bool time_stands = false;        // the clock moves only when it is told to
  // When the oldest Commit that is not answered was sent, by this machine's clock; empty: there is none.
  std::function<std::optional<Timestamp>()> commit_under_way;
};
// The rows of whorl's own server that the request is about. Null if nothing is asked.
std::shared_ptr<ServedRows> RowsFor(const JudgeRequest& request);

class LiveVerdict {
 public:
  // REQUIRES: Check(request) is empty.
  LiveVerdict(const JudgeRequest& request, JudgedServer server, size_t clients);
  ~LiveVerdict();

  void Note(const CallRecord& record);
  // Judges now and then what has become certain, where that takes no call, so that it does not pile up.
  void KeepUp();
  // The client says something, as a line of live/foreign/README.md with the lock in it. Returns what is
  // wrong; empty if nothing is.
  std::string Says(size_t client, const std::string& line);

  // Judges the commits up to now, and says how it stands; some seconds of work at most, and the rest the
  // next time.
  sim::Json Judge();
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
