// Makes digests of the parts of canonical forms (canonical_form.h). Numbers with equal meanings become equal words, so
// that states with the same future have the same digest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "sim/explore/components/canonical_form.h"
#include "sim/explore/engine/key_map.h"

namespace whorl::sim {

// A digest of words, one after the other.
class WordDigest {
 public:
  void Add(uint64_t word) {
    state_.high = Fold(state_.high ^ word, 0xa0761d6478bd642fULL);
    state_.low = Fold(state_.low ^ word, 0xe7037ed1a0b428dbULL);
  }
  void Add(const Digest128& digest) {
    Add(digest.high);
    Add(digest.low);
  }
  const Digest128& state() const { return state_; }
  // Continues a digest that had this state.
  static WordDigest From(const Digest128& state) {
    WordDigest digest;
    digest.state_ = state;
    return digest;
  }

 private:
  __extension__ typedef unsigned __int128 Uint128;
  // Every bit of a word moves bits of both halves of the product.
  static uint64_t Fold(uint64_t a, uint64_t b) {
    const Uint128 product = static_cast<Uint128>(a) * b;
    return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
  }

  Digest128 state_ = {.high = 0x2d358dccaa6c78a5ULL, .low = 0x8bb84b93962eacc9ULL};
};

// Makes the digest of a part from the digests of its shape and of its numbers (NormalForm).
inline Digest128 DigestOfPart(const Digest128& shape, const Digest128& numbers) {
  WordDigest digest = WordDigest::From(shape);
  digest.Add(numbers);
  return digest.state();
}

// The value of every instant that is long ago; no other instant has it.
inline constexpr uint64_t kLongAgo = uint64_t{1} << 63;

// The normal value of a kTick or a kFloored slot, by its distance from now. Normal values do not change.
inline int64_t NormalFromNow(const NumericSlot& slot, int64_t from_now) {
  if (slot.kind == SlotKind::kFloored) return std::max(from_now, slot.param);
  return from_now > 0 ? from_now : from_now % slot.param + slot.param;
}

// Adds the meaning that a number has without its rank, and returns whether its rank matters, too. `number`: an
// instant's distance from now; 0 for a kConditional whose question is not open. `is_old`: the instant is long ago.
inline bool AddMeaning(const NumericSlot& slot, int64_t number, bool is_old, WordDigest& digest) {
  switch (slot.kind) {
    case SlotKind::kInstant:
      digest.Add(is_old ? kLongAgo : static_cast<uint64_t>(number));
      return is_old;
    case SlotKind::kTick:
    case SlotKind::kFloored:
      digest.Add(static_cast<uint64_t>(NormalFromNow(slot, number)));
      return false;
    case SlotKind::kRank:
      return true;
    case SlotKind::kQuestionTime:
      return false;
    case SlotKind::kConditional:
      digest.Add(static_cast<uint64_t>(number));
      return false;
  }
  return false;
}

// Ranks numbers within their scopes: the rank of a number is the count of lesser numbers in its scope.
class Ranking {
 public:
  void Clear();
  void Add(uint32_t scope, int64_t number);
  // The scope's numbers, sorted, each once.
  std::span<const int64_t> In(uint32_t scope) const {
    return scope < numbers_.size() ? std::span<const int64_t>(numbers_[scope])
                                   : std::span<const int64_t>();
  }
  int64_t RankOf(uint32_t scope, int64_t number) const {
    const std::span<const int64_t> all = In(scope);
    return std::ranges::lower_bound(all, number) - all.begin();
  }

 private:
  std::vector<std::vector<int64_t>> numbers_;  // by scope; a state has a few of each
  std::vector<uint32_t> scopes_;               // those that have numbers
};

// Makes digests of parts, in which numbers with equal meanings are equal. One object serves many states, to save
// allocations.
//
// A part's digest covers its shape, then the meanings that its numbers have without their ranks, then the ranks of
// the numbers whose order matters.
class NormalForm {
 public:
  // `asked`: for each question (NumericSlot::param), when it was asked, or the present time if it is not open.
  // Without `ranks`, numbers that matter only by their order are left out.
  void Begin(Timestamp now, Duration memory, std::span<const int64_t> asked, bool ranks = true);

  // The slots of a shape, prepared once for all forms.
  struct Slots {
    Slots() = default;
    explicit Slots(std::span<const NumericSlot> its_slots);

    std::vector<NumericSlot> all;
    std::vector<uint32_t> scopes;  // by slot: its scope as a small number (PlaceOfScope)
    bool has_gates = false;
  };

  void AddPart(const Digest128& shape, const Slots& slots, std::span<const int64_t> numbers);
  // Adds a part whose slots are not prepared.
  void AddPart(const Digest128& shape, std::span<const NumericSlot> slots,
               std::span<const int64_t> numbers);
  // Adds all parts of the form, or those of one node.
  void AddPartsOf(const CanonicalForm& form, std::optional<int16_t> node = std::nullopt);
  // Makes the digest. REQUIRES: all parts were added; it is called once for each Begin.
  void Finish();
  // The digest of all parts. REQUIRES: Finish() was called.
  const Digest128& digest() const { return digest_; }

 private:
  struct Part {
    Digest128 shape;
    Digest128 alone;       // of the meanings that its numbers have without their ranks
    size_t last_rank = 0;  // the end of its numbers in ranked_
  };
  struct Ranked {
    uint32_t scope = 0;
    int64_t number = 0;
  };

  Digest128 WalkNumbers(const Slots& slots, std::span<const int64_t> numbers);

  int64_t now_ = 0;
  int64_t memory_ = 0;
  std::span<const int64_t> asked_;
  bool ranks_ = true;
  std::vector<Ranked> ranked_;
  Ranking ranking_;
  std::vector<Part> parts_;
  Digest128 digest_;
  explore::KeyMap<Slots> slots_;  // of all shapes so far
};

}  // namespace whorl::sim
