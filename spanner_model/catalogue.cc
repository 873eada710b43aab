#include "spanner_model/catalogue.h"

#include <utility>

#include "spanner_model/sql/compile.h"

namespace whorl::model {

Catalogue::Catalogue(Schema schema, std::span<const Sql> statements, Options options)
    : schema_(std::move(schema)), options_(std::move(options)) {
  for (const Sql& sql : statements) {
    if (plans_.size() <= sql.index()) plans_.resize(sql.index() + 1);
    plans_[sql.index()] = Compile(schema_, sql);
  }
}

void Catalogue::Know(const Sql& sql) {
  if (borrowed_.contains(&sql.text())) return;
  borrowed_.emplace(&sql.text(), Compile(schema_, sql));
}

void Catalogue::Forget(const Sql& sql) { borrowed_.erase(&sql.text()); }

void Catalogue::SetSchema(Schema schema) {
  schema_ = std::move(schema);
  borrowed_.clear();
}

const CompiledStatement* Catalogue::FindBorrowed(const Sql& sql) const {
  const auto found = borrowed_.find(&sql.text());
  return found == borrowed_.end() ? nullptr : &found->second;
}

}  // namespace whorl::model
