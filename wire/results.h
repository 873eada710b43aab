// Turns results of statements and reads into Google's protos and back: one ResultSet, or a stream of parts.
//
// Invariants:
//   1. A stream is one list of values, row after row, divided anywhere: between rows, between
//      values, or inside a string, in which case `chunked_value` is set and the next part continues
//      it.
//   2. A part's resume token covers all parts up to it: a client that lost the stream resumes it
//      from the token and discards the parts that it received after the token.
//   3. Rows are encoded by the values and decoded by the types of row_type.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "google/spanner/v1/result_set.pb.h"
#include "protocol/spanner/rpc.h"
#include "wire/values.h"

namespace whorl::wire {

struct Column {
  std::string name;  // may be empty
  Type type = Type::kString;
  WHORL_FIELDS(Column, name, type);
};

// What a ResultSet says about its rows and a Response does not.
struct ResultShape {
  std::vector<Column> columns;
  bool is_dml = false;  // the result has the number of changed rows
  std::vector<Parameter> undeclared_parameters;
  bool wants_plan = false;          // a whole result then says that there is none
  std::optional<Duration> elapsed;  // the result has statistics of its execution
  WHORL_FIELDS(ResultShape, columns, is_dml, undeclared_parameters, wants_plan, elapsed);
};

// The result of ExecuteSql or Read. REQUIRES: every row has shape.columns.size() values.
v1::ResultSet EncodeResultSet(const Response& response, const ResultShape& shape);

// The same as a stream of one part or more, each with at most about `max_bytes` of values (gRPC's
// clients refuse messages above 4 MiB). REQUIRES: max_bytes > 0.
std::vector<v1::PartialResultSet> EncodePartialResultSets(const Response& response,
                                                          const ResultShape& shape,
                                                          size_t max_bytes = size_t{1} << 20);

// Sets transaction, result, read_timestamp and precommit token of `out`, and `shape`.
Status DecodeResultSet(const v1::ResultSet& proto, Response& out, ResultShape& shape);

// Sets the precommit token of `out`, unless that is newer.
void TakePrecommitToken(const v1::MultiplexedSessionPrecommitToken& proto, Response& out);
v1::MultiplexedSessionPrecommitToken EncodePrecommitToken(std::string_view token, int32_t sequence);

// Appends `next` to `values`. If `chunked`, the first new value continues the last old one: strings
// are joined, and so are lists, whose adjacent elements are joined in turn. Other values are
// never divided. REQUIRES: `values` is not empty if `chunked`.
Status AppendValues(const google::protobuf::RepeatedPtrField<google::protobuf::Value>& next,
                    bool chunked, google::protobuf::ListValue& values);

// Reassembles the parts of a stream.
class PartialResultDecoder {
 public:
  Status Add(const v1::PartialResultSet& part);
  // The newest token received; empty if there was none.
  const std::string& resume_token() const { return resume_token_; }
  // Call it when the stream broke: discards what came after resume_token().
  void Rewind();
  // Call it when the stream ended. INTERNAL if it ended in the middle of a value or row.
  Status Finish(Response& out, ResultShape& shape) const;

 private:
  struct Received {
    bool has_metadata = false;
    v1::ResultSet head;  // everything except the rows
    google::protobuf::ListValue values;
    bool chunked = false;  // the next part continues the last value
  };
  Received received_;
  Received at_token_;
  std::string resume_token_;
};

}  // namespace whorl::wire
