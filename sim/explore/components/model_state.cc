#include "sim/explore/components/model_state.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "sim/explore/components/field_roles.h"

namespace whorl::sim {
namespace {

// Adds what the ledger remembers of a lock's past; its other fields follow from the present state of the world.
void AddLock(const Ledger::Lock& lock, const CheckerSetup& setup, CanonicalForm& form) {
  using Lock = Ledger::Lock;
  AddFields(form, lock, Custom<&Lock::newest>([&](std::optional<Version> newest) {
              if (newest && !setup.Judges(Invariant::kLeaseRespected)) newest->lease_until.reset();
              form.Add(newest);
            }),
            OnlyIf(setup.Judges(Invariant::kTokenMonotonic), Plain<&Lock::last_owner>()),
            Ignored<&Lock::last_lease_until>("metrics ask for it, but no judge"),
            Elsewhere<&Lock::kept>("Participation::own_token"),
            Elsewhere<&Lock::holders>("the count of what is kept"),
            Elsewhere<&Lock::answered>("the count of Participation::is_answered"),
            Elsewhere<&Lock::candidates>("the count of Participation::is_candidate"),
            Elsewhere<&Lock::believers>("the count of Participation::believes"),
            Elsewhere<&Lock::workers>("the count of Participation::at_work"));
}

// Adds the judges' memory of locks; AddMemoryOf adds that of nodes.
void AddMemory(const Checkers& checkers, CanonicalForm& form) {
  BeginPart(PartKind::kJudges, -1, form);
  checkers.VisitAll([&form](const CheckerSetup& setup, uint32_t /*violated: KeyOf adds it*/,
                            const Ledger& ledger, const auto& judges) {
    ledger.VisitAll([&](const auto& /*processes: AddLedger*/, const auto& /*participations*/,
                        const auto& locks, bool /*spanner_available*/) {
      for (const Ledger::Lock& lock : locks) AddLock(lock, setup, form);
    });
    const auto add = [&]<typename Judge>(const Judge& judge) {
      if constexpr (!std::is_same_v<Judge, HasLockTruthful>) {  // in AddMemoryOf
        if (setup.Judges(Judge::kInvariant)) form.Add(judge);
      }
    };
    std::apply([&add](const auto&... each) { (add(each), ...); }, judges);
  });
  form.EndPart();
}

// Whether applications ask for has_lock beside their work. NormalForm knows of one question alone for each process and
// lock.
bool AsksBesideWork(const Scenario& scenario) {
  return std::ranges::any_of(scenario.workload.ask, [](SideQuestion question) {
    return question == SideQuestion::kHasLock || question == SideQuestion::kHasLock2;
  });
}

void AddCeased(const HasLockTruthful& judge, int16_t node, const CheckerSetup& setup,
               bool asks_beside_work, CanonicalForm& form) {
  using Ceased = HasLockTruthful::Ceased;
  const auto& [ceased] = judge;
  const size_t locks = setup.locks.size();
  for (size_t lock = 0; lock < locks; ++lock) {
    // The number of a question for has_lock: by node, as the form names it, then by lock.
    const auto gate = static_cast<int64_t>(static_cast<size_t>(form.Renamed(node)) * locks + lock);
    const Ceased& one = ceased[setup.ParticipationIndex(node, static_cast<uint16_t>(lock))];
    if (asks_beside_work) {
      AddFields(form, one, OnlyIf(one.incarnation > 0, Plain<&Ceased::at>()),
                Plain<&Ceased::incarnation>());
      continue;
    }
    AddFields(form, one, Custom<&Ceased::at>([&form, gate](Instant at) {
                form.AddSlot({.kind = SlotKind::kQuestionTime, .scope = 0, .param = gate},
                             ToTimestamp(at).UnixNanos());
              }),
              Custom<&Ceased::incarnation>([&form](uint32_t incarnation) {
                form.AddSlot({.kind = SlotKind::kConditional}, incarnation);
              }));
  }
}

void AddMemoryOf(int16_t node, const Checkers& checkers, bool asks_beside_work,
                 CanonicalForm& form) {
  BeginPart(PartKind::kJudges, node, form);
  checkers.VisitAll([&](const CheckerSetup& setup, uint32_t /*violated*/, const Ledger& /*ledger*/,
                        const auto& judges) {
    if (!setup.Judges(Invariant::kHasLockTruthful)) return;
    AddCeased(std::get<HasLockTruthful>(judges), node, setup, asks_beside_work, form);
  });
  form.EndPart();
}

}  // namespace

void AddParts(const ModelState& state, CanonicalForm& form, TokensAre tokens) {
  TakeApart(state.world, form, tokens);
  AddMemory(state.checkers, form);
  const bool asks_beside_work = AsksBesideWork(state.world.setup().scenario);
  for (size_t node = 0; node < state.world.state().nodes.size(); ++node) {
    AddMemoryOf(static_cast<int16_t>(node), state.checkers, asks_beside_work, form);
  }
}

void AddLedger(const ModelState& state, CanonicalForm& form) {
  BeginPart(PartKind::kLedger, -1, form);
  state.checkers.ledger().VisitAll([&form](const auto& processes, const auto& participations,
                                           const auto& /*locks: AddMemory*/,
                                           bool spanner_available) {
    form.Add(processes);
    form.Add(participations);
    form.Add(spanner_available);
  });
  form.EndPart();
}

}  // namespace whorl::sim
