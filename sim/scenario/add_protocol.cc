#include "sim/scenario/add_protocol.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string_view>
#include <variant>

#include "base/parse_duration.h"
#include "base/text.h"
#include "sim/scenario/metrics.h"
#include "spanner_model/schema.h"

namespace whorl::sim {
namespace {

class Inspection {
 public:
  Inspection(const ProtocolInfo& info, const Rules& rules) : info_(info), rules_(rules) {}

  std::vector<std::string> Mistakes() && {
    InspectName();
    InspectTable();
    InspectSteps();
    InspectGoals();
    InspectLeases();
    InspectRules();
    if (info_.make_config == nullptr) Add("make_config is not set");
    return std::move(mistakes_);
  }

 private:
  // The types that a column may have.
  using Types = std::initializer_list<Type>;
  static constexpr Types kTokenTypes = {Type::kTimestamp, Type::kInt64};

  void Add(std::string mistake) { mistakes_.push_back(std::move(mistake)); }

  static bool IsWord(std::string_view text) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    return !text.empty() && text.find_first_not_of(kLetters) == std::string_view::npos;
  }

  void InspectName() {
    if (!IsWord(info_.name)) {
      Add("its name has to be made of small letters, digits and _");
    }
    if (info_.summary.empty()) Add("it has no summary");
  }

  // `columns` says the same as the DDL.
  void InspectTable() {
    const auto parsed = model::ParseCreateTable(info_.create_table);
    if (const auto* error = std::get_if<Status>(&parsed)) {
      return Add(Cat("create_table: ", error->message));
    }
    const auto& table = std::get<model::Table>(parsed);
    if (table.columns.size() != info_.columns.size()) {
      return Add(Cat("create_table has ", std::to_string(table.columns.size()), " columns, and ",
                     std::to_string(info_.columns.size()), " are described"));
    }
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const model::Column& column = table.columns[i];
      const ColumnInfo& described = info_.columns[i];
      const bool is_key = table.IsKey(static_cast<uint32_t>(i));
      if (column.name != described.name || column.type != described.type ||
          is_key != described.key) {
        Add(Cat("column ", column.name, " of create_table is described otherwise"));
      }
    }
    if (table.name != info_.table) Add(Cat("create_table makes ", table.name, ", not `table`"));
    const HolderColumns& holder = info_.holder_columns;
    InspectHolderColumn("lock", holder.lock, {Type::kString});
    InspectHolderColumn("holder", holder.holder, {Type::kString});
    InspectHolderColumn("since", holder.since, {Type::kTimestamp});
    InspectHolderColumn("token", holder.token, kTokenTypes);
    InspectHolderColumn("renewed", holder.renewed, {Type::kTimestamp});
    InspectHolderColumn("until", holder.until, {Type::kTimestamp});
    InspectHolderColumn("lease", holder.lease, {Type::kInt64});
  }
  void InspectHolderColumn(std::string_view what, std::string_view column, Types types) {
    if (column.empty()) return;
    const auto found = std::ranges::find(info_.columns, column, &ColumnInfo::name);
    if (found == info_.columns.end()) {
      return Add(Cat("holder_columns.", what, " names ", column, ", which is no column"));
    }
    InspectType(Cat("holder_columns.", what), *found, types);
  }

  bool HasStep(StepName step) const {
    return std::ranges::find(info_.steps, step) != info_.steps.end();
  }
  void InspectSteps() {
    if (info_.steps.empty()) Add("it has no steps");
    if (HasStep(steps::kHasLock) || HasStep(steps::kWrite)) {
      Add("has_lock and write are steps of every protocol, and not among its own");
    }
    for (size_t i = 0; i < info_.steps.size(); ++i) {
      const StepName step = info_.steps[i];
      if (!IsWord(WordOf(step))) {
        Add(Cat("the step ", Quoted(WordOf(step)),
                " has to be made of small letters, digits and _"));
      }
      if (std::ranges::find(info_.steps.first(i), step) != info_.steps.first(i).end()) {
        Add(Cat("the step ", WordOf(step), " stands among its steps twice"));
      }
    }
    InspectSteps("steps_without_commit", info_.steps_without_commit);
    InspectSteps("steps_within_others", info_.steps_within_others);
    InspectSteps("urgent_steps", info_.urgent_steps);
    InspectSteps("locking_steps", rules_.locking_steps);
    if (info_.heartbeat_step) InspectStep("heartbeat_step", *info_.heartbeat_step);
    if (rules_.renewing_step) InspectStep("renewing_step", *rules_.renewing_step);
    if (rules_.releasing_step) InspectStep("releasing_step", *rules_.releasing_step);
  }
  void InspectSteps(std::string_view of, std::span<const StepName> steps) {
    for (const StepName step : steps) InspectStep(of, step);
  }
  void InspectStep(std::string_view of, StepName step) {
    if (!HasStep(step)) Add(Cat(of, " names ", WordOf(step), ", which is none of its steps"));
  }

