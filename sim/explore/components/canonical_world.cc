#include "sim/explore/components/canonical_world.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/protocols.h"
#include "sim/explore/components/field_roles.h"
#include "sim/explore/components/normal_form.h"
#include "sim/world/node_clock.h"
#include "sim/world/spanner_clocks.h"

namespace whorl::sim {
namespace {

// --- references ----------------------------------------------------------------------------------

using Times = CanonicalForm::Times;

const TransactionId* IdIn(const TransactionSelector& selector) {
  return std::get_if<TransactionId>(&selector);
}

}  // namespace

const TransactionId* TransactionIn(const Request& request) {
  const auto previous = [](const auto& options) -> const TransactionId* {
    const auto* begin = std::get_if<BeginReadWrite>(&options);
    return begin == nullptr || begin->previous.empty() ? nullptr : &begin->previous;
  };
  return std::visit(
      [&previous](const auto& call) -> const TransactionId* {
        using Kind = std::remove_cvref_t<decltype(call)>;
        if constexpr (std::is_same_v<Kind, BeginTransaction>) {
          return previous(call.options);
        } else if constexpr (std::is_same_v<Kind, Commit>) {
          return std::get_if<TransactionId>(&call.transaction);
        } else if constexpr (std::is_same_v<Kind, Rollback>) {
          return &call.transaction;
        } else if constexpr (requires { call.transaction; }) {
          const TransactionId* id = IdIn(call.transaction);
          return id != nullptr ? id : previous(call.transaction);
        } else {
          return nullptr;
        }
      },
      request);
}

std::vector<const ActiveRunner*> SortedRunners(const Participant& participant) {
  std::vector<const ActiveRunner*> sorted;
  sorted.reserve(participant.runners.size());
  for (const ActiveRunner& runner : participant.runners) sorted.push_back(&runner);
  std::ranges::sort(sorted, {}, [](const ActiveRunner* runner) {
    return std::pair(runner->request, runner->generation);
  });
  return sorted;
}

std::vector<const ActiveTimer*> SortedTimers(const Participant& participant) {
  std::vector<const ActiveTimer*> sorted;
  sorted.reserve(participant.timers.size());
  for (const ActiveTimer& timer : participant.timers) sorted.push_back(&timer);
  std::ranges::sort(sorted, {}, [](const ActiveTimer* timer) {
    return std::tuple(timer->owner, timer->id, timer->at);
  });
  return sorted;
}

const model::TransactionState& KeptTransaction(const model::Database& database, uint32_t origin) {
  const size_t open = database.transactions.size();
  return origin < open ? database.transactions[origin] : database.finished[origin - open];
}

bool MattersByItself(const World& world, const model::TransactionState& transaction) {
  if (transaction.phase == model::TransactionPhase::kCommitting) return true;
  if (model::IsOver(transaction)) return false;
  // A transaction that reads a snapshot (below) holds no locks before its Commit, and no process will send that.
  if (transaction.parked) return true;
  const bool one_lock =
      world.setup().catalogue->options().concurrency == model::Concurrency::kEmulator;
  if (model::ReadsASnapshot(transaction.kind)) return one_lock && transaction.age.has_value();
  return !transaction.reads.empty() || !transaction.writes.empty();
}

namespace {

// Finds, in one pass over a world, the transactions to which it refers, the pending events of its calls, and the
// operators that are at work.
class References {
 public:
  explicit References(const World& world) : world_(world) {
    const auto refer = [this](const TransactionId& id) { ids_.push_back(id); };
    for (const Node& node : world.state().nodes) ForEachReferenceOf(node, refer);
    const std::vector<CallSlot>& calls = world.state().calls;
    events_.resize(calls.size());
    world.state().pending.ForEach([&](const PendingSlot& slot, uint32_t) {
      if (std::holds_alternative<CallArrives>(slot.choice.event) ||
          std::holds_alternative<ReplyArrives>(slot.choice.event)) {
        events_[slot.call].message = &slot;
        ForEachReferenceOf(calls[slot.call].call(), &slot, refer);
      } else if (std::holds_alternative<CallTimesOut>(slot.choice.event)) {
        events_[slot.call].timeout = &slot;
      } else if (const auto* acts = std::get_if<OperatorActs>(&slot.choice.event)) {
        operators_.push_back(acts->fault);
      }
    });
  }

