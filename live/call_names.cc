#include "live/call_names.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "live/messages.h"
#include "protocol/protocols.h"
#include "sim/world/fault_effects.h"

namespace whorl::live {
namespace {

constexpr size_t kNumbers = 8;

// gRPC itself returns these codes if Spanner did not answer. Spanner can return them, too; then the
// call counts as unanswered.
bool IsMadeUp(Code code) {
  return code == Code::kUnavailable || code == Code::kDeadlineExceeded || code == Code::kCancelled;
}

CallName NameOf(const CallName& transaction, const real_client::SentCall& sent) {
  CallName name = transaction;
  name.attempt = sent.attempt;
  name.call = sent.call;
  return name;
}

}  // namespace

std::string FormatCallHeader(const NamedCall& call) {
  std::string text;
  for (const int64_t number : std::array<int64_t, kNumbers>{
           call.name.process.node, call.name.process.incarnation, call.name.lock, call.name.request,
           call.name.generation, call.name.attempt, call.name.call, call.request}) {
    text += std::to_string(number) + '.';
  }
  return text + std::string(WordOf(call.step));
}

std::optional<NamedCall> ParseCallHeader(std::string_view text) {
  std::array<uint32_t, kNumbers> numbers{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (uint32_t& number : numbers) {
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || rest == end || *rest != '.') return std::nullopt;
    at = rest + 1;
  }
  const std::optional<StepName> step = FindStep({at, end});
  if (!step) return std::nullopt;
  return NamedCall{.name = {.process = {static_cast<int16_t>(numbers[0]), numbers[1]},
                            .lock = static_cast<uint16_t>(numbers[2]),
                            .request = static_cast<uint16_t>(numbers[3]),
                            .generation = static_cast<uint32_t>(numbers[4]),
                            .attempt = static_cast<uint16_t>(numbers[5]),
                            .call = static_cast<uint16_t>(numbers[6])},
                   .step = *step,
                   .request = static_cast<uint8_t>(numbers[7])};
}

CallNames::RunId CallNames::Start(CallName name, StepName step, const std::function<RunId()>& run) {
  // The client's thread asks for the name under the same lock.
  const std::lock_guard lock(mutex_);
  name.process = process_;
  name.generation = ++generation_;
  const RunId id = run();
  running_[id] = {.name = name, .step = step};
  return id;
}

CallName CallNames::Forget(RunId run) {
  const std::lock_guard lock(mutex_);
  const auto found = running_.extract(run);
  return found.empty() ? CallName{} : found.mapped().name;
}

std::optional<CallNames::Running> CallNames::Find(RunId run) {
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(run);
  return found == running_.end() ? std::nullopt : std::optional(found->second);
}

real_client::Headers CallNames::OnSend(RunId run, const real_client::SentCall& call) {
  const std::optional<Running> running = Find(run);
  if (!running) return {};  // the probe by which the process connects
  const CallName name = NameOf(running->name, call);
  reporter_.ReportEvent(sim::CallSent{.call = name, .step = call.step, .request = call.request});
  return {{std::string(kCallHeader),
           FormatCallHeader({.name = name, .step = call.step, .request = call.request})}};
}

void CallNames::OnReply(RunId run, const real_client::SentCall& call, const Response& response) {
  const std::optional<Running> running = Find(run);
  if (!running) return;
  const CallName name = NameOf(running->name, call);
  // A statement with its own step ends with its reply; every other step ends with its transaction.
  const bool ends_step = call.step != running->step;
  if (ends_step && points_.Has(call.step, Phase::kReplied)) {
    reporter_.StopAt(name, call.step, Phase::kReplied);
  }
  const bool made_up =
      IsMadeUp(response.status.code) || response.status.Says(sim::kFaultAnswersApplied);
  const sim::CallEnded ended{
      .call = name, .step = call.step, .code = response.status.code, .from_spanner = !made_up};
  reporter_.ReportEvent(ended);
  if (ends_step && points_.Has(call.step, Phase::kEnded)) {
    reporter_.StopAt(name, call.step, Phase::kEnded, {ended});
  }
}

}  // namespace whorl::live
