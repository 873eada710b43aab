#include <algorithm>

#include "base/text.h"
#include "protocol/protocols.h"
#include "sim/scenario/fault_checks.h"
#include "sim/scenario/faults/keys.h"

namespace whorl::sim {
FaultInfo ErrorFault::Describe() {
  return {
      .word = "error",
      .about =
          "Spanner answers the node's calls of one step by `code` and does nothing else: such "
          "a call has no effect, and its transaction is as it was. A Rollback is never answered "
          "so. "
          "With `for`, every call of "
          "the step that comes meanwhile (or `percent` of them); without, one: the call that "
          "`when` names with phase `sent`, or else the node's next one of the step",
      .keys = {{.key = {.name = "code",
                        .form = Form::kWord,
                        .about = "by which the call is answered",
                        .required = true,
                        .words = ListedWords<ErrorCode>()}},
               ForKey(),
               PercentKey(),
               {.key = {.name = "of_step",
                        .form = Form::kWord,
                        .about = "whose calls are answered so; else those of the step that `when` "
                                 "names",
                        .words = StepWords()}}},
      .example = R"({ "at": "20s", "do": "error", "node": "a", "of_step": "heartbeat_update",
  "code": "PERMISSION_DENIED", "for": "15s" })",
      .of_calls = "the code in `code`"};
}

std::string ErrorFault::Detail() const {
  std::string detail(WordOf(code));
  if (of_step) detail += Cat(" of ", WordOf(*of_step));
  if (lasts && percent < 100) detail += Cat(" ", std::to_string(percent), "%");
  return detail;
}

void ErrorFault::Check(const FaultReading& reading) const {
  if (reading.Has("percent") && !lasts) {
    reading.AddAtKey("percent", "\"percent\" needs \"for\": without it, one call is answered so");
  }
  const When* when = std::get_if<When>(&reading.fault.trigger);
  if (!of_step && when == nullptr) {
    reading.Add("an error at a time needs the key \"of_step\" (whose calls are answered so)");
    return;
  }
  const StepName step = of_step ? *of_step : when->step;
  const JsonValue value =
      of_step ? *reading.fields.Find("of_step") : *reading.fields.Find("when")->Find("step");
  const ProtocolInfo* protocol = FindProtocol(reading.scenario.protocol);
  // What is no step at all has been reported where it stands.
  if (protocol == nullptr || value.text() != WordOf(step)) return;
  std::vector<StepName> steps(protocol->steps.begin(), protocol->steps.end());
  if (!protocol->answers_locally) steps.push_back(steps::kHasLock);
  if (std::ranges::find(steps, step) != steps.end()) return;
  std::vector<std::string_view> words;
  for (const StepName other : steps) words.push_back(WordOf(other));
  reading.problems.Add(value,
                       Cat(kNeverFires, "in ", protocol->name, ", no call to Spanner is a ",
                           Quoted(WordOf(step)), ". Steps with calls: ", ListOf(words), "."));
}

}  // namespace whorl::sim
