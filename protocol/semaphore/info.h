// What semaphore is and promises, for those who do not run it themselves.
#pragma once

#include "protocol/protocols.h"

namespace whorl::semaphore {

ProtocolInfo Info();

}  // namespace whorl::semaphore
