// Decodes what a query of a change stream answers: rows of one column, ChangeRecord, each a list of
// records.
//
// A data change record is passed on as JSON with the names that the query gives its members, as the
// readers of check/ take it. Nothing in it is changed.
#pragma once

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

}  // namespace whorl::real_client