  // The pending events of a call; null: the call has no such event.
  struct EventsOfCall {
    const PendingSlot* message = nullptr;
    const PendingSlot* timeout = nullptr;
  };
  const EventsOfCall& EventsOf(uint32_t call) const { return events_[call]; }

  // Whether Spanner's memory of the transaction can matter.
  bool Matters(const model::TransactionState& transaction) const {
    if (std::ranges::find(ids_, transaction.id) != ids_.end()) return true;
    const CallName& name = transaction.begun_by;
    const bool is_operators = name.process == ProcessId{};
    if (is_operators && std::ranges::find(operators_, name.generation) != operators_.end()) {
      return true;
    }
    return MattersByItself(world_, transaction);
  }

 private:
  const World& world_;
  std::vector<EventsOfCall> events_;  // by the call's index
  std::vector<TransactionId> ids_;
  std::vector<uint32_t> operators_;  // faults whose operators are at work
};

// --- processes -----------------------------------------------------------------------------------

void AddTimers(const Participant& participant, CanonicalForm& form) {
  form.AddWord(participant.timers.size());
  for (const ActiveTimer* timer : SortedTimers(participant)) {
    AddFields(form, *timer, Plain<&ActiveTimer::owner>(), Plain<&ActiveTimer::id>(),
              Plain<&ActiveTimer::at>(), Ignored<&ActiveTimer::place>("a place"));
  }
}

void AddRunners(const Participant& participant, ProcessId process, CanonicalForm& form) {
  form.AddWord(participant.runners.size());
  for (const ActiveRunner* runner : SortedRunners(participant)) {
    AddFields(form, *runner, Custom<&ActiveRunner::request>([&](RequestId request) {
                form.Add(CallName{
                    .process = process, .request = request, .generation = runner->generation});
              }),
              Elsewhere<&ActiveRunner::generation>("with the request"),
              Plain<&ActiveRunner::state>());
  }
}

void AddAsked(const Participant& participant, CanonicalForm& form) {
  form.Add(participant.application.asking);
  if (participant.application.asking) form.Add(participant.asked_at);
  for (size_t place = 0; place < participant.asked_more_at.size(); ++place) {
    if ((participant.application.asked >> place & 1) != 0) {
      form.Add(participant.asked_more_at[place]);
    }
  }
}

void AddParticipant(const Participant& participant, ProcessId process, CanonicalForm& form) {
  AddFields(form, participant, Plain<&Participant::lock>(), Tokens<&Participant::machine>(),
            Plain<&Participant::standing>(), Plain<&Participant::believes>(),
            Plain<&Participant::belief_lapsed>(), Plain<&Participant::application>(),
            AsTokens(Custom<&Participant::runners>(
                [&](const auto&) { AddRunners(participant, process, form); })),
            Elsewhere<&Participant::timers>("AddTimers"),
            Elsewhere<&Participant::asked_at>("AddAsked"),
            Elsewhere<&Participant::asked_more_at>("AddAsked"));
}

// The time that the clock of the node's process shows. While the node is down it does not matter.
LocalInstant LocalNow(const Node& node, Instant now) {
  return ReadClocks(node.clock, node.started, now).monotonic;
}

// Whether wall clocks matter. Where they run at other rates, their error grows for ever, and so would the number of
// states.
bool ReadsWallClock(const World& world) {
  return !FindProtocol(world.setup().scenario.protocol)->state_traits.ignores_wall_clock;
}

void AddClock(const NodeClock& clock, const World& world, CanonicalForm& form) {
  AddFields(form, clock, Plain<&NodeClock::rate_ppm>(), Plain<&NodeClock::stands>(),
            Custom<&NodeClock::offset>([&](Duration) {
              if (ReadsWallClock(world)) form.Add(WallError(clock, world.now()));
            }),
            Elsewhere<&NodeClock::since>("what it shows now counts"),
            Elsewhere<&NodeClock::shown>("what it shows now counts"));
}

void AddNode(const World& world, int16_t index, CanonicalForm& form) {
  const Node& node = world.state().nodes[static_cast<size_t>(index)];
  const ProcessId process = {.node = index, .incarnation = node.incarnation};
  BeginPart(PartKind::kNode, index, form);
  form.SetProcess(index, LocalNow(node, world.now()), node.clock.stands > 0);
  for (const Participant& participant : node.participants) AddTimers(participant, form);
  for (const Participant& participant : node.participants) AddAsked(participant, form);
  ForEachReferenceOf(node, [&form](const TransactionId& id) { form.Add(id); });
  AddFields(form, node, Plain<&Node::life>(), Plain<&Node::incarnation>(),
            Custom<&Node::clock>([&](const NodeClock& clock) { AddClock(clock, world, form); }),
            Elsewhere<&Node::started>("local times count from what the clock shows now"),
            Ignored<&Node::generation>("the next one is greater than all that are alive"),
            Plain<&Node::pauses>(),
            Elsewhere<&Node::held_up>("what is held up is in no queue: AddDue"),
            Plain<&Node::sessions>(),
            OnlyIf(node.life != Life::kDown, Custom<&Node::participants>([&](const auto& all) {
                     for (const Participant& one : all) AddParticipant(one, process, form);
                   })));
  form.EndPart();
}

// --- messages ------------------------------------------------------------------------------------

// Adds whether the event can happen and, if so, when it is due. Null: there is no such event.
void AddDue(const PendingSlot* slot, CanonicalForm& form) {
  const bool is_queued = slot != nullptr && slot->queued != PendingSlot::kNone;
  const bool can_happen = slot != nullptr && CanHappen(*slot);
  form.AddWord((slot != nullptr ? 1U : 0U) | (can_happen ? 2U : 0U) |
               (is_queued && !can_happen ? 4U : 0U));
  if (slot == nullptr) return;
  AddFields(form, *slot, Elsewhere<&PendingSlot::choice>("AddMessage, AddPending"),
            OnlyIf(can_happen, Plain<&PendingSlot::due>()),
            Ignored<&PendingSlot::id>("it tells events apart that have one place, one by one"),
            Elsewhere<&PendingSlot::call>("the event stands with its call"),
            Elsewhere<&PendingSlot::queued>("whether it is"));
}

// Replaces ages above `greatest_ms` by it, since all of them mean the same.
void LimitAges(int64_t greatest_ms, Response& response) {
  for (Row& row : response.result.rows) {
    for (Value& value : row) {
      if (auto* age = std::get_if<int64_t>(&value)) *age = std::min(*age, greatest_ms);
    }
  }
}

void AddResponse(const World& world, const Call& call, CanonicalForm& form) {
  if (call.response.result.rows.empty()) return form.Add(call.response);
  const Scenario& scenario = world.setup().scenario;
  const ProtocolInfo& protocol = *FindProtocol(scenario.protocol);
  if (!protocol.state_traits.reads_ages) return form.Add(call.response);
  Duration lease;
  for (const NodeSpec& node : scenario.nodes) lease = std::max(lease, node.lease);
  Response response = call.response;
  LimitAges(lease.ns * protocol.state_traits.memory_leases / Milliseconds(1).ns, response);
  form.Add(response);
}

// Adds a request, or a reply, that is on its way.
void AddMessage(const World& world, const Call& call, const Choice& message, CanonicalForm& form) {
  AddFields(form, message, NodeName<&Choice::node>(),
            AsTokens(Custom<&Choice::event>([&](const PendingEvent& event) {
              const auto* replies = std::get_if<ReplyArrives>(&event);
              form.AddWord(replies == nullptr ? 0 : replies->from_spanner ? 1 : 2);
              if (replies == nullptr) {
                form.Add(call.request);
              } else {
                AddResponse(world, call, form);
              }
            })),
            Ignored<&Choice::kind>("it follows from the event"));
}

void AddCall(const World& world, const References& references, uint32_t place,
             CanonicalForm& form) {
  const Call& call = world.state().calls[place].call();
  const ProcessId process = call.name.process;
  const References::EventsOfCall& events = references.EventsOf(place);
  BeginPart(PartKind::kCall, process.node, form, place);
  AddDue(events.message, form);
  AddDue(events.timeout, form);
  ForEachReferenceOf(call, events.message, [&form](const TransactionId& id) { form.Add(id); });
  const Node* node = process.node < 0 ? nullptr : &world.state().nodes[process.node];
  const bool is_alive = node != nullptr && node->incarnation == process.incarnation;
  if (is_alive) {
    form.SetProcess(process.node, LocalNow(*node, world.now()), node->clock.stands > 0);
  }
  uint64_t flags = 0;
  const auto flag = [&flags](int bit) {
    return [&flags, bit](const auto& is_set) { flags |= uint64_t{is_set ? 1U : 0U} << bit; };
  };
  AddFields(form, call, Plain<&Call::name>(), Plain<&Call::step>(),
            Custom<&Call::request>([&](const Request& request) {
              form.AddWord(request.index());
              if (events.message == nullptr) return;
              AddMessage(world, call, events.message->choice, form);
            }),
            Elsewhere<&Call::response>("AddMessage, if it is on its way"), Plain<&Call::sent_at>(),
            Custom<&Call::deadline>([&](LocalInstant deadline) {
              form.AddWord(is_alive ? 1 : 0);
              if (is_alive) form.Add(deadline);
            }),
            Custom<&Call::awaited>(flag(0)), Custom<&Call::at_spanner>(flag(1)),
            Custom<&Call::hangs>(flag(2)), Custom<&Call::slowed>(flag(3)),
            Custom<&Call::drop_reply>(flag(4)), Custom<&Call::held>([&](const auto& held) {
              flag(5)(held.has_value());
              form.AddWord(flags);
            }),
            OptionalFaultName<&Call::struck_by>(),
            Elsewhere<&Call::timeout>("the event that stands there: AddDue"));
  form.EndPart();
}

// Whether the event is a part of its own. Timers belong to the part of their process, messages and timeouts to that of
// their call.
bool StandsAlone(const PendingEvent& event) {
  return !std::holds_alternative<TimerDue>(event) && !std::holds_alternative<CallArrives>(event) &&
         !std::holds_alternative<ReplyArrives>(event) &&
         !std::holds_alternative<CallTimesOut>(event);
}

// Adds an event, with the new names of the fault and the node that it names.
struct EventAdder {
  CanonicalForm& form;

