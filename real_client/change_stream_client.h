// Reads a change stream: all of its partitions, from one time to another or without end.
//
// Invariants:
//   1. Changes come in the order of their commit timestamps (ChangePartitions), some of them twice
//      if a query broke.
//   2. A query that breaks, or that nothing is heard of for half a minute, is sent again from where it
//      was. Nothing is left out: what cannot be read any more ends the stream with an error.
//   3. The observer is called on the client's thread, OnEnd once and last, unless the client is
//      destroyed before.
// Queries of a change stream are single-use strong reads; Spanner takes them in no other transaction.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/status.h"
#include "real_client/options.h"

namespace whorl::real_client {

struct ChangeStreamOptions {
  std::string database;       // projects/P/instances/I/databases/D
  std::string database_role;  // of fine-grained access control; empty: none
  ConnectionOptions connection;
  std::string stream;
  std::optional<Timestamp> from;  // empty: from the oldest change that the stream still has
  std::optional<Timestamp> to;    // empty: there is no end
  // Spanner says at least this often how far a partition has come.
  Duration heartbeat = Seconds(1);
  // How long it is tried to reach Spanner: at first, and later.
  Duration first_patience = Seconds(10);
  Duration patience = Seconds(120);
};

// Must not block.
class ChangeStreamObserver {
 public:
  virtual ~ChangeStreamObserver() = default;
  // `json`: a data change record.
  virtual void OnChange(Timestamp commit, std::string json) = 0;
  // All changes that were committed before `at` have been given.
  virtual void OnReached(Timestamp at) = 0;
  // OK if all was read. NOT_FOUND: there is no such stream; OUT_OF_RANGE: it has no records that are
  // so old; UNAVAILABLE or DEADLINE_EXCEEDED: Spanner was not reached for too long.
  virtual void OnEnd(Status status) = 0;
};

class ChangeStreamClient {
 public:
  // INVALID_ARGUMENT, before anything is sent, for names that cannot be.
  static Status Open(ChangeStreamOptions options, ChangeStreamObserver& observer,
                     std::unique_ptr<ChangeStreamClient>& out);
  ChangeStreamClient(const ChangeStreamClient&) = delete;
  ChangeStreamClient& operator=(const ChangeStreamClient&) = delete;
  // Waits for a call of the observer that is under way. REQUIRES: not in one.
  ~ChangeStreamClient();

 private:
  class Core;
  explicit ChangeStreamClient(std::unique_ptr<Core> core);

  std::unique_ptr<Core> core_;
};

// INVALID_ARGUMENT unless Spanner accepts it as a change stream's name without quotes.
Status ValidateStreamName(const std::string& name);

}  // namespace whorl::real_client
