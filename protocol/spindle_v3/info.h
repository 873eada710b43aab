// The description of spindle_v3: its table, its steps and its promises.
#pragma once

#include "protocol/protocols.h"

namespace whorl::spindle_v3 {

ProtocolInfo Info();

}  // namespace whorl::spindle_v3
