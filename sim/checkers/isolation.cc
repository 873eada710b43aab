#include "sim/checkers/isolation.h"

#include <string>
#include <variant>

namespace whorl::sim {

void Isolation::On(const RowCommitted& x, const Now& now) {
  if (x.writer == ProcessId{}) return;
  const Row& row = x.after ? *x.after : *x.before;
  const auto* key = std::get_if<std::string>(&row[now.setup.rules->key_column]);
  const std::string& lock = now.LockName(x.lock);
  if (key == nullptr || *key == lock) return;
  if (now.setup.rules->is_side_row(lock, *key) && !now.setup.FindLock(*key)) return;
  tally.Add(now, [&] {
    return now.NameOf(x.writer) + ", acting for lock " + lock +
           (x.after ? ", wrote the row " : ", deleted the row ") + *key;
  });
}

}  // namespace whorl::sim
