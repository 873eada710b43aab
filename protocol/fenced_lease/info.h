// What fenced_lease is and promises, for those who do not run it themselves.
#pragma once

#include "protocol/protocols.h"

namespace whorl::fenced_lease {

ProtocolInfo Info();

}  // namespace whorl::fenced_lease
