#include "sim/report/jepsen.h"

#include <optional>
#include <utility>
#include <variant>

#include "base/text.h"
#include "sim/report/json_print.h"
#include "sim/scenario/faults/kinds.h"

namespace whorl::sim {
namespace {

// A string of EDN, which reads JSON's escapes.
std::string EdnText(std::string_view text) { return DumpJson(Json(std::string(text))); }

std::string TokenText(const std::optional<uint64_t>& token) {
  return token.has_value() ? Cat(", :token ", std::to_string(*token), "N") : std::string();
}

}  // namespace

JepsenWriter::JepsenWriter(std::ostream& out, const Scenario& scenario, uint64_t seed,
                           std::string_view whorl_version)
    : out_(out), scenario_(scenario), names_(NamesOf(scenario)) {
  out_ << "; whorl " << whorl_version << ": scenario " << Printable(scenario.name, 1'000) << ", "
       << scenario.protocol << ", seed " << seed << '\n';
}

void JepsenWriter::Hear(const Observation& observation, uint64_t /*ordinal*/, uint64_t /*hash*/) {
  now_ = observation.at;
  std::visit([this](const auto& what) { On(what); }, observation.what);
}

void JepsenWriter::AddLine(std::string_view type, const std::string& process, std::string_view f,
                           const std::string& value) {
  out_ << "{:index " << index_++ << ", :time " << now_.ns << ", :type " << type << ", :process "
       << process << ", :f " << f << ", :value {" << value << "}}\n";
}

JepsenWriter::Operation JepsenWriter::Invoke(std::string_view f, ProcessId process, uint16_t lock,
                                             const std::string& more) {
  Operation operation{.process = next_process_,
                      .f = f,
                      .value = Cat(":lock ", EdnText(names_.Lock(lock)), ", :client ",
                                   EdnText(names_.Process(process)), more)};
  if (free_.empty()) {
    ++next_process_;
  } else {
    operation.process = *free_.begin();
    free_.erase(free_.begin());
  }
  AddLine(":invoke", std::to_string(operation.process), f, operation.value);
  return operation;
}

void JepsenWriter::Complete(const Operation& operation, std::string_view type,
                            const std::string& more) {
  AddLine(type, std::to_string(operation.process), operation.f, operation.value + more);
  if (type != ":info") free_.insert(operation.process);
}

// --- locks ---------------------------------------------------------------------------------------

void JepsenWriter::Acquire(ProcessId process, uint16_t lock) {
  if (acquiring_.contains({process, lock})) return;
  acquiring_.emplace(LockOf{process, lock}, Invoke(":acquire", process, lock, {}));
}

void JepsenWriter::EndAcquire(ProcessId process, uint16_t lock, std::string_view type,
                              const std::string& more) {
  const auto open = acquiring_.find({process, lock});
  if (open == acquiring_.end()) return;
  Complete(open->second, type, more);
  acquiring_.erase(open);
}

void JepsenWriter::On(const ProcessStarted& x) {
  for (const uint16_t lock : scenario_.nodes[static_cast<size_t>(x.process.node)].locks) {
    Acquire(x.process, lock);
  }
}

void JepsenWriter::On(const ProcessStopped& x) { leaving_.insert(x.process); }

void JepsenWriter::On(const ProcessGone& x) {
  const std::string why = x.crashed ? ", :error :crashed" : ", :error :stopped";
  for (uint16_t lock = 0; lock < scenario_.locks.size(); ++lock) {
    EndAcquire(x.process, lock, ":info", why);
  }
  std::erase_if(asked_, [&](const auto& one) {
    if (std::get<ProcessId>(one.first) != x.process) return false;
    Complete(one.second, ":info", why);
    return true;
  });
  leaving_.erase(x.process);
}

void JepsenWriter::On(const ParticipationEnded& x) {
  leaving_.insert(x.process);
  EndAcquire(x.process, x.lock, ":fail", ", :error :stopped");
}

void JepsenWriter::On(const BeliefChanged& x) {
  if (x.believes) {
    Acquire(x.process, x.lock);
    EndAcquire(x.process, x.lock, ":ok", {});
    return;
  }
  Complete(Invoke(":release", x.process, x.lock, {}), ":ok");
  if (!leaving_.contains(x.process)) Acquire(x.process, x.lock);
}

// --- questions and writes ------------------------------------------------------------------------

void JepsenWriter::On(const QuestionAsked& x) {
  if (x.question != Question::kHasLock) return;
  asked_.insert_or_assign(AskOf{x.process, x.lock, x.ask},
                          Invoke(":has-lock", x.process, x.lock, {}));
}

void JepsenWriter::On(const QuestionAnswered& x) {
  const auto open = asked_.find({x.process, x.lock, x.answer.ask});
  if (open == asked_.end()) return;
  Complete(open->second, ":ok",
           Cat(", :has-lock ", x.answer.yes ? "true" : "false", TokenText(x.answer.token)));
  asked_.erase(open);
}

void JepsenWriter::On(const WriteSent& x) {
  const std::string more = Cat(", :fenced ", x.fenced ? "true" : "false", TokenText(x.token));
  writing_[{x.process, x.lock, x.fenced, x.token}].push_back(
      Invoke(":write", x.process, x.lock, more));
}

void JepsenWriter::On(const WriteArrived& x) {
  const auto open = writing_.find({x.process, x.lock, x.fenced, x.token});
  if (open == writing_.end()) return;
  Complete(open->second.front(), x.accepted ? ":ok" : ":fail",
           x.accepted ? std::string() : ", :error :refused");
  open->second.pop_front();
  if (open->second.empty()) writing_.erase(open);
}

void JepsenWriter::AddFault(std::string_view f, uint32_t fault) {
  const FaultSpec& spec = scenario_.faults[fault];
  const std::string node =
      spec.node < 0 ? std::string() : Cat(", :node ", EdnText(names_.Node(spec.node)));
  AddLine(":info", ":nemesis", f, Cat(":fault ", EdnText(FaultKindText(spec.kind())), node));
}

}  // namespace whorl::sim
