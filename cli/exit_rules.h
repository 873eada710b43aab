// Decides the exit code of a command that judges, by the one table of docs/EXIT_CODES.md.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cli/exit_code.h"
#include "sim/judge/check_report.h"

namespace whorl::cli {

// What a verdict is measured by.
enum class Measure : uint8_t {
  kExpectations,  // those of the scenario: replay, report
  kPromises,      // those of the protocol, which is being looked for flaws: hunt, explore
  kInvariants,    // all that are judged, of programs that others run: check, serve --judge
};

// A violation that is certain.
struct FoundViolation {
  Invariant invariant = Invariant::kOneLiveToken;
  bool is_promised = false;  // by the protocol, in such a world
  bool is_expected = false;  // by the scenario
};

// What the command line says of its exit code.
struct ExitRules {
  Measure measure = Measure::kExpectations;
  bool any = false;                     // --any
  std::vector<Invariant> expected;      // --expect
  bool promised_only = false;           // --promised
  bool accepts_incomplete = false;      // --accept-incomplete
  int found_code = kExpectationFailed;  // --exit-code-found

  // Whether the violation decides. One that does not is told all the same.
  bool Decides(const FoundViolation& found) const;
};

// The result of a command.
struct CommandResult {
  bool has_found = false;      // something that decides
  bool has_failed = false;     // a part of the work could not be done, and that was said
  bool has_bad_input = false;  // the rest was judged
  bool is_incomplete = false;  // it did not come to its end, and it was not the user who bounded it
};

// What was found comes first, then what could not be done, then input that is bad, then an end that is
// missing; --exit-code-found 0 hides none of these.
int CodeOf(const ExitRules& rules, const CommandResult& result);

// Options by which the command line sets the rules: --expect, --any and --accept-incomplete.

void AddExpectAndAny(CLI::App& app, const std::shared_ptr<ExitRules>& rules);
void AddAcceptIncomplete(CLI::App& app, const std::shared_ptr<ExitRules>& rules);

// Messages about invariants that --expect names and the search does not look for. `invariant`: the only one
// that it looks for.
std::vector<std::string> ContradictionsOfExpect(const ExitRules& rules, bool promised_only,
                                                std::optional<Invariant> invariant);

// The exit code of a command after it has printed its verdict: by `done`, if that is an error, else by CodeOf.
// Prints on standard error why an answer is missing.
int EndJudged(const absl::Status& done, const ExitRules& rules, const CommandResult& result);

// The line above violations that do not decide.
inline constexpr std::string_view kUndecidingHead =
    "found, and not promised, so that the exit code is not 1 for it (--any, --expect INVARIANT):";

}  // namespace whorl::cli
