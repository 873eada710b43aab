// Faults for the calls of any program: which calls a rule strikes, and what it does to them.
//
// A file of rules is JSON: {"faults": [ {...}, ... ]}; README.md has its words.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/names.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/words.h"

namespace whorl::live {

enum class RuleAction : uint8_t {
  kAbort,
  kError,
  kDropRequest,
  kDropReply,
  kHold,
  kLatency,
  kSessionLoss,
  kBlackHole,
  kReset,
};
constexpr auto WordTableOf(RuleAction) {
  return MakeWordTable<RuleAction>({
      {RuleAction::kAbort, "abort"},
      {RuleAction::kError, "error"},
      {RuleAction::kDropRequest, "drop_request"},
      {RuleAction::kDropReply, "drop_reply"},
      {RuleAction::kHold, "hold"},
      {RuleAction::kLatency, "latency"},
      {RuleAction::kSessionLoss, "session_loss"},
      {RuleAction::kBlackHole, "black_hole"},
      {RuleAction::kReset, "reset"},
  });
}

// Before Spanner has the call, or when it has answered.
enum class RulePhase : uint8_t { kSent, kServed };
constexpr auto WordTableOf(RulePhase) {
  return MakeWordTable<RulePhase>({
      {RulePhase::kSent, "sent"},
      {RulePhase::kServed, "served"},
  });
}

struct CallRule {
  // Which calls: all that are given have to match.
  std::string method;                             // "Commit"; empty: any
  std::string sql;                                // after NormalizedSql; empty: any
  std::shared_ptr<const std::regex> sql_matches;  // found in the text as it was sent; null: any
  std::string table;                              // a word of the SQL, or the table of a read
  std::string protocol;                           // of `step`
  std::optional<StepName> step;
  std::map<std::string, std::string> parameters;  // as JSON has their values
  std::optional<int16_t> client;                  // from 0
  // Which of these: each `every`-th from the `count`-th on, `times` of them (0: all), each with
  // `percent` of probability, for `ttl` after the rule was made.
  int64_t count = 1;
  int64_t every = 1;
  int64_t times = 1;
  int64_t percent = 100;
  std::optional<Duration> ttl;
  // What happens to them.
  RulePhase phase = RulePhase::kSent;
  RuleAction action = RuleAction::kAbort;
  Code code = Code::kUnavailable;  // of kError
  // Even where Spanner never answers so (protocol/spanner/answers.h).
  bool impossible = false;
  Duration least;  // drawn between these, for actions that take time
  Duration most;
  std::string text;  // the rule as it was written, for people
};

// What the rule's calls are answered in Spanner's place; empty: it does something else to them.
std::optional<Code> AnswerOf(const CallRule& rule);

// Appends the rules of a text, or what is wrong with them: "NAME:3:5: /faults/0/do: ...", as of
// scenarios. False if anything is wrong.
bool ParseRules(const std::string& name, std::string_view text, std::vector<CallRule>& out,
                std::vector<std::string>& errors);

}  // namespace whorl::live
