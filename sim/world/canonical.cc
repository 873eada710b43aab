#include "sim/world/canonical.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/protocols.h"
#include "sim/world/node_clock.h"
#include "sim/world/spanner_clocks.h"

namespace whorl::sim {
namespace {

// --- what the world still refers to --------------------------------------------------------------

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
  // One that reads a snapshot holds no locks before its Commit, which nobody will send any more.
  if (transaction.parked) return true;
  const bool one_lock =
      world.setup().catalogue->options().concurrency == model::Concurrency::kEmulator;
  if (model::ReadsASnapshot(transaction.kind)) return one_lock && transaction.age.has_value();
  return !transaction.reads.empty() || !transaction.writes.empty();
}

namespace {

// What a world refers to, found in one pass over it.
class References {
 public:
  explicit References(const World& world) : world_(world) {
    const auto refer = [this](const TransactionId& id) { ids_.push_back(id); };
    for (const Node& node : world.state().nodes) ForEachReferenceOf(node, refer);
    const std::vector<CallSlot>& calls = world.state().calls;
    events_.resize(calls.size());
    world.state().pending.ForEach([&](const PendingSlot& slot, uint32_t) {
      if (std::holds_alternative<CallArrives>(slot.choice.event)) {
        events_[slot.call].message = &slot;
        ForEachReferenceOf(calls[slot.call].call(), &slot, refer);
      } else if (std::holds_alternative<ReplyArrives>(slot.choice.event)) {
        events_[slot.call].message = &slot;
        ForEachReferenceOf(calls[slot.call].call(), &slot, refer);
      } else if (std::holds_alternative<CallTimesOut>(slot.choice.event)) {
        events_[slot.call].timeout = &slot;
      } else if (const auto* acts = std::get_if<OperatorActs>(&slot.choice.event)) {
        operators_.push_back(acts->fault);
      }
    });
  }

