// Encodes a state in parts. States with equal encodings have equal futures, with the same names, whichever runs led
// to them.
//
// The code that adds a state (canonical_world.h) leaves out values that cannot matter any more. A part is a shape and
// the numbers in its slots. The shape holds everything except these numbers (SlotKind lists their kinds):
//   1. Instants, which matter by their distance from now. Of instants longer ago than `memory`, only the order
//      matters.
//   2. Generations of transactions, which count up while a process lives, and serials (protocol/counting.h), also
//      those within texts: only their order matters.
// So states that differ only in the time, or in how long processes have run, have the same shapes and differ in
// their numbers.
// NormalForm (normal_form.h) gives numbers with equal meanings equal words, and makes a digest of all parts.
// Invariants:
//   1. Equal forms have equal digests, on every compiler and in every process; different forms have different
//      digests, except for a collision of 128 bits.
//   2. The order of the parts does not matter.
// REQUIRES of the code under test, for equal forms to have the same future: it compares instants with
// each other, and subtracts them, but uses none as a number, nor a literal such as LocalInstant{} as an
// instant; and it never tests whether an instant is longer ago than `memory`.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "protocol/field_sink.h"
#include "protocol/random_id.h"
#include "protocol/spanner/field_adder.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/shared_text.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/value.h"
#include "sim/explore/engine/key.h"

namespace whorl::sim {

using Digest128 = explore::Key128;

// A number of a part that its shape leaves out.
enum class SlotKind : uint8_t {
  // An instant of true time, in nanoseconds since 1970. `param`, if set, replaces the form's `memory`.
  kInstant,
  // An instant that repeats every `param`. Only its next repetition after now matters.
  kTick,
  // An instant. All instants that are at most `param` after now mean the same.
  kFloored,
  // A number. Only its order among the numbers of its scope matters.
  kRank,
  // An instant. Only whether the question `param` was asked by then matters.
  kQuestionTime,
  // A number that matters only if the question of the kQuestionTime before it is open.
  kConditional,
};
struct NumericSlot {
  SlotKind kind = SlotKind::kInstant;
  // Numbers are ordered within their scope. Of kInstant, only those that are long ago are.
  uint64_t scope = 0;
  int64_t param = 0;
  // Of kInstant: by a clock that stands still, so that the instant keeps its distance from now while time goes on.
  bool stands = false;
};
// Whether numbers in the two slots mean the same. An instant means the same when its clock begins to stand still, and
// when it goes on.
constexpr bool MeanTheSame(const NumericSlot& a, const NumericSlot& b) {
  return a.kind == b.kind && a.scope == b.scope && a.param == b.param;
}
// Whether an instant with this distance from now, in nanoseconds, is long ago.
constexpr bool IsLongAgo(const NumericSlot& slot, int64_t from_now, int64_t memory) {
  return from_now <= -(slot.param != 0 ? slot.param : memory);
}

// Names a part by its kind, and by its index among the parts of this kind.
struct PartName {
  uint16_t kind = 0;
  int16_t index = -1;
  friend constexpr auto operator<=>(const PartName&, const PartName&) = default;
};

// Renames nodes, and everything that is named after them, so that the form of a state becomes that of the state in
// which equal processes have changed places.
struct Renaming {
  // By node: its new name. Several nodes may get the same name; their counters then share a scope, so the order of
  // these numbers has no meaning.
  std::vector<int16_t> nodes;
  // By fault: its new number. Faults after the last one keep their numbers.
  std::vector<uint32_t> faults;
  // Ids and names of processes, and bases of their numbered names.
  std::map<std::string, std::string, std::less<>> texts;
};

// Collects the parts of a state. A protocol's machine adds its fields by the virtual calls of FieldSink; all other code
// adds without virtual calls.
class CanonicalForm final : public FieldSink, public FieldAdder<CanonicalForm> {
 public:
  using FieldAdder<CanonicalForm>::Add;

  struct Part {
    PartName name;
    uint32_t origin = 0;  // tells the code that added the part what it was made of (PartKind)
    size_t first_word = 0;
    size_t last_word = 0;  // the end: one after the last word
    size_t first_slot = 0;
    size_t last_slot = 0;
  };

  // Empties the form, but keeps its allocations. `now`: true time. `orders_tokens`: only the order of tokens
  // (Times::kTokens) matters.
  void Clear(Timestamp now, bool orders_tokens = false);
  // From now on names are replaced as `renaming` says. Null: everything keeps its name. REQUIRES: it outlives the
  // form, or is replaced.
  void Rename(const Renaming* renaming) { renaming_ = renaming; }
  int16_t Renamed(int16_t node) const {
    return renaming_ == nullptr || node < 0 ? node : renaming_->nodes[static_cast<size_t>(node)];
  }
  // From now on the form knows `id` as the transaction that the call `begun_by` began.
  void AddTransaction(const TransactionId& id, const CallName& begun_by) {
    transactions_.emplace_back(id, begun_by);
  }
  // Words that are added from now on belong to a new part.
  void BeginPart(PartName name, uint32_t origin);
  void EndPart();

