#include "tests/differential/sequence.h"

#include <absl/strings/str_join.h>

#include <array>

namespace whorl::differential {
namespace {

constexpr int64_t kYear5000 = 95'617'584'000;  // seconds

std::string Show(const Value& value) {
  const auto* timestamp = std::get_if<Timestamp>(&value);
  const auto commit = timestamp == nullptr ? std::nullopt : FindCommitTime(*timestamp);
  if (!commit) return FormatValue(value);
  std::string text = "commit of #" + std::to_string(commit->operation);
  if (commit->plus_microseconds != 0) {
    text += " plus " + std::to_string(commit->plus_microseconds) + " us";
  }
  return "<" + text + ">";
}

std::string Show(const Row& row) {
  std::string text = "(";
  for (const Value& value : row) text += (text.size() > 1 ? ", " : "") + Show(value);
  return text + ")";
}

std::string Show(const KeySet& keys) {
  std::string text = keys.all ? " all" : "";
  for (const Row& key : keys.keys) text += " " + Show(key);
  for (const KeySpan& span : keys.spans) {
    text += std::string(" ") + (span.start_closed ? "[" : "(") + Show(span.start) + " .. " +
            Show(span.end) + (span.end_closed ? "]" : ")");
  }
  return text;
}

std::string Show(const TimestampBound& bound) {
  switch (bound.kind) {
    case BoundKind::kStrong:
      return "strong";
    case BoundKind::kReadTimestamp:
      return "at " + Show(Value(bound.timestamp));
    case BoundKind::kMinReadTimestamp:
      return "at or after " + Show(Value(bound.timestamp));
    case BoundKind::kExactStaleness:
      return FormatDuration(bound.staleness) + " ago";
    case BoundKind::kMaxStaleness:
      return "at most " + FormatDuration(bound.staleness) + " ago";
  }
  return "";
}

std::string Show(const Selector& selector, OperationKind kind) {
  const std::string asks = selector.return_read_timestamp ? ", return_read_timestamp" : "";
  switch (selector.kind) {
    case SelectorKind::kNone:
      return "no transaction";
    case SelectorKind::kSingleUse:
      if (kind == OperationKind::kCommit) return "single use";
      return "single use, " + Show(selector.bound) + asks;
    case SelectorKind::kBeginReadWrite:
      return selector.optimistic ? "begin read-write, optimistic" : "begin read-write";
    case SelectorKind::kBeginReadOnly:
      return "begin read-only, " + Show(selector.bound) + asks;
    case SelectorKind::kOf:
      return "transaction of #" + std::to_string(selector.of);
    case SelectorKind::kWrongId:
      return "transaction '" + selector.wrong_id + "'";
  }
  return "";
}

std::string Show(const Call& call) {
  std::string text = "\n      " + call.sql;
  for (const Input& input : call.inputs) {
    text += "\n        @" + input.name + " " +
            (input.declared ? std::string(WordOf(input.type)) : "(no type)") + " = " +
            Show(input.value);
  }
  return text;
}

std::string Show(const Mutation& mutation) {
  constexpr std::array kNames = {"insert", "update", "insert_or_update", "replace", "delete"};
  std::string text = std::string("\n      ") + kNames.at(static_cast<size_t>(mutation.kind)) + " " +
                     mutation.table;
  if (mutation.kind == MutationKind::kDelete) return text + Show(mutation.keys);
  text += " (" + absl::StrJoin(mutation.columns, ", ") + ")";
  for (const Row& row : mutation.rows) text += " " + Show(row);
  return text;
}

}  // namespace

const char* KindName(OperationKind kind) {
  constexpr std::array kNames = {"DDL",  "BeginTransaction", "ExecuteSql", "ExecuteBatchDml",
                                 "Read", "Commit",           "Rollback",   "DeleteSession"};
  static_assert(kNames.size() == kOperationKinds);
  return kNames.at(static_cast<size_t>(kind));
}

int CountStatements(const Operation& operation) {
  return static_cast<int>(operation.calls.size() + operation.schema.size());
}

Timestamp CommitTimeOf(CommitTime time) {
  return *Timestamp::FromParts(kYear5000 + time.operation,
                               int64_t{1000} * (500 + time.plus_microseconds));
}

std::optional<CommitTime> FindCommitTime(Timestamp timestamp) {
  constexpr int kMostOperations = 100'000;
  const int64_t operation = timestamp.seconds() - kYear5000;
  if (operation < 0 || operation >= kMostOperations) return std::nullopt;
  return CommitTime{.operation = static_cast<int>(operation),
                    .plus_microseconds = timestamp.nanos() / 1000 - 500};
}

std::string Describe(const Operation& operation) {
  std::string text = "#" + std::to_string(operation.id) + " ";
  if (operation.kind == OperationKind::kDdl)
    return text + "DDL\n      " + absl::StrJoin(operation.schema, ", ");
  text += "session " + std::to_string(operation.session) + ": ";
  if (operation.streamed) text += "streaming ";
  text += KindName(operation.kind);
  if (operation.kind == OperationKind::kDeleteSession) return text;
  text += " (" + Show(operation.transaction, operation.kind) + ")";
  if (operation.sequence_number != 0) text += " seqno " + std::to_string(operation.sequence_number);
  if (operation.kind == OperationKind::kRead) {
    text += "\n      " + operation.table + " (" + absl::StrJoin(operation.columns, ", ") + ")" +
            Show(operation.keys);
    if (operation.limit != 0) text += " limit " + std::to_string(operation.limit);
  }
  for (const Call& call : operation.calls) text += Show(call);
  for (const Mutation& mutation : operation.mutations) text += Show(mutation);
  return text;
}

}  // namespace whorl::differential