  // The pending events of a call; null: there is none.
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
  std::vector<EventsOfCall> events_;  // by the call's place
  std::vector<TransactionId> ids_;
  std::vector<uint32_t> operators_;  // faults whose operators are at it
};

// --- processes -----------------------------------------------------------------------------------

void Begin(PartKind kind, int16_t index, CanonicalForm& form, uint32_t origin = 0) {
  form.BeginPart({.kind = static_cast<uint16_t>(kind), .index = index}, origin);
}

void AddTimers(const Participant& participant, CanonicalForm& form) {
  form.AddWord(participant.timers.size());
  for (const ActiveTimer* timer : SortedTimers(participant)) {
    form.Add(timer->owner);
    form.Add(timer->id);
    form.Add(timer->at);
  }
}

void AddRunners(const Participant& participant, ProcessId process, CanonicalForm& form) {
  form.AddWord(participant.runners.size());
  for (const ActiveRunner* runner : SortedRunners(participant)) {
    form.Add(
        CallName{.process = process, .request = runner->request, .generation = runner->generation});
    form.Add(runner->state);
  }
}

void AddAsked(const Participant& participant, CanonicalForm& form) {
  form.Add(participant.application.asking);
  if (participant.application.asking) form.Add(participant.asked_at);
}

void AddParticipant(const Participant& participant, ProcessId process, CanonicalForm& form) {
  form.Add(participant.lock);
  form.SetTimes(Times::kTokens);
  form.Add(participant.machine);
  form.SetTimes(Times::kInstants);
  form.Add(participant.standing);
  form.Add(participant.believes);
  form.Add(participant.belief_lapsed);
  form.Add(participant.application);
  form.SetTimes(Times::kTokens);
  AddRunners(participant, process, form);
  form.SetTimes(Times::kInstants);
}

// What the clock of the node's process shows. A node that is down has none that matters.
LocalInstant LocalNow(const Node& node, Instant now) {
  return ReadClocks(node.clock, node.started, now).monotonic;
}

// Whether the wall clock matters, which drifts away from true time for ever.
bool ReadsWallClock(const World& world) {
  return !FindProtocol(world.setup().scenario.protocol)->ignores_wall_clock;
}

void AddNode(const World& world, int16_t index, CanonicalForm& form) {
  const Node& node = world.state().nodes[static_cast<size_t>(index)];
  const Instant now = world.now();
  Begin(PartKind::kNode, index, form);
  form.SetProcess(index, LocalNow(node, now));
  for (const Participant& participant : node.participants) AddTimers(participant, form);
  for (const Participant& participant : node.participants) AddAsked(participant, form);
  ForEachReferenceOf(node, [&form](const TransactionId& id) { form.Add(id); });
  form.Add(node.life);
  form.Add(node.incarnation);
  form.Add(node.clock.rate_ppm);
  form.Add(node.clock.stands);
  if (node.clock.rate_ppm == 0 || ReadsWallClock(world)) form.Add(WallError(node.clock, now));
  form.Add(node.pauses);
  form.Add(node.sessions);
  if (node.life != Life::kDown) {
    const ProcessId process = {.node = index, .incarnation = node.incarnation};
    for (const Participant& participant : node.participants) {
      AddParticipant(participant, process, form);
    }
  }
  form.EndPart();
}

// --- messages ------------------------------------------------------------------------------------

// Whether it can happen, and if so when it is due: null is an event that there is not.
void AddDue(const PendingSlot* slot, CanonicalForm& form) {
  const bool is_queued = slot != nullptr && slot->queued != PendingSlot::kNone;
  form.AddWord((slot != nullptr ? 1U : 0U) | (is_queued ? 2U : 0U));
  if (is_queued) form.Add(slot->due);
}

// All ages that are greater than any that matters mean the same.
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
  if (!protocol.reads_ages) return form.Add(call.response);
  Duration lease;
  for (const NodeSpec& node : scenario.nodes) lease = std::max(lease, node.lease);
  Response response = call.response;
  LimitAges(lease.ns * protocol.memory_leases / Milliseconds(1).ns, response);
  form.Add(response);
}

void AddCall(const World& world, const References& references, uint32_t place,
             CanonicalForm& form) {
  const Call& call = world.state().calls[place].call();
  const ProcessId process = call.name.process;
  const References::EventsOfCall& events = references.EventsOf(place);
  Begin(PartKind::kCall, process.node, form, place);
  AddDue(events.message, form);
  AddDue(events.timeout, form);
  ForEachReferenceOf(call, events.message, [&form](const TransactionId& id) { form.Add(id); });
  const Node* node = process.node < 0 ? nullptr : &world.state().nodes[process.node];
  const bool is_alive = node != nullptr && node->incarnation == process.incarnation;
  if (is_alive) form.SetProcess(process.node, LocalNow(*node, world.now()));
  form.Add(call.name);
  form.Add(call.step);
  form.AddWord(call.request.index());
  if (events.message != nullptr) {
    form.AddNode(events.message->choice.node);
    const auto* replies = std::get_if<ReplyArrives>(&events.message->choice.event);
    form.AddWord(replies == nullptr ? 0 : replies->from_spanner ? 1 : 2);
    form.SetTimes(Times::kTokens);
    if (replies == nullptr) {
      form.Add(call.request);
    } else {
      AddResponse(world, call, form);
    }
    form.SetTimes(Times::kInstants);
  }
  form.Add(call.sent_at);
  form.AddWord(is_alive ? 1 : 0);
  if (is_alive) form.Add(call.deadline);
  form.AddWord(uint64_t{call.awaited} | uint64_t{call.at_spanner} << 1 | uint64_t{call.hangs} << 2 |
               uint64_t{call.slowed} << 3 | uint64_t{call.drop_reply} << 4 |
               uint64_t{call.held.has_value()} << 5);
  form.AddWord(call.struck_by ? 1 : 0);
  if (call.struck_by) form.AddFault(*call.struck_by);
  form.EndPart();
}

// Timers stand with their processes, messages and timeouts with their calls.
bool StandsAlone(const PendingEvent& event) {
  return !std::holds_alternative<TimerDue>(event) && !std::holds_alternative<CallArrives>(event) &&
         !std::holds_alternative<ReplyArrives>(event) &&
         !std::holds_alternative<CallTimesOut>(event);
}

// The faults that events name are named anew, as their nodes are.
struct EventAdder {
  CanonicalForm& form;

