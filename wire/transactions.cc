#include "wire/transactions.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/values.h"

namespace whorl::wire {

namespace {

using ReadOnly = v1::TransactionOptions::ReadOnly;
using ReadWrite = v1::TransactionOptions::ReadWrite;

Status Invalid(std::string message) { return Error(Code::kInvalidArgument, std::move(message)); }

template <typename T>
void EncodeReadOnly(const T& read, ReadOnly& proto) {
  const TimestampBound& bound = read.bound;
  switch (bound.kind) {
    case BoundKind::kStrong:
      proto.set_strong(true);
      break;
    case BoundKind::kReadTimestamp:
      *proto.mutable_read_timestamp() = EncodeTimestamp(bound.timestamp);
      break;
    case BoundKind::kMinReadTimestamp:
      *proto.mutable_min_read_timestamp() = EncodeTimestamp(bound.timestamp);
      break;
    case BoundKind::kExactStaleness:
      *proto.mutable_exact_staleness() = EncodeDuration(bound.staleness);
      break;
    case BoundKind::kMaxStaleness:
      *proto.mutable_max_staleness() = EncodeDuration(bound.staleness);
      break;
  }
  proto.set_return_read_timestamp(read.return_read_timestamp);
}

Status DecodeTime(const google::protobuf::Timestamp& proto, BoundKind kind, TimestampBound& out) {
  const std::optional<Timestamp> timestamp = DecodeTimestamp(proto);
  if (!timestamp) return Invalid("Timestamp of the read is out of range.");
  out = {.kind = kind, .timestamp = *timestamp};
  return {};
}

Status DecodeStaleness(const google::protobuf::Duration& proto, BoundKind kind,
                       TimestampBound& out) {
  const std::optional<Duration> staleness = DecodeDuration(proto);
  if (!staleness) return Invalid("Staleness is no valid duration.");
  if (*staleness < Duration{}) return Invalid("Staleness must be non-negative.");
  out = {.kind = kind, .staleness = *staleness};
  return {};
}

Status DecodeBound(const ReadOnly& proto, TimestampBound& out) {
  switch (proto.timestamp_bound_case()) {
    case ReadOnly::kStrong:
      if (!proto.strong()) return Invalid("Strong read option must be true for a strong read.");
      out = {};
      return {};
    case ReadOnly::kMinReadTimestamp:
      return DecodeTime(proto.min_read_timestamp(), BoundKind::kMinReadTimestamp, out);
    case ReadOnly::kReadTimestamp:
      return DecodeTime(proto.read_timestamp(), BoundKind::kReadTimestamp, out);
    case ReadOnly::kMaxStaleness:
      return DecodeStaleness(proto.max_staleness(), BoundKind::kMaxStaleness, out);
    case ReadOnly::kExactStaleness:
      return DecodeStaleness(proto.exact_staleness(), BoundKind::kExactStaleness, out);
    case ReadOnly::TIMESTAMP_BOUND_NOT_SET:
      out = {};
      return {};
  }
  return {};
}

Status DecodeReadOnly(const ReadOnly& proto, BeginOptions& out) {
  if (proto.has_min_read_timestamp() || proto.has_max_staleness()) {
    const std::string name = proto.has_max_staleness() ? "max_staleness" : "min_read_timestamp";
    return Invalid("Timestamp bound: " + name +
                   " for read can be only be used for a single use transaction.");
  }
  BeginReadOnly begin = {.return_read_timestamp = proto.return_read_timestamp()};
  Status status = DecodeBound(proto, begin.bound);
  if (!status.ok()) return status;
  out = begin;
  return {};
}

Isolation DecodeIsolation(const v1::TransactionOptions& proto) {
  switch (proto.isolation_level()) {
    case v1::TransactionOptions::REPEATABLE_READ:
      return Isolation::kRepeatableRead;
    case v1::TransactionOptions::SERIALIZABLE:
      return Isolation::kSerializable;
    default:
      return Isolation::kUnspecified;
  }
}

Status DecodeReadWrite(const v1::TransactionOptions& proto, BeginOptions& out) {
  const ReadWrite& options = proto.read_write();
  out = BeginReadWrite{.previous = options.multiplexed_session_previous_transaction_id(),
                       .lock_mode = options.read_lock_mode() == ReadWrite::OPTIMISTIC
                                        ? LockMode::kOptimistic
                                        : LockMode::kPessimistic,
                       .isolation = DecodeIsolation(proto)};
  return {};
}

Status DecodeSingleUse(const v1::TransactionOptions& proto, TransactionSelector& out) {
  if (!proto.has_read_only()) {
    return Invalid("Transaction mode for read only single use transaction should be read_only.");
  }
  SingleUseRead read = {.return_read_timestamp = proto.read_only().return_read_timestamp()};
  Status status = DecodeBound(proto.read_only(), read.bound);
  if (!status.ok()) return status;
  out = read;
  return {};
}

struct SelectorEncoder {
  v1::TransactionSelector& proto;

