// The statements that a database has heard, compiled, the least recently used of which go first.
//
// Invariants:
//   1. A statement that somebody still holds stays, so the cache may be larger than its limits for
//      as long as calls are under way.
//   2. What is in the cache is known to the catalogue, and what has gone is forgotten there.
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

// The model borrows the text (Sql::Borrow) for as long as a call that brought it is under way.
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

  // Compiled for the catalogue's schema as it is now.
  HeldStatement Use(std::string_view text, std::vector<Parameter> parameters);
  size_t size() const { return by_use_.size(); }

 private:
  void Evict();

  using List = std::list<HeldStatement>;
  model::Catalogue& catalogue_;
  StatementCacheLimits limits_;
  List by_use_;  // the latest first
  std::unordered_map<uint64_t, List::iterator> by_digest_;
  size_t text_bytes_ = 0;
};

}  // namespace whorl::server
