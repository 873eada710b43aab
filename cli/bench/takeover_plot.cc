#include "cli/bench/takeover_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "cli/bench/svg.h"

namespace whorl::cli {
namespace {

using sim::Distribution;
using sim::TakeoverCase;
using sim::TakeoverResult;

constexpr double kWidth = 1080;
constexpr double kMargin = 24;
constexpr double kPanelWidth = (kWidth - 3 * kMargin) / 2;
constexpr double kPanelHeight = 250;
constexpr double kAxis = 46;  // beside and below a panel's curves, for its labels
constexpr double kTitle = 30;
constexpr double kCellWidth = 76;
constexpr double kCellHeight = 26;
constexpr double kRowLabel = 250;
constexpr double kMinLog = 1e6;  // ns: nothing of interest is shorter than a millisecond

constexpr std::string_view kGrey = "#cccccc";
constexpr std::string_view kDark = "#444444";
// Colours that colour-blind people can tell apart, too.
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#9b3f86",
                                                      "#8a6d00", "#56718a", "#000000"};

std::string AxisTimeText(double ns) {
  const auto whole = static_cast<int64_t>(std::llround(ns));
  if (ns < 1e9) return Cat(FormatSeconds({whole * 1000}, 0), " ms");
  return Cat(FormatSeconds({whole}, ns < 1e10 ? 1 : 0), " s");
}

// --- curves ------------------------------------------------------------------------------------

struct Curve {
  std::string name;
  std::string_view colour;
  bool dashed = false;
  const Distribution* times = nullptr;
};

// A logarithmic axis from the shortest to the longest time of all curves.
struct LogAxis {
  double from = 0;
  double to = 1;

  double Place(double ns) const {
    const double log = std::log10(std::max(ns, kMinLog));
    return std::clamp((log - from) / (to - from), 0.0, 1.0);
  }
};

LogAxis AxisOf(const std::vector<Curve>& curves) {
  double least = 1e18;
  double most = kMinLog;
  for (const Curve& curve : curves) {
    least = std::min(least, static_cast<double>(curve.times->percentiles.front()));
    most = std::max(most, static_cast<double>(curve.times->percentiles.back()));
  }
  const double from = std::log10(std::max(least, kMinLog)) - 0.05;
  return {.from = from, .to = std::max(std::log10(most) + 0.05, from + 0.3)};
}

// Round numbers; the more powers of ten the axis shows, the fewer.
std::vector<double> TicksOf(const LogAxis& axis) {
  static constexpr std::array<double, 8> kFew = {1};
  static constexpr std::array<double, 8> kSome = {1, 2, 5};
  static constexpr std::array<double, 8> kMany = {1, 1.5, 2, 3, 4, 5, 6, 8};
  const double width = axis.to - axis.from;
  const auto& steps = width > 1.7 ? kFew : width > 0.7 ? kSome : kMany;
  std::vector<double> ticks;
  for (double power = 1e6; power < 1e14; power *= 10) {
    for (const double step : steps) {
      if (step == 0) continue;
      const double at = std::log10(power * step);
      if (at >= axis.from && at <= axis.to) ticks.push_back(power * step);
    }
  }
  return ticks;
}

std::string_view ColourOf(const TakeoverReport& report, std::string_view protocol) {
  std::vector<std::string_view> met;
  for (const TakeoverResult& result : report.results) {
    const std::string_view name = result.measured.protocol;
    if (std::ranges::find(met, name) == met.end()) met.push_back(name);
  }
  const auto place = static_cast<size_t>(std::ranges::find(met, protocol) - met.begin());
  return kColours[place % kColours.size()];
}

// Whether the result is shown as a curve: its lease is the nearest to ten seconds with which the
// protocol was measured.
bool IsShown(const TakeoverReport& report, const TakeoverResult& result) {
  constexpr int64_t kShown = Seconds(10).ns;
  const auto rank = [](const TakeoverCase& c) { return std::llabs(c.lease.ns - kShown); };
  const TakeoverCase& shown = result.measured;
  return std::ranges::all_of(report.results, [&](const TakeoverResult& other) {
    const TakeoverCase& c = other.measured;
    if (c.fault != shown.fault || c.protocol != shown.protocol) return true;
    if (c == shown) return true;
    // Among results with equal leases, the first number of followers and the first preset.
    return rank(c) > rank(shown) || (rank(c) == rank(shown) && &other > &result);
  });
}

std::vector<Curve> CurvesOf(const TakeoverReport& report, sim::TakeoverFault fault) {
  std::vector<Curve> curves;
  for (const TakeoverResult& result : report.results) {
    const TakeoverCase& measured = result.measured;
    if (measured.fault != fault || result.first_write.count == 0) continue;
    if (!IsShown(report, result)) continue;
    const std::string_view colour = ColourOf(report, measured.protocol);
    const std::string name = Cat(measured.protocol, " ", FormatDuration(measured.lease));
    curves.push_back({name, colour, false, &result.first_write});
    if (measured.protocol == "spindle_v2") {
      curves.push_back({Cat(name, ", its UPDATE"), colour, true, &result.grant});
    }
  }
  // From left to right, so that the names of adjacent curves are at different heights.
  std::ranges::sort(curves, {}, [](const Curve& curve) {
    return std::pair(curve.times->percentiles[50], curve.name);
  });
  return curves;
}

class Panel {
 public:
  Panel(Svg& svg, Point corner)
      : svg_(svg),
        left_(corner.x + kAxis),
        right_(corner.x + kPanelWidth),
        top_(corner.y + kTitle),
        bottom_(corner.y + kPanelHeight - kAxis) {}

