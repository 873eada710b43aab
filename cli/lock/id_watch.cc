#include "cli/lock/id_watch.h"

#include <algorithm>

namespace whorl::cli {

bool IdWatch::Writes(std::string_view step) const {
  const auto has = [step](const auto& steps) {
    return std::ranges::any_of(steps, [step](StepName name) { return WordOf(name) == step; });
  };
  return has(protocol_.steps) && !has(protocol_.steps_without_commit);
}

void IdWatch::Began(std::string_view step, LocalInstant now) {
  if (!Writes(step)) return;
  const std::lock_guard lock(mutex_);
  if (writes_ > 0) pace_ = std::clamp(now - begun_, lease_ / 16, lease_);
  ++writes_;
  ++under_way_;
  begun_ = now;
}

void IdWatch::Ended(std::string_view step, bool is_known, LocalInstant now) {
  if (!Writes(step)) return;
  const std::lock_guard lock(mutex_);
  --under_way_;
  if (!is_known) blind_until_ = now + lease_ * 2;
}

Duration IdWatch::Pace() const {
  const std::lock_guard lock(mutex_);
  return pace_;
}

IdWatch::Moment IdWatch::Now(LocalInstant now) const {
  const std::lock_guard lock(mutex_);
  return {.writes = writes_, .is_quiet = under_way_ == 0 && now >= blind_until_};
}

bool IdWatch::Saw(const Moment& before, const real_client::Holding& holding, LocalInstant now) {
  const std::lock_guard lock(mutex_);
  const bool is_quiet = before.is_quiet && writes_ == before.writes && now >= blind_until_;
  if (!is_quiet || holding.holder != id_ || !holding.until) {
    first_.reset();
    return false;
  }
  if (!first_ || first_->writes != writes_) {
    first_ = Reading{.writes = writes_, .until = *holding.until};
    return false;
  }
  return *holding.until > first_->until && !std::exchange(said_, true);
}

}  // namespace whorl::cli
