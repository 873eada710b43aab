#include "sim/judge/checkers/token_monotonic.h"

#include <string>

namespace whorl::sim {

void TokenMonotonic::On(const VersionChanged& x, const Now& now) {
  if (!InstallsToken(x.kind) || !x.after->token) return;
  const Token token = *x.after->token;
  std::optional<Token>& most = greatest[x.lock];
  const bool owner_changes = x.after->owner != x.last_owner;
  if (most && (token < *most || (token == *most && owner_changes))) {
    now.Violated(kInvariant, x.lock, [&] {
      return now.NameOf(x.writer) + " committed the token " + FormatToken(token) + " of lock " +
             now.QuotedLock(x.lock) + ", which had already had " + FormatToken(*most);
    });
  }
  if (!most || token > *most) most = token;
}

}  // namespace whorl::sim