  void operator()(const NodeStarts& starts) const {
    form.AddWord(starts.fault ? 1 : 0);
    if (starts.fault) form.AddFault(*starts.fault);
  }
  void operator()(const FaultBegins& begins) const {
    form.AddFault(begins.fault);
    form.Add(begins.trigger);
  }
  void operator()(const FaultEnds& ends) const {
    form.AddFault(ends.fault);
    form.AddNode(ends.node);
    form.Add(ends.incarnation);
  }
  void operator()(const auto& event) const { form.Add(event); }
};

void AddPending(const World& world, CanonicalForm& form) {
  world.state().pending.ForEach([&](const PendingSlot& slot, uint32_t place) {
    if (!StandsAlone(slot.choice.event)) return;
    Begin(PartKind::kEvent, slot.choice.node, form, place);
    AddDue(&slot, form);
    form.AddWord(slot.choice.event.index());
    std::visit(EventAdder{form}, slot.choice.event);
    form.EndPart();
  });
}

// --- Spanner -------------------------------------------------------------------------------------

// Locks are taken from a transaction that has been idle for long; how much longer does not matter.
void AddLastUsed(const World& world, const model::TransactionState& transaction,
                 CanonicalForm& form) {
  const Duration ahead = world.state().spanner.truetime.epsilon * 2;
  const Duration limit = world.setup().catalogue->options().idle_limit + ahead;
  form.AddSlot({.kind = SlotKind::kFloored, .scope = 0, .param = -limit.ns},
               transaction.last_used.UnixNanos());
}

// When it got it does not matter, only whose is older.
void AddAge(const std::optional<model::Age>& age, CanonicalForm& form) {
  form.AddWord(age ? 1 : 0);
  if (!age) return;
  // The name is that of who began it.
  form.AddSlot({.kind = SlotKind::kRank, .scope = CanonicalForm::kScopeOfAges},
               static_cast<int64_t>(age->place));
}

void ForgetPrevious(TransactionSelector& selector) {
  auto* begin = std::get_if<BeginReadWrite>(&selector);
  if (begin != nullptr) begin->previous = {};
}
void ForgetPrevious(const auto& /*of_another_kind*/) {}

// A transaction that is parked has its age, so which attempt it inherits from matters no more, and Spanner
// may have forgotten that one.
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

// The column of the table that holds nothing but tokens; nothing: there is none, or tokens are instants.
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
  form.Add(write.table);
  form.Add(write.key);
  AddRow(write.row, TokenColumnOf(world, write.table, form), form);
  form.AddWord(write.columns);
  form.AddWord(write.pending);
  form.Add(write.changes_existence);
  form.AddWord(write.unreadable);
}

void AddTransaction(const World& world, const model::TransactionState& transaction,
                    CanonicalForm& form) {
  form.Add(transaction.id);
  form.Add(transaction.begun_by);
  form.Add(transaction.session);
  form.Add(transaction.kind);
  form.Add(transaction.phase);
  AddAge(transaction.age, form);
  form.Add(transaction.doomed);
  // Not its digest, which is of instants as they are: a client repeats a statement as it was.
  form.AddWord(transaction.served.size());
  form.SetTimes(Times::kTokens);
  for (const model::ServedStatement& served : transaction.served) {
    form.Add(served.sequence_number);
    form.Add(served.response);
  }
  form.Add(transaction.precommit_sequence);
  if (transaction.phase == model::TransactionPhase::kCommitted) {
    form.Add(transaction.commit_timestamp);
  }
  form.SetTimes(Times::kInstants);
  if (model::IsOver(transaction)) return;
  form.Add(transaction.snapshot);
  if (!model::ReadsASnapshot(transaction.kind)) AddLastUsed(world, transaction, form);
  form.Add(transaction.reads);
  form.AddWord(transaction.writes.size());
  for (const model::BufferedWrite& write : transaction.writes) AddWrite(world, write, form);
  form.SetTimes(Times::kTokens);
  AddParked(transaction.parked, form);
  form.Add(transaction.mutations);
  form.SetTimes(Times::kInstants);
  if (transaction.phase != model::TransactionPhase::kCommitting) return;
  form.Add(transaction.commit_timestamp);
  if (form.OrdersTokens()) form.AddToken(transaction.commit_timestamp);
  form.Add(transaction.commit_call);
  form.Add(transaction.replicated);
}

