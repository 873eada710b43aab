// Lists the Spanners on which a scenario can run for real. This header needs no gRPC, so that every
// program can read their names.
#pragma once

#include <cstdint>

#include "protocol/spanner/words.h"

namespace whorl::live {

enum class BackendKind : uint8_t {
  kServer,
  kEmulator,
  kOmni,  // Spanner Omni, or any server with multiplexed sessions at $WHORL_SPANNER_ENDPOINT
};
constexpr auto WordTableOf(BackendKind) {
  return MakeWordTable<BackendKind>({
      {BackendKind::kServer, "server"},
      {BackendKind::kEmulator, "emulator"},
      {BackendKind::kOmni, "omni"},
  });
}

}  // namespace whorl::live
