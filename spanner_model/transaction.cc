#include "spanner_model/transaction.h"

#include <algorithm>
#include <array>
#include <utility>

#include "spanner_model/write_index.h"

namespace whorl::model {
namespace {

template <typename Integer>
void AppendBytes(std::string& out, Integer number) {
  std::array<char, sizeof(Integer)> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[bytes.size() - 1 - i] =
        static_cast<char>(static_cast<uint64_t>(number) >> (8 * i) & 0xff);
  }
  out.append(bytes.data(), bytes.size());
}

}  // namespace

void TakeUnwritten(const BufferedWrite& write, const Row& newest, Row& row) {
  if (write.changes_existence) return;
  for (size_t column = 0; column < row.size(); ++column) {
    if ((write.columns >> column & 1) == 0) row[column] = newest[column];
  }
}

bool Conflict(const ReadLock& read, const BufferedWrite& write) {
  if (read.table != write.table || !Contains(read.range, write.key)) return false;
  return write.changes_existence || (read.columns & write.columns) != 0;
}

bool ReadConflicts(std::span<const ReadLock> wanted, const std::vector<BufferedWrite>& writes) {
  WriteIndex index(writes);
  return std::ranges::any_of(wanted, [&](const ReadLock& lock) {
    if (lock.range.kind != RangeKind::kKey) {
      return std::ranges::any_of(writes,
                                 [&](const BufferedWrite& write) { return Conflict(lock, write); });
    }
    const BufferedWrite* write = index.Find(lock.table, lock.range.key);
    return write != nullptr && Conflict(lock, *write);
  });
}

bool CommitConflicts(const std::vector<BufferedWrite>& writes, const TransactionState& other) {
  const bool holds_reads = other.kind == TransactionKind::kPessimistic;
  if (holds_reads && ReadConflicts(other.reads, writes)) return true;
  if (other.phase != TransactionPhase::kCommitting) return false;
  WriteIndex others(other.writes);
  return std::ranges::any_of(writes, [&](const BufferedWrite& write) {
    return others.Find(write.table, write.key) != nullptr;
  });
}

// Fourteen bytes, for which a std::string allocates nothing. They need no request, since each
// transaction of a process has a generation of its own.
TransactionId MakeTransactionId(const CallName& begun_by) {
  std::string id;
  AppendBytes(id, begun_by.process.node);
  AppendBytes(id, begun_by.process.incarnation);
  AppendBytes(id, begun_by.lock);
  AppendBytes(id, begun_by.generation);
  AppendBytes(id, begun_by.attempt);
  return id;
}

}  // namespace whorl::model