  void Draw(std::string_view title, const std::vector<Curve>& curves) {
    svg_.Text({left_, top_ - 12}, title, {.size = 14, .bold = true});
    for (const int percent : {0, 25, 50, 75, 100}) {
      svg_.Line({left_, Y(percent)}, {right_, Y(percent)}, kGrey);
      svg_.Text({left_ - 6, Y(percent) + 4}, Cat(std::to_string(percent), " %"),
                {.colour = kDark, .anchor = Anchor::kEnd, .size = 11});
    }
    if (curves.empty()) {
      svg_.Text({(left_ + right_) / 2, Y(50)}, "nobody took over",
                {.colour = kDark, .anchor = Anchor::kMiddle, .edged = true});
      return;
    }
    axis_ = AxisOf(curves);
    for (const double tick : TicksOf(axis_)) {
      svg_.Line({X(tick), top_}, {X(tick), bottom_}, kGrey);
      svg_.Text({X(tick), bottom_ + 16}, AxisTimeText(tick),
                {.colour = kDark, .anchor = Anchor::kMiddle, .size = 11});
    }
    for (const Curve& curve : curves) DrawCurve(curve);
    for (size_t i = 0; i < curves.size(); ++i) DrawName(curves[i], i, curves.size());
  }

 private:
  double X(double ns) const { return left_ + axis_.Place(ns) * (right_ - left_); }
  double Y(double percent) const { return bottom_ - percent / 100 * (bottom_ - top_); }

  void DrawCurve(const Curve& curve) {
    std::vector<Point> points;
    for (size_t percent = 0; percent < curve.times->percentiles.size(); ++percent) {
      points.push_back({X(static_cast<double>(curve.times->percentiles[percent])),
                        Y(static_cast<double>(percent))});
    }
    svg_.Curve(points, curve.colour, curve.dashed);
  }

  // The name is on its curve, at a height that no other name has.
  void DrawName(const Curve& curve, size_t place, size_t count) {
    const double percent =
        88 - 76 * (static_cast<double>(place) + 0.5) / static_cast<double>(count);
    const auto nearest = static_cast<size_t>(percent);
    const double x = X(static_cast<double>(curve.times->percentiles[nearest]));
    const bool is_right = x > (left_ + right_) / 2;
    svg_.Text({is_right ? x - 6 : x + 6, Y(percent) + 4}, curve.name,
              {.colour = curve.colour,
               .anchor = is_right ? Anchor::kEnd : Anchor::kStart,
               .bold = true,
               .edged = true});
  }

  Svg& svg_;
  double left_;
  double right_;
  double top_;
  double bottom_;
  LogAxis axis_;
};

// --- heat map ----------------------------------------------------------------------------------

// One row of the heat map: all leases of a case.
struct RowOfMap {
  std::string protocol;
  int64_t followers = 0;
  sim::Preset preset = sim::Preset::kRegional;
  friend bool operator==(const RowOfMap&, const RowOfMap&) = default;

