// Which Spanner a scenario runs on for real. Without gRPC, so that every program can read its name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace whorl::live {

enum class BackendKind : uint8_t { kServer, kEmulator };
// In the order of BackendKind.
inline constexpr std::array<std::string_view, 2> kBackendTexts = {"server", "emulator"};

constexpr std::string_view BackendText(BackendKind kind) {
  return kBackendTexts[static_cast<size_t>(kind)];
}

}  // namespace whorl::live
