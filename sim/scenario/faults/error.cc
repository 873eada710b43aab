#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "protocol/protocols.h"
#include "protocol/spanner/answers.h"
#include "sim/scenario/fault_checks.h"
#include "sim/scenario/faults/keys.h"

namespace whorl::sim {
namespace {

std::string ListOfCodes(CodeSet codes) {
  std::vector<std::string_view> words;
  for (const std::string_view word : AllWords<ErrorCode>()) {
    if (codes.Has(*ParseWord<Code>(word))) words.push_back(word);
  }
  return ListOf(words);
}

// The methods whose calls the fault may answer.
std::vector<std::string_view> MethodsOf(std::optional<ErrorCall> call) {
  if (!call) return {"BeginTransaction", "ExecuteSql", "Commit"};
  switch (*call) {
    case ErrorCall::kBegin:
      return {"BeginTransaction"};
    case ErrorCall::kFirstStatement:
    case ErrorCall::kStatement:
      return {"ExecuteSql"};
    case ErrorCall::kCommit:
      return {"Commit"};
    case ErrorCall::kCreateSession:
      return {"CreateSession"};
  }
  std::abort();
}

// Why Spanner never answers so; empty if it may.
std::string WhyImpossible(const ErrorFault& error) {
  const Code code = CodeOf(error.code);
  if (error.applied) {
    if (OutcomeUnknown().Has(code)) return {};
    return Cat("Spanner does not answer ", WordOf(code),
               " to a call that it has served; after one it answers ",
               ListOfCodes(OutcomeUnknown()));
  }
  CodeSet possible = AnyCall();
  for (const std::string_view method : MethodsOf(error.of_call)) {
    possible = possible | FindAnswers(method)->codes;
  }
  if (possible.Has(code)) return {};
  const std::string to =
      error.of_call ? Cat("to a ", Quoted(WordOf(*error.of_call))) : "to any call";
  return Cat("Spanner never answers ", WordOf(code), " ", to,
             "; its codes: ", ListOfCodes(possible));
}

bool HasCommit(const ProtocolInfo& protocol, StepName step) {
  return ReachesPhase(protocol, step, Phase::kCommitted);
}

}  // namespace

FaultInfo ErrorFault::Describe() {
  return {
      .word = "error",
      .about =
          "Spanner answers the node's calls of one step by `code` and does nothing else: such "
          "a call has no effect, and its transaction is as it was (but ABORTED ends it, and after "
          "ALREADY_EXISTS it gets nothing else). With `applied`, it serves the call, and answers "
          "`code` instead of OK. A Rollback is never answered so. "
          "With `for`, every such call that comes meanwhile (or `percent` of them); without, one, "
          "or as many as `calls` says: the call that "
          "`when` names with phase `sent` (`applied`: one of the phases after it), or else the "
          "node's next ones. A call that Spanner never answers by `code` is passed over",
      .keys = {{.key = {.name = "code",
                        .form = Form::kWord,
                        .about = "by which the call is answered",
                        .required = true,
                        .words = ListedWords<ErrorCode>()}},
               ForKey(),
               PercentKey(),
               {.key = {.name = "calls",
                        .form = Form::kInteger,
                        .about = "how many calls are answered so, one after the other",
                        .min = 1,
                        .max = 1000,
                        .otherwise = std::to_string(ErrorFault().calls)},
                .only = ", without `for`"},
               {.key = {.name = "of_step",
                        .form = Form::kWord,
                        .about = "whose calls are answered so; else those of the step that `when` "
                                 "names, or of every step",
                        .words = StepWords()}},
               {.key = {.name = "of_call",
                        .form = Form::kWord,
                        .about =
                            "which calls of the step; else each. `create_session` is of no step: "
                            "a process needs a new session after `session_loss`",
                        .words = ListedWords<ErrorCall>()}},
               {.key = {.name = "applied",
                        .form = Form::kBoolean,
                        .about = "Spanner has served the call: what it did stays",
                        .otherwise = BooleanJson(ErrorFault().applied)}},
               {.key = {.name = "impossible",
                        .form = Form::kBoolean,
                        .about = "even though Spanner never answers so: no protocol promises "
                                 "anything then",
                        .otherwise = BooleanJson(ErrorFault().impossible)}}},
      .example = R"({ "at": "20s", "do": "error", "node": "a", "of_step": "heartbeat_update",
  "code": "PERMISSION_DENIED", "for": "15s" })",
      .of_calls = "the code in `code`"};
}

std::string ErrorFault::Detail() const {
  std::string detail(WordOf(code));
  if (of_step) detail += Cat(" of ", WordOf(*of_step));
  if (of_call) detail += Cat(of_step ? "'s " : " of ", WordOf(*of_call));
  if (applied) detail += " (applied)";
  if (lasts && percent < 100) detail += Cat(" ", std::to_string(percent), "%");
  if (calls > 1) detail += Cat(" ", std::to_string(calls), "x");
  return detail;
}

void ErrorFault::Check(const FaultReading& reading) const {
  if (reading.Has("percent") && !lasts) {
    reading.AddAtKey("percent",
                     "\"percent\" needs \"for\": without it, \"calls\" is how many calls are "
                     "answered so");
  }
  if (reading.Has("calls") && lasts) {
    reading.AddAtKey("calls", "with \"for\", each call of that time is answered so; leave one out");
  }
  const std::string why = WhyImpossible(*this);
  if (impossible && why.empty()) {
    reading.AddAtKey("impossible", "Spanner may answer so; leave it out");
  } else if (!impossible && !why.empty()) {
    reading.AddAtKey("code", Cat(why, "; \"impossible\": true answers so nevertheless"));
  }
  if (of_call == ErrorCall::kCreateSession) {
    if (of_step) reading.AddAtKey("of_step", "a session is of no step; leave it out");
    return;
  }
  CheckStep(reading);
}

void ErrorFault::CheckStep(const FaultReading& reading) const {
  const When* when = std::get_if<When>(&reading.fault.trigger);
  if (!of_step && when == nullptr) return;
  const StepName step = of_step ? *of_step : when->step;
  const JsonValue value =
      of_step ? *reading.fields.Find("of_step") : *reading.fields.Find("when")->Find("step");
  const ProtocolInfo* protocol = FindProtocol(reading.scenario.protocol);
  // What is no step at all has been reported where it stands.
  if (protocol == nullptr || value.text() != WordOf(step)) return;
  std::vector<StepName> steps(protocol->steps.begin(), protocol->steps.end());
  if (!protocol->answers_locally) steps.push_back(steps::kHasLock);
  std::vector<std::string_view> words;
  if (std::ranges::find(steps, step) == steps.end()) {
    for (const StepName other : steps) words.push_back(WordOf(other));
    reading.problems.Add(value,
                         Cat(kNeverFires, "in ", protocol->name, ", no call to Spanner is a ",
                             Quoted(WordOf(step)), ". Steps with calls: ", ListOf(words), "."));
    return;
  }
  const bool ends = of_call == ErrorCall::kCommit || (code == ErrorCode::kAborted && !impossible);
  if (!ends || HasCommit(*protocol, step)) return;
  for (const StepName other : steps) {
    if (HasCommit(*protocol, other)) words.push_back(WordOf(other));
  }
  reading.problems.Add(
      value, Cat(kNeverFires, "in ", protocol->name, ", ", Quoted(WordOf(step)),
                 " only reads, which has no Commit and is never ABORTED. Steps with one: ",
                 ListOf(words), "."));
}

}  // namespace whorl::sim
