// The compiled statements of a database; the least recently used are evicted first.
//
// Invariants:
//   1. A statement that a call still holds is not evicted, so the cache may exceed its limits while
//      calls are under way.
//   2. The catalogue has a statement registered exactly while it is in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "protocol/spanner/sql.h"
#include "spanner_model/catalogue.h"

namespace whorl::server {

// The model borrows the text (Sql::Borrow) while the call that brought it is under way.
using HeldStatement = std::shared_ptr<const SqlText>;

struct StatementCacheLimits {
  size_t statements = 1024;
  size_t text_bytes = size_t{16} << 20;
};

class StatementCache {
 public:
  // REQUIRES: `catalogue` outlives this.
  StatementCache(model::Catalogue& catalogue, StatementCacheLimits limits)
      : catalogue_(catalogue), limits_(limits) {}
  StatementCache(const StatementCache&) = delete;
  StatementCache& operator=(const StatementCache&) = delete;
  ~StatementCache();

  // Returns the statement, compiled for the catalogue's current schema. `planned`: see Catalogue::Register.
  HeldStatement Use(std::string_view text, std::vector<Parameter> parameters,
                    model::CompiledStatement* planned = nullptr);
  size_t size() const { return by_use_.size(); }

 private:
  void Evict();

  using List = std::list<HeldStatement>;
  model::Catalogue& catalogue_;
  StatementCacheLimits limits_;
  List by_use_;  // the most recently used first
  std::unordered_map<uint64_t, List::iterator> by_digest_;
  size_t text_bytes_ = 0;
};

}  // namespace whorl::server
