#include "cli/bench/takeover_report.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "sim/report/json_print.h"
#include "sim/scenario/rules.h"

namespace whorl::cli {
namespace {

using sim::Distribution;
using sim::Json;
using sim::QuantileEstimate;
using sim::TakeoverResult;
using Value = std::optional<int64_t>;

// --- text --------------------------------------------------------------------------------------

std::string SecondsOf(Value ns, int digits) { return ns ? FormatSeconds({*ns}, digits) : "-"; }

std::string MillisecondsOf(Value ns) { return ns ? FormatSeconds({*ns * 1000}, 1) : "-"; }

// A ratio in millionths, printed as if it were seconds.
std::string RatioText(Value millionths) {
  return millionths ? FormatSeconds({*millionths * 1000}, 3) : "-";
}

// "9.871 (9.855-9.899)".
std::string WithInterval(const QuantileEstimate& estimate) {
  if (!estimate.value) return "-";
  const auto end = [](Value value) { return value ? SecondsOf(value, 3) : std::string("?"); };
  return Cat(SecondsOf(estimate.value, 3), " (", end(estimate.low), "-", end(estimate.high), ")");
}

constexpr size_t kColumns = 16;
using Cells = std::array<std::string, kColumns>;
constexpr std::array<std::string_view, kColumns> kHeads = {
    "fault",     "protocol", "lease",       "followers",  "preset",       "runs",
    "takeovers", "kept",     "p50 s",       "p90 s",      "p99 s (95 %)", "max s",
    "p50 / T*",  "p99 / T*", "p50 - T* ms", "p99 - T* ms"};
constexpr size_t kWords = 5;  // the first columns are words, the others numbers

Cells CellsOf(const TakeoverResult& result) {
  const sim::TakeoverCase& measured = result.measured;
  const Distribution& time = result.first_write;
  const bool no_ratio = result.ratio.count == 0;
  return {std::string(WordOf(measured.fault)),
          measured.protocol,
          FormatDuration(measured.lease),
          std::to_string(measured.followers),
          std::string(WordOf(measured.preset)),
          GroupedText(static_cast<int64_t>(result.runs)),
          GroupedText(time.count),
          GroupedText(result.kept),
          SecondsOf(time.p50.value, 3),
          SecondsOf(time.p90.value, 3),
          WithInterval(time.p99),
          SecondsOf(time.max, 3),
          no_ratio ? "-" : RatioText(result.ratio.p50.value),
          no_ratio ? "-" : RatioText(result.ratio.p99.value),
          MillisecondsOf(result.above_least.p50.value),
          MillisecondsOf(result.above_least.p99.value)};
}

bool GrantIsOfInterest(const TakeoverResult& result) {
  return sim::RulesOf(result.measured.protocol).leads_a_lease_late && result.grant.count > 0;
}

Cells GrantCellsOf(const TakeoverResult& result) {
  Cells cells = CellsOf(result);
  const Distribution& time = result.grant;
  cells[0] = "  (token UPDATE)";
  cells[8] = SecondsOf(time.p50.value, 3);
  cells[9] = SecondsOf(time.p90.value, 3);
  cells[10] = WithInterval(time.p99);
  cells[11] = SecondsOf(time.max, 3);
  cells[12] = result.ratio.count == 0 ? "-" : RatioText(result.grant_ratio.p50.value);
  cells[13] = result.ratio.count == 0 ? "-" : RatioText(result.grant_ratio.p99.value);
  cells[14] = cells[15] = "";
  return cells;
}

std::vector<Cells> RowsOf(const TakeoverReport& report) {
  std::vector<Cells> rows(1);
  for (size_t i = 0; i < kColumns; ++i) rows[0][i] = kHeads[i];
  for (const TakeoverResult& result : report.results) {
    rows.push_back(CellsOf(result));
    if (GrantIsOfInterest(result)) rows.push_back(GrantCellsOf(result));
  }
  return rows;
}

void PrintTable(const std::vector<Cells>& rows, std::ostream& out) {
  std::array<size_t, kColumns> widths{};
  for (const Cells& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Cells& row : rows) {
    std::string line;
    for (size_t i = 0; i < kColumns; ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      if (i > 0) line += "  ";
      line += i < kWords ? row[i] + space : space + row[i];
    }
    out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
  }
}

std::string NameOf(const TakeoverResult& result) { return result.measured.Text(); }

void PrintClosedForm(const TakeoverResult& result, std::ostream& out) {
  const std::optional<sim::ClosedForm> paper = ClosedFormOf(result.measured);
  if (!paper) return;
  out << NameOf(result) << ": mean / p99 / max until the token UPDATE "
      << SecondsOf(result.grant.mean, 3) << " / " << SecondsOf(result.grant.p99.value, 3) << " / "
      << SecondsOf(result.grant.max, 3) << " s; on paper " << SecondsOf(paper->mean.ns, 3) << " / "
      << SecondsOf(paper->p99.ns, 3) << " / " << SecondsOf(paper->max.ns, 3) << " s\n";
}

// Prints what the table does not show.
void PrintRemarks(const TakeoverResult& result, std::ostream& out) {
  if (result.interrupted) {
    out << NameOf(result) << ": ended early, after " << result.runs << " runs\n";
  } else if (!result.stable && result.first_write.count > 0) {
    out << NameOf(result) << ": p99 is not known to " << sim::kStablePercent << " %\n";
  }
  if (result.first_write.missing > 0) {
    out << NameOf(result) << ": "
        << CountText(result.first_write.missing, "run ended", "runs ended")
        << " before anybody else had written\n";
  }
  if (result.spoilt > 0) {
    out << NameOf(result) << ": in " << CountText(result.spoilt, "run", "runs")
        << " the leader had changed before the fault; not counted\n";
  }
  if (ShouldKeep(result.measured.fault) && result.NeedlessTakeovers() > 0) {
    out << NameOf(result) << ": "
        << CountText(result.NeedlessTakeovers(), "needless takeover", "needless takeovers")
        << " in " << CountText(static_cast<int64_t>(result.runs), "run", "runs") << '\n';
  }
  PrintClosedForm(result, out);
  if (result.measured.fault != sim::TakeoverFault::kCutOff || result.first_write.count == 0) return;
  out << NameOf(result) << ": ";
  if (result.believed_still > 0) {
    out << "in " << GroupedText(result.believed_still) << " of "
        << CountText(result.first_write.count, "takeover", "takeovers")
        << " the old leader still believed that it led";
    if (result.since_lapse.count > 0) out << "; otherwise ";
  }
  if (result.since_lapse.count > 0) {
    out << "from the lapse of the old leader's belief p50 "
        << SecondsOf(result.since_lapse.p50.value, 3) << " s, p99 "
        << SecondsOf(result.since_lapse.p99.value, 3) << " s";
  }
  out << '\n';
}

void PrintLeftOut(const std::vector<sim::LeftOut>& left_out, std::ostream& out) {
  // The same lease is left out for every fault and number of followers, the same fault for every
  // lease.
  std::vector<std::string> told;
  for (const sim::LeftOut& one : left_out) {
    const std::string what = one.any_lease
                                 ? Cat(" with ", WordOf(one.left_out.fault))
                                 : Cat(" with a lease of ", FormatDuration(one.left_out.lease));
    std::string line = Cat("left out: ", one.left_out.protocol, what, ": ", one.why);
    if (std::ranges::find(told, line) != told.end()) continue;
    out << line << '\n';
    told.push_back(std::move(line));
  }
}

// --- JSON and CSV ------------------------------------------------------------------------------

// A ratio is kept in millionths.
Json NumberOf(Value value, bool is_ratio) {
  if (!value) return nullptr;
  if (is_ratio) return static_cast<double>(*value) / 1e6;
  return *value;
}

struct Column {
  std::string name;
  Json value;
};
using Columns = std::vector<Column>;

// "first_write_p99_low_ns" and so on.
void AddDistribution(std::string_view name, const Distribution& distribution, bool is_ratio,
                     Columns& columns) {
  const std::string_view unit = is_ratio ? "" : "_ns";
  const auto add = [&](std::string_view what, Value value) {
    columns.push_back({Cat(name, "_", what, unit), NumberOf(value, is_ratio)});
  };
  const std::pair<std::string_view, const QuantileEstimate*> quantiles[] = {
      {"p50", &distribution.p50}, {"p90", &distribution.p90}, {"p99", &distribution.p99}};
  for (const auto& [quantile, estimate] : quantiles) {
    add(quantile, estimate->value);
    add(Cat(quantile, "_low"), estimate->low);
    add(Cat(quantile, "_high"), estimate->high);
  }
  add("max", distribution.max);
  add("mean", distribution.mean);
}

Columns ColumnsOf(const TakeoverReport& report, const TakeoverResult& result) {
  const sim::TakeoverCase& measured = result.measured;
  Columns columns = {{"seed", std::to_string(report.options.seed)},
                     {"protocol", measured.protocol},
                     {"fault", std::string(WordOf(measured.fault))},
                     {"lease_ns", measured.lease.ns},
                     {"followers", measured.followers},
                     {"preset", std::string(WordOf(measured.preset))},
                     {"median_commit_ns", result.times.commit.ns},
                     {"median_way_to_resource_ns", result.times.resource.ns},
                     {"runs", result.runs},
                     {"stable", result.stable},
                     {"interrupted", result.interrupted},
                     {"takeovers", result.first_write.count},
                     {"needless_takeovers", result.NeedlessTakeovers()},
                     {"kept", result.kept},
                     {"missing", result.first_write.missing},
                     {"spoilt", result.spoilt},
                     {"believed_still", result.believed_still}};
  AddDistribution("first_write", result.first_write, /*is_ratio=*/false, columns);
  AddDistribution("grant", result.grant, /*is_ratio=*/false, columns);
  AddDistribution("least", result.least, /*is_ratio=*/false, columns);
  AddDistribution("above_least", result.above_least, /*is_ratio=*/false, columns);
  AddDistribution("ratio", result.ratio, /*is_ratio=*/true, columns);
  AddDistribution("grant_ratio", result.grant_ratio, /*is_ratio=*/true, columns);
  AddDistribution("since_lapse", result.since_lapse, /*is_ratio=*/false, columns);
  return columns;
}

}  // namespace

void PrintTakeovers(const TakeoverReport& report, std::ostream& out) {
  PrintTable(RowsOf(report), out);
  out << "Times from the fault to the new leader's first write. T*: the least possible.\n";
  for (const TakeoverResult& result : report.results) PrintRemarks(result, out);
  PrintLeftOut(report.left_out, out);
  if (report.interrupted) out << "ended early: some cases were not measured\n";
}

std::string TakeoverLines(const TakeoverReport& report) {
  std::string lines;
  for (const TakeoverResult& result : report.results) {
    Json json = {{"format", "whorl-takeover"}, {"version", kTakeoverFormat}};
    for (Column& column : ColumnsOf(report, result)) json[column.name] = std::move(column.value);
    lines += sim::DumpJson(json) + "\n";
  }
  return lines;
}

std::string TakeoverCsv(const TakeoverReport& report) {
  std::string text;
  for (size_t row = 0; row < report.results.size(); ++row) {
    const Columns columns = ColumnsOf(report, report.results[row]);
    if (row == 0) {
      for (const Column& column : columns) text += (text.empty() ? "" : ",") + column.name;
      text += "\n";
    }
    std::string_view separator;
    for (const Column& column : columns) {
      text += separator;
      // None of the words has a comma or a quote in it.
      if (column.value.is_string())
        text += column.value.get<std::string>();
      else if (!column.value.is_null())
        text += sim::DumpJson(column.value);
      separator = ",";
    }
    text += "\n";
  }
  return text;
}

}  // namespace whorl::cli
