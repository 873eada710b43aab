// Turns objects into operations: data change records of a Spanner change stream, and lines of processes,
// whatever text they were written in. docs/CHECKING.md has the schema.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/jepsen_options.h"
#include "check/json_text.h"
#include "check/node.h"
#include "check/operation.h"
#include "check/record_counts.h"
#include "protocol/protocols.h"

namespace whorl::check {

// What is wrong with a record, for people. Thrown and caught within the readers.
struct Wrong {
  std::string text;
};

// What of a history is read. Empty: all.
struct Wanted {
  std::string lock;
  std::string table;
  // If no table is wanted: that of the first record, shared by all files; null: records may be of any.
  std::shared_ptr<std::string> only_table = nullptr;
  // What became of each record, shared by all files.
  std::shared_ptr<RecordCounts> counts = std::make_shared<RecordCounts>();
  JepsenOptions jepsen = {};
  std::shared_ptr<JepsenCounts> jepsen_counts = std::make_shared<JepsenCounts>();
  // Whether a record was read that has the columns of the protocol's table.
  std::shared_ptr<bool> has_columns = std::make_shared<bool>(false);

  RecordCounts& Counts() const { return *counts; }
  bool Wants(std::string_view name) const { return lock.empty() || name.empty() || name == lock; }
};

// A member that is a string. Throws Wrong if it is another kind of value, or missing though required.
std::string_view TextIn(const Node& object, std::string_view name, bool required = true);
// A member that is a time. Throws Wrong.
Timestamp TimeIn(const Node& object, std::string_view name);
// "10s", "-5ms", or seconds as whorl logs them, "10.000000000". Throws Wrong.
Duration ParseLength(std::string_view text, std::string_view name);

Statement StatementOf(std::string_view event);
// Compares names of tables and columns as Spanner does: without regard to case.
bool IsNamed(std::string_view a, std::string_view b);
// Of a list of words, or a text of them. Throws Wrong.
std::vector<Kind> KindsIn(const Node& logs);

// "file:line", for messages.
std::string WhereIs(const Place& place);

class ServeCalls;
class JepsenHistory;

// What records of one file have to do with each other.
struct OfFile {
  ServeCalls* calls = nullptr;
  JepsenHistory* jepsen = nullptr;
};

class RecordReader {
 public:
  // Null members of `file`: each line is by itself.
  RecordReader(const ProtocolInfo& protocol, const Wanted& wanted, const Place& place,
               std::vector<Operation>& out, OfFile file = {})
      : protocol_(protocol), wanted_(wanted), place_(place), out_(out), file_(file) {}

  // Adds the operations of a record, or of a list of them. Throws Wrong.
  void Read(const Node& value, int depth = 0);

 private:
  void Add(decltype(Operation::what) what) {
    out_.push_back({.place = place_, .what = std::move(what)});
  }
  // A change record, except its rows.
  struct Head {
    Timestamp commit;
    RowChangeKind kind = RowChangeKind::kUpdated;
    bool has_whole_rows = false;  // as they are after the change
    bool by_system = false;
    std::string tag;
  };

  void Record(const Node& record);
  // Of Cloud Logging.
  void LogEntry(const Node& entry, int depth);
  void OnlyTable(std::string_view table);
  void Mod(const Node& mod, const Head& head);
  // The value of a column of the row's key, and the name of the lock in it. Throws Wrong.
  Value KeyIn(const Node* keys, const ColumnInfo& column, std::string& lock) const;
  // Whether the columns are those of the protocol's table. Throws Wrong, with those that are missing.
  bool HasColumns(const Node* after, const Node* before, const Head& head);
  void Line(const Node& line);
  // A call that failed, or committed nothing.
  void CallWithoutCommit(const Node& line, std::string_view id, std::string_view lock);
  // A line that says something of its process, or of a resource.
  void Said(const Node& line, std::string_view event, std::string_view id, std::string_view lock);
  void Answered(const Node& line, LogLine& log_line);
  // Counts what became of the line, which says nothing of a lock that is judged if it is another lock's.
  void Count(std::string_view event, LogLine& log_line);
  // A line about another process than the one that wrote it.
  void Ended(const Node& line, std::string_view id);
  void Declare(const Node& line, std::string_view id, bool wants_any);
  // What a line says is passed over, and the log goes on.
  void PassOver(LogLine& log_line, std::string_view reason, std::string_view word);

  const ProtocolInfo& protocol_;
  const Wanted& wanted_;
  const Place& place_;
  std::vector<Operation>& out_;
  const OfFile file_;
};

}  // namespace whorl::check
