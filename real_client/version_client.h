// Reads the versions that a lock table's rows had, by reads as of exact times (row_versions.h).
//
// Spanner keeps versions for the database's version_retention_period: an hour, unless it says otherwise.
//
// Invariants:
//   1. What the reads found is given once, in the order of commit timestamps.
//   2. A read that breaks is sent again. What has run out of the retention period ends it with an error.
//   3. A time at which there was no such table counts as one at which it was empty, if it is there later.
//   4. The observer is called on the client's thread, OnEnd once and last, unless the client is destroyed
//      before.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/time.h"
#include "protocol/protocols.h"
#include "protocol/spanner/status.h"
#include "real_client/options.h"
#include "real_client/row_versions.h"

namespace whorl::real_client {

struct VersionOptions {
  std::string database;       // projects/P/instances/I/databases/D
  std::string database_role;  // of fine-grained access control; empty: none
  ConnectionOptions connection;
  const ProtocolInfo* protocol = nullptr;
  std::string table;               // empty: the protocol's
  std::optional<std::string> key;  // of one row; empty: all of them
  std::optional<Timestamp> from;   // empty: as old as can be read, but an hour before `to` at most
  Timestamp to;
  Duration step = Seconds(5);  // the table is read at least this often
  size_t reads_at_once = 16;
};

// Must not block.
class VersionObserver {
 public:
  virtual ~VersionObserver() = default;
  // All changes that were committed by `reached` have been given.
  virtual void OnVersions(RowVersions::Found found, Timestamp reached) = 0;
  // OK if all was read. OUT_OF_RANGE: the versions of that time are gone; NOT_FOUND: there is no such table;
  // UNAVAILABLE or DEADLINE_EXCEEDED: Spanner was not reached for too long.
  virtual void OnEnd(Status status) = 0;
};

class VersionClient {
 public:
  // INVALID_ARGUMENT, before anything is sent, for what cannot be.
  static Status Open(VersionOptions options, VersionObserver& observer,
                     std::unique_ptr<VersionClient>& out);
  VersionClient(const VersionClient&) = delete;
  VersionClient& operator=(const VersionClient&) = delete;
  // Waits for a call of the observer that is under way. REQUIRES: not in one.
  ~VersionClient();

 private:
  class Core;
  explicit VersionClient(std::unique_ptr<Core> core);

  std::unique_ptr<Core> core_;
};

}  // namespace whorl::real_client
