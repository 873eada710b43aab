#include "sim/judge/known.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "sim/scenario/assumptions.h"

namespace whorl::sim {

std::string_view PromiseWords(Invariant invariant, Promise promise) {
  switch (promise) {
    case Promise::kPromised:
      return invariant == Invariant::kFencedWritesOrdered ? "checks the resource" : "promised";
    case Promise::kNotPromised:
      return "not promised";
    case Promise::kNotApplicable:
      break;
  }
  return "n/a";
}

KnownOfViolation KnownOf(const Scenario& scenario, Invariant invariant, Promise found) {
  const ProtocolInfo& protocol = *FindProtocol(scenario.protocol);
  KnownOfViolation known{.invariant = invariant};
  known.promise = protocol.promises[static_cast<size_t>(invariant)];
  for (const PromiseLimit& limit : protocol.promise_limits) {
    if (found == Promise::kPromised) break;
    if (limit.invariant != invariant || !Has(scenario, limit.circumstance)) continue;
    known.limits.push_back(Cat(WordOf(limit.circumstance), ", ", WordOf(limit.void_for)));
  }
  known.beyond = BrokenAssumptions(scenario);
  for (const KnownFinding& finding : protocol.findings) {
    if (std::ranges::find(finding.breaks, invariant) == finding.breaks.end()) continue;
    if (finding.needs && !Has(scenario, *finding.needs)) continue;
    // A finding that needs a circumstance which the scenario has is the likelier one.
    known.findings.insert(finding.needs ? known.findings.begin() : known.findings.end(),
                          finding.id);
  }
  known.page = protocol.page;
  return known;
}

std::string PromiseText(const KnownOfViolation& known) {
  const bool is_promised = known.promise == Promise::kPromised && known.limits.empty();
  std::string text(is_promised ? PromiseWords(known.invariant, known.promise) : "not promised");
  std::string_view separator = " where ";
  for (const std::string& limit : known.limits) {
    text += Cat(separator, limit);
    separator = ", or where ";
  }
  if (!is_promised) return text;
  separator = ", but beyond its assumptions: ";
  for (const std::string& broken : known.beyond) {
    text += Cat(separator, broken);
    separator = ", ";
  }
  return text;
}

std::string FindingsText(const KnownOfViolation& known) {
  std::string text;
  for (size_t i = 0; i < known.findings.size(); ++i) {
    const bool is_last = i + 1 == known.findings.size();
    text += Cat(i == 0 ? "" : (is_last ? " or " : ", "), known.findings[i]);
  }
  if (!text.empty() && !known.page.empty()) text += Cat(", see ", known.page);
  return text;
}

}  // namespace whorl::sim
