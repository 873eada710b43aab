#include "protocol/protocols.h"

#include "protocol/spindle_v2/info.h"

namespace whorl {

std::span<const ProtocolInfo> Protocols() {
  static const std::array<ProtocolInfo, 1> protocols = {spindle_v2::Info()};
  return protocols;
}

const ProtocolInfo* FindProtocol(std::string_view name) {
  for (const ProtocolInfo& info : Protocols()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace whorl
