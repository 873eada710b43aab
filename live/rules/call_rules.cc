#include "live/rules/call_rules.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "live/foreign/sql_steps.h"
#include "protocol/protocols.h"
#include "protocol/spanner/answers.h"
#include "sim/scenario/earlier_words.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/json_document.h"
#include "sim/scenario/loader.h"

namespace whorl::live {
namespace {

using sim::JsonValue;
using sim::KindOf;
using sim::kKindOf;
using sim::ObjectFields;
using sim::ObjectId;
using sim::Problems;

std::string ListOf(CodeSet codes) {
  std::string list;
  for (const Code code : AllOf<Code>()) {
    if (codes.Has(code)) list += Cat(list.empty() ? "" : ", ", WordOf(code));
  }
  return list;
}

// Why Spanner never answers so to the rule's calls; empty if it may.
std::string WhyImpossible(const CallRule& rule, Code code) {
  if (rule.phase == Phase::kServed) {
    if (OutcomeUnknown().Has(code)) return {};
    return Cat("Spanner does not answer ", WordOf(code),
               " to a call that it has served; \"phase\": \"sent\" strikes before that, and ",
               "after it there are drop_reply and the codes ", ListOf(OutcomeUnknown()));
  }
  if (rule.method.empty()) {
    const bool is_possible = std::ranges::any_of(AnswersOfCalls(), [&](const CallAnswers& one) {
      return MayAnswer(one.method, code, true);
    });
    return is_possible ? "" : Cat("Spanner answers ", WordOf(code), " to no call");
  }
  const CallAnswers* answers = FindAnswers(rule.method);
  if (KindOf(rule.what) == kKindOf<sim::SessionLossFault>) {
    return answers->can_lose_session
               ? ""
               : Cat("Spanner answers ", rule.method, " without looking for a session");
  }
  if (MayAnswer(rule.method, code, true)) return {};
  return Cat("Spanner never answers ", WordOf(code), " to ", rule.method,
             "; its codes: ", ListOf(AnyCall() | answers->codes));
}

// Reads one rule. Every problem is reported at its place.
class RuleReader {
 public:
  RuleReader(const JsonValue& value, Problems& problems)
      : fields_(value, ObjectId::kRule, problems), problems_(problems) {}

  CallRule Read() {
    const size_t before = problems_.size();
    if (const auto kind = fields_.Word<size_t>("do", "fault")) {
      rule_.what = sim::MakeFault(sim::KindsOfRules()[*kind]);
      ReadKeysOfKind();
    }
    if (const auto match = fields_.Object("match")) ReadMatch(*match);
    ReadHowOften();
    rule_.impossible = fields_.Boolean("impossible").value_or(false);
    if (problems_.size() == before) CheckPossible();
    return rule_;
  }

 private:
  template <typename Kind>
  bool Is() const {
    return KindOf(rule_.what) == kKindOf<Kind>;
  }

  void ReadKeysOfKind() {
    const sim::FaultKind kind = KindOf(rule_.what);
    for (const std::string_view key : sim::RuleKeys()) {
      const auto found = fields_.Find(key);
      if (!found && sim::RuleNeeds(kind, key)) {
        problems_.Add(fields_.value(),
                      Cat(Quoted(sim::FaultKindText(kind)), " needs the key ", Quoted(key)));
      } else if (found && !sim::RuleTakes(kind, key)) {
        problems_.AddAtKey(*found,
                           Cat(Quoted(sim::FaultKindText(kind)), " has no ", Quoted(key),
                               key == "for" ? "; \"ttl\" is how long the rule strikes" : ""));
      }
    }
    std::visit(sim::Overloaded{
                   [&](sim::LatencyFault& latency) {
                     if (const auto add = fields_.Find("add")) {
                       latency.add = sim::ReadDelay(*add, problems_).value_or(latency.add);
                     }
                   },
                   [&](sim::PartitionFault& partition) {
                     partition.lasts = fields_.Time("for");
                     partition.mode =
                         fields_.Word<sim::PartitionMode>("mode").value_or(partition.mode);
                   },
                   [&](sim::ErrorFault&) { ReadCode(); },
                   [](auto&) {},
               },
               rule_.what);
  }
  void ReadCode() {
    const auto index = fields_.Word<size_t>("code", "code");
    if (!index) return;
    const auto words = sim::DescribeObject(ObjectId::kRule).Find("code")->words;
    rule_.code = *ParseWord<Code>(words[*index]);
  }

  void ReadMatch(const ObjectFields& match) {
    if (const auto method = match.Word<size_t>("method", "method")) {
      rule_.method = AnswersOfCalls()[*method].method;
    }
    rule_.sql = match.Text("sql").value_or("");
    if (!rule_.sql.empty()) rule_.sql = NormalizedSql(rule_.sql);
    if (const auto pattern = match.Text("sql_matches")) {
      try {
        rule_.sql_matches = std::make_shared<const std::regex>(
            *pattern, std::regex::ECMAScript | std::regex::icase);
      } catch (const std::regex_error& error) {
        problems_.Add(*match.Find("sql_matches"), Cat("is no regular expression: ", error.what()));
      }
    }
    rule_.table = match.Text("table").value_or("");
    if (const auto protocol = match.Word<size_t>("protocol", "protocol")) {
      rule_.protocol = Protocols()[*protocol].name;
    }
    if (match.Has("step")) ReadStep(*match.Find("step"));
    ReadParameters(match);
    if (const auto client = match.Integer("client")) {
      rule_.client = static_cast<int16_t>(*client - 1);
    }
    rule_.count = match.Integer("count").value_or(rule_.count);
    rule_.nth = match.Integer("nth").value_or(rule_.nth);
    ReadPhase(match);
  }

