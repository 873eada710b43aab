#include "sim/rules.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>

#include "protocol/spanner/value.h"

namespace whorl::sim {
namespace {

// Of a key such as "job_17241709254077376921", as Go prints an unsigned integer.
bool IsDecimal(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

namespace spindle_v2 {

constexpr std::array<StepName, 5> kLockingSteps = {
    StepName::kFirstInsert, StepName::kTakeoverInsert, StepName::kTakeoverUpdate,
    StepName::kHeartbeatUpdate, StepName::kHeartbeatDelete};
constexpr size_t kHeartbeatColumn = 1;

Duration LeaseUsed(Duration asked) {
  return std::max(Milliseconds(asked.ns / 1'000'000), Seconds(1));
}

std::optional<Timestamp> LeaseUntil(const Row& row, Duration owners_lease) {
  const auto* heartbeat = std::get_if<Timestamp>(&row[kHeartbeatColumn]);
  if (heartbeat == nullptr) return std::nullopt;
  return *heartbeat + owners_lease;
}

bool IsReleased(const Row&) { return false; }  // nothing in spindle v2 gives a lock up

bool IsSideRow(std::string_view lock, std::string_view key) {
  return key.size() > lock.size() && key.starts_with(lock) && key[lock.size()] == '_' &&
         IsDecimal(key.substr(lock.size() + 1));
}

Duration WedgeBound(Duration greatest_lease, Duration round_trip_p999) {
  return greatest_lease * 3 + Seconds(1) + round_trip_p999 * 4;
}

constexpr Rules kRules = {.protocol = "spindle_v2",
                          .key_column = 0,
                          .token_column = 2,
                          .renewing_step = {},
                          .releasing_step = {},
                          .locking_steps = kLockingSteps,
                          .lease_used = LeaseUsed,
                          .lease_until = LeaseUntil,
                          .is_released = IsReleased,
                          .is_side_row = IsSideRow,
                          .wedge_bound = WedgeBound};

}  // namespace spindle_v2

namespace spindle_v3 {

constexpr std::array<StepName, 3> kLockingSteps = {StepName::kAcquire, StepName::kHeartbeat,
                                                   StepName::kRelease};
constexpr size_t kTokenColumn = 1;

Duration LeaseUsed(Duration asked) {
  return std::max(Seconds(asked.ns / 1'000'000'000), Seconds(5));
}

std::optional<Timestamp> LeaseUntil(const Row& row, Duration owners_lease) {
  const auto* token = std::get_if<Timestamp>(&row[kTokenColumn]);
  if (token == nullptr) return std::nullopt;
  return *token + owners_lease;
}

bool IsReleased(const Row&) { return false; }  // what is given back is deleted

bool IsSideRow(std::string_view, std::string_view) { return false; }

// A lease, the delay that keeps followers apart, and the buffer, which is a third of a lease at the
// most.
Duration WedgeBound(Duration greatest_lease, Duration round_trip_p999) {
  return greatest_lease + greatest_lease / 7 + greatest_lease / 3 + round_trip_p999 * 4;
}

constexpr Rules kRules = {.protocol = "spindle_v3",
                          .key_column = 0,
                          .token_column = kTokenColumn,
                          .renewing_step = StepName::kHeartbeat,
                          .releasing_step = StepName::kRelease,
                          .locking_steps = kLockingSteps,
                          .lease_used = LeaseUsed,
                          .lease_until = LeaseUntil,
                          .is_released = IsReleased,
                          .is_side_row = IsSideRow,
                          .wedge_bound = WedgeBound};

}  // namespace spindle_v3

namespace fenced_lease {

constexpr size_t kHeartbeatColumn = 1;
constexpr size_t kWriterColumn = 3;
constexpr size_t kLeaseMsColumn = 4;
constexpr int64_t kRhoPpm = 1'000;  // by how much clocks may run fast or slow

Duration LeaseUsed(Duration asked) {
  return std::clamp(Milliseconds(asked.ns / 1'000'000), Seconds(1), Seconds(3600));
}

std::optional<Timestamp> LeaseUntil(const Row& row, Duration owners_lease) {
  const auto* heartbeat = std::get_if<Timestamp>(&row[kHeartbeatColumn]);
  if (heartbeat == nullptr) return std::nullopt;
  const auto* lease_ms = std::get_if<int64_t>(&row[kLeaseMsColumn]);
  return *heartbeat + (lease_ms == nullptr ? owners_lease : Milliseconds(*lease_ms));
}

bool IsReleased(const Row& row) { return std::holds_alternative<Null>(row[kWriterColumn]); }

bool IsSideRow(std::string_view, std::string_view) { return false; }

// 1.8 leases (1 + rho) / (1 - rho): a heartbeat that was just missed, and the wait that follows, by
// the slowest of clocks.
Duration WedgeBound(Duration greatest_lease, Duration round_trip_p999) {
  const Duration waits = greatest_lease * 18 / 10;
  const Duration slow = {waits.ns / (1'000'000 - kRhoPpm) * (2 * kRhoPpm)};
  return waits + slow + round_trip_p999 * 4;
}

constexpr Rules kRules = {.protocol = "fenced_lease",
                          .key_column = 0,
                          .token_column = 2,
                          .renewing_step = {},
                          .releasing_step = {},
                          .locking_steps = {},  // its transactions are optimistic
                          .lease_used = LeaseUsed,
                          .lease_until = LeaseUntil,
                          .is_released = IsReleased,
                          .is_side_row = IsSideRow,
                          .wedge_bound = WedgeBound};

}  // namespace fenced_lease
}  // namespace

const Rules& RulesOf(std::string_view protocol) {
  if (protocol == spindle_v2::kRules.protocol) return spindle_v2::kRules;
  if (protocol == spindle_v3::kRules.protocol) return spindle_v3::kRules;
  if (protocol == fenced_lease::kRules.protocol) return fenced_lease::kRules;
  std::fprintf(stderr, "no rules for the protocol %s\n", std::string(protocol).c_str());
  std::abort();
}

}  // namespace whorl::sim
