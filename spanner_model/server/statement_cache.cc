#include "spanner_model/server/statement_cache.h"

#include <utility>

namespace whorl::server {

StatementCache::~StatementCache() {
  for (const HeldStatement& statement : by_use_) catalogue_.Unregister(Sql::Borrow(*statement));
}

HeldStatement StatementCache::Use(std::string_view text, std::vector<Parameter> parameters,
                                  model::CompiledStatement* planned) {
  auto made = std::make_shared<const SqlText>(MakeSqlText(text, std::move(parameters)));
  const auto found = by_digest_.find(made->digest);
  if (found != by_digest_.end()) {
    const HeldStatement& known = *found->second;
    // If two texts have the same digest, the second is compiled at each use.
    if (known->text != made->text || known->parameters != made->parameters) return made;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    catalogue_.Register(Sql::Borrow(*known), planned);
    return known;
  }
  catalogue_.Register(Sql::Borrow(*made), planned);
  by_use_.push_front(made);
  by_digest_.emplace(made->digest, by_use_.begin());
  text_bytes_ += made->text.size();
  Evict();
  return made;
}

void StatementCache::Evict() {
  auto at = by_use_.end();
  while (at != by_use_.begin() &&
         (by_use_.size() > limits_.statements || text_bytes_ > limits_.text_bytes)) {
    --at;
    if (at->use_count() > 1) continue;
    catalogue_.Unregister(Sql::Borrow(**at));
    by_digest_.erase((*at)->digest);
    text_bytes_ -= (*at)->text.size();
    at = by_use_.erase(at);
  }
}

}  // namespace whorl::server
