// Which goals (`sometimes`) no run of a protocol can meet.
#pragma once

#include <string_view>

#include "protocol/protocols.h"
#include "sim/scenario/metrics.h"

namespace whorl::sim {

// Why no run of the protocol meets the goal; empty if one may, or if nobody has shown that none does.
std::string_view WhyNever(const ProtocolInfo& protocol, Sometimes goal);

}  // namespace whorl::sim