// The versions that a read can see: the newest one, and those that were so at `oldest_read` or later.
void AddRows(const model::StoredTable& table, std::optional<uint32_t> token_column,
             std::optional<Timestamp> oldest_read, CanonicalForm& form) {
  uint64_t count = 0;
  for (const auto& [key, versions] : table.rows) {
    auto first = versions.end() - 1;
    if (oldest_read) {
      while (first != versions.begin() && first->commit > *oldest_read) --first;
    }
    // Deleted before any read: as if it had never been there.
    if (!first->row && !(oldest_read && first->commit > *oldest_read)) ++first;
    if (first == versions.end()) continue;
    ++count;
    form.Add(key);
    form.AddWord(static_cast<uint64_t>(versions.end() - first));
    for (auto version = first; version != versions.end(); ++version) {
      // When the first one was committed cannot be seen.
      if (version != first || (oldest_read && version->commit > *oldest_read)) {
        form.Add(version->commit);
        form.AddWord(version->columns);
      }
      AddRow(version->row, token_column, form);
    }
  }
  form.AddWord(count);
}

// Calls visit(transaction, origin) for each that Spanner remembers.
template <typename Visit>
void ForEachTransaction(const model::Database& database, const Visit& visit) {
  const size_t count = database.transactions.size() + database.finished.size();
  for (uint32_t origin = 0; origin < count; ++origin) {
    visit(KeptTransaction(database, origin), origin);
  }
}

// The earliest time as of which something reads that has begun; nothing: there is no such read.
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

void AddDatabase(const World& world, const References& references, CanonicalForm& form) {
  const model::Database& database = world.state().database;
  ForEachTransaction(database, [&](const model::TransactionState& transaction, uint32_t origin) {
    if (!references.Matters(transaction)) return;
    Begin(PartKind::kTransaction, -1, form, origin);
    AddTransaction(world, transaction, form);
    form.EndPart();
  });
  const std::optional<Timestamp> oldest_read = OldestRead(database, references);
  Begin(PartKind::kDatabase, -1, form);
  for (size_t i = 0; i < database.tables.size(); ++i) {
    AddRows(database.tables[i], TokenColumnOf(world, i, form), oldest_read, form);
  }
  form.Add(database.sessions);
  form.Add(database.waiting_reads);
  form.Add(database.look_again);
  const TrueTimeSpec& truetime = world.state().spanner.truetime;
  for (uint32_t split = 0; split < database.splits.size(); ++split) {
    // The next commit and the next read are not below this anyway.
    const Timestamp least = LeastLatest(truetime, split, world.now()) - Microseconds(1);
    const int64_t from_now = (least - ToTimestamp(world.now())).ns;
    const model::SplitState& each = database.splits[split];
    const Timestamp last = std::max(each.last_commit, each.last_read);
    const NumericSlot floored = {.kind = SlotKind::kFloored, .scope = 0, .param = from_now};
    form.AddSlot(floored, last.UnixNanos());
    form.AddSlot(floored, each.last_visible.UnixNanos());
  }
  form.EndPart();
}

void AddFaults(const ActiveFaults& faults, CanonicalForm& form) {
  std::vector<int16_t> nodes(faults.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::ranges::sort(nodes, {}, [&form](int16_t node) { return form.Renamed(node); });
  for (const int16_t node : nodes) {
    const ActiveFaults::OfNode& of_node = faults.At(node);
    form.Add(of_node.links);
    for (const auto* all : {&of_node.active, &of_node.armed}) {
      form.AddWord(all->size());
      for (const uint32_t fault : *all) form.AddFault(fault);
    }
  }
  form.Add(faults.of_clocks);
  form.Add(faults.unavailable);
}

}  // namespace

void TakeApart(const World& world, CanonicalForm& form, TokensAre tokens) {
  const WorldState& state = world.state();
  const References references(world);
  const bool orders_tokens = tokens == TokensAre::kAsTheProtocolSays
                                 ? FindProtocol(world.setup().scenario.protocol)->orders_tokens_only
                                 : tokens == TokensAre::kOrdered;
  form.Clear(ToTimestamp(state.now), orders_tokens);
  ForEachTransaction(state.database, [&](const model::TransactionState& transaction, uint32_t) {
    form.AddTransaction(transaction.id, transaction.begun_by);
  });
  for (size_t i = 0; i < state.nodes.size(); ++i) {
    AddNode(world, static_cast<int16_t>(i), form);
  }
  Begin(PartKind::kSpanner, -1, form);
  form.Add(state.spanner);
  AddFaults(state.faults, form);
  form.EndPart();
  AddDatabase(world, references, form);
  Begin(PartKind::kResources, -1, form);
  form.Add(state.resources);
  form.EndPart();
  for (uint32_t place = 0; place < state.calls.size(); ++place) {
    if (state.calls[place].is_taken()) AddCall(world, references, place, form);
  }
  AddPending(world, form);
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
