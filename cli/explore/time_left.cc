#include "cli/explore/time_left.h"

#include <cmath>

namespace whorl::cli {
namespace {

constexpr std::chrono::seconds kSampleEvery(1);
constexpr std::chrono::seconds kWindow(20);     // what is looked back at
constexpr std::chrono::seconds kEnough(5);      // less says nothing
constexpr double kLongest = 100 * 24 * 3600.0;  // seconds; more is as good as unknown

}  // namespace

void TimeLeft::Add(Time at, const explore::Progress& progress) {
  const bool may_grow = progress.faults < faults_max_ || progress.is_restoring;
  if (may_grow) return samples_.clear();
  if (!samples_.empty() && at - samples_.back().at < kSampleEvery) return;
  samples_.push_back({.at = at, .frontier = progress.frontier});
  while (at - samples_.front().at > kWindow) samples_.pop_front();
}

std::optional<std::chrono::seconds> TimeLeft::Left() const {
  if (samples_.empty()) return std::nullopt;
  const Sample& first = samples_.front();
  const Sample& last = samples_.back();
  const std::chrono::duration<double> time = last.at - first.at;
  if (time < kEnough || last.frontier >= first.frontier) return std::nullopt;
  const double left = time.count() * static_cast<double>(last.frontier) /
                      static_cast<double>(first.frontier - last.frontier);
  if (left > kLongest) return std::nullopt;
  return std::chrono::seconds(std::llround(left));
}

}  // namespace whorl::cli
