// Decides which writes to the resources of a lock are legitimate: one definition for metrics,
// timeline and diagram.
//
// A write is legitimate if its process owned the lock's newest version both when it was sent and when
// it arrived; any other is stale. So a late write of an earlier term of the same process is stale.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/fields.h"
#include "sim/world/observation.h"

namespace whorl::sim {

struct LockWrites {
  struct UnderWay {
    ProcessId process;
    bool fenced = false;
    std::optional<uint64_t> token;
    Instant sent_at;
    WHORL_FIELDS(UnderWay, process, fenced, token, sent_at);
  };

  Instant granted_at;               // when the newest version's grant was seen
  std::vector<UnderWay> under_way;  // in the order in which they were sent
  WHORL_FIELDS(LockWrites, granted_at, under_way);

  void Send(const WriteSent& x, Instant at) {
    under_way.push_back(
        {.process = x.process, .fenced = x.fenced, .token = x.token, .sent_at = at});
  }
  // Whether it is legitimate. `owner` owns the newest version at `at`. A write whose sending was not
  // observed was sent when it arrived. Once for each write.
  bool Arrive(const WriteArrived& x, ProcessId owner, Instant at) {
    Instant sent = at;
    const auto write = std::ranges::find_if(under_way, [&](const UnderWay& one) {
      return one.process == x.process && one.fenced == x.fenced && one.token == x.token;
    });
    if (write != under_way.end()) {
      sent = write->sent_at;
      under_way.erase(write);
    }
    return owner == x.process && sent >= granted_at;
  }
};

}  // namespace whorl::sim