  void operator()(const NodeStarts& starts) const {
    AddFields(form, starts, OptionalFaultName<&NodeStarts::fault>());
  }
  void operator()(const FaultBegins& begins) const {
    AddFields(form, begins, FaultName<&FaultBegins::fault>(), Plain<&FaultBegins::trigger>());
  }
  void operator()(const FaultEnds& ends) const {
    AddFields(form, ends, FaultName<&FaultEnds::fault>(), NodeName<&FaultEnds::node>(),
              Plain<&FaultEnds::incarnation>());
  }
  void operator()(const auto& event) const { form.Add(event); }
};

void AddPending(const World& world, CanonicalForm& form) {
  world.state().pending.ForEach([&](const PendingSlot& slot, uint32_t place) {
    if (!StandsAlone(slot.choice.event)) return;
    BeginPart(PartKind::kEvent, slot.choice.node, form, place);
    AddDue(&slot, form);
    AddFields(form, slot.choice, Elsewhere<&Choice::node>("the part's name"),
              Ignored<&Choice::kind>("it follows from the event"),
              Custom<&Choice::event>([&form](const PendingEvent& event) {
                form.AddWord(event.index());
                std::visit(EventAdder{form}, event);
              }));
    form.EndPart();
  });
}

// --- Spanner -------------------------------------------------------------------------------------

// Spanner takes the locks of a transaction that has been idle for its limit; how much longer does not matter.
void AddLastUsed(const World& world, const model::TransactionState& transaction,
                 CanonicalForm& form) {
  const Duration ahead = world.state().spanner.truetime.epsilon * 2;
  const Duration limit = world.setup().catalogue->options().idle_limit + ahead;
  form.AddSlot({.kind = SlotKind::kFloored, .scope = 0, .param = -limit.ns},
               transaction.last_used.UnixNanos());
}

void AddAge(const std::optional<model::Age>& age, CanonicalForm& form) {
  form.AddWord(age ? 1 : 0);
  if (!age) return;
  AddFields(form, *age, Custom<&model::Age::place>([&form](uint64_t place) {
              form.AddSlot({.kind = SlotKind::kRank, .scope = CanonicalForm::kScopeOfAges},
                           static_cast<int64_t>(place));
            }),
            Elsewhere<&model::Age::name>("TransactionState::begun_by"),
            Ignored<&model::Age::since>("only whose age is the older matters"));
}

void ForgetPrevious(TransactionSelector& selector) {
  auto* begin = std::get_if<BeginReadWrite>(&selector);
  if (begin != nullptr) begin->previous = {};
}
void ForgetPrevious(const auto& /*of_another_kind*/) {}

// Adds the parked call without the attempt from which its transaction inherits its age: the transaction has that age by
// now, and Spanner may have forgotten the attempt.
void AddParked(const std::optional<model::ParkedCall>& parked, CanonicalForm& form) {
  if (!parked || TransactionIn(parked->request) == nullptr) return form.Add(parked);
  std::optional<model::ParkedCall> without = parked;
  std::visit(
      [](auto& call) {
        if constexpr (requires { call.transaction; }) ForgetPrevious(call.transaction);
      },
      without->request);
  form.Add(without);
}

// The column of the table that holds only tokens; nullopt if there is no such column, or if tokens are instants.
std::optional<uint32_t> TokenColumnOf(const World& world, size_t table, const CanonicalForm& form) {
  const std::vector<model::Table>& tables = world.setup().catalogue->schema().tables;
  if (!form.OrdersTokens() || table >= tables.size()) return std::nullopt;
  const ProtocolInfo& protocol = *FindProtocol(world.setup().scenario.protocol);
  return tables[table].FindColumn(protocol.holder_columns.token);
}

void AddRow(const std::optional<Row>& row, std::optional<uint32_t> token_column,
            CanonicalForm& form) {
  if (!row || !token_column) return form.Add(row);
  form.AddWord(1);
  for (uint32_t column = 0; column < row->size(); ++column) {
    form.SetTimes(column == *token_column ? Times::kTokens : Times::kInstants);
    form.Add((*row)[column]);
  }
  form.SetTimes(Times::kInstants);
}

void AddWrite(const World& world, const model::BufferedWrite& write, CanonicalForm& form) {
  using Write = model::BufferedWrite;
  AddFields(form, write, Plain<&Write::table>(), Plain<&Write::key>(),
            Custom<&Write::row>([&](const std::optional<Row>& row) {
              AddRow(row, TokenColumnOf(world, write.table, form), form);
            }),
            Plain<&Write::columns>(), Plain<&Write::pending>(), Plain<&Write::changes_existence>(),
            Plain<&Write::unreadable>());
}

void AddServed(const model::ServedStatement& served, CanonicalForm& form) {
  using Served = model::ServedStatement;
  AddFields(form, served, Plain<&Served::sequence_number>(), Tokens<&Served::response>(),
            Ignored<&Served::digest>(
                "of instants as they are, and a client repeats a statement as it was"));
}

void AddTransaction(const World& world, const model::TransactionState& transaction,
                    CanonicalForm& form) {
  using T = model::TransactionState;
  const bool is_open = !model::IsOver(transaction);
  const bool is_committing = transaction.phase == model::TransactionPhase::kCommitting;
  const bool is_committed = transaction.phase == model::TransactionPhase::kCommitted;
  const bool locks_as_it_reads = !model::ReadsASnapshot(transaction.kind);
  AddFields(
      form, transaction, Plain<&T::id>(), Plain<&T::begun_by>(), Plain<&T::session>(),
      Plain<&T::kind>(), Plain<&T::phase>(),
      Custom<&T::age>([&form](const auto& age) { AddAge(age, form); }), Plain<&T::doomed>(),
      Custom<&T::served>([&form](const auto& all) {
        form.AddWord(all.size());
        for (const model::ServedStatement& served : all) AddServed(served, form);
      }),
      Plain<&T::precommit_sequence>(), OnlyIf(is_open, Plain<&T::snapshot>()),
      OnlyIf(is_open && locks_as_it_reads,
             Custom<&T::last_used>([&](Timestamp) { AddLastUsed(world, transaction, form); })),
      OnlyIf(is_open, Plain<&T::reads>()), OnlyIf(is_open, Custom<&T::writes>([&](const auto& all) {
                                                    form.AddWord(all.size());
                                                    for (const model::BufferedWrite& write : all)
                                                      AddWrite(world, write, form);
                                                  })),
      OnlyIf(is_open, AsTokens(Custom<&T::parked>(
                          [&form](const auto& parked) { AddParked(parked, form); }))),
      OnlyIf(is_open, Tokens<&T::mutations>()), Custom<&T::commit_timestamp>([&](Timestamp commit) {
        if (is_committing) form.Add(commit);
        if (is_committed || (is_committing && form.OrdersTokens())) form.AddToken(commit);
      }),
      OnlyIf(is_committing, Plain<&T::commit_call>()),
      OnlyIf(is_committing, Plain<&T::replicated>()));
}

// Adds the versions that a read can see: the newest one, and those that were the newest at `oldest_read` or later.
void AddRows(const model::StoredTable& table, std::optional<uint32_t> token_column,
             std::optional<Timestamp> oldest_read, CanonicalForm& form) {
  using model::Version;
  const auto& [rows] = table;
  uint64_t count = 0;
  for (const auto& [key, versions] : rows) {
    auto first = versions.end() - 1;
    if (oldest_read) {
      while (first != versions.begin() && first->commit > *oldest_read) --first;
    }
    // A row that was deleted before any read is like a row that never existed.
    if (!first->row && !(oldest_read && first->commit > *oldest_read)) ++first;
    if (first == versions.end()) continue;
    ++count;
    form.Add(key);
    form.AddWord(static_cast<uint64_t>(versions.end() - first));
    for (auto version = first; version != versions.end(); ++version) {
      // No read can see when the first version was committed.
      const bool is_dated = version != first || (oldest_read && version->commit > *oldest_read);
      AddFields(form, *version, OnlyIf(is_dated, Plain<&Version::commit>()),
                OnlyIf(is_dated, Plain<&Version::columns>()),
                Custom<&Version::row>([&](const auto& row) { AddRow(row, token_column, form); }));
    }
  }
  form.AddWord(count);
}

// Calls visit(transaction, origin) for each transaction that Spanner remembers.
template <typename Visit>
void ForEachTransaction(const model::Database& database, const Visit& visit) {
  const size_t count = database.transactions.size() + database.finished.size();
  for (uint32_t origin = 0; origin < count; ++origin) {
    visit(KeptTransaction(database, origin), origin);
  }
}

// The earliest timestamp at which a transaction or a waiting read still reads; nullopt if there is none.
std::optional<Timestamp> OldestRead(const model::Database& database, const References& references) {
  std::optional<Timestamp> oldest;
  const auto reads_at = [&oldest](Timestamp time) {
    oldest = std::min(oldest.value_or(time), time);
  };
  ForEachTransaction(database, [&](const model::TransactionState& transaction, uint32_t) {
    if (!transaction.snapshot || model::IsOver(transaction)) return;
    if (references.Matters(transaction)) reads_at(*transaction.snapshot);
  });
  for (const model::WaitingRead& read : database.waiting_reads) reads_at(read.read_timestamp);
  return oldest;
}

void AddTransactions(const World& world, const References& references, CanonicalForm& form) {
  ForEachTransaction(world.state().database,
                     [&](const model::TransactionState& transaction, uint32_t origin) {
                       if (!references.Matters(transaction)) return;
                       BeginPart(PartKind::kTransaction, -1, form, origin);
                       AddTransaction(world, transaction, form);
                       form.EndPart();
                     });
}

void AddSplit(const World& world, uint32_t split, CanonicalForm& form) {
  using model::SplitState;
  const model::SplitState& state = world.state().database.splits[split];
  // The next commit and the next read have at least this timestamp in any case.
  const Timestamp least =
      LeastLatest(world.state().spanner.truetime, split, world.now()) - Microseconds(1);
  const int64_t from_now = (least - ToTimestamp(world.now())).ns;
  const NumericSlot floored = {.kind = SlotKind::kFloored, .scope = 0, .param = from_now};
  AddFields(form, state, Custom<&SplitState::last_commit>([&](Timestamp last_commit) {
              form.AddSlot(floored, std::max(last_commit, state.last_read).UnixNanos());
            }),
            Elsewhere<&SplitState::last_read>("with last_commit: the greater one counts"),
            Custom<&SplitState::last_visible>(
                [&](Timestamp last_visible) { form.AddSlot(floored, last_visible.UnixNanos()); }));
}

void AddDatabase(const World& world, const References& references, CanonicalForm& form) {
  using model::Database;
  const Database& database = world.state().database;
  AddTransactions(world, references, form);
  const std::optional<Timestamp> oldest_read = OldestRead(database, references);
  BeginPart(PartKind::kDatabase, -1, form);
  AddFields(form, database, Custom<&Database::tables>([&](const auto& tables) {
              for (size_t i = 0; i < tables.size(); ++i) {
                AddRows(tables[i], TokenColumnOf(world, i, form), oldest_read, form);
              }
            }),
            Plain<&Database::sessions>(), Elsewhere<&Database::transactions>("AddTransactions"),
            Elsewhere<&Database::finished>("AddTransactions"), Plain<&Database::waiting_reads>(),
            Plain<&Database::look_again>(), Custom<&Database::splits>([&](const auto& splits) {
              for (uint32_t split = 0; split < splits.size(); ++split) AddSplit(world, split, form);
            }),
            Ignored<&Database::collected>("no read can begin before it"),
            Ignored<&Database::ages>("the next age is greater than all that there are"));
  form.EndPart();
}

void AddFaultNames(const std::vector<uint32_t>& faults, CanonicalForm& form) {
  form.AddWord(faults.size());
  for (const uint32_t fault : faults) form.AddFault(fault);
}

void AddFaultsOf(const ActiveFaults::OfNode& node, CanonicalForm& form) {
  using OfNode = ActiveFaults::OfNode;
  const auto add_names = [&form](const auto& all) { AddFaultNames(all, form); };
  AddFields(form, node, Plain<&OfNode::links>(), Custom<&OfNode::active>(add_names),
            Custom<&OfNode::armed>(add_names));
}

void AddFaults(const ActiveFaults& faults, CanonicalForm& form) {
  std::vector<int16_t> nodes(faults.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::ranges::sort(nodes, {}, [&form](int16_t node) { return form.Renamed(node); });
  AddFields(form, faults, Custom<&ActiveFaults::nodes>([&](const auto&) {
              for (const int16_t node : nodes) AddFaultsOf(faults.At(node), form);
            }),
            Plain<&ActiveFaults::of_clocks>(), Plain<&ActiveFaults::unavailable>());
}

}  // namespace

void TakeApart(const World& world, CanonicalForm& form, TokensAre tokens) {
  const WorldState& state = world.state();
  const References references(world);
  const bool orders_tokens =
      tokens == TokensAre::kAsTheProtocolSays
          ? FindProtocol(world.setup().scenario.protocol)->state_traits.orders_tokens_only
          : tokens == TokensAre::kOrdered;
  form.Clear(ToTimestamp(state.now), orders_tokens);
  ForEachTransaction(state.database, [&](const model::TransactionState& transaction, uint32_t) {
    form.AddTransaction(transaction.id, transaction.begun_by);
  });
  AddFields(form, state, Elsewhere<&WorldState::now>("all times count from it"),
            Custom<&WorldState::nodes>([&](const auto& nodes) {
              for (size_t i = 0; i < nodes.size(); ++i) {
                AddNode(world, static_cast<int16_t>(i), form);
              }
            }),
            Custom<&WorldState::spanner>([&](const SpannerState& spanner) {
              BeginPart(PartKind::kSpanner, -1, form);
              form.Add(spanner);
            }),
            Custom<&WorldState::faults>([&](const ActiveFaults& faults) {
              AddFaults(faults, form);
              form.EndPart();
            }),
            Custom<&WorldState::database>(
                [&](const model::Database&) { AddDatabase(world, references, form); }),
            Custom<&WorldState::resources>([&](const auto& resources) {
              BeginPart(PartKind::kResources, -1, form);
              form.Add(resources);
              form.EndPart();
            }),
            Custom<&WorldState::calls>([&](const auto& calls) {
              for (uint32_t place = 0; place < calls.size(); ++place) {
                if (calls[place].is_taken()) AddCall(world, references, place, form);
              }
            }),
            Ignored<&WorldState::free_calls>("places"),
            Custom<&WorldState::pending>([&](const auto&) { AddPending(world, form); }));
}

void DropWhatCannotMatter(World& world) {
  const References references(world);
  const std::optional<Timestamp> oldest_read = OldestRead(world.state().database, references);
  world.Forget(
      [&references](const model::TransactionState& transaction) {
        return !references.Matters(transaction);
      },
      oldest_read.value_or(ToTimestamp(world.now())));
}

Digest128 CanonicalDigest(const World& world, Duration memory) {
  thread_local CanonicalForm form;
  thread_local NormalForm normal;
  TakeApart(world, form);
  normal.Begin(form.now(), memory, {});
  normal.AddPartsOf(form);
  normal.Finish();
  return normal.digest();
}

}  // namespace whorl::sim
