#include "check/outside.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "check/known_row.h"
#include "sim/scenario/error_text.h"

namespace whorl::check {
namespace {

using sim::Cat;

class Change {
 public:
  Change(const ProtocolInfo& protocol, const RowChange& change, const KnownRow& before)
      : protocol_(protocol), change_(change), before_(before) {}

  std::string Why() const {
    const std::string_view name = protocol_.name;
    const bool is_known = name == "spindle_v2" || name == "spindle_v3" || name == "fenced_lease" ||
                          name == "semaphore" || name == "lease_lock";
    const bool is_deleted = change_.kind == RowChangeKind::kDeleted;
    const bool inserts = change_.kind == RowChangeKind::kInserted;
    if (change_.by_system)
      return is_deleted ? "deleted the row" : inserts ? "wrote the row" : SystemUpdate();
    if (!is_known) return {};
    if (is_deleted) return MayDelete() ? "" : "deleted the row";
    return inserts ? Inserted() : Updated();
  }

 private:
  std::string SystemUpdate() const { return ChangesAny() ? "changed the row" : ""; }

  bool MayDelete() const {
    // Its processes delete rows whose names begin as those of its lock's takeover rows do.
    if (protocol_.name == "spindle_v2") return change_.lock.find('_', 1) != std::string::npos;
    return protocol_.name == "spindle_v3" || protocol_.name == "lease_lock";
  }

  std::string Inserted() const {
    const Value* holder = In(change_.after, protocol_.holder_columns.holder);
    const auto* who = holder == nullptr ? nullptr : std::get_if<std::string>(holder);
    // Operators make such rows for whoever comes first.
    if (who == nullptr || *who == kInitHolder) return {};
    std::string why = NotItsCommit(protocol_.holder_columns.renewed);
    // That of spindle v2 is the commit timestamp of another row.
    if (why.empty() && (protocol_.name == "fenced_lease" || protocol_.name == "spindle_v3")) {
      why = NotItsCommit(protocol_.holder_columns.token);
    }
    return why;
  }

  std::string Updated() const {
    if (!ChangesAny()) return {};
    const HolderColumns& columns = protocol_.holder_columns;
    if (protocol_.name == "lease_lock") {
      const std::string why = Emptied(columns.holder);
      return why.empty() ? Emptied(columns.until) : why;
    }
    // All of its statements set it.
    std::string why = NotItsCommit(columns.renewed);
    if (why.empty() && protocol_.name == "fenced_lease" && Changes(columns.token)) {
      why = NotItsCommit(columns.token);
    }
    if (why.empty() && protocol_.name != "fenced_lease") why = Emptied(columns.holder);
    if (!why.empty() || columns.token.empty()) return why;
    why = Emptied(columns.token);
    const Value* token = In(change_.after, columns.token);
    const auto* time = token == nullptr ? nullptr : std::get_if<Timestamp>(token);
    if (time != nullptr && *time > change_.commit) {
      return Cat("set ", columns.token, " to ", FormatRfc3339(*time),
                 ", which is later than its commit timestamp");
    }
    const Value* holder = In(change_.after, columns.holder);
    const bool names_another =
        holder != nullptr && !IsNull(*holder) && Changes(columns.holder) && Keeps(columns.token);
    if (why.empty() && names_another) {
      why = Cat("set ", columns.holder, " and left ", columns.token, " as it was");
    }
    return why;
  }

  // The column that a process's statement sets to the commit timestamp, or to about that.
  std::string NotItsCommit(std::string_view name) const {
    const Value* value = In(change_.after, name);
    if (value == nullptr) return {};
    const auto* time = std::get_if<Timestamp>(value);
    // A record of a new row may leave it out.
    const bool may_be_unsaid = change_.kind == RowChangeKind::kInserted;
    if (time == nullptr) return may_be_unsaid ? "" : Cat("set ", name, " to NULL");
    // CURRENT_TIMESTAMP(), which is that of the statement: no transaction takes an hour.
    const bool is_about = protocol_.name == "semaphore";
    const Duration off = *time < change_.commit ? change_.commit - *time : *time - change_.commit;
    if (is_about ? off <= Seconds(3'600) : MayBe(*time, change_.commit)) return {};
    // A row that is made for whoever comes first.
    if (is_about && change_.kind == RowChangeKind::kInserted) return {};
    return Cat("set ", name, " to ", FormatRfc3339(*time), ", which is not its commit timestamp");
  }

  std::string Emptied(std::string_view name) const {
    const Value* value = In(change_.after, name);
    return value != nullptr && IsNull(*value) && Changes(name) ? Cat("set ", name, " to NULL") : "";
  }

  std::optional<size_t> At(std::string_view name) const {
    for (size_t i = 0; i < protocol_.columns.size(); ++i) {
      if (!name.empty() && protocol_.columns[i].name == name) return i;
    }
    return std::nullopt;
  }
  const Value* In(const KnownRow& row, std::string_view name) const {
    const std::optional<size_t> at = At(name);
    return at && *at < row.size() && row[*at] ? &*row[*at] : nullptr;
  }
  // For certain.
  bool Changes(size_t i) const {
    const bool is_known =
        i < change_.after.size() && i < before_.size() && change_.after[i] && before_[i];
    return is_known && !MayBe(*change_.after[i], *before_[i]) &&
           !MayBe(*before_[i], *change_.after[i]);
  }
  bool Changes(std::string_view name) const {
    const std::optional<size_t> at = At(name);
    return at && Changes(*at);
  }
  bool Keeps(std::string_view name) const {
    const Value* after = In(change_.after, name);
    const Value* before = In(before_, name);
    const auto* time = after == nullptr ? nullptr : std::get_if<Timestamp>(after);
    // One of a whole second may be cut.
    return time != nullptr && time->nanos() != 0 && before != nullptr && *after == *before;
  }
  bool ChangesAny() const {
    for (size_t i = 0; i < protocol_.columns.size(); ++i) {
      if (!protocol_.columns[i].key && Changes(i)) return true;
    }
    return false;
  }

  const ProtocolInfo& protocol_;
  const RowChange& change_;
  const KnownRow& before_;
};

}  // namespace

std::string WhyOutside(const ProtocolInfo& protocol, const RowChange& change,
                       const KnownRow& before) {
  return Change(protocol, change, before).Why();
}

}  // namespace whorl::check
