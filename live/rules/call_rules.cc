#include "live/rules/call_rules.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/text.h"
#include "live/foreign/sql_steps.h"
#include "protocol/protocols.h"
#include "protocol/spanner/answers.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/json_document.h"

namespace whorl::live {
namespace {

using sim::JsonKind;
using sim::JsonValue;
using sim::Problems;

constexpr std::array<std::string_view, 19> kKeys = {
    "do",    "method",     "sql",    "sql_matches", "table",     "protocol", "step",
    "count", "parameters", "client", "every",       "times",     "ttl",      "probability",
    "phase", "code",       "for",    "about",       "impossible"};
std::vector<std::string_view> Methods() {
  std::vector<std::string_view> methods;
  for (const CallAnswers& answers : AnswersOfCalls()) methods.push_back(answers.method);
  return methods;
}

// Reads one rule. Every problem is reported at its place.
class RuleReader {
 public:
  RuleReader(const JsonValue& value, Problems& problems) : value_(value), problems_(problems) {}

  CallRule Read() {
    if (value_.kind() != JsonKind::kObject) {
      problems_.Add(value_, Cat("expected an object, got ", sim::Described(value_)));
      return rule_;
    }
    for (const JsonValue& member : value_.Children()) {
      if (std::ranges::find(kKeys, member.key()) == kKeys.end()) {
        problems_.AddAtKey(member, sim::UnknownWord("key", member.key(), kKeys));
      }
    }
    ReadMatch();
    ReadHowOften();
    ReadAction();
    return rule_;
  }

 private:
  template <typename Take>
  void With(std::string_view key, const Take& take) {
    if (const auto found = value_.Find(key)) take(*found);
  }
  void Text(std::string_view key, std::string& out) {
    With(key, [&](const JsonValue& value) {
      if (value.kind() == JsonKind::kString && !value.text().empty()) {
        out = value.text();
      } else {
        problems_.Add(value, Cat("expected a text, got ", sim::Described(value)));
      }
    });
  }
  void Count(std::string_view key, int64_t least, int64_t most, int64_t& out) {
    With(key, [&](const JsonValue& value) {
      const auto number = value.AsInt64();
      if (number && *number >= least && *number <= most) {
        out = *number;
      } else {
        problems_.Add(value, Cat("expected a number from ", std::to_string(least), " to ",
                                 std::to_string(most), ", got ", sim::Described(value)));
      }
    });
  }
  std::optional<size_t> Word(const JsonValue& value, std::string_view what,
                             std::span<const std::string_view> words) {
    return sim::ReadWord(value, what, words, problems_);
  }

  void ReadMatch() {
    With("method", [&](const JsonValue& value) {
      const std::vector<std::string_view> methods = Methods();
      if (const auto at = Word(value, "method", methods)) rule_.method = methods[*at];
    });
    Text("sql", rule_.sql);
    if (!rule_.sql.empty()) rule_.sql = NormalizedSql(rule_.sql);
    With("sql_matches", [&](const JsonValue& value) {
      try {
        rule_.sql_matches = std::make_shared<const std::regex>(
            std::string(value.text()), std::regex::ECMAScript | std::regex::icase);
      } catch (const std::regex_error& error) {
        problems_.Add(value, Cat("is no regular expression: ", error.what()));
      }
    });
    Text("table", rule_.table);
    ReadStep();
    With("parameters", [&](const JsonValue& value) {
      if (value.kind() != JsonKind::kObject) {
        problems_.Add(value, Cat("expected an object, got ", sim::Described(value)));
      }
      for (const JsonValue& one : value.Children()) {
        rule_.parameters[std::string(one.key())] = one.text();
      }
    });
    With("client", [&](const JsonValue& value) {
      int64_t client = 0;
      Count("client", 1, 1000, client);
      if (value.AsInt64()) rule_.client = static_cast<int16_t>(client - 1);
    });
  }

