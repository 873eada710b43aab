#include "check/csv_lines.h"

#include <algorithm>
#include <set>

#include "sim/scenario/error_text.h"

namespace whorl::check {
namespace {

using sim::Cat;
using sim::Quoted;

bool IsOpen(std::string_view record) { return std::ranges::count(record, '"') % 2 != 0; }

// Throws Wrong.
std::vector<std::string> FieldsOf(std::string_view record) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    if (quoted && c == '"' && i + 1 < record.size() && record[i + 1] == '"') {
      fields.back() += record[++i];
    } else if (quoted && c == '"') {
      quoted = false;
      if (i + 1 < record.size() && record[i + 1] != ',') {
        throw Wrong{"after a quoted field stands a comma"};
      }
    } else if (!quoted && c == '"' && fields.back().empty()) {
      quoted = true;
    } else if (!quoted && c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

constexpr std::string_view kOfRecord[] = {"commit_timestamp", "mod_type", "table_name"};

}  // namespace

bool IsCsvHeader(std::string_view line) {
  if (line.find(',') == std::string_view::npos || IsOpen(line)) return false;
  try {
    const std::vector<std::string> fields = FieldsOf(line);
    return std::ranges::count(fields, "event") + std::ranges::count(fields, "commit_timestamp") > 0;
  } catch (const Wrong&) {
    return false;
  }
}

const Node& CsvLines::Object() {
  nodes_.Clear();
  Node* object = nodes_.New(NodeKind::kObject);
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (fields_[i].empty()) continue;
    Node* member = nodes_.NewString(fields_[i]);
    member->name = columns_[i];
    object->Add(member);
  }
  return *object;
}

const Node& CsvLines::Change() {
  nodes_.Clear();
  const auto make = [&](NodeKind kind, std::string_view name, Node* in) {
    Node* node = nodes_.New(kind);
    node->name = name;
    if (in != nullptr) in->Add(node);
    return node;
  };
  Node* record = make(NodeKind::kObject, "", nullptr);
  Node* mod = make(NodeKind::kObject, "", make(NodeKind::kArray, "mods", record));
  Node* keys = make(NodeKind::kObject, "keys", mod);
  Node* after = make(NodeKind::kObject, "new_values", mod);
  Node* before = make(NodeKind::kObject, "old_values", mod);
  constexpr std::string_view kOld = "old_";
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (fields_[i].empty()) continue;
    std::string_view name = columns_[i];
    const bool is_key = std::ranges::any_of(protocol_.columns, [&](const ColumnInfo& column) {
      return column.key && column.name == name;
    });
    Node* in = after;
    if (std::ranges::find(kOfRecord, name) != std::end(kOfRecord)) {
      in = record;
    } else if (is_key) {
      in = keys;
    } else if (name.starts_with(kOld)) {
      name.remove_prefix(kOld.size());
      in = before;
    }
    make(fields_[i] == "NULL" ? NodeKind::kNull : NodeKind::kString, name, in)->text = fields_[i];
  }
  return *record;
}

std::string CsvLines::Read(std::string_view line, const Place& place, std::vector<Operation>& out) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (record_.empty()) {
    if (line.empty()) return {};
    begun_ = place;
    record_ = line;
  } else {
    record_ += '\n';
    record_ += line;
  }
  if (IsOpen(record_)) return {};
  const std::string record = std::exchange(record_, {});
  const size_t had = out.size();
  try {
    fields_ = FieldsOf(record);
    if (columns_.empty()) {
      const std::set<std::string> names(fields_.begin(), fields_.end());
      if (names.size() < fields_.size()) throw Wrong{"two columns have one name"};
      if (!names.contains("event") && !names.contains("commit_timestamp")) {
        throw Wrong{"the first line names the columns, among them event or commit_timestamp"};
      }
      columns_ = fields_;
      return {};
    }
    if (fields_.size() != columns_.size()) {
      throw Wrong{Cat("has ", std::to_string(fields_.size()), " fields, and the first line names ",
                      std::to_string(columns_.size()), " columns")};
    }
    const bool is_change = std::ranges::count(columns_, "commit_timestamp") > 0 &&
                           std::ranges::count(columns_, "event") == 0;
    RecordReader(protocol_, wanted_, begun_, out).Read(is_change ? Change() : Object());
    return {};
  } catch (const Wrong& wrong) {
    out.resize(had);
    return Cat(WhereIs(begun_), ": ", wrong.text);
  }
}

std::string CsvLines::Finish() {
  if (record_.empty()) return {};
  record_.clear();
  return Cat(WhereIs(begun_), ": a quoted field that begins here does not end");
}

}  // namespace whorl::check
