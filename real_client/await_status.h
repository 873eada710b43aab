// Turns a call with a callback into one that blocks.
#pragma once

#include <future>
#include <utility>

#include "protocol/spanner/status.h"

namespace whorl::real_client {

// Calls `begin` with a callback, and waits for the status that it gets. REQUIRES: the callback is called
// once, from another thread or at once.
template <typename Begin>
Status AwaitStatus(const Begin& begin) {
  std::promise<Status> promise;
  begin([&promise](Status status) { promise.set_value(std::move(status)); });
  return promise.get_future().get();
}

}  // namespace whorl::real_client
