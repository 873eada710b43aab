#include "protocol/protocols.h"

#include "protocol/fenced_lease/info.h"
#include "protocol/lease_lock/info.h"
#include "protocol/semaphore/info.h"
#include "protocol/spindle_v2/info.h"
#include "protocol/spindle_v3/info.h"

namespace whorl {

std::span<const ProtocolInfo> Protocols() {
  static const std::array<ProtocolInfo, 5> protocols = {spindle_v2::Info(), spindle_v3::Info(),
                                                        semaphore::Info(), lease_lock::Info(),
                                                        fenced_lease::Info()};
  return protocols;
}

const ProtocolInfo* FindProtocol(std::string_view name) {
  for (const ProtocolInfo& info : Protocols()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace whorl
