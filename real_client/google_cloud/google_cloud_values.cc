#include "real_client/google_cloud/google_cloud_values.h"

#include <google/cloud/spanner/bytes.h>
#include <google/cloud/spanner/keys.h>
#include <google/cloud/spanner/value.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/values.h"

namespace whorl::real_client {
namespace {

namespace spanner = google::cloud::spanner;

// Never fails, since both types have the same range.
spanner::Timestamp ToLibrary(Timestamp timestamp) {
  return spanner::MakeTimestamp(wire::EncodeTimestamp(timestamp)).value();
}

struct Encoder {
  // A NULL has the parameter's type.
  Type type = Type::kString;

  spanner::Value operator()(Null) const {
    switch (type) {
      case Type::kBool:
        return spanner::MakeNullValue<bool>();
      case Type::kInt64:
        return spanner::MakeNullValue<std::int64_t>();
      case Type::kFloat64:
        return spanner::MakeNullValue<double>();
      case Type::kString:
        return spanner::MakeNullValue<std::string>();
      case Type::kBytes:
        return spanner::MakeNullValue<spanner::Bytes>();
      case Type::kTimestamp:
        return spanner::MakeNullValue<spanner::Timestamp>();
      // No protocol sends others.
      case Type::kDate:
      case Type::kNumeric:
      case Type::kJson:
      case Type::kFloat32:
      case Type::kBoolArray:
      case Type::kInt64Array:
      case Type::kFloat64Array:
      case Type::kStringArray:
      case Type::kBytesArray:
      case Type::kTimestampArray:
      case Type::kDateArray:
      case Type::kNumericArray:
      case Type::kJsonArray:
      case Type::kFloat32Array:  // No protocol sends others.
        break;
    }
    return {};
  }
  spanner::Value operator()(bool value) const { return spanner::Value(value); }
  spanner::Value operator()(int64_t value) const { return spanner::Value(std::int64_t{value}); }
  spanner::Value operator()(Float64 value) const { return spanner::Value(value.value()); }
  spanner::Value operator()(const std::string& value) const { return spanner::Value(value); }
  spanner::Value operator()(const Bytes& value) const {
    return spanner::Value(spanner::Bytes(value.data));
  }
  spanner::Value operator()(Timestamp value) const { return spanner::Value(ToLibrary(value)); }
  spanner::Value operator()(const Array& /*array*/) const { return {}; }  // no protocol sends one
};

spanner::Value ToLibrary(const Value& value, Type type) {
  return std::visit(Encoder{.type = type}, value);
}

// The values of a mutation or a key, which are sent without types.
std::vector<spanner::Value> ToLibrary(const Row& row) {
  std::vector<spanner::Value> values;
  values.reserve(row.size());
  for (const Value& value : row) values.push_back(ToLibrary(value, Type::kString));
  return values;
}

Value Decoded(bool value) { return value; }
Value Decoded(std::int64_t value) { return int64_t{value}; }
Value Decoded(double value) { return Float64(value); }
Value Decoded(std::string value) { return value; }
Value Decoded(const spanner::Bytes& value) { return Bytes{.data = value.get<std::string>()}; }
Value Decoded(spanner::Timestamp value) { return FromLibrary(value); }

// nullopt if the value has another type.
template <typename T>
std::optional<Value> DecodeAs(const spanner::Value& value) {
  auto got = value.get<absl::optional<T>>();
  if (!got) return std::nullopt;
  if (!got->has_value()) return Value(Null{});
  return Decoded(**std::move(got));
}

template <typename... T>
std::optional<Value> DecodeAsOneOf(const spanner::Value& value) {
  std::optional<Value> decoded;
  static_cast<void>(((decoded = DecodeAs<T>(value)).has_value() || ...));
  return decoded;
}

template <typename Builder>
spanner::Mutation Write(const Mutation& mutation) {
  Builder builder(mutation.table, mutation.columns);
  for (const Row& row : mutation.rows) builder.AddRow(ToLibrary(row));
  return std::move(builder).Build();
}

spanner::KeyBound Bound(const Row& key, bool closed) {
  return {ToLibrary(key),
          closed ? spanner::KeyBound::Bound::kClosed : spanner::KeyBound::Bound::kOpen};
}

spanner::KeySet ToLibrary(const KeySet& keys) {
  if (keys.all) return spanner::KeySet::All();
  spanner::KeySet set;
  for (const Row& key : keys.keys) set.AddKey(ToLibrary(key));
  for (const KeySpan& span : keys.spans) {
    set.AddRange(Bound(span.start, span.start_closed), Bound(span.end, span.end_closed));
  }
  return set;
}

}  // namespace

Status FromLibrary(const google::cloud::Status& status) {
  if (status.ok()) return {};
  // Both use the wire's numbers.
  return Error(static_cast<Code>(status.code()), status.message());
}

Timestamp FromLibrary(spanner::Timestamp timestamp) {
  return wire::DecodeTimestamp(timestamp.get<google::protobuf::Timestamp>().value()).value();
}

Status FromLibrary(const spanner::Row& row, Row& out) {
  Row decoded;
  for (const spanner::Value& value : row.values()) {
    std::optional<Value> one =
        DecodeAsOneOf<bool, std::int64_t, double, std::string, spanner::Bytes, spanner::Timestamp>(
            value);
    if (!one) return Error(Code::kUnimplemented, "whorl has not the type of a column");
    decoded.push_back(*std::move(one));
  }
  out = std::move(decoded);
  return {};
}

spanner::SqlStatement ToLibrary(const Statement& statement) {
  const std::vector<Parameter>& parameters = statement.sql.parameters();
  spanner::SqlStatement::ParamType values;
  for (size_t i = 0; i < parameters.size(); ++i) {
    values.emplace(parameters[i].name, ToLibrary(statement.parameters[i], parameters[i].type));
  }
  return spanner::SqlStatement(statement.sql.text(), std::move(values));
}

spanner::Mutation ToLibrary(const Mutation& mutation) {
  switch (mutation.kind) {
    case MutationKind::kInsert:
      return Write<spanner::InsertMutationBuilder>(mutation);
    case MutationKind::kUpdate:
      return Write<spanner::UpdateMutationBuilder>(mutation);
    case MutationKind::kInsertOrUpdate:
      return Write<spanner::InsertOrUpdateMutationBuilder>(mutation);
    case MutationKind::kReplace:
      return Write<spanner::ReplaceMutationBuilder>(mutation);
    case MutationKind::kDelete:
      break;
  }
  return spanner::DeleteMutationBuilder(mutation.table, ToLibrary(mutation.keys)).Build();
}

}  // namespace whorl::real_client
