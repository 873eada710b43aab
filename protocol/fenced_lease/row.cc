#include "protocol/fenced_lease/row.h"

#include <algorithm>
#include <cstddef>

#include "protocol/fenced_lease/fenced_lease.h"

namespace whorl::fenced_lease {
namespace {

enum Column : size_t { kHeartbeat, kToken, kWriter, kLeaseMs, kAttempt, kNow };

}  // namespace

std::variant<LockRow, std::string> ParseRow(const Row& row, Duration own_lease) {
  LockRow parsed;
  const auto* heartbeat = std::get_if<Timestamp>(&row[kHeartbeat]);
  if (heartbeat == nullptr) return "heartbeat is NULL: it has to be a commit timestamp";
  parsed.heartbeat = *heartbeat;
  if (const auto* token = std::get_if<Timestamp>(&row[kToken])) parsed.token = *token;
  parsed.released = std::holds_alternative<Null>(row[kWriter]);
  parsed.lease = own_lease;
  if (const auto* lease_ms = std::get_if<int64_t>(&row[kLeaseMs])) {
    if (*lease_ms <= 0 || *lease_ms > kLeaseMax.ns / 1'000'000) {
      return "lease_ms is " + std::to_string(*lease_ms) +
             ": it has to be above 0 and at most an hour, or NULL";
    }
    parsed.lease = Milliseconds(*lease_ms);
  }
  if (const auto* attempt = std::get_if<std::string>(&row[kAttempt])) parsed.attempt = *attempt;
  if (const auto* now = std::get_if<Timestamp>(&row[kNow])) {
    // Whatever that clock says, no more than an hour is of use.
    parsed.age = std::clamp(*now - parsed.heartbeat, -kLeaseMax, kLeaseMax);
  }
  return parsed;
}

}  // namespace whorl::fenced_lease
