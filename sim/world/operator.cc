#include "sim/world/operator.h"

#include <utility>

#include "sim/world/calls.h"
#include "sim/world/fault_effects.h"
#include "sim/world/spanner.h"
#include "sim/world/spanner_clocks.h"

namespace whorl::sim {

bool RowExists(const Work& work, const RowOfLock& target) {
  return model::FindNewest(work.state.database.tables.front(), {KeyOfRow(work.scenario, target)}) !=
         nullptr;
}

void DeleteRow(Work& work, const OperatorDeletes& deletes) {
  const RowOfLock& target = work.scenario.faults[deletes.fault].As<DeleteRowFault>()->target;
  const CallName name = {.process = {},
                         .lock = target.lock,
                         .request = static_cast<RequestId>(deletes.fault),
                         .attempt = deletes.attempt};
  Mutation deletion;
  deletion.kind = MutationKind::kDelete;
  deletion.table = work.setup.catalogue->schema().tables.front().name;
  deletion.keys.keys.push_back({KeyOfRow(work.scenario, target)});
  Commit commit;
  commit.transaction = SingleUseWrite{};
  commit.mutations.push_back(std::move(deletion));
  ServeAtOnce(work, name, commit);
}

void OnOperatorHears(Work& work, const model::Replied& replied) {
  if (replied.call.call == kSessionCall) return;
  const uint32_t fault = replied.call.request;
  const Status& status = replied.response.status;
  if (status.code != Code::kAborted) return work.Observe(FaultEnded{.fault = fault});
  work.Schedule(
      work.state.now + status.retry_after.value_or(kLookAgainMin), ChoiceKind::kFault, -1,
      OperatorDeletes{.fault = fault, .attempt = static_cast<uint16_t>(replied.call.attempt + 1)});
}

}  // namespace whorl::sim
