// Which Spanner a scenario runs on for real. Without gRPC, so that every program can read its name.
#pragma once

#include <cstdint>

#include "protocol/spanner/words.h"

namespace whorl::live {

enum class BackendKind : uint8_t { kServer, kEmulator };
constexpr auto WordTableOf(BackendKind) {
  return MakeWordTable<BackendKind>({
      {BackendKind::kServer, "server"},
      {BackendKind::kEmulator, "emulator"},
  });
}

}  // namespace whorl::live