  void InspectGoals() {
    for (const ImpossibleGoal& impossible : info_.impossible_goals) {
      const auto is_it = [&](Sometimes goal) { return WordOf(goal) == impossible.goal; };
      if (std::ranges::none_of(AllOf<Sometimes>(), is_it)) {
        Add(Cat("impossible_goals names ", impossible.goal, ", which is no goal of scenarios"));
      }
      if (impossible.why.empty())
        Add(Cat("it does not say why ", impossible.goal, " is impossible"));
    }
  }

  void InspectLeases() {
    if (info_.lease_min.ns <= 0 || info_.lease_default < info_.lease_min ||
        info_.lease_max < info_.lease_default) {
      Add("0 < lease_min <= lease_default <= lease_max has to hold");
    }
  }

  void InspectRules() {
    if (rules_.protocol != info_.name) {
      Add(Cat("its rules are of the protocol \"", rules_.protocol, "\""));
    }
    if (rules_.token_column.has_value() != info_.has_tokens) {
      Add("has_tokens and token_column say different things");
    }
    if (rules_.token_column) {
      InspectColumn("token_column", *rules_.token_column, kTokenTypes);
    } else {
      InspectColumn("owner_column", rules_.owner_column, {Type::kString});
    }
    if (rules_.wedge_bound == nullptr) Add("its rules need wedge_bound");
    if (rules_.lease_used.unit <= Duration{} || rules_.lease_used.least > rules_.lease_used.most) {
      return Add("lease_used has a unit above 0, and `least` is not above `most`");
    }
    InspectLease();
    const bool is_number = std::holds_alternative<int64_t>(rules_.row_key("lock"));
    InspectColumn("key_column", rules_.key_column, {is_number ? Type::kInt64 : Type::kString});
  }
  void InspectLease() {
    const LeaseUntilRule& lease = rules_.lease_until;
    if (lease.renewed.has_value() == lease.until.has_value()) {
      Add("lease_until needs one of `renewed` and `until`");
    }
    if (lease.renewed) InspectColumn("lease_until.renewed", *lease.renewed, {Type::kTimestamp});
    if (lease.until) InspectColumn("lease_until.until", *lease.until, {Type::kTimestamp});
    if (lease.lease_ms) InspectColumn("lease_until.lease_ms", *lease.lease_ms, {Type::kInt64});
    const std::optional<size_t> released = rules_.is_released.null_column;
    if (released && *released >= info_.columns.size()) {
      Add("is_released.null_column is no column of the table");
    }
  }
  void InspectColumn(std::string_view what, size_t place, Types types) {
    if (place >= info_.columns.size()) {
      return Add(Cat(what, " is ", std::to_string(place), ", and the table has ",
                     std::to_string(info_.columns.size()), " columns"));
    }
    InspectType(what, info_.columns[place], types);
  }
  void InspectType(std::string_view what, const ColumnInfo& column, Types types) {
    if (std::ranges::find(types, column.type) != types.end()) return;
    std::string wanted;
    for (const Type type : types) wanted += Cat(wanted.empty() ? "" : " or ", WordOf(type));
    Add(Cat(what, " is the column ", column.name, ", which is ", WordOf(column.type),
            "; it has to be ", wanted));
  }

  const ProtocolInfo& info_;
  const Rules& rules_;
  std::vector<std::string> mistakes_;
};

}  // namespace

std::vector<std::string> MistakesIn(const ProtocolInfo& info, const Rules& rules) {
  return Inspection(info, rules).Mistakes();
}

void AddProtocol(const ProtocolInfo& info, const Rules& rules, const Assumptions& assumptions) {
  std::vector<std::string> mistakes = MistakesIn(info, rules);
  if (FindProtocol(info.name) != nullptr)
    mistakes.emplace_back("there is one of that name already");
  if (!mistakes.empty()) {
    for (const std::string& mistake : mistakes) {
      std::fprintf(stderr, "protocol %s: %s\n", std::string(info.name).c_str(), mistake.c_str());
    }
    std::abort();
  }
  AddToProtocols(info);
  AddRules(rules);
  AddAssumptions(info.name, assumptions);
}

}  // namespace whorl::sim
