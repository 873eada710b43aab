// Reads rules, which are faults for the calls of any program: which calls a rule strikes, and what
// it does to them.
//
// A file of rules is JSON: {"faults": [ {...}, ... ]}; sim/scenario/language.h describes it, and
// scenarios/LANGUAGE.md prints that.
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
#include "sim/scenario/faults/kinds.h"
#include "sim/scenario/names.h"

namespace whorl::live {

struct CallRule {
  // Selects calls: each of these that is given has to match.
  std::string method;                             // "Commit"; empty: any
  std::string sql;                                // after NormalizedSql; empty: any
  std::shared_ptr<const std::regex> sql_matches;  // found in the text as it was sent; null: any
  std::string table;                              // a word of the SQL, or the table of a read
  std::string protocol;                           // of `step`
  std::optional<StepName> step;
  std::map<std::string, std::string> parameters;  // as JSON has their values
  std::optional<int16_t> client;                  // from 0
  // Which of these: each `nth` from the `count`-th on, `times` of them (0: all), each with
  // `percent` of probability, for `ttl` after the rule was made.
  int64_t count = 1;
  int64_t nth = 1;
  int64_t times = 1;
  int64_t percent = 100;
  std::optional<Duration> ttl;
  // What the rule does to the calls.
  Phase phase = Phase::kSent;      // or kServed
  sim::AnyFault what;              // of a kind of sim::KindsOfRules()
  Code code = Code::kUnavailable;  // of an ErrorFault: scenarios know fewer
  // Even where Spanner never answers so (protocol/spanner/answers.h).
  bool impossible = false;
  std::string text;  // the rule as it was written, for people
};

// The code that answers the rule's calls in Spanner's place; empty: the rule does something else.
std::optional<Code> AnswerOf(const CallRule& rule);

struct RuleFile {
  std::vector<CallRule> rules;      // none if there are errors
  std::vector<std::string> errors;  // ErrorLines
  std::string note;                 // for people, if the file has the words of an earlier release
};
RuleFile ParseRules(const std::string& name, std::string_view text);

}  // namespace whorl::live
