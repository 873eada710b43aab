// Results of statements and reads as Google's protos: whole (ResultSet), or as a stream of parts.
//
// Invariants:
//   1. A stream is one list of values, row after row, cut anywhere: between rows, between values,
//      and inside a text, where `chunked_value` says that the next part goes on with it.
//   2. A part's resume token stands for all that came before it: a client that lost the stream asks
//      again from the token, and throws away what it heard after it.
//   3. Rows are encoded by the values and decoded by the types of row_type.
#pragma once

#include <cstddef>
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

// What a Response does not say of its rows.
struct ResultShape {
  std::vector<Column> columns;
  bool is_dml = false;  // the number of changed rows is told
  std::vector<Parameter> undeclared_parameters;
  WHORL_FIELDS(ResultShape, columns, is_dml, undeclared_parameters);
};

// Of ExecuteSql and Read. REQUIRES: rows of shape.columns.size() values.
v1::ResultSet EncodeResultSet(const Response& response, const ResultShape& shape);

// The same as a stream of at least one part, each of about `max_bytes` of values at most (gRPC's
// clients refuse messages above 4 MiB). REQUIRES: max_bytes > 0.
std::vector<v1::PartialResultSet> EncodePartialResultSets(const Response& response,
                                                          const ResultShape& shape,
                                                          size_t max_bytes = size_t{1} << 20);

// Fills transaction, result, read_timestamp and precommit token of `out`, and its shape.
Status DecodeResultSet(const v1::ResultSet& proto, Response& out, ResultShape& shape);

// The token of `proto` becomes that of `out`, unless that has a newer one.
void TakePrecommitToken(const v1::MultiplexedSessionPrecommitToken& proto, Response& out);
v1::MultiplexedSessionPrecommitToken EncodePrecommitToken(const std::string& token,
                                                          int32_t sequence);

// Appends `next` to `values`; when `chunked`, its first value goes on with the last one of
// `values`: texts are joined, and so are lists, whose two ends are joined in turn. Nothing else is
// ever cut. REQUIRES: `values` is not empty when `chunked`.
Status AppendValues(const google::protobuf::RepeatedPtrField<google::protobuf::Value>& next,
                    bool chunked, google::protobuf::ListValue& values);

// Puts the parts of a stream together again.
class PartialResultDecoder {
 public:
  Status Add(const v1::PartialResultSet& part);
  // The newest token heard; empty for none.
  const std::string& resume_token() const { return resume_token_; }
  // The stream broke: back to what had been heard at resume_token().
  void Rewind();
  // The stream ended. INTERNAL when it ended in the middle.
  Status Finish(Response& out, ResultShape& shape) const;

 private:
  struct Heard {
    bool has_metadata = false;
    v1::ResultSet head;  // all but the rows
    google::protobuf::ListValue values;
    bool chunked = false;  // the last value goes on
  };
  Heard heard_;
  Heard at_token_;
  std::string resume_token_;
};

}  // namespace whorl::wire
