#include "sim/explore/components/component_template.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>
#include <variant>

#include "sim/explore/menu.h"

namespace whorl::sim {
namespace {

// An operator's transactions are identified by the number of the fault.
PartTransaction OfOperator(uint32_t fault) { return {.id = ~uint64_t{fault}}; }

// Fills in the fields of a template from one of its parts, in the order of the part's slots (canonical_world.h).
class Describer {
 public:
  Describer(const ModelState& model_state, const CanonicalForm& form, ComponentTemplate& shape)
      : model_state_(model_state), world_(model_state.world.state()), form_(form), shape_(shape) {}

  void Describe(uint32_t origin) {
    switch (shape_.kind()) {
      case PartKind::kNode:
        return DescribeNode(world_.nodes[static_cast<size_t>(shape_.name.index)]);
      case PartKind::kCall:
        return DescribeCall(origin);
      case PartKind::kEvent:
        return DescribeEvent(world_.pending[origin]);
      case PartKind::kTransaction:
        return DescribeTransaction(KeptTransaction(world_.database, origin));
      case PartKind::kDatabase:
        shape_.deletions = DeletionsIn(model_state_.world);
        return;
      case PartKind::kSpanner:
      case PartKind::kResources:
      case PartKind::kJudges:
      case PartKind::kLedger:
        return;
    }
  }

 private:
  void AddEvent(const PendingSlot* slot) {
    if (slot == nullptr || !CanHappen(*slot)) return;
    shape_.events.push_back({.facts = EventFacts(slot->choice.event), .choice = slot->choice});
    ++next_slot_;
  }

  static uint64_t IdOf(const CallName& begun_by) {
    return uint64_t{static_cast<uint16_t>(begun_by.process.node)} << 48 |
           uint64_t{begun_by.process.incarnation} << 16 | begun_by.attempt;
  }
  void Refer(const TransactionId& id) {
    const CallName* begun_by = form_.FindTransaction(id);
    if (begun_by == nullptr) return;
    shape_.references.push_back({.id = IdOf(*begun_by), .slot = next_slot_++});
  }

  void DescribeNode(const Node& node) {
    shape_.life = node.life;
    shape_.incarnation = node.incarnation;
    shape_.is_paused = node.pauses > 0;
    for (const Participant& participant : node.participants) {
      for (const ActiveTimer* timer : SortedTimers(participant)) {
        const PendingSlot& slot = world_.pending[timer->place];
        AddEvent(&slot);
        if (!CanHappen(slot))
          ++next_slot_;  // the time by a clock that stands still is there all the same
      }
    }
    for (const Participant& participant : node.participants) {
      if (participant.application.asking) {
        const size_t locks = model_state_.world.setup().scenario.locks.size();
        const size_t question = static_cast<size_t>(shape_.name.index) * locks + participant.lock;
        shape_.questions.push_back(
            {.question = static_cast<uint32_t>(question), .slot = next_slot_++});
      }
      next_slot_ += static_cast<uint32_t>(std::popcount(participant.application.asked));
    }
    ForEachReferenceOf(node, [this](const TransactionId& id) { Refer(id); });
  }

  void DescribeCall(uint32_t place) {
    const Call& call = world_.calls[place].call();
    const PendingSlot* message = nullptr;
    const PendingSlot* timeout = nullptr;
    world_.pending.ForEach([&](const PendingSlot& slot, uint32_t) {
      if (slot.call != place) return;
      if (std::holds_alternative<CallTimesOut>(slot.choice.event)) {
        timeout = &slot;
      } else {
        message = &slot;
      }
    });
    AddEvent(message);
    AddEvent(timeout);
    ForEachReferenceOf(call, message, [this](const TransactionId& id) { Refer(id); });
    shape_.call = call.name;
    shape_.is_awaited = call.awaited;
    shape_.is_served = call.at_spanner && message == nullptr;
    shape_.may_abort = MayAbort(call);
  }

  void DescribeEvent(const PendingSlot& slot) {
    AddEvent(&slot);
    if (const auto* acts = std::get_if<OperatorActs>(&slot.choice.event)) {
      shape_.references.push_back(OfOperator(acts->fault));
    }
  }

