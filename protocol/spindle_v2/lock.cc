#include "protocol/spindle_v2/lock.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace whorl::spindle_v2 {
namespace {

// Beside the ids of the spindle inside, which are small.
constexpr TimerId kPollTimer = 0xffff;
constexpr AskId kPollAsk = 0x7fff;

void Reply(LockState& state, Question question, bool yes, std::vector<Effect>& out, AskId ask) {
  if (question == Question::kLock) state.locking.reset();
  Answer answer;
  answer.ask = ask;
  answer.question = question;
  answer.yes = yes;
  if (!yes) answer.text = "timeout";
  out.emplace_back(std::move(answer));
}

// The loop of Lock: the context is looked at before each question, not while one is under way.
void Poll(const Config& config, LockState& state, LocalTime now, Entropy& entropy,
          std::vector<Effect>& out) {
  if (state.context_ended) return Reply(state, Question::kLock, false, out, *state.locking);
  Step(config, state.spindle, now, entropy, Asked{.ask = kPollAsk, .question = Question::kHasLock},
       out);
}

void OnPolled(const Config& config, LockState& state, bool has_lock, LocalTime now,
              std::vector<Effect>& out) {
  if (!state.locking) return;
  if (has_lock && state.spindle.iterations > 1) {
    state.locked = true;
    return Reply(state, Question::kLock, true, out, *state.locking);
  }
  out.emplace_back(
      SetTimer{.timer = kPollTimer, .at = now.monotonic + config.constants.poll_every});
}

// The spindle's effects from `first` on, without the answers to the wrapper's own questions.
void TakePollAnswers(const Config& config, LockState& state, LocalTime now, size_t first,
                     std::vector<Effect>& out) {
  for (size_t i = first; i < out.size(); ++i) {
    const auto* answer = std::get_if<Answer>(&out[i]);
    if (answer == nullptr || answer->ask != kPollAsk) continue;
    const bool yes = answer->yes;
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
    return OnPolled(config, state, yes, now, out);
  }
}

void OnLock(const Config& config, LockState& state, LocalTime now, Entropy& entropy, AskId ask,
            std::vector<Effect>& out) {
  if (state.locked) return Reply(state, Question::kLock, true, out, ask);
  state.locking = ask;
  state.context_ended.reset();
  Step(config, state.spindle, now, entropy, Started{}, out);
  Poll(config, state, now, entropy, out);
}

void OnUnlock(const Config& config, LockState& state, LocalTime now, Entropy& entropy, AskId ask,
              std::vector<Effect>& out) {
  if (state.locked) {
    Step(config, state.spindle, now, entropy, StopRequested{.reason = StopReason::kCancelled}, out);
    state.locked = false;
  }
  Reply(state, Question::kUnlock, true, out, ask);
}

}  // namespace

void Step(const Config& config, LockState& state, LocalTime now, Entropy& entropy,
          const Event& event, std::vector<Effect>& out) {
  const size_t first = out.size();
  const auto* asked = std::get_if<Asked>(&event);
  const auto* fired = std::get_if<TimerFired>(&event);
  const auto* stop = std::get_if<StopRequested>(&event);
  if (std::holds_alternative<Started>(event)) return;
  if (asked != nullptr && asked->question == Question::kLock) {
    OnLock(config, state, now, entropy, asked->ask, out);
  } else if (asked != nullptr && asked->question == Question::kUnlock) {
    OnUnlock(config, state, now, entropy, asked->ask, out);
  } else if (fired != nullptr && fired->timer == kPollTimer) {
    if (state.locking) Poll(config, state, now, entropy, out);
  } else {
    if (stop != nullptr) state.context_ended = stop->reason;
    Step(config, state.spindle, now, entropy, event, out);
  }
  TakePollAnswers(config, state, now, first, out);
}

LeadershipView LeadershipViewOf(const LockState& state) {
  LeadershipView standing = LeadershipViewOf(state.spindle);
  standing.believes = state.locked;
  return standing;
}

}  // namespace whorl::spindle_v2
