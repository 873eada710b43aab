// 128-bit integers, for products that must not round. g++ and clang++ both have them.
#pragma once

namespace whorl::sim {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

}  // namespace whorl::sim
