#include "wire/results.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "wire/values.h"

namespace whorl::wire {
namespace {

using google::protobuf::ListValue;
using ProtoValue = google::protobuf::Value;

void EncodeFields(const std::vector<Column>& columns, v1::StructType& proto) {
  for (const Column& column : columns) {
    v1::StructType::Field& field = *proto.add_fields();
    field.set_name(column.name);
    *field.mutable_type() = EncodeType(column.type);
  }
}

v1::ResultSetMetadata EncodeMetadata(const Response& response, const ResultShape& shape) {
  v1::ResultSetMetadata metadata;
  // Set even without columns, which shows a client that DML returns no rows.
  EncodeFields(shape.columns, *metadata.mutable_row_type());
  for (const Parameter& parameter : shape.undeclared_parameters) {
    v1::StructType::Field& field = *metadata.mutable_undeclared_parameters()->add_fields();
    field.set_name(parameter.name);
    *field.mutable_type() = EncodeType(parameter.type);
  }
  if (!response.transaction.empty()) {
    metadata.mutable_transaction()->set_id(response.transaction.str());
  }
  if (response.read_timestamp) {
    *metadata.mutable_transaction()->mutable_read_timestamp() =
        EncodeTimestamp(*response.read_timestamp);
  }
  return metadata;
}

// Sets the fields at the end of a result, in a ResultSet or in the last part of a stream.
template <typename Proto>
void EncodeEnd(const Response& response, const ResultShape& shape, Proto& proto) {
  if (shape.is_dml) proto.mutable_stats()->set_row_count_exact(response.result.row_count);
  if (shape.elapsed) {
    auto& fields = *proto.mutable_stats()->mutable_query_stats()->mutable_fields();
    fields["rows_returned"].set_string_value(absl::StrCat(response.result.rows.size()));
    fields["elapsed_time"].set_string_value(
        absl::StrFormat("%.3f msecs", static_cast<double>(shape.elapsed->ns) / 1e6));
  }
  if (response.precommit_token.empty()) return;
  *proto.mutable_precommit_token() =
      EncodePrecommitToken(response.precommit_token, response.precommit_sequence);
}

// Divides a list of values into the parts of a stream.
class Cutter {
 public:
  Cutter(std::vector<v1::PartialResultSet>& parts, size_t max_bytes)
      : parts_(parts), max_bytes_(max_bytes) {
    parts_.emplace_back();
  }

  void Add(ProtoValue value) {
    while (value.has_string_value() && value.string_value().size() > Room()) {
      std::string& text = *value.mutable_string_value();
      const size_t cut = CutBefore(text, Room());
      ProtoValue head;
      head.set_string_value(text.substr(0, cut));
      Append(std::move(head), cut);
      text.erase(0, cut);
      parts_.back().set_chunked_value(true);
      NextPart();
    }
    const size_t bytes = value.string_value().size() + kOverhead;
    if (used_ >= max_bytes_) NextPart();
    Append(std::move(value), bytes);
  }

  // A stream can be resumed where a part ends with a whole value. So a part ends with a row where another one
  // of that size would not fit.
  void BeginRow() {
    if (used_ > 0 && used_ + row_bytes_ > max_bytes_) NextPart();
    row_bytes_ = 0;
  }

 private:
  // The approximate size of a value beyond its text.
  static constexpr size_t kOverhead = 8;

