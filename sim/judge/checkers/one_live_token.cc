#include "sim/judge/checkers/one_live_token.h"

#include <string>

namespace whorl::sim {
namespace {

// "a, b"
std::string HolderNames(uint16_t lock, const Now& now) {
  std::string names;
  for (const ProcessId process : now.ledger.Holders(lock)) {
    if (!names.empty()) names += ", ";
    names += now.NameOf(process);
  }
  return names;
}

void JudgeHolders(uint16_t lock, const Now& now) {
  if (now.ledger.HolderCount(lock) <= 1) return;
  now.Violated(OneLiveToken::kInvariant, lock, [&] {
    return HolderNames(lock, now) + " take the live token " +
           FormatToken(*now.ledger.Newest(lock)->token) + " of lock " + now.QuotedLock(lock) +
           " for their own";
  });
}

}  // namespace

void OneLiveToken::On(const VersionChanged& x, const Now& now) {
  if (InstallsToken(x.kind)) JudgeHolders(x.lock, now);
}

void OneLiveToken::On(const OwnTokenChanged& x, const Now& now) {
  const std::optional<Version>& newest = now.ledger.Newest(x.lock);
  const bool is_live =
      newest && newest->token && newest->token == now.ledger.OwnToken(x.process, x.lock, now.setup);
  if (is_live) JudgeHolders(x.lock, now);
}

}  // namespace whorl::sim
