#include "sim/explore/components/symmetry.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "protocol/random_id.h"
#include "sim/explore/menu.h"
#include "sim/world/chance.h"

namespace whorl::sim {
namespace {

// --- texts that name a process -------------------------------------------------------------------

using MakeText = std::string (*)(Entropy&, Purpose);

// The texts that name a node or its processes, in the same order for each node.
std::vector<std::string> TextsOf(const Scenario& scenario, int16_t node, uint32_t incarnations) {
  const NodeSpec& spec = scenario.nodes[static_cast<size_t>(node)];
  std::vector<std::string> texts = {spec.name, spec.id};
  FixedChance chance;
  for (uint32_t incarnation = 1; incarnation <= incarnations; ++incarnation) {
    for (uint16_t lock = 0; lock < scenario.locks.size(); ++lock) {
      ProcessEntropy entropy(chance, {.node = node, .incarnation = incarnation}, lock);
      // A search draws the same bits for every purpose, so any purpose does.
      for (const MakeText make : {&DrawUuid, &DrawHex128})
        texts.push_back(make(entropy, Purpose{}));
    }
  }
  return texts;
}

Renaming MakeRenaming(const std::vector<std::vector<std::string>>& texts,
                      std::vector<int16_t> nodes) {
  Renaming renaming;
  for (size_t from = 0; from < nodes.size(); ++from) {
    const auto to = static_cast<size_t>(nodes[from]);
    for (size_t i = 0; i < texts[from].size(); ++i) {
      if (!texts[from][i].empty()) renaming.texts.emplace(texts[from][i], texts[to][i]);
    }
    for (uint32_t kind = 0; kind < kFaultsOfNode; ++kind) {
      renaming.faults.push_back(MenuIndex(nodes[from], static_cast<OfNode>(kind)));
    }
  }
  renaming.nodes = std::move(nodes);
  return renaming;
}

// --- are they equal? -----------------------------------------------------------------------------

bool AreEqual(const Scenario& scenario) {
  NodeSpec first = scenario.nodes.front();
  return std::ranges::all_of(scenario.nodes, [&first](const NodeSpec& node) {
    first.name = node.name;
    if (first.id.empty() == node.id.empty()) first.id = node.id;
    return first == node;
  });
}

bool StrikesAnybody(const FaultMenu& menu) {
  return !menu.crashes && !menu.stops && !menu.pauses && !menu.lost_requests &&
         !menu.lost_replies && !menu.aborts && !menu.announcements && !menu.standing_clocks;
}

// Whether no text that names a process also means something else.
bool NamesStandApart(const Scenario& scenario) {
  const auto names_node = [&scenario](const std::string& text) {
    return std::ranges::any_of(scenario.nodes, [&text](const NodeSpec& node) {
      return node.name == text || node.id == text;
    });
  };
  return std::ranges::none_of(scenario.locks, names_node);
}

}  // namespace

std::optional<Symmetry> Symmetry::Of(const Scenario& scenario, const ExploreBounds& bounds,
                                     const ProtocolInfo& protocol) {
  const size_t count = scenario.nodes.size();
  if (count < 2 || count > kMostNodes) return std::nullopt;
  if (protocol.state_traits.compares_ids) return std::nullopt;
  if (!AreEqual(scenario) || !StrikesAnybody(bounds.menu) || !NamesStandApart(scenario)) {
    return std::nullopt;
  }
  const uint32_t incarnations = bounds.faults.crashes + bounds.faults.stops + 1U;
  std::vector<std::vector<std::string>> texts;
  for (size_t node = 0; node < count; ++node) {
    texts.push_back(TextsOf(scenario, static_cast<int16_t>(node), incarnations));
  }
  Symmetry symmetry;
  symmetry.locks_ = scenario.locks.size();
  std::vector<int16_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  do {
    symmetry.renamings_.push_back(MakeRenaming(texts, order));
  } while (std::ranges::next_permutation(order).found);
  for (size_t node = 0; node < count; ++node) {
    std::vector<int16_t> alone(count, 1);
    alone[node] = 0;
    symmetry.alone_.push_back(MakeRenaming(texts, alone));
  }
  return symmetry;
}

bool Symmetry::IsOrdered(const Renaming& renaming, std::span<const Digest128> signatures) {
  std::array<Digest128, kMostNodes> renamed;
  for (size_t node = 0; node < signatures.size(); ++node) {
    renamed[static_cast<size_t>(renaming.nodes[node])] = signatures[node];
  }
  return std::ranges::is_sorted(std::span(renamed).first(signatures.size()));
}

void Symmetry::Rename(const Renaming& renaming, std::span<const int64_t> by_question,
                      std::vector<int64_t>& renamed) const {
  renamed.assign(by_question.size(), 0);
  for (size_t i = 0; i < by_question.size(); ++i) {
    const auto node = static_cast<size_t>(renaming.nodes[i / locks_]);
    renamed[node * locks_ + i % locks_] = by_question[i];
  }
}

}  // namespace whorl::sim
