#include "check/known_row.h"

#include <algorithm>
#include <string>

#include "check/no_protocol.h"
#include "sim/scenario/rules.h"

namespace whorl::check {
namespace {

// Whether a statement of the protocol writes a token that it is given.
bool WritesGivenTokens(const ProtocolInfo& protocol) {
  if (protocol.statements == nullptr) return false;
  return std::ranges::any_of(
      protocol.statements(std::string(protocol.table)),
      [](const StepStatement& statement) { return statement.token == TokenSource::kParameter; });
}

// Whether it is the other one, cut to whole seconds.
bool IsCut(const Value& shown, const Value& known) {
  const auto* cut = std::get_if<Timestamp>(&shown);
  const auto* whole = std::get_if<Timestamp>(&known);
  return cut != nullptr && whole != nullptr && cut->nanos() == 0 &&
         cut->seconds() == whole->seconds();
}

}  // namespace

bool NamesAnother(const KnownRow& row, const KnownRow& known, const ProtocolInfo& protocol) {
  for (size_t i = 0; i < protocol.columns.size(); ++i) {
    if (protocol.columns[i].name != protocol.holder_columns.holder) continue;
    return i < row.size() && i < known.size() && row[i] && known[i] && *row[i] != *known[i];
  }
  return false;
}

Row Whole(const KnownRow& columns) {
  Row row;
  row.reserve(columns.size());
  for (const std::optional<Value>& value : columns) row.push_back(value.value_or(Null{}));
  return row;
}

bool MayBe(const Value& shown, const Value& known) { return shown == known || IsCut(shown, known); }

bool MayBeAnotherToken(const Value& shown, const Value& known, const ProtocolInfo& protocol) {
  return IsCut(shown, known) && WritesGivenTokens(protocol);
}

void FillIn(KnownRow& row, const KnownRow& known, const ProtocolInfo& protocol) {
  for (size_t i = 0; i < row.size() && i < known.size(); ++i) {
    if (!known[i]) continue;
    const bool is_cut = row[i] && *row[i] != *known[i] && IsCut(*row[i], *known[i]);
    const bool is_anothers = is_cut && RulesFor(protocol).token_column == i &&
                             MayBeAnotherToken(*row[i], *known[i], protocol) &&
                             NamesAnother(row, known, protocol);
    if (!row[i] || (is_cut && !is_anothers)) row[i] = known[i];
  }
}

}  // namespace whorl::check