  void ReadStep(const JsonValue& value) {
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
    if (const auto at = sim::ReadWord(value, "step", words, problems_)) rule_.step = steps[*at];
  }

  void ReadParameters(const ObjectFields& match) {
    const auto value = match.Find("parameters");
    if (!value) return;
    if (value->kind() != sim::JsonKind::kObject) {
      problems_.Add(*value, Cat("expected an object, got ", sim::Described(*value)));
      return;
    }
    for (const JsonValue& one : value->Children()) {
      rule_.parameters[std::string(one.key())] = one.text();
    }
  }

  void ReadPhase(const ObjectFields& match) {
    const bool only_served = Is<sim::DropReplyFault>();
    const auto phase = match.Word<Phase>("phase", "phase");
    rule_.phase = phase.value_or(only_served ? Phase::kServed : Phase::kSent);
    if (!phase) return;
    if (only_served && phase == Phase::kSent) {
      problems_.Add(*match.Find("phase"), "a reply can be lost when there is one: \"served\"");
    }
    if (Is<sim::DropRequestFault>() && phase == Phase::kServed) {
      problems_.Add(*match.Find("phase"),
                    "a request that was served cannot be lost; drop_reply loses its reply");
    }
  }

  void ReadHowOften() {
    rule_.ttl = fields_.Time("ttl");
    rule_.percent = fields_.Integer("percent").value_or(rule_.percent);
    // A rule for a time, or with a probability, strikes as often as it can.
    const bool bounded = fields_.Has("ttl") || fields_.Has("percent");
    rule_.times = fields_.Integer("times").value_or(bounded ? 0 : 1);
  }

  // A client that fails on an answer which Spanner never gives has no defect.
  void CheckPossible() {
    const std::optional<Code> code = AnswerOf(rule_);
    if (rule_.impossible) {
      if (!code) problems_.Add(*fields_.Find("impossible"), "what this fault does can happen");
      return;
    }
    if (!code) return;
    const std::string why = WhyImpossible(rule_, *code);
    if (why.empty()) return;
    problems_.Add(*fields_.Find(Is<sim::ErrorFault>() ? "code" : "do"),
                  Cat(why, "; \"impossible\": true in the rule shows it nevertheless"));
  }

  const ObjectFields fields_;
  Problems& problems_;
  CallRule rule_;
};

// Where the rules stand in the file, as it was written.
std::vector<Position> PlacesOf(const sim::JsonDocument& document) {
  std::vector<Position> places;
  const auto faults = document.root().Find("faults");
  if (!faults) return places;
  for (const JsonValue& one : faults->Children()) places.push_back(one.position());
  return places;
}

// Problems of a converted text are told at the rule in the file, since nobody has seen the converted one.
void TellAtRules(const std::vector<Position>& places, std::vector<Problem>& problems) {
  constexpr std::string_view kRules = "/faults/";
  for (Problem& problem : problems) {
    if (!problem.pointer.starts_with(kRules)) continue;
    const size_t rule = std::strtoul(problem.pointer.c_str() + kRules.size(), nullptr, 10);
    if (rule < places.size()) problem.position = places[rule];
  }
}

}  // namespace

std::optional<Code> AnswerOf(const CallRule& rule) {
  const sim::FaultKind kind = KindOf(rule.what);
  if (kind == kKindOf<sim::AbortFault>) return Code::kAborted;
  if (kind == kKindOf<sim::ErrorFault>) return rule.code;
  if (kind == kKindOf<sim::SessionLossFault>) return Code::kNotFound;
  return std::nullopt;
}

RuleFile ParseRules(const std::string& name, std::string_view text) {
  RuleFile file;
  Problems problems;
  const auto written = sim::JsonDocument::Parse(text, problems.list());
  if (written && problems.empty()) {
    const std::vector<Position> places = PlacesOf(*written);
    const std::optional<std::string> converted = sim::FromEarlierWords(text);
    if (converted) {
      file.note = Cat(name,
                      ": has the words of an earlier release, which go on working; "
                      "whorl convert ",
                      name, " writes today's");
    }
    const auto document =
        converted ? sim::JsonDocument::Parse(*converted, problems.list()) : std::nullopt;
    const ObjectFields root((document ? *document : *written).root(), ObjectId::kRules, problems);
    for (const JsonValue& one : root.Entries("faults")) {
      if (problems.Full()) break;
      file.rules.push_back(RuleReader(one, problems).Read());
      const size_t number = file.rules.size() - 1;
      file.rules.back().text = Cat(AtLine(name, places[number].line), " (", one.Pointer(), ")");
    }
    if (converted) TellAtRules(places, problems.list());
  }
  if (problems.empty()) return file;
  file.rules.clear();
  file.errors = ErrorLines(name, problems.list());
  return file;
}

}  // namespace whorl::live
