// What spindle_v2 is and promises, for those who do not run it themselves.
#pragma once

#include "protocol/protocols.h"

namespace whorl::spindle_v2 {

ProtocolInfo Info();

}  // namespace whorl::spindle_v2
