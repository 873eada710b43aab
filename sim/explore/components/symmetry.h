// Maps states that differ only in the names of equal processes to one of them, their representative, since their
// futures differ only in these names, too. A search visits only the representative.
//
// The representative is the state with the least key. With more than two nodes not every order is tried: nodes are
// ordered by their signatures, and only nodes with equal signatures are tried in each order.
// REQUIRES of the code under test: processes differ only in ids and names, and nothing depends on which of two ids
// or names is the lesser. Spanner's model keeps to this (model::Age); a protocol that does not says so
// (StateTraits::compares_ids).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/protocols.h"
#include "sim/explore/bounds.h"
#include "sim/explore/components/canonical_form.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

class Symmetry {
 public:
  // With more nodes there would be too many orders to try.
  static constexpr size_t kMostNodes = 4;

  // nullopt if the scenario's nodes are not equal, or too many. REQUIRES: `scenario` has its menu, and is of
  // `protocol`.
  static std::optional<Symmetry> Of(const Scenario& scenario, const ExploreBounds& bounds,
                                    const ProtocolInfo& protocol);

  size_t nodes() const { return alone_.size(); }
  size_t locks() const { return locks_; }
  // All ways to rename nodes; the first one keeps their names.
  std::span<const Renaming> renamings() const { return renamings_; }
  // For two nodes, trying both orders costs the same.
  bool HasSignatures() const { return nodes() > 2; }
  // Renames the node to the first name and all other nodes to the second. Then the order of counters means nothing.
  const Renaming& Alone(int16_t node) const { return alone_[static_cast<size_t>(node)]; }

  // The least digest of a state under all renamings, given its own digest. `signature(node)`: a digest of the node
  // that does not depend on its name; `renamed(i)`: the state's digest under renaming i.
  template <typename Signature, typename Renamed>
  Digest128 Least(const Digest128& own, const Signature& signature, const Renamed& renamed) const {
    if (!HasSignatures()) return std::min(own, renamed(1));
    std::array<Digest128, kMostNodes> signatures;
    for (size_t node = 0; node < nodes(); ++node) {
      signatures[node] = signature(static_cast<int16_t>(node));
    }
    std::optional<Digest128> least;
    for (size_t i = 0; i < renamings_.size(); ++i) {
      if (!IsOrdered(renamings_[i], std::span(signatures).first(nodes()))) continue;
      const Digest128 digest = i == 0 ? own : renamed(i);
      least = std::min(least.value_or(digest), digest);
    }
    return *least;
  }

  // Reorders the values, which are by node and lock, for the renamed nodes.
  void Rename(const Renaming& renaming, std::span<const int64_t> by_question,
              std::vector<int64_t>& renamed) const;

 private:
  static bool IsOrdered(const Renaming& renaming, std::span<const Digest128> signatures);

  size_t locks_ = 0;
  std::vector<Renaming> renamings_;
  std::vector<Renaming> alone_;  // by node
};

}  // namespace whorl::sim
