// Declares the descriptions of the protocols that are built in: their tables, steps and promises, each in the
// protocol's info.cc.
#pragma once

#include "protocol/protocols.h"

namespace whorl::fenced_lease {
ProtocolInfo Info();
}  // namespace whorl::fenced_lease
namespace whorl::lease_lock {
ProtocolInfo Info();
}  // namespace whorl::lease_lock
namespace whorl::semaphore {
ProtocolInfo Info();
}  // namespace whorl::semaphore
namespace whorl::spindle_v2 {
ProtocolInfo Info();
}  // namespace whorl::spindle_v2
namespace whorl::spindle_v3 {
ProtocolInfo Info();
}  // namespace whorl::spindle_v3
