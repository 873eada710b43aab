#include "cli/exit_rules.h"

#include <algorithm>

#include "base/text.h"
#include "cli/option_values.h"
#include "cli/output.h"

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

void AddExpectAndAny(CLI::App& app, const std::shared_ptr<ExitRules>& rules) {
  app.add_option_function<std::vector<std::string>>(
         "--expect",
         [rules](const std::vector<std::string>& names) {
           for (const std::string& name : names) {
             rules->expected.push_back(InvariantOf("--expect", name));
           }
         },
         "end with 1 if this one is violated, too, promised or not; may be given again")
      ->type_name("INVARIANT")
      ->allow_extra_args(false);
  app.add_flag("--any", rules->any, "end with 1 if anything is violated, promised or not");
}

void AddAcceptIncomplete(CLI::App& app, const std::shared_ptr<ExitRules>& rules) {
  app.add_flag(
      "--accept-incomplete", rules->accepts_incomplete,
      "end with 0, not 3, if it did not come to its end and has found nothing that decides");
}

std::vector<std::string> ContradictionsOfExpect(const ExitRules& rules, bool promised_only,
                                                std::optional<Invariant> invariant) {
  std::vector<std::string> errors;
  if (promised_only && !rules.expected.empty()) {
    errors.emplace_back(
        "--expect adds to what is promised, and --promised looks for nothing else; leave one out");
  }
  for (const Invariant expected : rules.expected) {
    if (!invariant || *invariant == expected) continue;
    errors.push_back(Cat("--expect ", WordOf(expected), " is not looked for with --invariant ",
                         WordOf(*invariant)));
  }
  return errors;
}

int EndJudged(const absl::Status& done, const ExitRules& rules, const CommandResult& result) {
  const int code = CodeOf(rules, result);
  if (done.ok() && code == kCannotRun && !result.has_failed) {
    Complain("no answer: this did not come to its end (--accept-incomplete takes what there is)");
  }
  return End(done, code);
}

}  // namespace whorl::cli
