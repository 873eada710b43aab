#include "protocol/local_answer.h"

#include <string>

namespace whorl {

Answer AnswerLocally(const Asked& asked, const LocalKnowledge& known) {
  Answer answer{.ask = asked.ask, .question = asked.question};
  switch (asked.question) {
    case Question::kHasLock:
    case Question::kHasLock2:
      answer.yes = known.leads;
      if (known.leads && known.token) answer.token = known.token->Number();
      if (known.leads && asked.question == Question::kHasLock2) answer.text = known.id;
      break;
    case Question::kLeader:
      answer.yes = known.leads;
      answer.text = known.leads ? known.id : "not this process";
      break;
    case Question::kDuration:
      answer.yes = true;
      answer.number = known.lease.ns / 1'000'000;
      break;
    case Question::kIterations:
      answer.yes = true;
      answer.number = known.iterations;
      break;
    case Question::kLock:
    case Question::kUnlock:
      answer.text = std::string(known.protocol) + " has no blocking Lock()";
      break;
  }
  return answer;
}

}  // namespace whorl
