#include <utility>
#include <variant>

#include "sim/world/calls.h"
#include "sim/world/fault_effects.h"
#include "sim/world/parts.h"
#include "sim/world/spanner_clocks.h"

namespace whorl::sim {
namespace {

// The calls of the operator's transaction, by CallName::call.
constexpr uint16_t kStatementCall = 1;
constexpr uint16_t kCallOfCommit = 0;

CallName NameOf(const WorldContext& work, const OperatorActs& acts, uint16_t call) {
  return {.process = {},
          .lock = TargetOf(work.scenario.faults[acts.fault].what)->lock,
          .request = static_cast<RequestId>(acts.fault),
          .generation = acts.fault,
          .attempt = acts.attempt,
          .call = call};
}

void SendStatement(WorldContext& work, const OperatorActs& acts, Statement statement) {
  ExecuteSql call;
  call.transaction = BeginReadWrite{};
  call.statement = std::move(statement);
  call.sequence_number = 1;
  ServeAtOnce(work, NameOf(work, acts, kStatementCall), call);
}

void SendCommit(WorldContext& work, const OperatorActs& acts, Commit commit) {
  ServeAtOnce(work, NameOf(work, acts, kCallOfCommit), commit);
}

}  // namespace

bool RowExists(const WorldContext& work, const RowOfLock& target) {
  return model::FindNewest(work.state.database.tables.front(), {KeyOfRow(work.scenario, target)}) !=
         nullptr;
}

void OnOperatorActs(WorldContext& work, const OperatorActs& acts) {
  Commit commit;
  if (acts.has_begun) {
    commit.transaction = model::MakeTransactionId(NameOf(work, acts, kStatementCall));
    return SendCommit(work, acts, std::move(commit));
  }
  OperatorWrite write = OperatorWriteOf(work.scenario, acts.fault);
  if (auto* statement = std::get_if<Statement>(&write)) {
    return SendStatement(work, acts, std::move(*statement));
  }
  commit.transaction = SingleUseWrite{};
  commit.mutations.push_back(std::move(std::get<Mutation>(write)));
  SendCommit(work, acts, std::move(commit));
}

void OnOperatorHears(WorldContext& work, const model::Replied& replied) {
  if (replied.call.call == kSessionCall) return;
  const Status& status = replied.response.status;
  OperatorActs next = {.fault = replied.call.request, .attempt = replied.call.attempt};
  if (status.code == Code::kAborted) {
    ++next.attempt;
    work.Schedule(work.state.now + status.retry_after.value_or(kLookAgainMin), ChoiceKind::kFault,
                  -1, next);
  } else if (status.ok() && replied.call.call == kStatementCall) {
    next.has_begun = true;
    work.Schedule(work.state.now, ChoiceKind::kFault, -1, next);
  } else {
    work.Observe(FaultEnded{.fault = replied.call.request});
  }
}

}  // namespace whorl::sim