  void operator()(const SingleUseRead& read) const {
    EncodeReadOnly(read, *proto.mutable_single_use()->mutable_read_only());
  }
  void operator()(const BeginReadWrite& begin) const {
    *proto.mutable_begin() = EncodeOptions(begin);
  }
  void operator()(const BeginReadOnly& begin) const {
    *proto.mutable_begin() = EncodeOptions(begin);
  }
  void operator()(const TransactionId& id) const { proto.set_id(id.str()); }
};

}  // namespace

v1::TransactionOptions EncodeOptions(const BeginOptions& options) {
  v1::TransactionOptions proto;
  if (const auto* read_only = std::get_if<BeginReadOnly>(&options)) {
    EncodeReadOnly(*read_only, *proto.mutable_read_only());
    return proto;
  }
  const auto& begin = std::get<BeginReadWrite>(options);
  ReadWrite& read_write = *proto.mutable_read_write();
  // Pessimistic is Spanner's default in every version of its API.
  if (begin.lock_mode == LockMode::kOptimistic) {
    read_write.set_read_lock_mode(ReadWrite::OPTIMISTIC);
  }
  read_write.set_multiplexed_session_previous_transaction_id(begin.previous.str());
  if (begin.isolation == Isolation::kRepeatableRead) {
    proto.set_isolation_level(v1::TransactionOptions::REPEATABLE_READ);
  } else if (begin.isolation == Isolation::kSerializable) {
    proto.set_isolation_level(v1::TransactionOptions::SERIALIZABLE);
  }
  return proto;
}

v1::TransactionSelector EncodeSelector(const TransactionSelector& selector) {
  v1::TransactionSelector proto;
  std::visit(SelectorEncoder{proto}, selector);
  return proto;
}

Status DecodeOptions(const v1::TransactionOptions& proto, BeginOptions& out) {
  switch (proto.mode_case()) {
    case v1::TransactionOptions::kReadWrite:
      return DecodeReadWrite(proto, out);
    case v1::TransactionOptions::kReadOnly:
      return DecodeReadOnly(proto.read_only(), out);
    case v1::TransactionOptions::kPartitionedDml:
      return Error(Code::kUnimplemented, "whorl has no partitioned DML");
    case v1::TransactionOptions::MODE_NOT_SET:
      return MissingField("TransactionOptions.mode");
  }
  return {};
}

Status DecodeSelector(const v1::TransactionSelector& proto, TransactionSelector& out) {
  switch (proto.selector_case()) {
    case v1::TransactionSelector::kSingleUse:
      return DecodeSingleUse(proto.single_use(), out);
    case v1::TransactionSelector::kBegin: {
      BeginOptions options;
      Status status = DecodeOptions(proto.begin(), options);
      if (!status.ok()) return status;
      std::visit([&out](auto& begin) { out = std::move(begin); }, options);
      return {};
    }
    case v1::TransactionSelector::kId:
      if (proto.id().empty()) return Invalid("Invalid transaction ID: it is empty.");
      out = proto.id();
      return {};
    case v1::TransactionSelector::SELECTOR_NOT_SET:
      out = SingleUseRead{};
      return {};
  }
  return {};
}

namespace {

using google::protobuf::ListValue;
using OptionalType = std::optional<Type>;

void EncodeWrite(const Mutation& mutation, v1::Mutation::Write& proto) {
  proto.set_table(mutation.table);
  for (const std::string& column : mutation.columns) proto.add_columns(column);
  for (const Row& row : mutation.rows) *proto.add_values() = EncodeRow(row);
}

v1::KeyRange EncodeSpan(const KeySpan& span) {
  v1::KeyRange proto;
  *(span.start_closed ? proto.mutable_start_closed() : proto.mutable_start_open()) =
      EncodeRow(span.start);
  *(span.end_closed ? proto.mutable_end_closed() : proto.mutable_end_open()) = EncodeRow(span.end);
  return proto;
}

// REQUIRES: as many types as values.
Status DecodeList(const ListValue& proto, const std::vector<OptionalType>& types, Row& out) {
  Row row;
  for (int i = 0; i < proto.values_size(); ++i) {
    const google::protobuf::Value& value = proto.values(i);
    row.emplace_back();
    Status status = DecodeColumnValue(
        value, types[static_cast<size_t>(i)].value_or(TypeByKind(value)), row.back());
    if (!status.ok()) return status;
  }
  out = std::move(row);
  return {};
}

Status DecodeWrite(const v1::Mutation::Write& proto, MutationKind kind, const Directory& directory,
                   Mutation& out) {
  if (proto.table().empty()) {
    return Error(Code::kInvalidArgument, "Mutation does not specify table.");
  }
  if (proto.values().empty()) return MissingField("Write.values");
  Mutation mutation = {.kind = kind, .table = proto.table()};
  std::vector<OptionalType> types;
  for (const std::string& column : proto.columns()) {
    mutation.columns.push_back(column);
    types.push_back(directory.ColumnType(mutation.table, column));
  }
  for (const ListValue& values : proto.values()) {
    if (values.values_size() != proto.columns_size()) {
      return Error(Code::kInvalidArgument, "Mutation column and value size mismatch: Found: " +
                                               std::to_string(proto.columns_size()) +
                                               " columns and " +
                                               std::to_string(values.values_size()) + " values");
    }
    mutation.rows.emplace_back();
    Status status = DecodeList(values, types, mutation.rows.back());
    if (!status.ok()) return status;
  }
  out = std::move(mutation);
  return {};
}

Status DecodeDelete(const v1::Mutation::Delete& proto, const Directory& directory, Mutation& out) {
  if (proto.table().empty()) {
    return Error(Code::kInvalidArgument, "Mutation does not specify table.");
  }
  Mutation mutation = {.kind = MutationKind::kDelete, .table = proto.table()};
  Status status = DecodeKeySet(proto.key_set(), mutation.table, directory, mutation.keys);
  if (!status.ok()) return status;
  out = std::move(mutation);
  return {};
}

// Decodes keys of one table.
struct KeyDecoder {
  std::string table;
  std::optional<std::vector<Type>> types;  // empty: the table does not exist

