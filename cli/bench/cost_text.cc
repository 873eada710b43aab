#include "cli/bench/cost_text.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/time.h"
#include "cli/text_table.h"
#include "sim/scenario/instant.h"

namespace whorl::cli {
namespace {

using sim::CostFigures;
using sim::Preset;
using Row = std::vector<std::string>;

constexpr double kSecondsOfHour = 3600;

// "1,234", "12.3", "0.012": `digits_below_one` decimals below one, then one, then none.
std::string NumberText(double number, int digits_below_one = 3) {
  constexpr double kPlain = 99.95;
  if (std::abs(number) >= kPlain) return GroupedText(std::llround(number));
  const int digits = std::abs(number) >= 1 ? 1 : digits_below_one;
  const double scale = digits == 1 ? 10 : 1000;
  const int64_t scaled = std::llround(number * scale);
  if (scaled == 0) return "0";
  std::string text = std::to_string(std::abs(scaled));
  while (text.size() <= static_cast<size_t>(digits)) text.insert(0, "0");
  text.insert(text.size() - static_cast<size_t>(digits), ".");
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return scaled < 0 ? "-" + text : text;
}

std::string PercentText(double share) { return NumberText(share * 100) + " %"; }

// "~10,000" if that number was not simulated.
std::string SizeText(int64_t size, bool measured) {
  return Cat(measured ? "" : "~", GroupedText(size));
}

// The figure of a takeover; "-" if no takeover was observed.
std::string TakeoverText(const CostFigures& figures, double sim::CostRates::* rate) {
  const bool unknown = figures.measured && figures.takeovers == 0;
  return unknown ? "-" : NumberText(figures.rates.*rate, 1);
}

std::string PresetWord(Preset preset) {
  return preset == Preset::kRegional ? "regional" : "multi-region";
}

class Printer {
 public:
  Printer(const sim::CostReport& report, bool markdown, std::ostream& out)
      : report_(report), options_(report.options), markdown_(markdown), out_(out) {}

  void Steady() {
    TextTable table({"protocol", "lease", "followers", "RPCs", "reads", "transactions", "aborted",
                     "rows", "units", "takeover: RPCs", "transactions", "aborted"},
                    1);
    for (const CostFigures& figures : report_.steady) {
      const sim::CostRates& rates = figures.rates;
      table.Add({figures.what.protocol, FormatDuration(figures.what.lease),
                 GroupedText(figures.what.followers), NumberText(rates.rpcs),
                 NumberText(rates.reads), NumberText(rates.transactions), NumberText(rates.aborted),
                 NumberText(rates.rows), NumberText(UnitsOf(rates, options_.preset)),
                 TakeoverText(figures, &sim::CostRates::extra_rpcs),
                 TakeoverText(figures, &sim::CostRates::extra_transactions),
                 TakeoverText(figures, &sim::CostRates::takeover_aborted)});
    }
    Print(table,
          Cat("One lock, an hour (", PresetWord(options_.preset), "); a takeover: beyond that"));
  }

  void Herd() {
    TextTable table({"protocol", "followers", "RPCs/s", "busiest s", "units", "takeover: RPCs",
                     "busiest s", "first s", "aborted", "units"},
                    1);
    for (const CostFigures& figures : report_.herd) {
      const sim::CostRates& rates = figures.rates;
      table.Add({figures.what.protocol, SizeText(figures.what.followers, figures.measured),
                 NumberText(rates.rpcs / kSecondsOfHour), NumberText(rates.peak),
                 NumberText(UnitsOf(rates, options_.preset)),
                 TakeoverText(figures, &sim::CostRates::extra_rpcs),
                 TakeoverText(figures, &sim::CostRates::takeover_peak),
                 TakeoverText(figures, &sim::CostRates::first_second),
                 TakeoverText(figures, &sim::CostRates::takeover_aborted),
                 NumberText(UnitsOf(rates, options_.preset) * BusiestRatio(rates))});
    }
    Print(table, Cat("Followers of one lock, lease ", FormatDuration(options_.UsualLease())));
  }

  void Locks() {
    TextTable table({"protocol", "lease", "locks", "RPCs/s", "transactions/s", "units regional",
                     "instance", "units multi-region", "instance"},
                    1);
    for (const CostFigures& figures : report_.locks) {
      const sim::CostRates& rates = figures.rates;
      Row row = {figures.what.protocol, FormatDuration(figures.what.lease),
                 SizeText(figures.what.locks, figures.measured),
                 NumberText(rates.rpcs / kSecondsOfHour),
                 NumberText(rates.transactions / kSecondsOfHour)};
      for (const Preset preset : {Preset::kRegional, Preset::kMultiRegion}) {
        const double units = UnitsOf(rates, preset);
        row.push_back(NumberText(units));
        row.push_back(GroupedText(sim::InstanceFor(units)));
      }
      table.Add(std::move(row));
    }
    Print(table,
          Cat("Locks, each with ", CountText(options_.UsualFollowers(), "follower", "followers")));
  }

