// The description of lease_lock: its table, its steps and its promises.
#pragma once

#include "protocol/protocols.h"

namespace whorl::lease_lock {

ProtocolInfo Info();

}  // namespace whorl::lease_lock
