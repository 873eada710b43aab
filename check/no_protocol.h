// Stands in the place of a protocol for locks that are none of whorl's: what their processes logged is judged, no
// row is read, and nothing is promised.
#pragma once

#include <string_view>

#include "protocol/names.h"
#include "protocol/protocols.h"
#include "sim/scenario/rules.h"

namespace whorl::check {

inline constexpr std::string_view kNoProtocolName = "none";

const ProtocolInfo& NoProtocol();
inline bool IsNone(const ProtocolInfo& protocol) { return protocol.name == kNoProtocolName; }

// The protocol of that name, or NoProtocol(). Null if there is no such protocol.
const ProtocolInfo* FindProtocolOrNone(std::string_view name);

// The rules of the protocol. Those of NoProtocol() are for rows that do not come.
const sim::Rules& RulesFor(const ProtocolInfo& protocol);

// Why the invariant cannot be judged without a protocol; empty if it can be.
std::string_view WhyNotWithoutProtocol(Invariant invariant);

}  // namespace whorl::check
