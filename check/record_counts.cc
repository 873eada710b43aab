#include "check/record_counts.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "base/text.h"

namespace whorl::check {
namespace {

std::optional<Used> UsedAs(const LogLine& log_line) {
  switch (log_line.statement) {
    case Statement::kLeads:
      return log_line.is_renewal ? Used::kRenewed : Used::kLeads;
    case Statement::kLeadsNot:
      return Used::kLost;
    case Statement::kWorks:
      return Used::kWorks;
    case Statement::kRests:
      return Used::kRests;
    case Statement::kStarted:
      return Used::kStarted;
    case Statement::kGone:
      return Used::kStopped;
    case Statement::kSawEnd:
      return Used::kEnded;
    case Statement::kAnswers:
      return Used::kAnswer;
    case Statement::kOwns:
      return Used::kOwns;
    case Statement::kAccepts:
    case Statement::kRefuses:
      return Used::kWrite;
    case Statement::kAborted:
    case Statement::kCalled:
      return Used::kCalled;
    case Statement::kMayEnd:
    case Statement::kHasStill:
    case Statement::kNotUnderstood:
    case Statement::kOther:
      break;
  }
  return std::nullopt;
}

}  // namespace

void RecordCounts::CountUsed(const Operation& operation) {
  if (std::holds_alternative<RowChange>(operation.what)) return Use(Used::kChange);
  if (std::holds_alternative<CommitRecord>(operation.what)) return Use(Used::kCall);
  if (std::holds_alternative<ProcessDeclaration>(operation.what)) return Use(Used::kProcess);
  if (const auto as = UsedAs(std::get<LogLine>(operation.what))) Use(*as);
}

void RecordCounts::Matched(size_t index, std::string_view expression, int64_t count) {
  if (index >= matched_.size()) matched_.resize(index + 1);
  if (!expression.empty()) matched_[index].first = expression;
  matched_[index].second += count;
}

void RecordCounts::Pass(std::string_view reason, std::string_view word, Bearing bearing) {
  auto found = passed_.find(reason);
  if (found == passed_.end()) found = passed_.emplace(reason, Reason{}).first;
  Reason& why = found->second;
  ++why.count;
  why.bearing = std::max(why.bearing, bearing);
  may_decide_ = may_decide_ || bearing == Bearing::kMayDecide;
  if (word.empty()) return;
  word = word.substr(0, kWordLength);
  const auto known = why.words.find(word);
  if (known != why.words.end()) {
    ++known->second;
  } else if (why.words.size() < kWordsKept) {
    why.words.emplace(word, 1);
  }
}

void RecordCounts::Refuse(std::string wrong) {
  ++refused_;
  new_refused_.push_back(std::move(wrong));
}

std::string RecordCounts::RefuseButLast(std::vector<std::string> wrong) {
  if (wrong.empty()) return {};
  std::string last = std::move(wrong.back());
  wrong.pop_back();
  for (std::string& text : wrong) Refuse(std::move(text));
  return last;
}

int64_t RecordCounts::used() const {
  int64_t sum = 0;
  for (const int64_t count : used_) sum += count;
  return sum;
}

int64_t RecordCounts::passed_count() const {
  int64_t sum = 0;
  for (const auto& [reason, why] : passed_) sum += why.count;
  return sum;
}

std::vector<RecordCounts::Passed> RecordCounts::passed() const {
  std::vector<Passed> all;
  for (const auto& [reason, why] : passed_) {
    Passed& passed = all.emplace_back();
    passed = {.reason = reason, .bearing = why.bearing, .count = why.count, .words = {}};
    passed.words.assign(why.words.begin(), why.words.end());
    std::ranges::sort(passed.words, [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
  }
  return all;
}

std::string PassedText(const RecordCounts::Passed& passed) {
  constexpr size_t kShown = 8;
  std::string text = Cat(passed.reason, ": ");
  if (passed.words.empty()) return Cat(text, std::to_string(passed.count));
  int64_t named = 0;
  for (size_t i = 0; i < passed.words.size() && i < kShown; ++i) {
    const auto& [word, count] = passed.words[i];
    text += Cat(i == 0 ? "" : ", ", Quoted(word), " ", std::to_string(count));
    named += count;
  }
  if (named < passed.count) text += Cat(", others ", std::to_string(passed.count - named));
  return text;
}

std::vector<std::string> RecordCounts::Lines() const {
  std::vector<std::string> lines;
  std::string used;
  for (size_t i = 0; i < kCountOf<Used>; ++i) {
    if (used_[i] == 0) continue;
    used +=
        Cat(used.empty() ? "" : ", ", WordOf(static_cast<Used>(i)), " ", std::to_string(used_[i]));
  }
  lines.push_back(Cat("used: ", used.empty() ? "nothing" : used));
  for (const Passed& passed : this->passed()) {
    lines.push_back(Cat("passed over, ", PassedText(passed)));
  }
  for (const auto& [expression, count] : matched_) {
    lines.push_back(Cat("lines that matched ", Quoted(expression), ": ", std::to_string(count)));
  }
  if (refused_ > 0) lines.push_back(Cat("refused: ", std::to_string(refused_)));
  return lines;
}

}  // namespace whorl::check
