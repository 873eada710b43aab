// Sends queries by themselves, outside of transactions: a thread, a connection and a session for clients that
// read a lot and write nothing.
//
// Invariants:
//   1. One session serves all queries. It is made before the first of them, and anew when it was lost.
//   2. A query that brings nothing for half a minute is ended, as broken.
//   3. What may pass is tried again, with growing pauses, until nothing was heard of Spanner for as long as the
//      options say. What will not pass ends the loop.
//   4. Everything happens on the loop's thread, except the constructor, Open() and the destructor.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/time.h"
#include "google/spanner/v1/spanner.grpc.pb.h"
#include "protocol/spanner/status.h"
#include "real_client/calls.h"
#include "real_client/event_loop.h"
#include "real_client/options.h"
#include "real_client/os.h"

namespace whorl::real_client {

struct QueryLoopOptions {
  std::string database;       // projects/P/instances/I/databases/D
  std::string database_role;  // of fine-grained access control; empty: none
  ConnectionOptions connection;
  std::string subject;  // for people: what the queries read, "the change stream"
  // How long it is tried to reach Spanner: at first, and later.
  Duration first_patience = Seconds(10);
  Duration patience = Seconds(120);
};

class QueryLoop {
 public:
  using OnPart = std::function<Status(const google::spanner::v1::PartialResultSet&)>;
  using OnEnd = std::function<void(const Status&)>;

  class Owner {
   public:
    virtual ~Owner() = default;
    // There is a session: sends what is to be sent.
    virtual void SendQueries() = 0;
    // Once, and last.
    virtual void OnLoopEnd(Status status) = 0;
  };

  // The owner lives longer.
  QueryLoop(QueryLoopOptions options, Owner& owner);
  QueryLoop(const QueryLoop&) = delete;
  QueryLoop& operator=(const QueryLoop&) = delete;
  // Waits for a call of the owner that is under way; then there is none any more.
  ~QueryLoop();
  void Open();

  // Calls SendQueries(), at once or when there is a session.
  void Send();
  // The same after a pause.
  void SendLater();
  // REQUIRES: in SendQueries(). The request has no session yet. `on_end` is not called after the end.
  void Start(google::spanner::v1::ExecuteSqlRequest request, OnPart on_part, OnEnd on_end);
  // Called on any response.
  void Heard();
  // A query failed: sends again after a pause, or ends.
  void Fail(const Status& status);
  void End(Status status);
  bool has_ended() const { return has_ended_; }

 private:
  struct Query {
    Context context;
    LocalInstant heard;
    bool was_silent = false;
  };

  void OpenNow();
  void CreateSession();
  void Watch();
  void Stop();
  void Close();
  void NoticeEnd();
  Context NewContext(Duration timeout) const;

  QueryLoopOptions options_;
  Owner& owner_;
  std::unique_ptr<google::spanner::v1::Spanner::Stub> stub_;
  std::string session_;
  bool is_regular_ = false;
  Context session_call_;
  std::set<std::shared_ptr<Query>> queries_;  // those under way
  LocalInstant heard_;  // of Spanner; before the first time, since when it is tried
  bool has_heard_ = false;
  bool is_pausing_ = false;
  Duration backoff_;
  OsEntropy entropy_;
  bool has_ended_ = false;
  bool is_closing_ = false;
  EventLoop loop_;  // last: its tasks use the others
};

}  // namespace whorl::real_client
