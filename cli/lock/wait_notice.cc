#include "cli/lock/wait_notice.h"

#include <chrono>
#include <utility>

#include "base/text.h"
#include "cli/output.h"

namespace whorl::cli {

WaitNotice::WaitNotice(const LockRequest& request, std::function<bool()> waits)
    : thread_([this, endpoint = EndpointOf(request),
               waits = std::move(waits)](const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        stopped_.wait_for(lock, stop, std::chrono::seconds(2), [] { return false; });
        if (stop.stop_requested() || (waits && !waits())) return;
        Complain(Cat("waiting for Spanner at ", endpoint));
      }) {}

}  // namespace whorl::cli
