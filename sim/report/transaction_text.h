// Describes a transaction of a run's history in words: what it read, what it changed, how it ended.
#pragma once

#include <string>

#include "base/time.h"
#include "protocol/protocols.h"
#include "sim/report/history.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/names.h"
#include "sim/scenario/rules.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

class TransactionDescriber {
 public:
  // Both outlive this.
  TransactionDescriber(const Scenario& scenario, const History& history);

  // Whether the transaction only reads, and its read was served.
  bool IsRead(const TransactionRecord& record) const;
  static bool IsQuestion(const TransactionRecord& record) { return record.step == steps::kHasLock; }

  // When the transaction took effect: its commit, its read, or else when its process heard how it
  // ended.
  static Instant TimeOf(const TransactionRecord& record);
  // "takeover_insert committed: inserted row lock_687", "check saw row lock: token 0.009 (a's)"; and how long
  // it waited for another transaction's row lock, if it did.
  std::string TextOf(const TransactionRecord& record) const;

 private:
  std::string TextWithoutWaits(const TransactionRecord& record) const;
  std::string ColumnsText(const Row& row) const;
  std::string ChangeText(const RowChange& change) const;
  std::string ChangesText(const TransactionRecord& record) const;
  std::string SeenText(const TransactionRecord& record) const;

  const Scenario& scenario_;
  const History& history_;
  Names names_;
  const Rules& rules_;
  const ProtocolInfo& protocol_;
};

// A wait that is longer than calls usually take.
inline constexpr Duration kNoticeable = Milliseconds(100);

// "8.741 s".
std::string AfterText(Duration duration);

}  // namespace whorl::sim