  std::string Text() const {
    return Cat(protocol, ", ", std::to_string(followers), " followers, ", WordOf(preset));
  }
};

template <typename T>
void AddDistinct(std::vector<T>& all, const T& one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

// From light at 0.1 s to dark at 100 s.
std::string FieldColour(double ns, bool& is_dark) {
  const double share = std::clamp((std::log10(std::max(ns, kMinLog)) - 8) / 3, 0.0, 1.0);
  const auto mix = [share](double light, double dark) {
    return std::to_string(static_cast<int>(std::lround(light + (dark - light) * share)));
  };
  is_dark = share > 0.55;
  return Cat("rgb(", mix(244, 122), ",", mix(240, 20), ",", mix(225, 40), ")");
}

class HeatMap {
 public:
  HeatMap(const TakeoverReport& report, sim::TakeoverFault fault) {
    for (const TakeoverResult& result : report.results) {
      if (result.measured.fault != fault) continue;
      results_.push_back(&result);
      AddDistinct(leases_, result.measured.lease);
      AddDistinct(rows_, RowOf(result.measured));
    }
    std::ranges::sort(leases_);
  }

  double Height() const { return kTitle + kCellHeight * (static_cast<double>(rows_.size()) + 1); }

  void Draw(Svg& svg, Point corner, std::string_view title) const {
    svg.Text({corner.x, corner.y + 14}, title, {.size = 14, .bold = true});
    for (size_t column = 0; column < leases_.size(); ++column) {
      svg.Text({CellX(corner, column) + kCellWidth / 2, corner.y + kTitle + 8},
               Cat("lease ", FormatDuration(leases_[column])),
               {.colour = kDark, .anchor = Anchor::kMiddle, .size = 11});
    }
    for (size_t row = 0; row < rows_.size(); ++row) {
      const double y = corner.y + kTitle + kCellHeight * (static_cast<double>(row) + 0.6);
      svg.Text({corner.x, y + 17}, rows_[row].Text());
      for (size_t column = 0; column < leases_.size(); ++column) {
        DrawField(svg, {CellX(corner, column), y}, Find(rows_[row], leases_[column]));
      }
    }
  }

 private:
  static RowOfMap RowOf(const TakeoverCase& c) {
    return {.protocol = c.protocol, .followers = c.followers, .preset = c.preset};
  }
  static double CellX(Point corner, size_t column) {
    return corner.x + kRowLabel + kCellWidth * static_cast<double>(column);
  }

  const TakeoverResult* Find(const RowOfMap& row, Duration lease) const {
    const auto found = std::ranges::find_if(results_, [&](const TakeoverResult* result) {
      return RowOf(result->measured) == row && result->measured.lease == lease;
    });
    return found == results_.end() ? nullptr : *found;
  }

  static void DrawField(Svg& svg, Point corner, const TakeoverResult* result) {
    const Point middle = {corner.x + kCellWidth / 2, corner.y + 17};
    if (result == nullptr || !result->first_write.p99.value) {
      const bool kept = result != nullptr && result->kept > 0;
      svg.Text(middle, kept ? "kept" : "-", {.colour = kDark, .anchor = Anchor::kMiddle});
      return;
    }
    const auto ns = static_cast<double>(*result->first_write.p99.value);
    bool is_dark = false;
    const std::string colour = FieldColour(ns, is_dark);
    svg.Rectangle(corner, {kCellWidth - 2, kCellHeight - 2}, colour);
    svg.Text(middle, AxisTimeText(ns),
             {.colour = is_dark ? "#ffffff" : "#222222", .anchor = Anchor::kMiddle});
  }

  std::vector<const TakeoverResult*> results_;
  std::vector<Duration> leases_;
  std::vector<RowOfMap> rows_;
};

// Lays out panels in two columns; `height` is that of the taller one of a pair.
class TwoColumns {
 public:
  explicit TwoColumns(double top) : top_(top) {}

  Point Next(double height) {
    const Point corner = {left_ ? kMargin : kPanelWidth + 2 * kMargin, top_};
    row_height_ = std::max(row_height_, height);
    if (!left_) EndRow();
    left_ = !left_;
    return corner;
  }
  double End() {
    if (!left_) EndRow();
    left_ = true;
    return top_;
  }

 private:
  void EndRow() {
    top_ += row_height_ + kMargin;
    row_height_ = 0;
  }
  double top_;
  double row_height_ = 0;
  bool left_ = true;
};

}  // namespace

std::string TakeoverPlot(const TakeoverReport& report) {
  std::vector<sim::TakeoverFault> faults;
  for (const TakeoverResult& result : report.results) AddDistinct(faults, result.measured.fault);
  Svg svg;
  svg.Text({kMargin, kMargin + 10},
           "Share of takeovers that are over, by the time from the fault to the new leader's first "
           "write",
           {.size = 16, .bold = true});
  TwoColumns curves(kMargin + 30);
  for (const sim::TakeoverFault fault : faults) {
    Panel(svg, curves.Next(kPanelHeight)).Draw(WordOf(fault), CurvesOf(report, fault));
  }
  const double below = curves.End();
  svg.Text({kMargin, below + 16}, "p99 of the same time; darker is longer",
           {.size = 16, .bold = true});
  TwoColumns maps(below + 36);
  for (const sim::TakeoverFault fault : faults) {
    const HeatMap map(report, fault);
    map.Draw(svg, maps.Next(map.Height()), WordOf(fault));
  }
  return svg.Document({kWidth, maps.End()});
}

}  // namespace whorl::cli
