// What simple_lease is and promises, for those who run and judge it.
#pragma once

namespace simple_lease {

// Makes it one of whorl's protocols. REQUIRES: as whorl::sim::AddProtocol.
void Add();

}  // namespace simple_lease
