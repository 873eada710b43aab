#include "check/csv_lines.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"

namespace whorl::check {
namespace {

bool IsOpen(std::string_view record) { return std::ranges::count(record, '"') % 2 != 0; }

constexpr std::string_view kSpaces = " \t";

// Throws Wrong.
std::vector<std::string> FieldsOf(std::string_view record, char delimiter) {
  std::vector<std::string> fields(1);
  bool quoted = false;      // within quotes
  bool was_quoted = false;  // the field has quotes
  const auto trim = [&](std::string& field) {
    if (!std::exchange(was_quoted, false)) field.erase(field.find_last_not_of(kSpaces) + 1);
  };
  for (size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    if (quoted && c == '"' && i + 1 < record.size() && record[i + 1] == '"') {
      fields.back() += record[++i];
    } else if (quoted && c == '"') {
      quoted = false;
    } else if (!quoted && c == '"' && fields.back().empty() && !was_quoted) {
      quoted = was_quoted = true;
    } else if (!quoted && c == delimiter) {
      trim(fields.back());
      fields.emplace_back();
    } else if (!quoted && (was_quoted || fields.back().empty()) &&
               kSpaces.find(c) != std::string_view::npos) {
      continue;
    } else if (!quoted && was_quoted) {
      throw Wrong{delimiter == ','
                      ? std::string("after a quoted field stands a comma")
                      : Cat("after a quoted field stands ", Quoted(std::string(1, delimiter)))};
    } else {
      fields.back() += c;
    }
  }
  trim(fields.back());
  return fields;
}

// "Commit Timestamp" is commit_timestamp.
std::string NameOf(std::string_view field) {
  std::string name(field);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == ' ') c = '_';
  }
  return name;
}

// The delimiter that makes a header of the line.
std::optional<char> DelimiterOf(std::string_view line) {
  for (const char delimiter : {',', ';', '\t', '|'}) {
    if (line.find(delimiter) == std::string_view::npos || IsOpen(line)) continue;
    try {
      for (const std::string& field : FieldsOf(line, delimiter)) {
        const std::string name = NameOf(field);
        if (name == "event" || name == "commit_timestamp") return delimiter;
      }
    } catch (const Wrong&) {
      continue;
    }
  }
  return std::nullopt;
}

constexpr std::string_view kOfRecord[] = {"commit_timestamp", "mod_type", "table_name"};

}  // namespace

bool IsCsvHeader(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return DelimiterOf(line).has_value();
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

void CsvLines::Header() {
  std::set<std::string> names;
  std::vector<std::string> columns;
  for (const std::string& field : fields_) {
    std::string name = NameOf(field);
    constexpr std::string_view kOld = "old_";
    // Columns of the table are spelled as there.
    for (const ColumnInfo& column : protocol_.columns) {
      if (NameOf(column.name) == name) name = column.name;
      if (Cat(kOld, NameOf(column.name)) == name) name = Cat(kOld, column.name);
    }
    names.insert(name);
    columns.push_back(std::move(name));
  }
  if (names.size() < fields_.size()) throw Wrong{"two columns have one name"};
  if (!names.contains("event") && !names.contains("commit_timestamp")) {
    throw Wrong{"the first line names the columns, among them event or commit_timestamp"};
  }
  columns_ = std::move(columns);
}

std::string CsvLines::Read(std::string_view line, const Place& place, std::vector<Operation>& out) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (record_.empty()) {
    const bool is_blank = line.find_first_not_of(kSpaces) == std::string_view::npos;
    if (is_blank || line.starts_with('#')) return {};
    begun_ = place;
    record_ = line;
  } else {
    record_ += '\n';
    record_ += line;
  }
  if (IsOpen(record_)) return {};
  const std::string record = std::exchange(record_, {});
  if (columns_.empty()) {
    // As spreadsheets begin: "sep=;".
    constexpr std::string_view kSeparator = "sep=";
    if (record.starts_with(kSeparator) && record.size() == kSeparator.size() + 1) return {};
    delimiter_ = DelimiterOf(record).value_or(',');
  }
  const size_t had = out.size();
  try {
    fields_ = FieldsOf(record, delimiter_);
    if (columns_.empty()) {
      Header();
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
