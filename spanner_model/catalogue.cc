#include "spanner_model/catalogue.h"

#include <utility>

#include "spanner_model/sql/compile.h"

namespace whorl::model {

Catalogue::Catalogue(Schema schema, std::span<const Sql> statements, Options options)
    : schema_(std::move(schema)), options_(options) {
  for (const Sql& sql : statements) {
    if (plans_.size() <= sql.index()) plans_.resize(sql.index() + 1);
    plans_[sql.index()] = Compile(schema_, sql);
  }
}

}  // namespace whorl::model
