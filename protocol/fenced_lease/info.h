// The description of fenced_lease: its table, its steps and its promises.
#pragma once

#include "protocol/protocols.h"

namespace whorl::fenced_lease {

ProtocolInfo Info();

}  // namespace whorl::fenced_lease
