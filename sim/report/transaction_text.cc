#include "sim/report/transaction_text.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "base/text.h"
#include "base/time.h"
#include "sim/report/row_text.h"

namespace whorl::sim {
namespace {

constexpr size_t kMaxChanges = 3;  // how many rows of one transaction are named
constexpr size_t kMaxValue = 20;   // longer texts are ids, which are of no use here

bool IsShown(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return !std::holds_alternative<Null>(value) && (text == nullptr || text->size() <= kMaxValue);
}

}  // namespace

std::string AfterText(Duration duration) { return Cat(FormatSeconds(duration, 3), " s"); }

TransactionDescriber::TransactionDescriber(const Scenario& scenario, const History& history)
    : scenario_(scenario),
      history_(history),
      names_(NamesOf(scenario)),
      rules_(RulesOf(scenario.protocol)),
      protocol_(*FindProtocol(scenario.protocol)) {}

bool TransactionDescriber::IsRead(const TransactionRecord& record) const {
  const bool has_no_commit =
      IsQuestion(record) || std::ranges::find(protocol_.steps_without_commit, record.step) !=
                                protocol_.steps_without_commit.end();
  return has_no_commit && record.served && !record.committed;
}

Instant TransactionDescriber::TimeOf(const TransactionRecord& record) {
  if (record.committed) return *record.committed;
  if (record.served && record.outcome == Outcome::kCommitted) return *record.served;
  return record.finished.value_or(record.started);
}

std::string TransactionDescriber::ColumnsText(const Row& row) const {
  std::string text;
  for (size_t i = 0; i < row.size(); ++i) {
    if (i == rules_.key_column || !IsShown(row[i])) continue;
    text += Cat(text.empty() ? "" : ", ", names_.columns[i], " ", ShortValueText(row[i]));
  }
  return text;
}

std::string TransactionDescriber::ChangeText(const RowChange& change) const {
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

std::string TransactionDescriber::ChangesText(const TransactionRecord& record) const {
  if (record.rows.empty()) return "no row changed";
  std::string text;
  for (size_t i = 0; i < std::min(record.rows.size(), kMaxChanges); ++i) {
    text += Cat(i > 0 ? "; " : "", ChangeText(record.rows[i]));
  }
  if (record.rows.size() > kMaxChanges) {
    text += Cat("; and ", std::to_string(record.rows.size() - kMaxChanges), " more rows");
  }
  return text;
}

std::string TransactionDescriber::SeenText(const TransactionRecord& record) const {
  const std::string key = KeyText(rules_.row_key(scenario_.locks[record.lock]));
  if (!record.seen.row) return Cat("no row ", key);
  std::string text = Cat("row ", key, ": ", ColumnsText(*record.seen.row));
  if (record.seen.owner != ProcessId{}) {
    text += Cat(" (", names_.ShortProcess(record.seen.owner), "'s)");
  }
  if (record.seen.writer != ProcessId{}) {
    text += Cat(", last written by ", names_.ShortProcess(record.seen.writer), " ",
                AfterText(*record.served - record.seen.written), " before");
  }
  return text;
}

std::string TransactionDescriber::TextOf(const TransactionRecord& record) const {
  const std::string text = TextWithoutWaits(record);
  if (record.waits_since) return text + "; it waits for another transaction's row lock";
  if (record.waited < kNoticeable) return text;
  return Cat(text, "; it waited ", AfterText(record.waited), " for another transaction's row lock");
}

std::string TransactionDescriber::TextWithoutWaits(const TransactionRecord& record) const {
  const std::string lock =
      scenario_.locks.size() > 1 ? Cat(scenario_.locks[record.lock], ": ") : std::string();
  const std::string step = Cat(lock, WordOf(record.step));
  if (record.process == ProcessId{}) {
    return Cat(record.started == Instant{} ? "at the start: " : "an operator: ",
               ChangesText(record));
  }
  if (record.committed) {
    const bool heard_otherwise = record.finished && record.outcome != Outcome::kCommitted;
    return Cat(step, " committed: ", ChangesText(record),
               heard_otherwise ? Cat("; but it heard ", WordOf(record.code)) : "");
  }
  if (!record.finished && record.failed_calls == 0) return Cat(step, " sent; no reply so far");
  if (!record.finished) {
    return Cat(step, " begun; so far only ", WordOf(record.last_failure), ", ",
               CountText(record.failed_calls, "time", "times"));
  }
  if (record.outcome == Outcome::kCommitted) return Cat(step, " saw ", SeenText(record));
  return Cat(step, record.outcome == Outcome::kUnknown ? ": outcome unknown, " : " failed: ",
             WordOf(record.code));
}

}  // namespace whorl::sim
