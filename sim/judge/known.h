// What is known of a violation before anyone looks at the run: whether the protocol promises the
// invariant in such a scenario, and which findings of its page break it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/protocols.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// "promised", "not promised", "n/a"; "checks the resource" of fenced_writes_ordered, which no protocol can
// keep: it is the resource that fences. Where a promise counts, it counts as one.
std::string_view PromiseWords(Invariant invariant, Promise promise);

struct KnownOfViolation {
  Invariant invariant = Invariant::kOneLiveToken;
  Promise promise = Promise::kPromised;  // anywhere
  // The circumstances of the scenario in which the protocol does not promise it, in words: those that excuse this
  // violation are among them. Empty if none excuses it.
  std::vector<std::string> limits;
  std::vector<std::string> beyond;  // the assumptions that the scenario breaks, in words
  // Ids of the page's findings that break the invariant, and that the scenario does not rule out.
  std::vector<std::string_view> findings;
  std::string_view page;  // from the repository's root; empty if the protocol has none

  // Nothing excuses the violation: the protocol is wrong, or whorl is.
  bool IsPromiseBroken() const {
    return promise == Promise::kPromised && limits.empty() && beyond.empty();
  }
};
// `found` is what the violation was of the promise (InvariantResult::promise).
// REQUIRES: a protocol of Protocols().
KnownOfViolation KnownOf(const Scenario& scenario, Invariant invariant, Promise found);

// "promised, but beyond its assumptions: TrueTime lies", "not promised where two nodes share an id, for the whole run".
std::string PromiseText(const KnownOfViolation& known);
// "S1 or S2, see protocol/spindle_v2/README.md"; empty if there is no finding.
std::string FindingsText(const KnownOfViolation& known);

}  // namespace whorl::sim
