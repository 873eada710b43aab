#include "spanner_model/server/answer.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

namespace whorl::server {
namespace {

bool SaysOneOf(const Status& status, std::span<const std::string_view> texts) {
  return std::ranges::any_of(texts, [&](std::string_view text) { return status.Says(text); });
}

}  // namespace

Status WithRemedy(Status status) {
  constexpr auto kLacks = std::to_array<std::string_view>({"is not modelled", "are not modelled"});
  constexpr auto kMayLack = std::to_array<std::string_view>(
      {"Syntax error", "No matching signature", "Invalid cast from", "not supported",
       "A comparison is not defined", "Type not found", "A valid date part name"});
  constexpr std::string_view kRemedy =
      "whorl proxy puts the same faults before a server that has it";
  if (status.ok() || status.Says(kRemedy)) return status;
  if (SaysOneOf(status, kLacks)) {
    status.message = status.message + "; " + std::string(kRemedy);
  } else if (SaysOneOf(status, kMayLack)) {
    status.message = status.message + "; if Spanner takes it, " + std::string(kRemedy);
  }
  return status;
}

}  // namespace whorl::server