  Status Decode(const ListValue& proto, bool may_be_prefix, Row& out) const {
    const auto count = static_cast<size_t>(proto.values_size());
    std::vector<OptionalType> known(count);
    if (types) {
      if (count > types->size() || (count < types->size() && !may_be_prefix)) {
        return Error(Code::kFailedPrecondition, "Wrong number of key parts for " + table +
                                                    ". Expected " + std::to_string(types->size()) +
                                                    " key parts, found " + std::to_string(count) +
                                                    " key parts.");
      }
      for (size_t i = 0; i < count; ++i) known[i] = (*types)[i];
    }
    return DecodeList(proto, known, out);
  }

  Status DecodeSpan(const v1::KeyRange& proto, KeySpan& out) const {
    const bool has_start = proto.has_start_closed() || proto.has_start_open();
    const bool has_end = proto.has_end_closed() || proto.has_end_open();
    if (!has_start || !has_end) {
      const std::string end = has_start ? "end" : "start";
      return Error(Code::kInvalidArgument,
                   "Key range must contain either " + end + "_closed or " + end + "_open.");
    }
    KeySpan span = {.start_closed = proto.has_start_closed(), .end_closed = proto.has_end_closed()};
    Status status =
        Decode(span.start_closed ? proto.start_closed() : proto.start_open(), true, span.start);
    if (!status.ok()) return status;
    status = Decode(span.end_closed ? proto.end_closed() : proto.end_open(), true, span.end);
    if (!status.ok()) return status;
    out = std::move(span);
    return {};
  }
};

}  // namespace

Status MissingField(std::string_view field) {
  return Error(Code::kInvalidArgument,
               "No value provided for required field: " + std::string(field));
}

v1::KeySet EncodeKeySet(const KeySet& keys) {
  v1::KeySet proto;
  proto.set_all(keys.all);
  for (const Row& key : keys.keys) *proto.add_keys() = EncodeRow(key);
  for (const KeySpan& span : keys.spans) *proto.add_ranges() = EncodeSpan(span);
  return proto;
}

v1::Mutation EncodeMutation(const Mutation& mutation) {
  v1::Mutation proto;
  switch (mutation.kind) {
    case MutationKind::kInsert:
      EncodeWrite(mutation, *proto.mutable_insert());
      break;
    case MutationKind::kUpdate:
      EncodeWrite(mutation, *proto.mutable_update());
      break;
    case MutationKind::kInsertOrUpdate:
      EncodeWrite(mutation, *proto.mutable_insert_or_update());
      break;
    case MutationKind::kReplace:
      EncodeWrite(mutation, *proto.mutable_replace());
      break;
    case MutationKind::kDelete:
      proto.mutable_delete_()->set_table(mutation.table);
      *proto.mutable_delete_()->mutable_key_set() = EncodeKeySet(mutation.keys);
      break;
  }
  return proto;
}

Status DecodeKeySet(const v1::KeySet& proto, const std::string& table, const Directory& directory,
                    KeySet& out) {
  const KeyDecoder decoder = {.table = table, .types = directory.KeyTypes(table)};
  KeySet keys = {.all = proto.all()};
  for (const ListValue& key : proto.keys()) {
    keys.keys.emplace_back();
    Status status = decoder.Decode(key, false, keys.keys.back());
    if (!status.ok()) return status;
  }
  for (const v1::KeyRange& range : proto.ranges()) {
    keys.spans.emplace_back();
    Status status = decoder.DecodeSpan(range, keys.spans.back());
    if (!status.ok()) return status;
  }
  out = std::move(keys);
  return {};
}

Status DecodeMutation(const v1::Mutation& proto, const Directory& directory, Mutation& out) {
  switch (proto.operation_case()) {
    case v1::Mutation::kInsert:
      return DecodeWrite(proto.insert(), MutationKind::kInsert, directory, out);
    case v1::Mutation::kUpdate:
      return DecodeWrite(proto.update(), MutationKind::kUpdate, directory, out);
    case v1::Mutation::kInsertOrUpdate:
      return DecodeWrite(proto.insert_or_update(), MutationKind::kInsertOrUpdate, directory, out);
    case v1::Mutation::kReplace:
      return DecodeWrite(proto.replace(), MutationKind::kReplace, directory, out);
    case v1::Mutation::kDelete:
      return DecodeDelete(proto.delete_(), directory, out);
    case v1::Mutation::OPERATION_NOT_SET:
      return MissingField("Mutation.operation");
    default:
      return Error(Code::kUnimplemented, "whorl has no queues");
  }
}

}  // namespace whorl::wire
