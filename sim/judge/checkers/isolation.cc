#include "sim/judge/checkers/isolation.h"

#include <string>
#include <variant>

namespace whorl::sim {

void Isolation::On(const RowCommitted& x, const Now& now) {
  if (x.writer == ProcessId{}) return;
  const Row& row = x.after ? *x.after : *x.before;
  const Value& key = row[now.setup.rules->key_column];
  if (key == now.setup.locks[x.lock].key) return;
  const auto* name = std::get_if<std::string>(&key);
  const bool is_side_row =
      name != nullptr && now.setup.rules->is_side_row(now.setup.LockName(x.lock), *name);
  if (is_side_row && !now.setup.FindLock(*name)) return;
  now.Violated(kInvariant, x.lock, [&] {
    return now.NameOf(x.writer) + ", acting for lock " + now.QuotedLock(x.lock) +
           (x.after ? ", wrote the row " : ", deleted the row ") +
           (name != nullptr ? *name : FormatValue(key));
  });
}

}  // namespace whorl::sim
