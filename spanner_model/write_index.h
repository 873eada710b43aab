// Finds a row's write among the buffered writes of a transaction, in logarithmic time once there are many.
#pragma once

#include <absl/container/btree_map.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spanner_model/storage.h"
#include "spanner_model/transaction.h"

namespace whorl::model {

// Refers to a list, each of whose elements writes another row. The list may grow at its end, and the rest
// of an element may change.
class WriteIndex {
 public:
  explicit WriteIndex(const std::vector<BufferedWrite>& writes) : writes_(&writes) {}

  // Null if there is none.
  const BufferedWrite* Find(uint32_t table, std::span<const Value> key);

 private:
  // A few writes are compared one by one, and so are many if only a few are looked for.
  static constexpr size_t kFewWrites = 16;
  static constexpr int kFewLookups = 4;

  const std::vector<BufferedWrite>* writes_;
  int lookups_ = 0;
  size_t indexed_ = 0;  // this many elements, from the first on
  std::vector<absl::btree_map<Key, size_t, KeyOrder>> places_;  // by table
};

// Adds a write, merged with an earlier one to the same row. REQUIRES: `index` is of `writes`.
void AddWrite(std::vector<BufferedWrite>& writes, WriteIndex& index, BufferedWrite write);

}  // namespace whorl::model
