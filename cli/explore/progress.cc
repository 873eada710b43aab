#include "cli/explore/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/text.h"
#include "base/time.h"

namespace whorl::cli {

namespace {

std::string Count(uint64_t count) { return GroupedText(static_cast<int64_t>(count)); }

}  // namespace

void ExploreProgress::Add(const explore::Progress& now) {
  now_ = now;
  const Clock::time_point at = Clock::now();
  if (!has_begun_ && !now.is_restoring) {
    has_begun_ = true;
    begun_ = at;
    states_before_ = now.states;
  }
  time_left_.Add(at, now);
}

std::string ExploreProgress::Text() const {
  if (now_.is_restoring) {
    return Cat("going on from ", Count(now_.states), " states: ", Count(now_.made), " of ",
               Count(now_.frontier), " that wait made again");
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  const double rate = static_cast<double>(now_.states - states_before_) / std::max(seconds, 0.001);
  std::string text =
      Cat(Count(now_.states), " states, ", Count(now_.transitions), " transitions, ",
          Count(now_.frontier), " to go on from, ", CountText(now_.faults, "fault", "faults"), ", ",
          CountText(now_.steps, "step", "steps"), ", ", Count(static_cast<uint64_t>(rate)),
          " states a second, ", Count(now_.bytes >> 20), " MiB");
  if (const auto left = time_left_.Left()) {
    text += Cat(", some ", FormatDuration(Seconds(left->count())), " left");
  }
  return text;
}

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
