// The description of spindle_v2: its table, its steps and its promises.
#pragma once

#include "protocol/protocols.h"

namespace whorl::spindle_v2 {

ProtocolInfo Info();

}  // namespace whorl::spindle_v2
