#include "cli/exit_rules.h"

#include <algorithm>

namespace whorl::cli {

bool ExitRules::Decides(const FoundViolation& found) const {
  switch (measure) {
    case Measure::kExpectations:
      return !found.is_expected;
    case Measure::kPromises:
      return any || found.is_promised ||
             std::ranges::find(expected, found.invariant) != expected.end();
    case Measure::kInvariants:
      return found.is_promised || !promised_only;
  }
  return true;
}

int CodeOf(const ExitRules& rules, const CommandResult& result) {
  if (result.has_found && rules.found_code != kAsExpected) return rules.found_code;
  if (result.has_failed) return kCannotRun;
  if (result.has_bad_input) return kBadInput;
  if (result.is_incomplete && !rules.accepts_incomplete) return kCannotRun;
  return kAsExpected;
}

}  // namespace whorl::cli
