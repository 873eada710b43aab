// Sends the calls of whorl's vocabulary to Spanner by gRPC and receives the answers.
//
// Invariants:
//   1. Every call is answered once, on the loop's thread and never inside Send: with Spanner's
//      reply, with gRPC's own UNAVAILABLE or DEADLINE_EXCEEDED, or with CANCELLED.
//   2. The transport sends nothing twice; only the runner retries.
// Used on the loop's thread only.
#pragma once

#include <grpcpp/channel.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "google/spanner/v1/spanner.grpc.pb.h"
#include "protocol/spanner/rpc.h"
#include "real_client/calls.h"
#include "real_client/event_loop.h"
#include "real_client/headers.h"
#include "real_client/options.h"
#include "wire/results.h"

namespace whorl::real_client {

// The part of a query's result received so far, from which a resent call resumes.
using QueryProgress = std::shared_ptr<wire::PartialResultDecoder>;

// Whether a statement is sent as a query, whose answer is a stream; DML has a single answer.
bool IsQuery(std::string_view sql);

class Transport {
 public:
  using CallId = uint64_t;  // never 0
  using Done = std::function<void(Response)>;
  struct Options {
    LocalInstant deadline;  // by the monotonic clock
    uint64_t lane = 0;      // calls of one lane use one channel, in order
    // From NewRequest(); the same for all copies of a call. 0 for a call that is sent only once.
    uint64_t request = 0;
    uint64_t copy = 1;       // counts the copies of a call
    QueryProgress progress;  // for a query; created by the first call that needs it
    Headers headers;         // in addition to those of every call
    std::string tag;         // in Spanner's statistics; empty for none
  };

  // `role`: the database role of the sessions; empty for none.
  Transport(EventLoop& loop, std::string database, std::string role, uint64_t client);

  // If it fails, every call is answered with its error.
  void Open(const ConnectionOptions& options);
  uint64_t NewRequest() { return ++last_request_; }
  CallId Send(const Request& request, Options options, Done done);
  CallId BatchCreateSessions(int32_t count, LocalInstant deadline, Done done);
  void Cancel(CallId call);
  void CancelAll();
  size_t calls_under_way() const { return calls_.size(); }
  // Runs `task` whenever the last call under way has been answered.
  void WhenIdle(std::function<void()> task) { when_idle_ = std::move(task); }

 private:
  using Stub = google::spanner::v1::Spanner::Stub;
  struct Sending {
    CallId id = 0;
    Context context;
    Stub* stub = nullptr;
    QueryProgress progress;
    std::string tag;
  };

  Sending NewCall(const Options& options, Done done);
  void Answer(CallId call, Response response);
  void AnswerLater(CallId call, Status status);
  SpannerRequestId RequestIdOf(const Options& options);

  void Start(const Sending& call, const ExecuteSql& request);
  void StartQuery(const Sending& call, const ExecuteSql& request);
  void Start(const Sending& call, const BeginTransaction& request);
  void Start(const Sending& call, const Commit& request);
  void Start(const Sending& call, const Rollback& request);
  void Start(const Sending& call, const CreateSession& request);
  void Start(const Sending& call, const DeleteSession& request);
  template <typename Other>
  void Start(const Sending& call, const Other& request);
  // A callback that decodes the reply by `decode` (Status(const Reply&, Response&)) and answers the
  // call.
  template <typename Reply, typename Decode>
  auto AnswerWith(CallId call, Decode decode);

  struct UnderWay {
    Context context;
    Done done;
  };

  EventLoop& loop_;
  std::string database_;
  std::string role_;
  uint64_t client_;
  uint64_t last_request_ = 0;
  Status failure_;  // the error of Open
  std::vector<std::unique_ptr<Stub>> stubs_;
  std::map<CallId, UnderWay> calls_;
  CallId last_call_ = 0;
  std::function<void()> when_idle_;
};

}  // namespace whorl::real_client
