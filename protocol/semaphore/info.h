// The description of semaphore: its table, its steps and its promises.
#pragma once

#include "protocol/protocols.h"

namespace whorl::semaphore {

ProtocolInfo Info();

}  // namespace whorl::semaphore
