#include "sim/world/canonical.h"

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/protocols.h"
#include "sim/world/node_clock.h"
#include "sim/world/spanner_clocks.h"

namespace whorl::sim {
namespace {

constexpr auto kAll = [](const auto&) { return true; };

// --- what the world still refers to --------------------------------------------------------------

const TransactionId* IdIn(const TransactionSelector& selector) {
  return std::get_if<TransactionId>(&selector);
}

// The transaction that the request names, or the one whose age it inherits; null if none.
const TransactionId* TransactionIn(const Request& request) {
  const auto previous = [](const auto& options) -> const TransactionId* {
    const auto* begin = std::get_if<BeginReadWrite>(&options);
    return begin == nullptr || begin->previous.empty() ? nullptr : &begin->previous;
  };
  return std::visit(
      [&previous](const auto& call) -> const TransactionId* {
        using Call = std::remove_cvref_t<decltype(call)>;
        if constexpr (std::is_same_v<Call, BeginTransaction>) {
          return previous(call.options);
        } else if constexpr (std::is_same_v<Call, Commit>) {
          return std::get_if<TransactionId>(&call.transaction);
        } else if constexpr (std::is_same_v<Call, Rollback>) {
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

// What a world refers to, found in one pass over it.
class References {
 public:
  explicit References(const World& world)
      : one_lock_(world.setup().catalogue->options().concurrency == model::Concurrency::kEmulator) {
    for (const Node& node : world.state().nodes) {
      for (const Participant& participant : node.participants) {
        for (const ActiveRunner& runner : participant.runners) {
          Refer(runner.state.transaction_id);
          Refer(runner.state.previous);
        }
      }
    }
    const std::vector<CallSlot>& calls = world.state().calls;
    arriving_.resize(calls.size());
    replied_.resize(calls.size());
    world.state().pending.ForEach([&](const PendingSlot& slot, uint32_t) {
      if (std::holds_alternative<CallArrives>(slot.choice.event)) {
        arriving_[slot.call] = true;
        if (const auto* sent = TransactionIn(calls[slot.call].call().request)) Refer(*sent);
      } else if (std::holds_alternative<ReplyArrives>(slot.choice.event)) {
        replied_[slot.call] = true;
        Refer(calls[slot.call].call().response.transaction);
      } else if (const auto* acts = std::get_if<OperatorActs>(&slot.choice.event)) {
        operators_.push_back(acts->fault);
      }
    });
  }

  // Whether the call's request is on its way to Spanner, or its reply back.
  bool IsArriving(uint32_t call) const { return arriving_[call]; }
  bool IsReplied(uint32_t call) const { return replied_[call]; }

  // Whether Spanner's memory of the transaction can matter.
  bool Matters(const model::TransactionState& transaction) const {
    if (std::ranges::find(ids_, transaction.id) != ids_.end()) return true;
    if (transaction.phase == model::TransactionPhase::kCommitting) return true;
    const CallName& name = transaction.begun_by;
    const bool is_operators = name.process == ProcessId{};
    if (is_operators && std::ranges::find(operators_, name.generation) != operators_.end()) {
      return true;
    }
    if (model::IsOver(transaction)) return false;
    // One that reads a snapshot holds no locks before its Commit, which nobody will send any more.
    if (transaction.parked) return true;
    if (model::ReadsASnapshot(transaction.kind)) return one_lock_ && transaction.age.has_value();
    return !transaction.reads.empty() || !transaction.writes.empty();
  }

 private:
  void Refer(const TransactionId& id) {
    if (!id.empty()) ids_.push_back(id);
  }

  bool one_lock_;               // for the whole database
  std::vector<bool> arriving_;  // by the call's place
  std::vector<bool> replied_;
  std::vector<TransactionId> ids_;
  std::vector<uint32_t> operators_;  // faults whose operators are at it
};

CanonicalNames NamesOf(const World& world, Duration memory, const References& references) {
  CanonicalNames names(ToTimestamp(world.now()), memory);
  const WorldState& state = world.state();
  for (size_t i = 0; i < state.nodes.size(); ++i) {
    const ProcessId process = {.node = static_cast<int16_t>(i),
                               .incarnation = state.nodes[i].incarnation};
    for (const Participant& participant : state.nodes[i].participants) {
      for (const ActiveRunner& runner : participant.runners) {
        names.AddGenerationOf({.process = process, .generation = runner.generation});
      }
    }
  }
  for (const CallSlot& slot : state.calls) {
    if (slot.is_taken()) names.AddGenerationOf(slot.call().name);
  }
  for (const auto* all : {&state.database.transactions, &state.database.finished}) {
    for (const model::TransactionState& transaction : *all) {
      if (references.Matters(transaction)) {
        names.AddTransaction(transaction.id, transaction.begun_by);
      }
    }
  }
  for (const model::WaitingRead& read : state.database.waiting_reads) {
    names.AddGenerationOf(read.call);
  }
  names.Sort();
  return names;
}

// --- processes -----------------------------------------------------------------------------------

void AddParticipant(const Participant& participant, CanonicalForm& form) {
  form.Add(participant.lock);
  form.Add(participant.machine);
  form.Add(participant.standing);
  form.Add(participant.believes);
  form.Add(participant.belief_lapsed);
  form.Add(participant.application);
  if (participant.application.asking) form.Add(participant.asked_at);
  form.AddUnordered(participant.timers, kAll, [](CanonicalForm& one, const ActiveTimer& timer) {
    one.Add(timer.owner);
    one.Add(timer.id);
    one.Add(timer.at);
  });
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
  form.SetProcess(index, LocalNow(node, now));
  form.Add(node.life);
  form.Add(node.incarnation);
  form.Add(node.clock.rate_ppm);
  form.Add(node.clock.stands);
  if (node.clock.rate_ppm == 0 || ReadsWallClock(world)) form.Add(WallError(node.clock, now));
  form.Add(node.pauses);
  form.Add(node.sessions);
  if (node.life == Life::kDown) return;
  form.Add(LocalInstant{});  // when it started
  const ProcessId process = {.node = index, .incarnation = node.incarnation};
  for (const Participant& participant : node.participants) {
    AddParticipant(participant, form);
    form.AddUnordered(
        participant.runners, kAll, [&](CanonicalForm& one, const ActiveRunner& runner) {
          one.Add(CallName{
              .process = process, .request = runner.request, .generation = runner.generation});
          one.Add(runner.state);
        });
  }
}

// --- messages ------------------------------------------------------------------------------------

void AddCalls(const World& world, const References& references, CanonicalForm& form) {
  const std::vector<CallSlot>& calls = world.state().calls;
  const auto is_taken = [](const CallSlot& slot) { return slot.is_taken(); };
  form.AddUnordered(calls, is_taken, [&](CanonicalForm& one, const CallSlot& slot) {
    const Call& call = slot.call();
    const auto place = static_cast<uint32_t>(&slot - calls.data());
    const ProcessId process = call.name.process;
    const Node* node = process.node < 0 ? nullptr : &world.state().nodes[process.node];
    const bool is_alive = node != nullptr && node->incarnation == process.incarnation;
    if (is_alive) one.SetProcess(process.node, LocalNow(*node, world.now()));
    one.Add(call.name);
    one.Add(call.step);
    one.AddWord(call.request.index());
    if (references.IsArriving(place)) one.Add(call.request);
    if (references.IsReplied(place)) one.Add(call.response);
    one.Add(call.sent_at);
    if (is_alive) one.Add(call.deadline);
    one.AddWord(uint64_t{call.awaited} | uint64_t{call.at_spanner} << 1 |
                uint64_t{call.hangs} << 2 | uint64_t{call.slowed} << 3 |
                uint64_t{call.drop_reply} << 4 | uint64_t{call.held.has_value()} << 5);
    one.Add(call.struck_by);
  });
}

// Timers stand with their processes.
void AddPending(const World& world, CanonicalForm& form) {
  std::vector<const PendingSlot*> slots;
  world.state().pending.ForEach([&](const PendingSlot& slot, uint32_t) {
    if (!std::holds_alternative<TimerDue>(slot.choice.event)) slots.push_back(&slot);
  });
  form.AddUnordered(slots, kAll, [](CanonicalForm& one, const PendingSlot* slot) {
    one.Add(slot->choice.node);
    one.Add(slot->choice.event);
    const bool is_queued = slot->queued != PendingSlot::kNone;
    one.Add(is_queued);
    if (is_queued) one.Add(slot->due);
  });
}

// --- Spanner -------------------------------------------------------------------------------------

struct KeptTransactions {
  std::vector<const model::TransactionState*> all;
  std::optional<Timestamp> oldest_read;  // of one that reads as of a time, or of a waiting read
};

KeptTransactions KeptIn(const model::Database& database, const References& references) {
  KeptTransactions kept;
  const auto reads_at = [&kept](Timestamp time) {
    kept.oldest_read = std::min(kept.oldest_read.value_or(time), time);
  };
  for (const auto* all : {&database.transactions, &database.finished}) {
    for (const model::TransactionState& transaction : *all) {
      if (!references.Matters(transaction)) continue;
      kept.all.push_back(&transaction);
      if (transaction.snapshot && !model::IsOver(transaction)) reads_at(*transaction.snapshot);
    }
  }
  for (const model::WaitingRead& read : database.waiting_reads) reads_at(read.read_timestamp);
  return kept;
}

void AddTransaction(const model::TransactionState& transaction, CanonicalForm& form) {
  form.Add(transaction.id);
  form.Add(transaction.begun_by);
  form.Add(transaction.session);
  form.Add(transaction.kind);
  form.Add(transaction.phase);
  form.Add(transaction.age);
  form.Add(transaction.doomed);
  // Not its digest, which is of instants as they are: a client repeats a statement as it was.
  form.AddWord(transaction.served.size());
  for (const model::ServedStatement& served : transaction.served) {
    form.Add(served.sequence_number);
    form.Add(served.response);
  }
  form.Add(transaction.precommit_sequence);
  if (transaction.phase == model::TransactionPhase::kCommitted) {
    return form.Add(transaction.commit_timestamp);
  }
  if (model::IsOver(transaction)) return;
  form.Add(transaction.snapshot);
  // Locks are taken from a transaction that has been idle for long.
  if (!model::ReadsASnapshot(transaction.kind)) form.Add(transaction.last_used);
  form.Add(transaction.reads);
  form.Add(transaction.writes);
  form.Add(transaction.parked);
  form.Add(transaction.mutations);
  if (transaction.phase != model::TransactionPhase::kCommitting) return;
  form.Add(transaction.commit_timestamp);
  form.Add(transaction.commit_call);
  form.Add(transaction.replicated);
}

// The versions that a read can see: the newest one, and those that were so at `oldest_read` or later.
void AddRows(const model::StoredTable& table, std::optional<Timestamp> oldest_read,
             CanonicalForm& form) {
  uint64_t count = 0;
  for (const auto& [key, versions] : table.rows) {
    auto first = versions.end() - 1;
    if (oldest_read) {
      while (first != versions.begin() && first->commit > *oldest_read) --first;
    }
    if (first == versions.end() - 1 && !first->row) continue;  // deleted before any read
    ++count;
    form.Add(key);
    form.AddWord(static_cast<uint64_t>(versions.end() - first));
    for (auto version = first; version != versions.end(); ++version) {
      // When the first one was committed cannot be seen.
      if (version != first || (oldest_read && version->commit > *oldest_read)) {
        form.Add(version->commit);
        form.AddWord(version->columns);
      }
      form.Add(version->row);
    }
  }
  form.AddWord(count);
}

void AddDatabase(const World& world, const References& references, CanonicalForm& form) {
  const model::Database& database = world.state().database;
  const KeptTransactions kept = KeptIn(database, references);
  for (const model::StoredTable& table : database.tables) {
    AddRows(table, kept.oldest_read, form);
  }
  form.Add(database.sessions);
  form.AddUnordered(kept.all, kAll, [](CanonicalForm& one, const model::TransactionState* each) {
    AddTransaction(*each, one);
  });
  form.Add(database.waiting_reads);
  form.Add(database.look_again);
  const TrueTimeSpec& truetime = world.state().spanner.truetime;
  for (uint32_t split = 0; split < database.splits.size(); ++split) {
    // The next commit and the next read are not below this anyway.
    const Timestamp least = LeastLatest(truetime, split, world.now()) - Microseconds(1);
    const model::SplitState& each = database.splits[split];
    form.Add(std::max(std::max(each.last_commit, each.last_read), least));
    form.Add(std::max(each.last_visible, least));
  }
}

void AddCanonical(const World& world, const References& references, CanonicalForm& form) {
  const WorldState& state = world.state();
  for (size_t i = 0; i < state.nodes.size(); ++i) {
    AddNode(world, static_cast<int16_t>(i), form);
  }
  form.Add(state.spanner);
  form.Add(state.faults);
  AddDatabase(world, references, form);
  form.Add(state.resources);
  AddCalls(world, references, form);
  AddPending(world, form);
}

}  // namespace

Digest128 CanonicalDigest(const World& world, Duration memory) {
  return CanonicalDigest(world, memory, [](CanonicalForm&) {});
}

Digest128 CanonicalDigest(const World& world, Duration memory,
                          const std::function<void(CanonicalForm& form)>& add_more) {
  const References references(world);
  const CanonicalNames names = NamesOf(world, memory, references);
  CanonicalForm form(names);
  AddCanonical(world, references, form);
  add_more(form);
  return form.Finish();
}

}  // namespace whorl::sim
