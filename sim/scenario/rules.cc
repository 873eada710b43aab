#include "sim/scenario/rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <variant>

#include "protocol/lease_lock/words.h"
#include "protocol/semaphore/words.h"
#include "protocol/spanner/value.h"
#include "protocol/spindle_v2/words.h"
#include "protocol/spindle_v3/words.h"

namespace whorl::sim {
namespace {

// Whether a key is such as "job_17241709254077376921": the lock's name and an unsigned integer as
// Go prints it.
bool IsDecimal(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

// After an outage, Google's client waits up to 32 s from call to call, and Spanner aborts a transaction that
// was left after 10 s.
constexpr Duration kClientSettles = Seconds(45);

// --- the protocols -----------------------------------------------------------------------------

namespace spindle_v2 {

constexpr std::array<StepName, 5> kLockingSteps = {
    whorl::spindle_v2::steps::kFirstInsert, whorl::spindle_v2::steps::kTakeoverInsert,
    whorl::spindle_v2::steps::kTakeoverUpdate, whorl::spindle_v2::steps::kHeartbeatUpdate,
    whorl::spindle_v2::steps::kHeartbeatDelete};
Duration WedgeBound(Duration greatest_lease, Duration round_trip_p999) {
  return greatest_lease * 3 + Seconds(1) + round_trip_p999 * 4;
}

// Each pause is drawn between half a lease and a whole one.
Duration RenewalPause(Duration lease) { return lease * 3 / 4; }

ClosedForm TakeoverTime(Duration lease) {
  return {.mean = lease * 10 / 9 + Seconds(1),
          .p99 = lease * 188 / 100 + Seconds(1),
          .max = lease * 2 + Seconds(1)};
}

constexpr Rules kRules = {.protocol = "spindle_v2",
                          .key_column = 0,
                          .token_column = 2,
                          .owner_column = {},
                          .renewing_step = {},
                          .releasing_step = {},
                          .locking_steps = kLockingSteps,
                          .lease_used = {.unit = Milliseconds(1), .least = Seconds(1)},
                          .lease_until = {.renewed = 1},
                          .is_side_row = {.is_name_and_number = true},
                          .wedge_bound = WedgeBound,
                          .told_of_stop_within = {},
                          .lock_looks_every = Milliseconds(500),
                          .calls_of_transaction = 3,  // two statements in a heartbeat
                          .statements = {.are_known = true,
                                         .deletes = Deletes::kWithUnderscore,
                                         .delete_rows_of_others = true,
                                         .renew_rows_of_others = true},
                          .renewal_pause = RenewalPause,
                          .leads_a_lease_late = true,
                          .takeover_time = TakeoverTime};

}  // namespace spindle_v2

namespace spindle_v3 {

constexpr std::array<StepName, 3> kLockingSteps = {whorl::spindle_v3::steps::kAcquire,
                                                   whorl::spindle_v3::steps::kHeartbeat,
                                                   whorl::spindle_v3::steps::kRelease};
constexpr size_t kTokenColumn = 1;
// The context of the release, a tenth more by a slow clock, and the rollback that follows it.
constexpr Duration kReleaseEndsWithin = Milliseconds(5'500) + Seconds(30);

// A lease, the delay that keeps followers apart, and the buffer, which is at most a third of a
// lease.
Duration WedgeBound(Duration greatest_lease, Duration round_trip_p999) {
  return greatest_lease + greatest_lease / 7 + greatest_lease / 3 + round_trip_p999 * 4;
}

Duration RenewalPause(Duration lease) { return lease / 2; }

constexpr Rules kRules = {
    .protocol = "spindle_v3",
    .key_column = 0,
    .token_column = kTokenColumn,
    .owner_column = {},
    .renewing_step = whorl::spindle_v3::steps::kHeartbeat,
    .releasing_step = whorl::spindle_v3::steps::kRelease,
    .locking_steps = kLockingSteps,
    .lease_used = {.unit = Seconds(1), .least = Seconds(5)},
    .lease_until = {.renewed = kTokenColumn},
    .wedge_bound = WedgeBound,
    .least_lead_percent = 65,  // the buffer is at most a third
    .told_of_stop_within = kReleaseEndsWithin,
    .calls_of_transaction = 2,
    .handover = {.gives_back = true,
                 .poll_percent = 115,  // a lease, and the delay that keeps followers apart
                 .settles = kClientSettles},
    .statements = {.are_known = true, .deletes = Deletes::kAny, .token_is_commit = true},
    .renewal_pause = RenewalPause};

}  // namespace spindle_v3

namespace semaphore {

constexpr std::array<StepName, 1> kLockingSteps = {whorl::semaphore::steps::kUpdate};
constexpr size_t kServiceColumn = 1;
constexpr size_t kLastSeenColumn = 2;
constexpr Duration kPeriod = Seconds(1);

Duration WedgeBound(Duration greatest_lease, Duration round_trip_p999) {
  return greatest_lease + kPeriod + round_trip_p999 * 4;
}

Duration RenewalPause(Duration) { return kPeriod; }

constexpr Rules kRules = {.protocol = "semaphore",
                          .key_column = 0,
                          .token_column = {},
                          .owner_column = kServiceColumn,
                          .renewing_step = whorl::semaphore::steps::kUpdate,
                          .releasing_step = {},
                          .locking_steps = kLockingSteps,
                          // The protocol's statements use this key, whatever the lock is called.
                          .row_key = {.only = 1},
                          .lease_used = {.unit = Seconds(1)},
                          .lease_until = {.renewed = kLastSeenColumn},
                          .wedge_bound = WedgeBound,
                          .least_lead_percent = 95,
                          .calls_of_transaction = 2,
                          .statements = {.are_known = true, .renewed_is_current = true},
                          .renewal_pause = RenewalPause};

}  // namespace semaphore

namespace lease_lock {

constexpr std::array<StepName, 3> kLockingSteps = {whorl::lease_lock::steps::kAcquire,
                                                   whorl::lease_lock::steps::kHeartbeat,
                                                   whorl::lease_lock::steps::kRelease};
constexpr size_t kOwnerColumn = 1;
constexpr size_t kLeasedUntilColumn = 2;
constexpr Duration kGrace = Seconds(5);

// The lease, the grace, and the quarter of a lease between two polls; and the grace once more, by
// which the writer's clock and the reader's may differ.
Duration WedgeBound(Duration greatest_lease, Duration round_trip_p999) {
  return greatest_lease + kGrace * 2 + greatest_lease / 4 + round_trip_p999 * 4;
}

Duration RenewalPause(Duration lease) { return lease / 3; }

constexpr Rules kRules = {
    .protocol = "lease_lock",
    .key_column = 0,
    .token_column = {},
    .owner_column = kOwnerColumn,
    .renewing_step = whorl::lease_lock::steps::kHeartbeat,
    .releasing_step = whorl::lease_lock::steps::kRelease,
    .locking_steps = kLockingSteps,
    .lease_until = {.until = kLeasedUntilColumn},
    .wedge_bound = WedgeBound,
    .least_lead_percent = 95,
    .question_step = whorl::lease_lock::steps::kGet,
    .calls_of_transaction = 2,
    .handover = {.gives_back = true,
                 .poll_percent = 25,
                 .settles = kClientSettles,
                 .gives_back_late_grants = true},
    .statements = {.are_known = true, .deletes = Deletes::kAny, .delete_rows_of_others = true},
    .renewal_pause = RenewalPause};

}  // namespace lease_lock

namespace fenced_lease {

constexpr size_t kHeartbeatColumn = 1;
constexpr size_t kWriterColumn = 3;
constexpr size_t kLeaseMsColumn = 4;
constexpr int64_t kRhoPpm = 1'000;  // how fast or slow clocks may run

// 1.8 leases (1 + rho) / (1 - rho): the time since a heartbeat that was just missed, and the wait
// that follows, by the slowest clock.
Duration WedgeBound(Duration greatest_lease, Duration round_trip_p999) {
  const Duration waits = greatest_lease * 18 / 10;
  const Duration slow = {waits.ns / (1'000'000 - kRhoPpm) * (2 * kRhoPpm)};
  return waits + slow + round_trip_p999 * 4;
}

Duration RenewalPause(Duration lease) { return lease * 3 / 5; }

constexpr Rules kRules = {
    .protocol = "fenced_lease",
    .key_column = 0,
    .token_column = 2,
    .owner_column = {},
    .renewing_step = {},
    .releasing_step = {},
    .locking_steps = {},  // its transactions are optimistic
    .lease_used = {.unit = Milliseconds(1), .least = Seconds(1), .most = Seconds(3600)},
    .lease_until = {.renewed = kHeartbeatColumn, .lease_ms = kLeaseMsColumn},
    .is_released = {.null_column = kWriterColumn},
    .wedge_bound = WedgeBound,
    .least_lead_percent = 95,
    .calls_of_transaction = 2,
    // Another look six tenths of a lease after a heartbeat, which may have to wait for a sixteenth.
    .handover = {.gives_back = true,
                 .poll_percent = 70,
                 .announced_percent = 7,
                 .settles = Seconds(2)},
    .statements = {.are_known = true, .token_is_commit = true, .empty_holder = true},
    .renewal_pause = RenewalPause};

}  // namespace fenced_lease

// A deque, because references to its elements stay valid when another one is added.
std::deque<Rules>& AllRules() {
  static std::deque<Rules> rules = {
      spindle_v2::kRules, spindle_v3::kRules,   semaphore::kRules,
      lease_lock::kRules, fenced_lease::kRules,
  };
  return rules;
}

}  // namespace

std::optional<Timestamp> LeaseUntilRule::operator()(const Row& row, Duration owners_lease) const {
  const std::optional<size_t> column = until ? until : renewed;
  const auto* time = column ? std::get_if<Timestamp>(&row[*column]) : nullptr;
  if (time == nullptr) return std::nullopt;
  if (until) return *time;
  const auto* stated = lease_ms ? std::get_if<int64_t>(&row[*lease_ms]) : nullptr;
  return *time + (stated == nullptr ? owners_lease : Milliseconds(*stated));
}

bool SideRowRule::operator()(std::string_view lock, std::string_view key) const {
  return is_name_and_number && key.size() > lock.size() && key.starts_with(lock) &&
         key[lock.size()] == '_' && IsDecimal(key.substr(lock.size() + 1));
}

bool MayDelete(Deletes deletes, std::string_view key) {
  switch (deletes) {
    case Deletes::kNone:
      return false;
    case Deletes::kAny:
      return true;
    case Deletes::kWithUnderscore:
      return key.find('_', 1) != std::string_view::npos;
  }
  return false;
}

const Rules& RulesOf(std::string_view protocol) {
  for (const Rules& rules : AllRules()) {
    if (rules.protocol == protocol) return rules;
  }
  std::fprintf(stderr, "no rules for the protocol %s\n", std::string(protocol).c_str());
  std::abort();
}

void AddRules(const Rules& rules) { AllRules().push_back(rules); }

bool IsHeld(const Rules& rules, const Row& row) {
  return !std::holds_alternative<Null>(row[rules.HolderColumn()]);
}

std::optional<Value> ParseKey(const Rules& rules, std::string_view lock, std::string_view text) {
  Value key = rules.row_key(lock);
  if (text == lock) return key;
  auto* number = std::get_if<int64_t>(&key);
  if (number == nullptr) return std::string(text);
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return key;
}

}  // namespace whorl::sim
