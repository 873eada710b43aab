#include "spanner_model/transaction.h"

#include <algorithm>
#include <array>
#include <utility>

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

bool Conflict(const BufferedWrite& a, const BufferedWrite& b) {
  return a.table == b.table && CompareKeys(a.key, b.key) == 0;
}

bool ReadConflicts(const ReadLock& wanted, const TransactionState& other) {
  return std::any_of(other.writes.begin(), other.writes.end(),
                     [&](const BufferedWrite& write) { return Conflict(wanted, write); });
}

bool CommitConflicts(std::span<const BufferedWrite> writes, const TransactionState& other) {
  const bool holds_reads = other.kind == TransactionKind::kPessimistic;
  for (const BufferedWrite& write : writes) {
    if (holds_reads) {
      for (const ReadLock& read : other.reads) {
        if (Conflict(read, write)) return true;
      }
    }
    if (other.phase != TransactionPhase::kCommitting) continue;
    for (const BufferedWrite& others : other.writes) {
      if (Conflict(write, others)) return true;
    }
  }
  return false;
}

const BufferedWrite* FindWrite(std::span<const BufferedWrite> writes, uint32_t table,
                               const Key& key) {
  for (const BufferedWrite& write : writes) {
    if (write.table == table && CompareKeys(write.key, key) == 0) return &write;
  }
  return nullptr;
}

void AddWrite(std::vector<BufferedWrite>& writes, BufferedWrite write) {
  write.unreadable |= write.pending;
  const auto earlier = std::find_if(writes.begin(), writes.end(),
                                    [&](const BufferedWrite& one) { return Conflict(one, write); });
  if (earlier == writes.end()) {
    writes.push_back(std::move(write));
    return;
  }
  const uint64_t overwritten = write.columns & ~write.pending;
  earlier->pending = (earlier->pending & ~overwritten) | write.pending;
  earlier->unreadable |= write.unreadable;
  earlier->columns |= write.columns;
  earlier->changes_existence = earlier->changes_existence || write.changes_existence;
  earlier->row = std::move(write.row);
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
