#include "live/reporter.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "live/message_codec.h"
#include "real_client/os.h"

namespace whorl::live {

Points::Points(const sim::Scenario& scenario, int16_t node) {
  for (const sim::FaultSpec& fault : scenario.faults) {
    const auto* when = std::get_if<sim::When>(&fault.trigger);
    if (when == nullptr || when->node != node) continue;
    const bool of_process = when->phase == Phase::kReplied || when->phase == Phase::kEnded ||
                            (when->phase == Phase::kSent && when->step == steps::kWrite);
    if (of_process) points_.insert({when->step, when->phase});
  }
}

void Reporter::Send(const Report& report) {
  const std::string line = ToJson(report).dump() + "\n";
  const std::lock_guard lock(writing_);
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t written = write(STDOUT_FILENO, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) _exit(EXIT_FAILURE);
    left.remove_prefix(static_cast<size_t>(written));
  }
}

void Reporter::ReportEvent(sim::ObservedEvent what, std::optional<sim::Instant> lapses_at) {
  Send(ReportedEvent{.at = Now(), .what = std::move(what), .lapses_at = lapses_at});
}

void Reporter::StopAt(const CallName& call, StepName step, Phase phase,
                      std::vector<sim::ObservedEvent> what) {
  std::unique_lock lock(mutex_);
  const uint64_t point = ++last_point_;
  lock.unlock();
  Send(
      AtPoint{.point = point, .call = call, .step = step, .phase = phase, .what = std::move(what)});
  lock.lock();
  released_.wait(lock, [&] { return passable_.erase(point) > 0; });
}

void Reporter::Release(uint64_t point) {
  const std::lock_guard lock(mutex_);
  passable_.insert(point);
  released_.notify_all();
}

sim::Instant Reporter::Now() const {
  return sim::Instant{} + (real_client::MonotonicNow() - run_started_);
}

}  // namespace whorl::live
