// What lease_lock is and promises, for those who do not run it themselves.
#pragma once

#include "protocol/protocols.h"

namespace whorl::lease_lock {

ProtocolInfo Info();

}  // namespace whorl::lease_lock