  // Never less than the longest character, so that every part makes progress.
  size_t Room() {
    constexpr size_t kLongestCharacter = 4;
    if (used_ + kLongestCharacter > max_bytes_ && used_ > 0) NextPart();
    return std::max(max_bytes_ - used_, kLongestCharacter);
  }
  void Append(ProtoValue value, size_t bytes) {
    *parts_.back().add_values() = std::move(value);
    used_ += bytes;
    row_bytes_ += bytes;
  }
  void NextPart() {
    parts_.emplace_back();
    used_ = 0;
  }
  // The last position up to `at` at which a UTF-8 character begins, since proto3 strings are UTF-8.
  static size_t CutBefore(const std::string& text, size_t at) {
    while (at > 1 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
    return at;
  }

  std::vector<v1::PartialResultSet>& parts_;
  size_t max_bytes_;
  size_t used_ = 0;
  size_t row_bytes_ = 0;  // of the row so far
};

Status Join(const ProtoValue& next, ProtoValue& value) {
  if (value.has_string_value() && next.has_string_value()) {
    value.mutable_string_value()->append(next.string_value());
    return {};
  }
  if (!value.has_list_value() || !next.has_list_value()) {
    return Error(Code::kInternal, "a chunked value goes on as one of another kind");
  }
  ListValue& list = *value.mutable_list_value();
  const auto& rest = next.list_value().values();
  if (list.values().empty() || rest.empty()) return AppendValues(rest, false, list);
  const ProtoValue& last = list.values(list.values_size() - 1);
  const bool is_cut =
      last.kind_case() == rest[0].kind_case() && (last.has_string_value() || last.has_list_value());
  return AppendValues(rest, is_cut, list);
}

Status DecodeMetadata(const v1::ResultSetMetadata& proto, Response& out, ResultShape& shape) {
  for (const v1::StructType::Field& field : proto.row_type().fields()) {
    Column column = {.name = field.name()};
    Status status = DecodeType(field.type(), column.type);
    if (!status.ok()) return status;
    shape.columns.push_back(std::move(column));
  }
  for (const v1::StructType::Field& field : proto.undeclared_parameters().fields()) {
    Parameter parameter = {.name = field.name()};
    Status status = DecodeType(field.type(), parameter.type);
    if (!status.ok()) return status;
    shape.undeclared_parameters.push_back(std::move(parameter));
  }
  out.transaction = proto.transaction().id();
  if (proto.transaction().has_read_timestamp()) {
    out.read_timestamp = DecodeTimestamp(proto.transaction().read_timestamp());
    if (!out.read_timestamp) return Error(Code::kInternal, "read_timestamp is no timestamp");
  }
  TakePrecommitToken(proto.transaction().precommit_token(), out);
  return {};
}

// Decodes one row from the values at `first` and after.
Status DecodeRow(const ListValue& values, int first, const std::vector<Column>& columns, Row& out) {
  for (size_t i = 0; i < columns.size(); ++i) {
    Value value;
    Status status = DecodeValue(values.values(first + static_cast<int>(i)), columns[i].type, value);
    if (!status.ok()) {
      return Error(Code::kInternal, "column " + columns[i].name + ": " + status.message);
    }
    out.push_back(std::move(value));
  }
  return {};
}

// Decodes everything except the rows.
Status DecodeHead(const v1::ResultSet& proto, Response& out, ResultShape& shape) {
  Status status = DecodeMetadata(proto.metadata(), out, shape);
  if (!status.ok()) return status;
  shape.is_dml = proto.stats().row_count_case() != v1::ResultSetStats::ROW_COUNT_NOT_SET;
  out.result.row_count = proto.stats().row_count_exact();
  TakePrecommitToken(proto.precommit_token(), out);
  return {};
}

}  // namespace

Status AppendValues(const google::protobuf::RepeatedPtrField<ProtoValue>& next, bool chunked,
                    ListValue& values) {
  bool is_continuation = chunked;
  for (const ProtoValue& value : next) {
    if (!is_continuation) {
      *values.add_values() = value;
      continue;
    }
    is_continuation = false;
    Status status = Join(value, *values.mutable_values(values.values_size() - 1));
    if (!status.ok()) return status;
  }
  return {};
}

v1::MultiplexedSessionPrecommitToken EncodePrecommitToken(std::string_view token,
                                                          int32_t sequence) {
  v1::MultiplexedSessionPrecommitToken proto;
  proto.set_precommit_token(std::string(token));
  proto.set_seq_num(sequence);
  return proto;
}

void TakePrecommitToken(const v1::MultiplexedSessionPrecommitToken& proto, Response& out) {
  if (proto.precommit_token().empty()) return;
  if (!out.precommit_token.empty() && proto.seq_num() < out.precommit_sequence) return;
  out.precommit_token = proto.precommit_token();
  out.precommit_sequence = proto.seq_num();
}

v1::ResultSet EncodeResultSet(const Response& response, const ResultShape& shape) {
  v1::ResultSet proto;
  *proto.mutable_metadata() = EncodeMetadata(response, shape);
  for (const Row& row : response.result.rows) *proto.add_rows() = EncodeRow(row);
  EncodeEnd(response, shape, proto);
  // As the official emulator says it.
  if (shape.wants_plan) {
    proto.mutable_stats()->mutable_query_plan()->add_plan_nodes()->set_display_name(
        "No query plan");
  }
  return proto;
}

std::vector<v1::PartialResultSet> EncodePartialResultSets(const Response& response,
                                                          const ResultShape& shape,
                                                          size_t max_bytes) {
  std::vector<v1::PartialResultSet> parts;
  Cutter cutter(parts, max_bytes);
  for (const Row& row : response.result.rows) {
    cutter.BeginRow();
    for (const Value& value : row) cutter.Add(EncodeValue(value));
  }
  *parts.front().mutable_metadata() = EncodeMetadata(response, shape);
  EncodeEnd(response, shape, parts.back());
  parts.back().set_last(true);
  return parts;
}

Status DecodeResultSet(const v1::ResultSet& proto, Response& out, ResultShape& shape) {
  Response response = out;
  ResultShape decoded;
  Status status = DecodeHead(proto, response, decoded);
  if (!status.ok()) return status;
  for (const ListValue& values : proto.rows()) {
    if (values.values_size() != static_cast<int>(decoded.columns.size())) {
      return Error(Code::kInternal, "a row has not as many values as there are columns");
    }
    Row row;
    status = DecodeRow(values, 0, decoded.columns, row);
    if (!status.ok()) return status;
    response.result.rows.push_back(std::move(row));
  }
  out = std::move(response);
  shape = std::move(decoded);
  return {};
}

Status PartialResultDecoder::Add(const v1::PartialResultSet& part) {
  if (!received_.has_metadata) {
    if (!part.has_metadata()) return Error(Code::kInternal, "the stream begins without metadata");
    *received_.head.mutable_metadata() = part.metadata();
    received_.has_metadata = true;
  }
  if (part.has_stats()) *received_.head.mutable_stats() = part.stats();
  if (part.has_precommit_token() &&
      part.precommit_token().seq_num() >= received_.head.precommit_token().seq_num()) {
    *received_.head.mutable_precommit_token() = part.precommit_token();
  }
  Status status = AppendValues(part.values(), received_.chunked, received_.values);
  if (!status.ok()) return status;
  // A part without values does not end a divided value.
  if (!part.values().empty()) received_.chunked = part.chunked_value();
  if (!part.resume_token().empty()) {
    resume_token_ = part.resume_token();
    at_token_ = received_;
  }
  return {};
}

void PartialResultDecoder::Rewind() { received_ = at_token_; }

Status PartialResultDecoder::Finish(Response& out, ResultShape& shape) const {
  if (!received_.has_metadata) {
    return Error(Code::kInternal, "the stream ended before its metadata");
  }
  if (received_.chunked) return Error(Code::kInternal, "the stream ended inside a value");
  Response response = out;
  ResultShape decoded;
  Status status = DecodeHead(received_.head, response, decoded);
  if (!status.ok()) return status;
  const auto width = static_cast<int>(decoded.columns.size());
  const int count = received_.values.values_size();
  if (width == 0 ? count != 0 : count % width != 0) {
    return Error(Code::kInternal, "the stream ended inside a row");
  }
  for (int first = 0; first < count; first += width) {
    Row row;
    status = DecodeRow(received_.values, first, decoded.columns, row);
    if (!status.ok()) return status;
    response.result.rows.push_back(std::move(row));
  }
  out = std::move(response);
  shape = std::move(decoded);
  return {};
}

}  // namespace whorl::wire
