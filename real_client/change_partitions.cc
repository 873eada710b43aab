#include "real_client/change_partitions.h"

#include <algorithm>
#include <utility>

namespace whorl::real_client {
namespace {

// The least distance of two commit timestamps.
constexpr Duration kTick = Microseconds(1);

}  // namespace

ChangePartitions::ChangePartitions(Timestamp from, std::optional<Timestamp> to)
    : to_(to), reached_(from) {
  partitions_[""] = {.start = from, .position = from, .state = State::kToBeRead};
}

std::vector<ChangePartitions::Read> ChangePartitions::TakeReads() {
  std::vector<Read> reads;
  for (auto& [token, partition] : partitions_) {
    if (partition.state != State::kToBeRead) continue;
    partition.state = State::kRead;
    // Not from its very end, of which a server may take it that there is nothing left to say, not even
    // its children.
    const Timestamp before = partition.position - kTick;
    reads.push_back({.token = token, .start = std::max(partition.start, before)});
  }
  return reads;
}

void ChangePartitions::AddChild(Partition& parent, ChildPartition child) {
  parent.has_children = true;
  if (to_ && child.start > *to_) return;
  // Each parent of a merge names the child.
  partitions_.try_emplace(std::move(child.token),
                          Partition{.start = child.start,
                                    .position = child.start,
                                    .parents = {std::make_move_iterator(child.parents.begin()),
                                                std::make_move_iterator(child.parents.end())}});
}

void ChangePartitions::Add(const std::string& token, ChangeRecord record) {
  Partition& partition = partitions_.at(token);
  if (auto* child = std::get_if<ChildPartition>(&record)) {
    return AddChild(partition, std::move(*child));
  }
  if (auto* change = std::get_if<DataChange>(&record)) {
    partition.position = std::max(partition.position, change->commit);
    // What came before the query broke has been given.
    if (change->commit >= reached_) waiting_.emplace(change->commit, std::move(change->json));
    return;
  }
  partition.position = std::max(partition.position, std::get<Heartbeat>(record).at);
}

bool ChangePartitions::End(const std::string& token) {
  Partition& partition = partitions_.at(token);
  // It ends with its children, or at the end of what was asked for.
  const bool has_ended = partition.has_children || (to_ && !token.empty());
  partition.state = has_ended ? State::kEnded : State::kToBeRead;
  if (has_ended) Wake();
  return has_ended;
}

void ChangePartitions::Break(const std::string& token) {
  partitions_.at(token).state = State::kToBeRead;
}

void ChangePartitions::Wake() {
  const auto has_ended = [&](const std::string& token) {
    const auto found = partitions_.find(token);
    return found != partitions_.end() && found->second.state == State::kEnded;
  };
  for (auto& [token, partition] : partitions_) {
    if (partition.state != State::kWaits) continue;
    if (std::ranges::all_of(partition.parents, has_ended)) partition.state = State::kToBeRead;
  }
  std::set<std::string> awaited;
  for (const auto& [token, partition] : partitions_) {
    if (partition.state == State::kWaits)
      awaited.insert(partition.parents.begin(), partition.parents.end());
  }
  std::erase_if(partitions_, [&](const auto& entry) {
    return entry.second.state == State::kEnded && !awaited.contains(entry.first);
  });
}

std::vector<DataChange> ChangePartitions::TakeChanges() {
  bool has_more = false;
  Timestamp least = Timestamp::Max();
  for (const auto& [token, partition] : partitions_) {
    if (partition.state == State::kEnded) continue;
    has_more = true;
    least = std::min(least, partition.position);
  }
  const auto end = has_more ? waiting_.lower_bound(least) : waiting_.end();
  std::vector<DataChange> changes;
  for (auto change = waiting_.begin(); change != end; ++change) {
    changes.push_back({.commit = change->first, .json = std::move(change->second)});
  }
  waiting_.erase(waiting_.begin(), end);
  if (has_more) reached_ = std::max(reached_, least);
  return changes;
}

bool ChangePartitions::IsDone() const {
  return std::ranges::all_of(partitions_,
                             [](const auto& entry) { return entry.second.state == State::kEnded; });
}

bool ChangePartitions::IsStuck() const {
  return !IsDone() && std::ranges::all_of(partitions_, [](const auto& entry) {
    return entry.second.state == State::kEnded || entry.second.state == State::kWaits;
  });
}

}  // namespace whorl::real_client
