#include "wire/transactions.h"

#include <optional>
#include <string>
#include <utility>

#include "wire/mutations.h"
#include "wire/times.h"

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

}  // namespace whorl::wire
