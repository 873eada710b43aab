// Loads the nodes of a scenario and the rows that are present at its start.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/parse_duration.h"
#include "base/text.h"
#include "sim/scenario/parts.h"

namespace whorl::sim {
namespace {

// Reads the lease of a scenario or of a node; `otherwise` if there is none.
Duration ReadLease(const ObjectFields& fields, const Known& known, Duration otherwise,
                   Problems& problems) {
  const std::optional<Duration> lease = fields.Time("lease");
  if (!lease.has_value()) return otherwise;
  if (known.protocol == nullptr) return *lease;
  const ProtocolInfo& protocol = *known.protocol;
  const auto refuse = [&](std::string_view bound, Duration limit) {
    problems.Add(*fields.Find("lease"),
                 Cat("a lease of ", protocol.name, " is ", bound, FormatDuration(limit), ", got ",
                     FormatDuration(*lease)));
  };
  if (*lease > protocol.lease_max) refuse("at most ", protocol.lease_max);
  if (protocol.refuses_short_lease && *lease < protocol.lease_min) {
    refuse("at least ", protocol.lease_min);
  }
  return *lease;
}

class NodeReader {
 public:
  NodeReader(Known& known, Scenario& scenario, Problems& problems)
      : known_(known), scenario_(scenario), problems_(problems) {
    for (size_t i = 0; i < scenario.locks.size(); ++i) {
      locks_.emplace(scenario.locks[i], static_cast<uint16_t>(i));
      all_locks_.push_back(static_cast<uint16_t>(i));
    }
  }

  // `lease` is the lease of nodes that have no key of their own for it.
  void Read(const JsonValue& entry, Duration lease) {
    NodeSpec node;
    node.lease = lease;
    node.locks = all_locks_;
    if (entry.kind() == JsonKind::kString) {
      AddNode(entry, ReadName(entry, false, problems_), node);
    } else if (entry.kind() == JsonKind::kObject) {
      ReadObject(ObjectFields(entry, ObjectId::kNode, problems_), node);
    } else {
      problems_.Add(entry, Cat("expected a node's name or an object, got ", Described(entry)));
      known_.node_names = false;
    }
  }

 private:
  void ReadObject(const ObjectFields& fields, NodeSpec& node) {
    node.id = fields.Name("id").value_or("");
    node.lease = ReadLease(fields, known_, node.lease, problems_);
    node.deadline = fields.Time("deadline");
    node.use = fields.Word<Use>("use").value_or(node.use);
    CheckUse(fields, node.use);
    ReadLocks(fields, node);
    ReadStart(fields, node);
    if (const auto clock = fields.Object("clock")) {
      node.clock.offset = clock->Time("offset").value_or(node.clock.offset);
      node.clock.rate_ppm = clock->Integer("rate_ppm").value_or(node.clock.rate_ppm);
    }
    const std::optional<std::string> name = fields.Name("name");
    if (!fields.Has("count")) {
      AddNode(fields.Find("name").value_or(fields.value()), name, node);
      return;
    }
    const std::optional<int64_t> count = fields.Integer("count");
    if (!count.has_value() || !name.has_value()) {
      known_.node_names = false;
      return;
    }
    for (int64_t i = 1; i <= *count; ++i) {
      // All of them would get the same error, so the first ends this.
      if (!AddNode(*fields.Find("name"), Cat(*name, "-", std::to_string(i)), node)) return;
    }
  }

  void CheckUse(const ObjectFields& fields, Use use) {
    if (use != Use::kLock || known_.protocol == nullptr || known_.protocol->has_blocking_wrapper) {
      return;
    }
    problems_.Add(*fields.Find("use"), Cat(known_.protocol->name, " has no blocking Lock(); its ",
                                           "uses: \"has_lock\", \"callback\""));
  }

  void ReadLocks(const ObjectFields& fields, NodeSpec& node) {
    const auto names = fields.Names("locks", "lock");
    if (!names.has_value() || !known_.locks) return;
    node.locks.clear();
    const std::vector<JsonValue> entries = fields.Entries("locks");
    for (size_t i = 0; i < names->size() && !problems_.Full(); ++i) {
      const auto found = locks_.find((*names)[i]);
      if (found != locks_.end()) {
        node.locks.push_back(found->second);
      } else {
        problems_.Add(entries[i], UnknownWord("lock", (*names)[i], Views(scenario_.locks)));
      }
    }
  }

  void ReadStart(const ObjectFields& fields, NodeSpec& node) {
    const std::optional<JsonValue> value = fields.Find("start_at");
    if (!value.has_value()) return;
    if (value->kind() == JsonKind::kString && value->text() == "never") {
      node.start_at = std::nullopt;
      return;
    }
    const std::optional<Duration> at = ReadDuration(*value, Form::kDuration, problems_);
    if (!at.has_value()) return;
    node.start_at = Instant{at->ns};
    if (known_.duration && *at >= scenario_.duration) {
      problems_.Add(*value, Cat("the run ends at ", FormatDuration(scenario_.duration),
                                "; a node that only a `start` fault starts has \"never\" here"));
    }
  }

  bool AddNode(const JsonValue& at, const std::optional<std::string>& name, NodeSpec node) {
    if (!name.has_value()) {
      known_.node_names = false;
      return false;
    }
    if (scenario_.nodes.size() >= static_cast<size_t>(kMaxNodes)) {
      if (!full_) problems_.Add(at, Cat("more than ", std::to_string(kMaxNodes), " nodes"));
      full_ = true;
      known_.node_names = false;
      return false;
    }
    if (!names_.insert(*name).second) {
      problems_.Add(at, Cat("node ", Quoted(*name), " is named twice"));
      return false;
    }
    node.name = *name;
    scenario_.nodes.push_back(std::move(node));
    return true;
  }