  void ReadStep() {
    With("protocol", [&](const JsonValue& value) {
      std::vector<std::string_view> names;
      for (const ProtocolInfo& info : Protocols()) names.push_back(info.name);
      if (const auto at = Word(value, "protocol", names)) rule_.protocol = names[*at];
    });
    With("step", [&](const JsonValue& value) {
      const ProtocolInfo* info = FindProtocol(rule_.protocol);
      if (info == nullptr || info->statements == nullptr) {
        problems_.Add(value, rule_.protocol.empty()
                                 ? "a step needs its \"protocol\" beside it"
                                 : Cat(rule_.protocol, " does not say its statements"));
        return;
      }
      std::vector<StepName> steps;
      std::vector<std::string_view> words;
      for (const StepStatement& statement : info->statements(std::string(info->table))) {
        steps.push_back(statement.step);
        words.push_back(WordOf(statement.step));
      }
      if (const auto at = Word(value, "step", words)) rule_.step = steps[*at];
    });
  }

  void ReadHowOften() {
    constexpr int64_t kMost = 1'000'000'000;
    Count("count", 1, kMost, rule_.count);
    Count("every", 1, kMost, rule_.every);
    // A rule for a time, or with a probability, strikes as often as it can.
    const bool bounded = value_.Find("ttl").has_value() || value_.Find("probability").has_value();
    rule_.times = bounded ? 0 : 1;
    Count("times", 0, kMost, rule_.times);
    Count("probability", 1, 100, rule_.percent);
    With("ttl", [&](const JsonValue& value) {
      rule_.ttl = sim::ReadDuration(value, sim::Form::kPositiveDuration, problems_);
    });
  }

  void ReadAction() {
    const auto action = value_.Find("do");
    if (!action) return problems_.Add(value_, "\"do\" is missing: what happens to the call");
    if (const auto at = Word(*action, "fault", AllWords<RuleAction>())) {
      rule_.action = static_cast<RuleAction>(*at);
    }
    const bool only_served = rule_.action == RuleAction::kDropReply;
    rule_.phase = only_served ? RulePhase::kServed : RulePhase::kSent;
    With("phase", [&](const JsonValue& value) {
      const auto at = Word(value, "phase", AllWords<RulePhase>());
      if (!at) return;
      rule_.phase = static_cast<RulePhase>(*at);
      if (only_served && rule_.phase == RulePhase::kSent) {
        problems_.Add(value, "a reply can be lost when there is one: \"served\"");
      }
      if (rule_.action == RuleAction::kDropRequest && rule_.phase == RulePhase::kServed) {
        problems_.Add(value,
                      "a request that was served cannot be lost; drop_reply loses its reply");
      }
    });
    With("code", [&](const JsonValue& value) {
      const auto at = Word(value, "code", AllWords<Code>());
      if (!at) return;
      rule_.code = static_cast<Code>(*at);
      if (rule_.code == Code::kOk) problems_.Add(value, "OK is no error");
      if (rule_.action != RuleAction::kError) problems_.Add(value, "only \"error\" has a code");
    });
    ReadTime();
    CheckPossible(*action);
  }

  // Who tests against what Spanner never shows finds defects that are none.
  void CheckPossible(const JsonValue& action) {
    const std::optional<Code> code = AnswerOf(rule_);
    With("impossible", [&](const JsonValue& value) {
      if (value.kind() != JsonKind::kBoolean) {
        problems_.Add(value, Cat("expected true or false, got ", sim::Described(value)));
      } else if (value.IsTrue() && !code) {
        problems_.Add(value, "what this fault does can happen");
      }
      rule_.impossible = value.IsTrue();
    });
    if (!code || *code == Code::kOk || rule_.impossible) return;
    const std::string why = WhyImpossible(*code);
    if (why.empty()) return;
    const auto at = value_.Find(rule_.action == RuleAction::kError ? "code" : "do");
    problems_.Add(at.value_or(action),
                  Cat(why, "; \"impossible\": true beside it shows it nevertheless"));
  }
  // Empty if Spanner can answer so.
  std::string WhyImpossible(Code code) const {
    if (rule_.phase == RulePhase::kServed) {
      if (OutcomeUnknown().Has(code)) return {};
      return Cat("Spanner does not answer ", WordOf(code),
                 " to a call that it has served; \"phase\": \"sent\" strikes before that, and ",
                 "after it there are drop_reply and the codes ", ListOf(OutcomeUnknown()));
    }
    if (rule_.method.empty()) {
      const bool is_possible = std::ranges::any_of(AnswersOfCalls(), [&](const CallAnswers& one) {
        return MayAnswer(one.method, code, true);
      });
      return is_possible ? "" : Cat("Spanner answers ", WordOf(code), " to no call");
    }
    const CallAnswers* answers = FindAnswers(rule_.method);
    if (answers == nullptr) return {};  // told already
    if (rule_.action == RuleAction::kSessionLoss) {
      return answers->can_lose_session
                 ? ""
                 : Cat("Spanner answers ", rule_.method, " without looking for a session");
    }
    if (MayAnswer(rule_.method, code, true)) return {};
    return Cat("Spanner never answers ", WordOf(code), " to ", rule_.method,
               "; its codes: ", ListOf(AnyCall() | answers->codes));
  }
  static std::string ListOf(CodeSet codes) {
    std::string list;
    for (const Code code : AllOf<Code>()) {
      if (codes.Has(code)) list += Cat(list.empty() ? "" : ", ", WordOf(code));
    }
    return list;
  }

