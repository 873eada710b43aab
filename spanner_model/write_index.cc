#include "spanner_model/write_index.h"

#include <utility>

namespace whorl::model {

const BufferedWrite* WriteIndex::Find(uint32_t table, std::span<const Value> key) {
  const std::vector<BufferedWrite>& writes = *writes_;
  if (indexed_ == 0 && (writes.size() <= kFewWrites || ++lookups_ <= kFewLookups)) {
    for (const BufferedWrite& write : writes) {
      if (write.table == table && CompareKeys(write.key, key) == 0) return &write;
    }
    return nullptr;
  }
  for (; indexed_ < writes.size(); ++indexed_) {
    const BufferedWrite& write = writes[indexed_];
    if (places_.size() <= write.table) places_.resize(write.table + 1);
    places_[write.table].emplace(write.key, indexed_);
  }
  if (table >= places_.size()) return nullptr;
  const auto found = places_[table].find(key);
  return found == places_[table].end() ? nullptr : &writes[found->second];
}

void AddWrite(std::vector<BufferedWrite>& writes, WriteIndex& index, BufferedWrite write) {
  write.unreadable |= write.pending;
  const BufferedWrite* found = index.Find(write.table, write.key);
  if (found == nullptr) {
    writes.push_back(std::move(write));
    return;
  }
  BufferedWrite& earlier = writes[static_cast<size_t>(found - writes.data())];
  const uint64_t overwritten = write.columns & ~write.pending;
  earlier.pending = (earlier.pending & ~overwritten) | write.pending;
  earlier.unreadable |= write.unreadable;
  earlier.columns |= write.columns;
  earlier.changes_existence = earlier.changes_existence || write.changes_existence;
  earlier.row = std::move(write.row);
}

}  // namespace whorl::model
