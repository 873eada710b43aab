#include "cli/bench/page.h"

#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/page.h"
#include "cli/version.h"

namespace whorl::cli {
namespace {

using sim::Json;

Json NumberOrNull(const std::optional<int64_t>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}
Json RatioOrNull(const std::optional<int64_t>& millionths) {
  return millionths.has_value() ? Json(static_cast<double>(*millionths) / 1e6) : Json(nullptr);
}
Json TimeOrNull(const std::optional<Duration>& time) {
  return time.has_value() ? Json(time->ns) : Json(nullptr);
}

std::string PageOf(Json head, std::string_view bench, bool interrupted, Json left_out) {
  head["bench"] = bench;
  head["whorl"] = kVersion;
  head["interrupted"] = interrupted;
  head["left_out"] = std::move(left_out);
  std::ostringstream out;
  WritePage(PageKind::kBench, head, "", out);
  return std::move(out).str();
}

}  // namespace

std::string TakeoverPage(const TakeoverReport& report) {
  Json cases = Json::array();
  for (const sim::TakeoverResult& result : report.results) {
    const sim::TakeoverCase& measured = result.measured;
    cases.push_back({{"fault", WordOf(measured.fault)},
                     {"protocol", measured.protocol},
                     {"lease", FormatDuration(measured.lease)},
                     {"followers", measured.followers},
                     {"preset", WordOf(measured.preset)},
                     {"runs", result.runs},
                     {"takeovers", result.first_write.count},
                     {"kept", result.kept},
                     {"stable", result.stable},
                     {"first_write", result.first_write.percentiles},
                     {"grant", result.grant.percentiles},
                     {"least", result.least.percentiles},
                     {"p50", NumberOrNull(result.first_write.p50.value)},
                     {"p90", NumberOrNull(result.first_write.p90.value)},
                     {"p99", NumberOrNull(result.first_write.p99.value)},
                     {"max", NumberOrNull(result.first_write.max)},
                     {"ratio_p50", RatioOrNull(result.ratio.p50.value)},
                     {"ratio_p99", RatioOrNull(result.ratio.p99.value)}});
  }
  Json left_out = Json::array();
  for (const sim::LeftOut& one : report.left_out) {
    left_out.push_back(Cat(one.left_out.Text(), ": ", one.why));
  }
  return PageOf({{"cases", std::move(cases)}}, "takeover", report.interrupted, std::move(left_out));
}

std::string CostPage(const sim::CostReport& report, const std::vector<sim::Tradeoff>& tradeoffs) {
  Json cases = Json::array();
  for (const sim::Tradeoff& one : tradeoffs) {
    cases.push_back({{"protocol", one.protocol},
                     {"lease", FormatDuration(one.lease)},
                     {"lease_ns", one.lease.ns},
                     {"followers", one.followers},
                     {"transactions", one.transactions},
                     {"rpcs", one.rpcs},
                     {"takeover_p50", TimeOrNull(one.takeover_p50)},
                     {"takeover_p99", TimeOrNull(one.takeover_p99)},
                     {"least_p50", TimeOrNull(one.least_p50)},
                     {"least_p99", TimeOrNull(one.least_p99)}});
  }
  return PageOf({{"tradeoffs", std::move(cases)}}, "cost", report.interrupted, Json::array());
}

}  // namespace whorl::cli