  const std::vector<Part>& parts() const { return parts_; }
  Digest128 ShapeOf(const Part& part) const;
  std::span<const NumericSlot> SlotsOf(const Part& part) const {
    return std::span(slots_).subspan(part.first_slot, part.last_slot - part.first_slot);
  }
  std::span<const int64_t> NumbersOf(const Part& part) const {
    return std::span(numbers_).subspan(part.first_slot, part.last_slot - part.first_slot);
  }
  Timestamp now() const { return now_; }

  // The meaning of timestamps that are added from now on. After Clear they are instants. Unless only the order of
  // tokens matters (Clear), tokens are added as instants, too.
  enum class Times : uint8_t { kInstants, kTokens };
  void SetTimes(Times times) { times_ = times; }
  bool OrdersTokens() const { return orders_tokens_; }

  // Values that are added from now on belong to the process on this node, whose clock shows `now`. `stands`: the clock
  // stands still.
  void SetProcess(int16_t node, LocalInstant now, bool stands = false) {
    local_scope_ = kScopeOfNodes + static_cast<uint64_t>(Renamed(node));
    local_now_ = now;
    local_stands_ = stands;
    serial_scope_ = kScopeOfSerials + static_cast<uint64_t>(Renamed(node));
  }
  LocalInstant local_now() const override { return local_now_; }
  // Serials that are added from now on share their scope with the numbers after this base in texts (random_id.h).
  void SetSerials(std::string_view base) override { serial_scope_ = ScopeOf(Renamed(base)); }

  void AddWord(uint64_t word) override { words_.Push(word); }
  void AddSlot(const NumericSlot& slot, int64_t number) {
    AddWord(uint64_t{slot.stands ? 1U : 0U} << 61 | uint64_t{1} << 60 |
            static_cast<uint64_t>(slot.kind) << 56 | slot.scope);
    if (slot.param != 0) AddWord(static_cast<uint64_t>(slot.param));
    slots_.push_back(slot);
    numbers_.push_back(number);
  }

