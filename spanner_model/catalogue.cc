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

void Catalogue::Register(const Sql& sql, CompiledStatement* planned) {
  if (registered_.contains(&sql.text())) return;
  registered_.emplace(&sql.text(),
                      planned != nullptr ? std::move(*planned) : Compile(schema_, sql));
}

void Catalogue::Unregister(const Sql& sql) { registered_.erase(&sql.text()); }

void Catalogue::SetSchema(Schema schema, std::vector<SplitPoint> split_points) {
  schema_ = std::move(schema);
  options_.split_points = std::move(split_points);
  registered_.clear();
}

const CompiledStatement* Catalogue::FindRegistered(const Sql& sql) const {
  const auto found = registered_.find(&sql.text());
  return found == registered_.end() ? nullptr : &found->second;
}

}  // namespace whorl::model