  void ReadTime() {
    const bool has_time =
        rule_.action == RuleAction::kHold || rule_.action == RuleAction::kLatency ||
        rule_.action == RuleAction::kBlackHole || rule_.action == RuleAction::kReset;
    const auto found = value_.Find("for");
    if (!found) {
      if (has_time) problems_.Add(value_, "\"for\" is missing: how long");
      return;
    }
    if (!has_time) {
      return problems_.Add(*found, "this fault takes no time; \"ttl\" is how long the rule lives");
    }
    const auto read = [&](const JsonValue& value, Duration& out) {
      const auto time = sim::ReadDuration(value, sim::Form::kDuration, problems_);
      if (time) out = *time;
    };
    if (found->kind() != JsonKind::kArray) {
      read(*found, rule_.least);
      rule_.most = rule_.least;
      return;
    }
    const std::vector<JsonValue> bounds = found->Children();
    if (bounds.size() != 2) {
      return problems_.Add(*found, "expected a duration, or two between which one is drawn");
    }
    read(bounds[0], rule_.least);
    read(bounds[1], rule_.most);
    if (rule_.most < rule_.least) problems_.Add(*found, "the second is shorter than the first");
  }

  const JsonValue value_;
  Problems& problems_;
  CallRule rule_;
};

}  // namespace

std::optional<Code> AnswerOf(const CallRule& rule) {
  switch (rule.action) {
    case RuleAction::kAbort:
      return Code::kAborted;
    case RuleAction::kError:
      return rule.code;
    case RuleAction::kSessionLoss:
      return Code::kNotFound;
    default:
      return std::nullopt;
  }
}

bool ParseRules(const std::string& name, std::string_view text, std::vector<CallRule>& out,
                std::vector<std::string>& errors) {
  Problems problems;
  std::vector<CallRule> rules;
  if (const auto document = sim::JsonDocument::Parse(text, problems.list())) {
    const JsonValue root = document->root();
    const auto faults = root.kind() == JsonKind::kObject ? root.Find("faults") : std::nullopt;
    if (!faults || faults->kind() != JsonKind::kArray) {
      problems.Add(root, "expected an object with \"faults\", an array of rules");
    } else {
      for (const JsonValue& member : root.Children()) {
        if (member.key() == "faults" || member.key() == "about") continue;
        constexpr std::array<std::string_view, 2> kRootKeys = {"about", "faults"};
        problems.AddAtKey(member, sim::UnknownWord("key", member.key(), kRootKeys));
      }
      for (const JsonValue& one : faults->Children()) {
        if (problems.Full()) break;
        rules.push_back(RuleReader(one, problems).Read());
        rules.back().text =
            Cat(name, ":", std::to_string(one.position().line), " (", one.Pointer(), ")");
      }
    }
  }
  if (problems.empty()) {
    std::ranges::move(rules, std::back_inserter(out));
    return true;
  }
  std::ranges::sort(problems.list(), {}, [](const sim::Problem& one) {
    return std::pair(one.position.line, one.position.column);
  });
  for (const sim::Problem& one : problems.list()) {
    errors.push_back(Cat(name, ":", std::to_string(one.position.line), ":",
                         std::to_string(one.position.column), ": ", one.pointer,
                         one.pointer.empty() ? "" : ": ", one.text));
  }
  return false;
}

}  // namespace whorl::live
