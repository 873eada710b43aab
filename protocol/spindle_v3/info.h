// What spindle_v3 is and promises, for those who do not run it themselves.
#pragma once

#include "protocol/protocols.h"

namespace whorl::spindle_v3 {

ProtocolInfo Info();

}  // namespace whorl::spindle_v3
