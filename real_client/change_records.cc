#include "real_client/change_records.h"

#include <google/protobuf/util/json_util.h>

#include <utility>

#include "wire/results.h"

namespace whorl::real_client {
namespace {

namespace v1 = google::spanner::v1;
using google::protobuf::ListValue;
using google::protobuf::Struct;
// (protocol/spanner has a Value, too.)
using ProtoValue = google::protobuf::Value;

// On the wire a STRUCT is a list of its members' values.
ProtoValue WithNames(const ProtoValue& value, const v1::Type& type) {
  const bool is_list = value.has_list_value();
  ProtoValue named;
  if (is_list && type.code() == v1::ARRAY) {
    ListValue& list = *named.mutable_list_value();
    for (const ProtoValue& element : value.list_value().values()) {
      *list.add_values() = WithNames(element, type.array_element_type());
    }
    return named;
  }
  if (is_list && type.code() == v1::STRUCT) {
    auto& members = *named.mutable_struct_value()->mutable_fields();
    const auto& fields = type.struct_type().fields();
    for (int i = 0; i < fields.size() && i < value.list_value().values_size(); ++i) {
      members[fields[i].name()] = WithNames(value.list_value().values(i), fields[i].type());
    }
    return named;
  }
  return value;
}

// Null if there is no such member.
const ProtoValue* MemberOf(const Struct& record, const std::string& name) {
  const auto found = record.fields().find(name);
  return found == record.fields().end() ? nullptr : &found->second;
}

const ListValue& ListIn(const Struct& record, const std::string& name) {
  const ProtoValue* member = MemberOf(record, name);
  return member == nullptr ? ListValue::default_instance() : member->list_value();
}

Status TimeIn(const Struct& record, const std::string& name, Timestamp& out) {
  const ProtoValue* member = MemberOf(record, name);
  const auto time = member == nullptr ? std::nullopt : ParseRfc3339(member->string_value());
  if (!time) {
    return Error(Code::kInternal, "a record of the change stream has no time \"" + name + "\"");
  }
  out = *time;
  return {};
}

Status DecodeData(const Struct& record, std::vector<ChangeRecord>& out) {
  DataChange change;
  Status status = TimeIn(record, "commit_timestamp", change.commit);
  if (!status.ok()) return status;
  if (!google::protobuf::util::MessageToJsonString(record, &change.json).ok()) {
    return Error(Code::kInternal, "a record of the change stream is no JSON");
  }
  out.emplace_back(std::move(change));
  return {};
}

Status DecodeChildren(const Struct& record, std::vector<ChangeRecord>& out) {
  Timestamp start;
  Status status = TimeIn(record, "start_timestamp", start);
  if (!status.ok()) return status;
  for (const ProtoValue& child : ListIn(record, "child_partitions").values()) {
    const ProtoValue* token = MemberOf(child.struct_value(), "token");
    if (token == nullptr || token->string_value().empty()) {
      return Error(Code::kInternal, "a partition of the change stream has no token");
    }
    ChildPartition partition = {.token = token->string_value(), .start = start};
    for (const auto& parent : ListIn(child.struct_value(), "parent_partition_tokens").values()) {
      partition.parents.push_back(parent.string_value());
    }
    out.emplace_back(std::move(partition));
  }
  return {};
}

Status DecodeRow(const ProtoValue& row, std::vector<ChangeRecord>& out) {
  if (!row.has_list_value()) return Error(Code::kInternal, "ChangeRecord is no list");
  for (const ProtoValue& element : row.list_value().values()) {
    const Struct& lists = element.struct_value();
    Status status;
    for (const ProtoValue& record : ListIn(lists, "data_change_record").values()) {
      if (status.ok()) status = DecodeData(record.struct_value(), out);
    }
    for (const ProtoValue& record : ListIn(lists, "heartbeat_record").values()) {
      Heartbeat heartbeat;
      if (status.ok()) status = TimeIn(record.struct_value(), "timestamp", heartbeat.at);
      if (status.ok()) out.emplace_back(heartbeat);
    }
    for (const ProtoValue& record : ListIn(lists, "child_partitions_record").values()) {
      if (status.ok()) status = DecodeChildren(record.struct_value(), out);
    }
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Status ChangeRecordDecoder::Add(const v1::PartialResultSet& part, std::vector<ChangeRecord>& out) {
  if (part.has_metadata()) {
    const auto& fields = part.metadata().row_type().fields();
    if (fields.size() != 1) return Error(Code::kInternal, "a change stream answers one column");
    type_ = fields[0].type();
  }
  if (chunked_ && rows_.values().empty()) return Error(Code::kInternal, "a part continues nothing");
  Status status = wire::AppendValues(part.values(), chunked_, rows_);
  if (!status.ok()) return status;
  chunked_ = part.chunked_value();
  const int whole = rows_.values_size() - (chunked_ ? 1 : 0);
  for (int i = 0; i < whole && status.ok(); ++i) {
    status = DecodeRow(WithNames(rows_.values(i), type_), out);
  }
  if (whole > 0) rows_.mutable_values()->DeleteSubrange(0, whole);
  return status;
}

}  // namespace whorl::real_client
