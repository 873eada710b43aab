#include "sim/scenario/faults/keys.h"

#include "base/text.h"
#include "protocol/protocols.h"

namespace whorl::sim {

FaultKey ForKey(bool required) {
  return {.key = {.name = "for",
                  .form = Form::kPositiveDuration,
                  .about = "how long it lasts; each kind says what it means to leave it out",
                  .required = required},
          .names_kinds = false};
}

FaultKey RestartAfterKey() {
  return {.key = {.name = "restart_after",
                  .form = Form::kDuration,
                  .about = "how much later the node starts again; else never"}};
}

FaultKey DirectionKey() {
  return {.key = {.name = "direction",
                  .form = Form::kWord,
                  .about = "both ways, requests `to` Spanner, or replies `from` it",
                  .words = ListedWords<Direction>(),
                  .otherwise = WordJson(WordOf(Direction()))}};
}

FaultKey PercentKey() {
  return {.key = {.name = "percent",
                  .form = Form::kInteger,
                  .about = "how many of a hundred calls it hits, drawn for each",
                  .min = 1,
                  .max = 100,
                  .otherwise = std::to_string(AbortFault().percent)},
          .only = ", with `for`"};
}

std::vector<FaultKey> RowKeys() {
  return {{.key = {.name = "lock",
                   .form = Form::kName,
                   .about = "which lock's row; needed where there are several locks"}},
          {.key = {.name = "row",
                   .form = Form::kText,
                   .about = "the key of the row; else the name of the lock"}}};
}

std::vector<std::string_view> StepWords() {
  std::vector<std::string_view> words;
  for (const StepName step : AllSteps()) words.push_back(WordOf(step));
  return words;
}

std::string WordJson(std::string_view word) { return Cat("\"", word, "\""); }
std::string BooleanJson(bool value) { return value ? "true" : "false"; }

}  // namespace whorl::sim
