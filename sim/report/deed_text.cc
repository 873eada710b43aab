#include "sim/report/deed_text.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "sim/report/row_text.h"
#include "sim/scenario/error_text.h"

namespace whorl::sim {
namespace {

constexpr size_t kMaxChanges = 3;  // rows of one transaction that are named
constexpr size_t kMaxValue = 20;   // longer texts are ids, which say nothing here

bool IsShown(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return !std::holds_alternative<Null>(value) && (text == nullptr || text->size() <= kMaxValue);
}

}  // namespace

std::string AfterText(Duration duration) { return Cat(SecondsText(duration, 3), " s"); }

DeedWriter::DeedWriter(const Scenario& scenario, const History& history)
    : scenario_(scenario),
      history_(history),
      names_(NamesOf(scenario)),
      rules_(RulesOf(scenario.protocol)),
      protocol_(*FindProtocol(scenario.protocol)) {}

bool DeedWriter::IsRead(const Deed& deed) const {
  const bool has_no_commit =
      IsQuestion(deed) || std::ranges::find(protocol_.steps_without_commit, deed.step) !=
                              protocol_.steps_without_commit.end();
  return has_no_commit && deed.served && !deed.committed;
}

Instant DeedWriter::TimeOf(const Deed& deed) {
  if (deed.committed) return *deed.committed;
  if (deed.served && deed.outcome == Outcome::kCommitted) return *deed.served;
  return deed.finished.value_or(deed.started);
}

std::string DeedWriter::ColumnsText(const Row& row) const {
  std::string text;
  for (size_t i = 0; i < row.size(); ++i) {
    if (i == rules_.key_column || !IsShown(row[i])) continue;
    text += Cat(text.empty() ? "" : ", ", names_.columns[i], " ", ShortValueText(row[i]));
  }
  return text;
}

std::string DeedWriter::ChangeText(const RowChange& change) const {
  const std::string key = history_.KeyOf(change);
  if (!change.after) return Cat("deleted row ", key);
  if (!change.before) {
    const std::string columns = ColumnsText(*change.after);
    return Cat("inserted row ", key, columns.empty() ? "" : Cat(" (", columns, ")"));
  }
  std::string text;
  for (size_t i = 0; i < change.after->size(); ++i) {
    const Value& before = (*change.before)[i];
    const Value& after = (*change.after)[i];
    if (before == after || !IsShown(after)) continue;
    text += Cat(text.empty() ? "" : ", ", names_.columns[i], " ", ShortValueText(before), " -> ",
                ShortValueText(after));
  }
  return Cat("row ", key, ": ", text.empty() ? "nothing new" : text);
}

std::string DeedWriter::ChangesText(const Deed& deed) const {
  if (deed.rows.empty()) return "no row changed";
  std::string text;
  for (size_t i = 0; i < std::min(deed.rows.size(), kMaxChanges); ++i) {
    text += Cat(i > 0 ? "; " : "", ChangeText(deed.rows[i]));
  }
  if (deed.rows.size() > kMaxChanges) {
    text += Cat("; and ", std::to_string(deed.rows.size() - kMaxChanges), " more rows");
  }
  return text;
}

std::string DeedWriter::SeenText(const Deed& deed) const {
  const std::string key = KeyText(rules_.row_key(scenario_.locks[deed.lock]));
  if (!deed.seen.row) return Cat("no row ", key);
  std::string text = Cat("row ", key, ": ", ColumnsText(*deed.seen.row));
  if (deed.seen.owner != ProcessId{}) {
    text += Cat(" (", names_.ShortProcess(deed.seen.owner), "'s)");
  }
  if (deed.seen.writer != ProcessId{}) {
    text += Cat(", last written by ", names_.ShortProcess(deed.seen.writer), " ",
                AfterText(*deed.served - deed.seen.written), " before");
  }
  return text;
}

std::string DeedWriter::TextOf(const Deed& deed) const {
  const std::string lock =
      scenario_.locks.size() > 1 ? Cat(scenario_.locks[deed.lock], ": ") : std::string();
  const std::string step = Cat(lock, WordOf(deed.step));
  if (deed.process == ProcessId{}) {
    return Cat(deed.started == Instant{} ? "at the start: " : "an operator: ", ChangesText(deed));
  }
  if (deed.committed) {
    const bool heard_otherwise = deed.finished && deed.outcome != Outcome::kCommitted;
    return Cat(step, " committed: ", ChangesText(deed),
               heard_otherwise ? Cat("; but it heard ", WordOf(deed.code)) : "");
  }
  if (!deed.finished && deed.failed_calls == 0) return Cat(step, " sent; no reply so far");
  if (!deed.finished) {
    return Cat(step, " begun; so far only ", WordOf(deed.last_failure), ", ",
               CountText(deed.failed_calls, "time", "times"));
  }
  if (deed.outcome == Outcome::kCommitted) return Cat(step, " saw ", SeenText(deed));
  return Cat(step, deed.outcome == Outcome::kUnknown ? ": outcome unknown, " : " failed: ",
             WordOf(deed.code));
}

}  // namespace whorl::sim
