#include "check/outside.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "check/known_row.h"
#include "check/no_protocol.h"

namespace whorl::check {
namespace {

using Column = std::optional<size_t>;

class Change {
 public:
  Change(const OutsideRules& rules, const RowChange& change, const KnownRow& before)
      : rules_(rules), change_(change), before_(before) {}

  std::string Why() const {
    const bool is_deleted = change_.kind == RowChangeKind::kDeleted;
    const bool inserts = change_.kind == RowChangeKind::kInserted;
    if (change_.by_system)
      return is_deleted ? "deleted the row" : inserts ? "wrote the row" : SystemUpdate();
    if (!statements_.are_known) return {};
    if (is_deleted) return MayDelete() ? "" : "deleted the row";
    return inserts ? Inserted() : Updated();
  }

 private:
  std::string SystemUpdate() const { return ChangesAny() ? "changed the row" : ""; }

  bool MayDelete() const { return sim::MayDelete(statements_.deletes, change_.lock); }

  std::string Inserted() const {
    const Value* holder = In(change_.after, rules_.holder);
    const auto* who = holder == nullptr ? nullptr : std::get_if<std::string>(holder);
    // Operators make such rows for the process that comes first.
    if (who == nullptr || *who == kInitHolder) return {};
    std::string why = NotItsCommit(rules_.renewed);
    if (why.empty() && statements_.token_is_commit) why = NotItsCommit(rules_.token);
    return why;
  }

  std::string Updated() const {
    if (!ChangesAny()) return {};
    // All statements set it.
    std::string why = NotItsCommit(rules_.renewed);
    if (why.empty() && statements_.token_is_commit && Changes(rules_.token)) {
      why = NotItsCommit(rules_.token);
    }
    if (why.empty() && !statements_.empty_holder) why = Emptied(rules_.holder);
    if (why.empty()) why = Emptied(rules_.until);
    if (!why.empty() || !rules_.token) return why;
    why = Emptied(rules_.token);
    const Value* token = In(change_.after, rules_.token);
    const auto* time = token == nullptr ? nullptr : std::get_if<Timestamp>(token);
    if (time != nullptr && *time > change_.commit) {
      return Cat("set ", NameOf(rules_.token), " to ", FormatRfc3339(*time),
                 ", which is later than its commit timestamp");
    }
    const Value* holder = In(change_.after, rules_.holder);
    const bool names_another =
        holder != nullptr && !IsNull(*holder) && Changes(rules_.holder) && Keeps(rules_.token);
    if (why.empty() && names_another) {
      why = Cat("set ", NameOf(rules_.holder), " and left ", NameOf(rules_.token), " as it was");
    }
    return why;
  }

  // The column that a process's statement sets to the commit timestamp, or to about that.
  std::string NotItsCommit(Column column) const {
    const Value* value = In(change_.after, column);
    if (value == nullptr) return {};
    const auto* time = std::get_if<Timestamp>(value);
    // A record of a new row may leave it out.
    const bool may_be_unsaid = change_.kind == RowChangeKind::kInserted;
    if (time == nullptr) return may_be_unsaid ? "" : Cat("set ", NameOf(column), " to NULL");
    // No transaction takes an hour.
    const bool is_about = statements_.renewed_is_current;
    const Duration off = *time < change_.commit ? change_.commit - *time : *time - change_.commit;
    if (is_about ? off <= Seconds(3'600) : MayBe(*time, change_.commit)) return {};
    // A row that is made for the process that comes first.
    if (is_about && change_.kind == RowChangeKind::kInserted) return {};
    return Cat("set ", NameOf(column), " to ", FormatRfc3339(*time),
               ", which is not its commit timestamp");
  }

  std::string Emptied(Column column) const {
    const Value* value = In(change_.after, column);
    return value != nullptr && IsNull(*value) && Changes(column)
               ? Cat("set ", NameOf(column), " to NULL")
               : "";
  }

  std::string_view NameOf(Column column) const { return rules_.protocol.columns[*column].name; }
  static const Value* In(const KnownRow& row, Column column) {
    return column && *column < row.size() && row[*column] ? &*row[*column] : nullptr;
  }
  // For certain.
  bool ChangesAt(size_t i) const {
    const bool is_known =
        i < change_.after.size() && i < before_.size() && change_.after[i] && before_[i];
    return is_known && !MayBe(*change_.after[i], *before_[i]) &&
           !MayBe(*before_[i], *change_.after[i]);
  }
  bool Changes(Column column) const { return column && ChangesAt(*column); }
  bool Keeps(Column column) const {
    const Value* after = In(change_.after, column);
    const Value* before = In(before_, column);
    const auto* time = after == nullptr ? nullptr : std::get_if<Timestamp>(after);
    // One of a whole second may be cut.
    return time != nullptr && time->nanos() != 0 && before != nullptr && *after == *before;
  }
  bool ChangesAny() const {
    for (size_t i = 0; i < rules_.protocol.columns.size(); ++i) {
      if (!rules_.protocol.columns[i].key && ChangesAt(i)) return true;
    }
    return false;
  }

  const OutsideRules& rules_;
  const sim::StatementRules& statements_ = rules_.statements;
  const RowChange& change_;
  const KnownRow& before_;
};

}  // namespace

OutsideRules::OutsideRules(const ProtocolInfo& judged)
    : protocol(judged), statements(RulesFor(judged).statements) {
  const auto at = [&](std::string_view name) -> std::optional<size_t> {
    for (size_t i = 0; i < judged.columns.size(); ++i) {
      if (!name.empty() && judged.columns[i].name == name) return i;
    }
    return std::nullopt;
  };
  holder = at(judged.holder_columns.holder);
  token = at(judged.holder_columns.token);
  renewed = at(judged.holder_columns.renewed);
  until = at(judged.holder_columns.until);
}

std::string OutsideRules::Why(const RowChange& change, const KnownRow& before) const {
  return Change(*this, change, before).Why();
}

}  // namespace whorl::check
