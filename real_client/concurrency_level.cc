#include "real_client/concurrency_level.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace whorl::real_client {
namespace {

constexpr double kAtFirst = 4;
constexpr double kRisePerRound = 0.1;
constexpr double kRiseNearFall = 0.01;
constexpr double kAfterRefusal = 0.5;
constexpr double kAfterSlowness = 0.9;
// Answers are slow if they take so many times as long as the fastest. Spanner's own spread, between
// reads at a near replica and commits of several splits, is smaller.
constexpr int64_t kSlow = 5;
// The fastest answer is that of this period and the one before, so that a Spanner that has become
// slower for good is not taken for an overloaded one for ever.
constexpr Duration kPeriod = Seconds(30);

bool IsRefusal(const TransactionResult& result) {
  switch (result.status.code) {
    case Code::kAborted:
    case Code::kResourceExhausted:
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
      return true;
    default:
      return result.attempts > 1;
  }
}

}  // namespace

ConcurrencyLevel::ConcurrencyLevel(int32_t most)
    : most_(most), level_(std::min(kAtFirst, most_)), fell_at_(most_ * 2) {}

void ConcurrencyLevel::OnEnded(LocalInstant now, Duration took, const TransactionResult& result,
                               bool others_wait) {
  if (result.status.code == Code::kCancelled) return;  // says nothing of Spanner
  if (IsRefusal(result)) return Fall(now, now - took, level_ * kAfterRefusal);
  Measure(now, took);
  if (took_ > std::min(fastest_now_, fastest_before_) * kSlow)
    return Fall(now, now - took, level_ * kAfterSlowness);
  if (!others_wait) return;
  const bool is_near = std::floor(level_) + 1 == std::floor(fell_at_);
  level_ = std::min(most_, level_ + (is_near ? kRiseNearFall : kRisePerRound) / level_);
}

void ConcurrencyLevel::Fall(LocalInstant now, LocalInstant sent, double to) {
  if (has_fallen_ && sent < fell_) return;
  has_fallen_ = true;
  fell_ = now;
  fell_at_ = std::max(2.0, level_);
  level_ = std::max(1.0, to);
}

void ConcurrencyLevel::Measure(LocalInstant now, Duration took) {
  if (!has_measured_) {
    has_measured_ = true;
    period_began_ = now;
    took_ = fastest_now_ = fastest_before_ = took;
  }
  if (now - period_began_ >= kPeriod) {
    period_began_ = now;
    fastest_before_ = std::exchange(fastest_now_, took);
  }
  took_ = (took_ * 7 + took) / 8;
  fastest_now_ = std::min(fastest_now_, took);
}

}  // namespace whorl::real_client