  void DescribeTransaction(const model::TransactionState& transaction) {
    const CallName& begun_by = transaction.begun_by;
    shape_.transaction = begun_by.process == ProcessId{}
                             ? OfOperator(begun_by.generation)
                             : PartTransaction{.id = IdOf(begun_by), .slot = 0};
    shape_.may_be_forgotten = !MattersByItself(model_state_.world, transaction);
    shape_.pins_versions = transaction.snapshot.has_value() && !model::IsOver(transaction);
  }

  const ModelState& model_state_;
  const WorldState& world_;
  const CanonicalForm& form_;
  ComponentTemplate& shape_;
  uint32_t next_slot_ = 0;
};

// The sets of a part. The database's set has only the calls that it serves.
uint8_t SetsOf(const ComponentTemplate& shape) {
  switch (shape.kind()) {
    case PartKind::kNode:
      return kOfProcess | kOfNode;
    case PartKind::kCall:
      return (shape.is_awaited ? kOfProcess | kOfNode : kOfNode) |
             (shape.is_served ? kOfDatabase : 0);
    case PartKind::kSpanner:
      return kOfEverybody;
    case PartKind::kDatabase:
    case PartKind::kTransaction:
      return kOfDatabase | kStored;
    case PartKind::kResources:
      return kOfResources;
    case PartKind::kJudges:
    case PartKind::kLedger:
      return kOfJudges;
    case PartKind::kEvent: {
      const PendingEvent& event = shape.events.front().choice.event;
      const bool is_of_database = std::holds_alternative<CommitBecomesVisible>(event) ||
                                  std::holds_alternative<SpannerLooksAgain>(event) ||
                                  std::holds_alternative<OperatorActs>(event);
      return is_of_database ? kOfDatabase : 0;
    }
  }
  return 0;
}

}  // namespace

bool ComponentTemplate::IsOfOperator(uint32_t fault) const {
  const uint64_t id = OfOperator(fault).id;
  return (kind() == PartKind::kTransaction && transaction.id == id) ||
         std::ranges::any_of(references, [id](const PartTransaction& one) { return one.id == id; });
}

const ComponentTemplate& TemplateTable::ShapeOf(const ModelState& model_state, size_t place) {
  const CanonicalForm::Part& part = form_.parts()[place];
  const Digest128 digest = form_.ShapeOf(part);
  if (const auto* known = shapes_.Find(digest)) return **known;
  auto shape = std::make_unique<ComponentTemplate>();
  shape->digest = digest;
  shape->name = part.name;
  shape->slots = NormalForm::Slots(form_.SlotsOf(part));
  Describer(model_state, form_, *shape).Describe(part.origin);
  shape->sets = SetsOf(*shape);
  if (symmetry_ != nullptr && shape->kind() != PartKind::kLedger) {
    shape->renamed.emplace_back();
    for (const Renaming& renaming : symmetry_->renamings().subspan(1)) {
      shape->renamed.push_back(RenamedShape(model_state, place, renaming));
    }
    if (part.name.index >= 0 && symmetry_->HasSignatures()) {
      shape->alone = RenamedShape(model_state, place, symmetry_->Alone(part.name.index));
    }
  }
  return *shapes_.Insert(digest, std::move(shape));
}

Digest128 TemplateTable::RenamedShape(const ModelState& model_state, size_t place,
                                      const Renaming& renaming) {
  renamed_form_.Rename(&renaming);
  AddParts(model_state, renamed_form_);
  return renamed_form_.ShapeOf(renamed_form_.parts()[place]);
}

void TemplateTable::TakeApart(const ModelState& model_state, Parts& parts) {
  AddParts(model_state, form_);
  AddLedger(model_state, form_);
  parts.all.clear();
  parts.numbers.clear();
  for (size_t place = 0; place < form_.parts().size(); ++place) {
    const CanonicalForm::Part& part = form_.parts()[place];
    const std::span<const int64_t> numbers = form_.NumbersOf(part);
    parts.all.push_back({.shape = &ShapeOf(model_state, place),
                         .first_slot = static_cast<uint32_t>(parts.numbers.size()),
                         .origin = part.origin});
    parts.numbers.insert(parts.numbers.end(), numbers.begin(), numbers.end());
  }
}

}  // namespace whorl::sim
