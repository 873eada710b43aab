#include "check/known_row.h"

namespace whorl::check {
namespace {

// Whether it is the other one, cut to whole seconds.
bool IsCut(const Value& shown, const Value& known) {
  const auto* cut = std::get_if<Timestamp>(&shown);
  const auto* whole = std::get_if<Timestamp>(&known);
  return cut != nullptr && whole != nullptr && cut->nanos() == 0 &&
         cut->seconds() == whole->seconds();
}

}  // namespace

bool MayBe(const Value& shown, const Value& known) { return shown == known || IsCut(shown, known); }

void FillIn(KnownRow& row, const KnownRow& known) {
  for (size_t i = 0; i < row.size() && i < known.size(); ++i) {
    if (!known[i]) continue;
    if (!row[i] || IsCut(*row[i], *known[i])) row[i] = known[i];
  }
}

}  // namespace whorl::check