  void Tradeoffs(const std::vector<sim::Tradeoff>& tradeoffs) {
    TextTable table({"protocol", "lease", "takeover p50 s", "p99 s", "transactions/h", "RPCs/h"},
                    1);
    const auto seconds = [](const std::optional<Duration>& time) {
      return time ? FormatSeconds(*time, 2) : std::string("-");
    };
    for (const sim::Tradeoff& one : tradeoffs) {
      table.Add({one.protocol, FormatDuration(one.lease), seconds(one.takeover_p50),
                 seconds(one.takeover_p99), NumberText(one.transactions), NumberText(one.rpcs)});
    }
    Print(table, Cat("To choose a lease: crash of the leader against cost, ",
                     CountText(options_.UsualFollowers(), "follower", "followers")));
  }

  void Notes() {
    for (const Preset preset : {Preset::kRegional, Preset::kMultiRegion}) {
      const sim::Throughput throughput = sim::ThroughputOf(preset);
      Note(Cat("units: Spanner processing units, ", PresetWord(preset), ": 1,000 do ",
               NumberText(throughput.reads_per_second), " reads or ",
               NumberText(throughput.writes_per_second), " writes of a row a second, of which ",
               PercentText(throughput.cpu_share), " are to be used."));
    }
    Note(Cat("(", sim::kThroughputSource, ", ", sim::kCpuShareSource, ")"));
    SaysWhatWasNotCombined();
    Checks(report_.herd_checks, "~ of followers is on the line through two that were simulated",
           "followers");
    Checks(report_.lock_checks, "~ of locks is a multiple of one", "locks");
    for (const CostFigures& figures : report_.steady) {
      if (figures.early_grants == 0) continue;
      Note(Cat(figures.what.protocol, " at ", FormatDuration(figures.what.lease), " with ",
               CountText(figures.what.followers, "follower", "followers"), ": ",
               CountText(figures.early_grants, "takeover", "takeovers"),
               " from a leader in good health."));
    }
    for (const sim::LeftOutCost& one : report_.left_out) {
      if (one.what.followers != options_.followers.front()) continue;
      Note(Cat("Left out: ", one.what.protocol, " at ", FormatDuration(one.what.lease), ": it ",
               one.why, "."));
    }
    if (report_.interrupted) Note("Interrupted: what is missing was not measured.");
  }

 private:
  // The rate in the busiest second of a takeover, relative to the average.
  static double BusiestRatio(const sim::CostRates& rates) {
    return rates.takeover_peak / (rates.rpcs / kSecondsOfHour);
  }

  // Of several leases, the table of followers has one, and many locks are simulated at one; of several numbers of
  // followers, the table of locks has one.
  void SaysWhatWasNotCombined() {
    std::string others;
    for (const Duration lease : options_.leases) {
      if (lease == options_.UsualLease()) continue;
      others += Cat(others.empty() ? "" : ",", FormatDuration(lease));
    }
    const std::string usual = FormatDuration(options_.UsualLease());
    if (!others.empty() && !report_.herd.empty()) {
      Note(Cat("Followers of one lock were measured at ", usual, " alone, not at ", others,
               ": give one --lease."));
    }
    if (!others.empty() && !report_.locks.empty()) {
      Note(Cat("Several locks were simulated at ", usual, " alone; at ", others,
               " they are multiples of one lock, which was simulated."));
    }
    if (options_.followers.size() > 1 && !report_.locks.empty()) {
      Note(Cat("Numbers of locks were measured with ",
               CountText(options_.UsualFollowers(), "follower", "followers"),
               " alone: for another number, give one --followers."));
    }
  }

  void Print(const TextTable& table, const std::string& title) {
    if (table.empty()) return;
    out_ << (markdown_ ? "**" : "") << title << (markdown_ ? "**\n\n" : "\n");
    markdown_ ? table.PrintMarkdown(out_) : table.Print(out_);
    out_ << '\n';
  }
  void Note(const std::string& text) { out_ << text << (markdown_ ? "  \n" : "\n"); }

  void Checks(const std::vector<sim::LawCheck>& checks, std::string_view law,
              std::string_view what) {
    if (checks.empty()) return;
    const sim::LawCheck* worst = &checks.front();
    for (const sim::LawCheck& check : checks) {
      if (check.deviation > worst->deviation) worst = &check;
    }
    Note(Cat(law, "; where that was simulated, too, RPCs differed by at most ",
             PercentText(worst->deviation), " (", worst->protocol, ", ", GroupedText(worst->size),
             " ", what, ")."));
  }

  const sim::CostReport& report_;
  const sim::CostOptions& options_;
  bool markdown_;
  std::ostream& out_;
};

}  // namespace

void PrintCost(const sim::CostReport& report, const std::vector<sim::Tradeoff>& tradeoffs,
               bool markdown, std::ostream& out) {
  Printer printer(report, markdown, out);
  printer.Steady();
  printer.Herd();
  printer.Locks();
  printer.Tradeoffs(tradeoffs);
  printer.Notes();
}

}  // namespace whorl::cli
