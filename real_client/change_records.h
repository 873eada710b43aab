// Decodes the answers to queries of a change stream, and tracks its partitions. An answer has rows of one column,
// ChangeRecord, each a list of records.
//
// A data change record is passed on as JSON with the names that the query gives its members, as the
// readers of check/ take it. Nothing in it is changed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "google/spanner/v1/result_set.pb.h"
#include "protocol/spanner/status.h"

namespace whorl::real_client {

struct DataChange {
  Timestamp commit;
  std::string json;
};
// No change of the partition comes any more that was committed before.
struct Heartbeat {
  Timestamp at;
};
// A partition that takes the place of its parents from `start` on.
struct ChildPartition {
  std::string token;
  Timestamp start;
  std::vector<std::string> parents;
};
using ChangeRecord = std::variant<DataChange, Heartbeat, ChildPartition>;

class ChangeRecordDecoder {
 public:
  // Appends the records of all rows that are whole by now. INTERNAL if they are none.
  Status Add(const google::spanner::v1::PartialResultSet& part, std::vector<ChangeRecord>& out);

 private:
  google::spanner::v1::Type type_;  // of the column
  google::protobuf::ListValue rows_;
  bool chunked_ = false;  // the next part continues the last row
};

// Tracks the partitions of a change stream: which of them are to be read, from when on, and how far all of them
// have come.
//
//   first query ──▶ A ───────────▶ C        a split has one parent and two children,
//               └─▶ B ──▶ B1, B2 ─▶ ...     a merge two parents and one child
//
// Invariants:
//   1. A partition is read when all of its parents have ended, once; and again, from where it was,
//      after its query broke. Records may then come twice.
//   2. Changes are given in the order of their commit timestamps, whatever partition they came by:
//      each once no partition that is read, or waits, can have an earlier one.
//   3. Memory: the changes that wait for a slower partition, the partitions that are read or wait, and
//      those that one of them waits for.
// A value without I/O: who hosts it sends the queries.

class ChangePartitions {
 public:
  // A query to be sent. The first one has no token: it asks for the partitions.
  struct Read {
    std::string token;
    Timestamp start;
  };

  // `to`: the last commit timestamp of interest; empty: there is no end.
  ChangePartitions(Timestamp from, std::optional<Timestamp> to);

  // The queries that are to be sent now, each given once.
  std::vector<Read> TakeReads();
  // REQUIRES: the partition is being read.
  void Add(const std::string& token, ChangeRecord record);
  // Its query has ended with OK. False if the partition has not: it is to be read again.
  bool End(const std::string& token);
  // Its query broke: it is to be read again.
  void Break(const std::string& token);

  // The changes that are in their place by now, each given once.
  std::vector<DataChange> TakeChanges();
  // All changes before it have been given.
  Timestamp reached() const { return reached_; }
  bool IsDone() const;
  // Partitions wait for parents that nobody reads: some were never named.
  bool IsStuck() const;
  size_t known() const { return partitions_.size(); }

 private:
  enum class State : uint8_t { kWaits, kToBeRead, kRead, kEnded };
  struct Partition {
    Timestamp start;
    Timestamp position;  // no change comes any more that was committed before
    std::set<std::string> parents;
    State state = State::kWaits;
    bool has_children = false;
  };

  void AddChild(Partition& parent, ChildPartition child);
  void Wake();

  std::optional<Timestamp> to_;
  std::map<std::string, Partition> partitions_;  // by token; the first query has the empty one
  std::multimap<Timestamp, std::string> waiting_;
  Timestamp reached_;
};

}  // namespace whorl::real_client