  Known& known_;
  Scenario& scenario_;
  Problems& problems_;
  std::map<std::string, uint16_t, std::less<>> locks_;
  std::vector<uint16_t> all_locks_;
  std::set<std::string> names_;
  bool full_ = false;
};

// A duration counts from the start.
std::optional<Timestamp> ReadTimestamp(const JsonValue& value, Problems& problems) {
  static constexpr std::string_view kExpected =
      "expected a duration relative to the start such as \"-12s\", or RFC 3339 in UTC such as "
      "\"2025-12-31T23:59:48Z\"";
  if (value.kind() != JsonKind::kString) {
    problems.Add(value, Cat(kExpected, ", got ", Described(value)));
    return std::nullopt;
  }
  std::optional<Timestamp> timestamp = ParseRfc3339(value.text());
  if (!timestamp.has_value()) {
    if (value.text().find_first_of("TtZz:") != std::string_view::npos) {
      problems.Add(value, Cat(kExpected, ", got ", Described(value)));
      return std::nullopt;
    }
    const auto offset = ReadDuration(value, Form::kSignedDuration, problems);
    if (!offset.has_value()) return std::nullopt;
    timestamp = kStartTime + *offset;
  }
  if (*timestamp <= kStartTime) return timestamp;
  problems.Add(value, Cat("later than the start (", FormatRfc3339(kStartTime),
                          "): commit timestamps are never in the future"));
  return std::nullopt;
}

std::optional<Value> ReadColumn(const JsonValue& value, const ColumnInfo& column,
                                Problems& problems) {
  if (value.kind() == JsonKind::kNull) {
    if (!column.key) return Null{};
    problems.Add(value, Cat("expected a ", WordOf(column.type), ", got null: ", Quoted(column.name),
                            " is the key"));
    return std::nullopt;
  }
  if (column.type == Type::kTimestamp) return ReadTimestamp(value, problems);
  if (column.type == Type::kString && value.kind() == JsonKind::kString) {
    return std::string(value.text());
  }
  if (column.type == Type::kInt64) {
    if (const std::optional<int64_t> number = value.AsInt64()) return *number;
  }
  problems.Add(value, Cat("expected a ", WordOf(column.type), ", got ", Described(value)));
  return std::nullopt;
}

// The row has its columns in the table's order, whatever order the file has.
RowSpec ReadRow(const JsonValue& entry, const ProtocolInfo& protocol, Problems& problems) {
  RowSpec row;
  if (entry.kind() != JsonKind::kObject) {
    problems.Add(entry, Cat("expected an object of columns, got ", Described(entry)));
    return row;
  }
  std::vector<std::string_view> names;
  for (const ColumnInfo& column : protocol.columns) names.push_back(column.name);
  for (const JsonValue& member : entry.Children()) {
    if (problems.Full()) return row;
    if (std::find(names.begin(), names.end(), member.key()) == names.end()) {
      problems.AddAtKey(member, UnknownWord("column", member.key(), names));
    }
  }
  for (const ColumnInfo& column : protocol.columns) {
    const std::optional<JsonValue> value = entry.Find(column.name);
    if (!value.has_value()) {
      if (column.key) {
        problems.Add(entry, Cat("missing column ", Quoted(column.name), ", which is the key"));
      }
      continue;
    }
    if (std::optional<Value> read = ReadColumn(*value, column, problems)) {
      row.columns.emplace_back(column.name);
      row.values.push_back(*std::move(read));
    }
  }
  return row;
}

// The values of the key columns, for messages and to compare rows by.
std::string KeyOf(const RowSpec& row, const ProtocolInfo& protocol) {
  std::string key;
  for (const ColumnInfo& column : protocol.columns) {
    if (!column.key) continue;
    const auto found = std::find(row.columns.begin(), row.columns.end(), column.name);
    if (found == row.columns.end()) return "";
    if (!key.empty()) key += ", ";
    key += FormatValue(row.values[static_cast<size_t>(found - row.columns.begin())]);
  }
  return key;
}

}  // namespace

std::vector<std::string_view> Views(std::span<const std::string> names) {
  return {names.begin(), names.end()};
}

void ReadNodes(const ObjectFields& file, Known& known, Scenario& scenario, Problems& problems) {
  const size_t before = problems.size();
  const Duration own_lease =
      known.protocol == nullptr ? NodeSpec().lease : known.protocol->lease_default;
  const Duration lease = ReadLease(file, known, own_lease, problems);
  known.node_names = file.Has("nodes");
  const std::vector<JsonValue> entries = file.Entries("nodes");
  if (file.Has("nodes") && entries.empty() && problems.size() == before) {
    problems.Add(*file.Find("nodes"), "expected at least one node, got an empty array");
  }
  NodeReader reader(known, scenario, problems);
  for (const JsonValue& entry : entries) {
    if (problems.Full()) break;
    reader.Read(entry, lease);
  }
  known.node_names = known.node_names && !scenario.nodes.empty();
  known.nodes = known.node_names && known.locks && problems.size() == before;
}

void ReadRows(const ObjectFields& file, const Known& known, Scenario& scenario,
              Problems& problems) {
  const std::vector<JsonValue> entries = file.Entries("rows");
  if (known.protocol == nullptr) return;
  std::set<std::string> keys;
  for (const JsonValue& entry : entries) {
    if (problems.Full()) return;
    RowSpec row = ReadRow(entry, *known.protocol, problems);
    const std::string key = KeyOf(row, *known.protocol);
    if (!key.empty() && !keys.insert(key).second) {
      problems.Add(entry, Cat("a second row with the key ", Printable(key)));
    }
    scenario.rows.push_back(std::move(row));
  }
}

}  // namespace whorl::sim