  void AddNode(int16_t node) { Add(Renamed(node)); }
  void AddFault(uint32_t fault) {
    const bool is_renamed = renaming_ != nullptr && fault < renaming_->faults.size();
    Add(is_renamed ? renaming_->faults[fault] : fault);
  }
  void Add(const ProcessId& process) override {
    const auto& [node, incarnation] = process;
    AddNode(node);
    Add(incarnation);
  }
  void Add(const CallName& name) override {
    const auto& [process, lock, request, generation, attempt, call] = name;
    Add(process);
    AddWord(uint64_t{lock} << 48 | uint64_t{request} << 32 | uint64_t{attempt} << 16 |
            uint64_t{call});
    AddGeneration(process, generation);
  }
  void AddGeneration(const ProcessId& process, uint32_t generation) {
    const ProcessId renamed = {.node = Renamed(process.node), .incarnation = process.incarnation};
    AddSlot({.kind = SlotKind::kRank, .scope = ScopeOfGenerations(renamed)}, generation);
  }
  // Adds an id of a transaction, or another text.
  void Add(const SharedText& text) override {
    const CallName* begun_by = text.empty() ? nullptr : FindTransaction(text);
    AddWord(begun_by != nullptr ? 1 : 0);
    if (begun_by == nullptr) return Add(text.view());
    Add(begun_by->process);
    AddWord(begun_by->attempt);
    AddGeneration(begun_by->process, begun_by->generation);
  }
  void Add(const std::string& text) { Add(std::string_view(text)); }
  void Add(std::string_view text) override {
    if (const auto name = ParseNumberedName(text)) {
      const std::string_view base = Renamed(name->base);
      AddWord(kNumberedName);
      AddText(base);
      AddSlot({.kind = SlotKind::kRank, .scope = ScopeOf(base)}, name->number);
      return AddText(name->more);
    }
    if (const auto name = ParseInstantName(text)) {
      AddWord(kInstantName);
      AddText(name->base);
      AddTokenNumber(name->number);
      return AddText(name->more);
    }
    AddText(Renamed(text));
  }
  // 0 means that there is no serial.
  void AddSerial(int64_t number) override {
    AddWord(number == 0 ? 0 : 1);
    if (number != 0) AddSlot({.kind = SlotKind::kRank, .scope = serial_scope_}, number);
  }
  // Adds a token as users see it: the nanoseconds of a timestamp, or a number of another kind.
  void AddTokenNumber(uint64_t number) override {
    const auto ns = static_cast<int64_t>(number);
    const Timestamp time = Timestamp::FromUnixNanos(ns);
    constexpr Duration kNear = Seconds(int64_t{366} * 86'400);
    const Duration ago = now_ - time;
    if (ago < kNear && -kNear < ago) return AddToken(time);
    AddWord(number);
  }
  void AddToken(Timestamp time) override {
    const NumericSlot ordered = {
        .kind = SlotKind::kInstant, .scope = kScopeOfTokens, .param = kMemoryOfTokens.ns};
    orders_tokens_ ? AddSlot(ordered, time.UnixNanos()) : AddInstant(time);
  }
  void Add(Timestamp time) override {
    times_ == Times::kTokens ? AddToken(time) : AddInstant(time);
  }
  void Add(LocalInstant instant) override {
    AddSlot({.kind = SlotKind::kInstant, .scope = local_scope_, .stands = local_stands_},
            InTrueTime(instant));
  }
  // Adds a ticker of the process's clock: it ticks at `next`, which is after now, and again after each `period`.
  void AddTick(LocalInstant next, Duration period) override {
    if (local_stands_) {
      AddWord(static_cast<uint64_t>(period.ns));
      return AddWord(static_cast<uint64_t>((next - local_now_).ns));
    }
    AddSlot({.kind = SlotKind::kTick, .scope = 0, .param = period.ns}, InTrueTime(next));
  }
  void Add(Duration duration) { AddWord(static_cast<uint64_t>(duration.ns)); }
  void Add(Float64 number) { AddWord(std::bit_cast<uint64_t>(number.value())); }
  void Add(Sql sql) { AddWord(sql.digest()); }

  // The scope of the numbers by which transactions are older or younger.
  static constexpr uint64_t kScopeOfAges = uint64_t{3} << 16;
  // The call that began the transaction; null if no such id was added.
  const CallName* FindTransaction(const SharedText& id) const {
    for (const auto& [known, begun_by] : transactions_) {
      if (known == id) return &begun_by;
    }
    return nullptr;
  }

 private:
  // These and kScopeOfAges are scopes; scopes of texts are hashes. All are below 2^56.
  static constexpr uint64_t kTrueTime = 0;
  static constexpr uint64_t kScopeOfNodes = uint64_t{1} << 16;
  static constexpr uint64_t kScopeOfSerials = uint64_t{2} << 16;
  static constexpr uint64_t kScopeOfTokens = uint64_t{4} << 16;
  static constexpr uint64_t kScopeOfGenerations = uint64_t{1} << 55;
  // The greatest age of a token when Spanner picks it, as a commit timestamp: no step makes an older token.
  static constexpr Duration kMemoryOfTokens = Milliseconds(1);
  static uint64_t ScopeOf(std::string_view base);

  static constexpr uint64_t ScopeOfGenerations(ProcessId process) {
    return kScopeOfGenerations | static_cast<uint64_t>(static_cast<uint16_t>(process.node)) << 32 |
           process.incarnation;
  }

  std::string_view Renamed(std::string_view text) const {
    if (renaming_ == nullptr) return text;
    const auto known = renaming_->texts.find(text);
    return known == renaming_->texts.end() ? text : std::string_view(known->second);
  }

  static constexpr uint64_t kNumberedName = ~uint64_t{0};     // not the length of a text
  static constexpr uint64_t kInstantName = ~uint64_t{0} - 1;  // nor is this

  // A vector whose Push is inlined and takes a few instructions: a state has hundreds of words.
  class Words {
   public:
    [[gnu::always_inline]] void Push(uint64_t word) {
      if (size_ == room_.size()) Grow();
      room_[size_++] = word;
    }
    void Clear() { size_ = 0; }
    size_t size() const { return size_; }
    std::span<const uint64_t> Part(size_t begin, size_t end) const {
      return std::span(room_).subspan(begin, end - begin);
    }

   private:
    void Grow();

    std::vector<uint64_t> room_;
    size_t size_ = 0;
  };

  // True time at which this process's clock reads `instant`, if its rate is 1.
  int64_t InTrueTime(LocalInstant instant) const {
    return SaturatingAdd(now_.UnixNanos(), (instant - local_now_).ns);
  }

  void AddInstant(Timestamp time) {
    AddSlot({.kind = SlotKind::kInstant, .scope = kTrueTime}, time.UnixNanos());
  }

  void AddText(std::string_view text) {
    AddWord(text.size());
    while (!text.empty()) {
      uint64_t word = 0;
      const std::string_view bytes = text.substr(0, sizeof(word));
      std::memcpy(&word, bytes.data(), bytes.size());
      AddWord(word);
      text.remove_prefix(bytes.size());
    }
  }

  Timestamp now_;
  bool orders_tokens_ = false;
  Times times_ = Times::kInstants;
  const Renaming* renaming_ = nullptr;
  std::vector<std::pair<TransactionId, CallName>> transactions_;
  Words words_;
  std::vector<NumericSlot> slots_;
  std::vector<int64_t> numbers_;
  std::vector<Part> parts_;
  uint64_t local_scope_ = kScopeOfNodes;
  LocalInstant local_now_;
  bool local_stands_ = false;
  uint64_t serial_scope_ = kScopeOfSerials;
};

}  // namespace whorl::sim
