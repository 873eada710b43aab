// Says what row_lease is and promises, for the simulator, the real client and the judges.
#pragma once

namespace row_lease {

// Makes it one of whorl's protocols. REQUIRES: as whorl::sim::AddProtocol.
void Add();

}  // namespace row_lease
