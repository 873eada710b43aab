#include "real_client/change_records.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
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

namespace {

// The least distance of two commit timestamps.
constexpr Duration kTick = Microseconds(1);

}  // namespace

ChangePartitions::ChangePartitions(Timestamp from, std::optional<Timestamp> to)
    : to_(to), reached_(from) {
  partitions_[""] = {.start = from, .position = from, .state = State::kToBeRead};
}

std::vector<ChangePartitions::Read> ChangePartitions::TakeReads() {
  std::vector<Read> reads;
  for (auto& [token, partition] : partitions_) {
    if (partition.state != State::kToBeRead) continue;
    partition.state = State::kRead;
    // Not from its very end: there, a server may hold that nothing is left to say, not even the
    // children.
    const Timestamp before = partition.position - kTick;
    reads.push_back({.token = token, .start = std::max(partition.start, before)});
  }
  return reads;
}

void ChangePartitions::AddChild(Partition& parent, ChildPartition child) {
  parent.has_children = true;
  if (to_ && child.start > *to_) return;
  // Each parent of a merge names the child.
  partitions_.try_emplace(std::move(child.token),
                          Partition{.start = child.start,
                                    .position = child.start,
                                    .parents = {std::make_move_iterator(child.parents.begin()),
                                                std::make_move_iterator(child.parents.end())}});
}

void ChangePartitions::Add(const std::string& token, ChangeRecord record) {
  Partition& partition = partitions_.at(token);
  if (auto* child = std::get_if<ChildPartition>(&record)) {
    return AddChild(partition, std::move(*child));
  }
  if (auto* change = std::get_if<DataChange>(&record)) {
    partition.position = std::max(partition.position, change->commit);
    // What came before the query broke has been given.
    if (change->commit >= reached_) waiting_.emplace(change->commit, std::move(change->json));
    return;
  }
  partition.position = std::max(partition.position, std::get<Heartbeat>(record).at);
}

bool ChangePartitions::End(const std::string& token) {
  Partition& partition = partitions_.at(token);
  // It ends with its children, or at the end of what was asked for.
  const bool has_ended = partition.has_children || (to_ && !token.empty());
  partition.state = has_ended ? State::kEnded : State::kToBeRead;
  if (has_ended) Wake();
  return has_ended;
}

void ChangePartitions::Break(const std::string& token) {
  partitions_.at(token).state = State::kToBeRead;
}

void ChangePartitions::Wake() {
  const auto has_ended = [&](const std::string& token) {
    const auto found = partitions_.find(token);
    return found != partitions_.end() && found->second.state == State::kEnded;
  };
  for (auto& [token, partition] : partitions_) {
    if (partition.state != State::kWaits) continue;
    if (std::ranges::all_of(partition.parents, has_ended)) partition.state = State::kToBeRead;
  }
  std::set<std::string> awaited;
  for (const auto& [token, partition] : partitions_) {
    if (partition.state == State::kWaits)
      awaited.insert(partition.parents.begin(), partition.parents.end());
  }
  std::erase_if(partitions_, [&](const auto& entry) {
    return entry.second.state == State::kEnded && !awaited.contains(entry.first);
  });
}

std::vector<DataChange> ChangePartitions::TakeChanges() {
  bool has_more = false;
  Timestamp least = Timestamp::Max();
  for (const auto& [token, partition] : partitions_) {
    if (partition.state == State::kEnded) continue;
    has_more = true;
    least = std::min(least, partition.position);
  }
  const auto end = has_more ? waiting_.lower_bound(least) : waiting_.end();
  std::vector<DataChange> changes;
  for (auto change = waiting_.begin(); change != end; ++change) {
    changes.push_back({.commit = change->first, .json = std::move(change->second)});
  }
  waiting_.erase(waiting_.begin(), end);
  if (has_more) reached_ = std::max(reached_, least);
  return changes;
}

bool ChangePartitions::IsDone() const {
  return std::ranges::all_of(partitions_,
                             [](const auto& entry) { return entry.second.state == State::kEnded; });
}

bool ChangePartitions::IsStuck() const {
  return !IsDone() && std::ranges::all_of(partitions_, [](const auto& entry) {
    return entry.second.state == State::kEnded || entry.second.state == State::kWaits;
  });
}

}  // namespace whorl::real_client
