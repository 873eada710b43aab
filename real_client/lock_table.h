// What people ask and do to a protocol's table beside the protocol: who holds which lock, and the
// operator's two writes.
//
// Names are parameters; only identifiers of columns and the table, which were checked, reach SQL.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/client/transaction.h"
#include "protocol/protocols.h"
#include "real_client/lock.h"

namespace whorl::real_client {

// A text of ProtocolInfo, which names the table `from`, for a table that is called `to`.
std::string WithTable(std::string_view text, std::string_view from, std::string_view to);

// INVALID_ARGUMENT unless Spanner takes it as a table's name without quotes.
Status ValidateTable(const std::string& table);
// INVALID_ARGUMENT unless a row of the protocol's table can have it as its key: not empty, UTF-8,
// and not longer than Spanner's 8 KiB allow, with what the protocol puts behind it.
Status ValidateLockName(const ProtocolInfo& info, const std::string& name);

// Reads one row, with every column that the protocol uses.
Transaction ProbeOf(const ProtocolInfo& info, const std::string& table);

// A read of the table's locks, or of one. REQUIRES: the table is valid.
Transaction ReadHoldings(const ProtocolInfo& info, const std::string& table,
                         const std::optional<std::string>& name);
// Of the rows of that read, by name.
std::vector<Holding> HoldingsIn(const ProtocolInfo& info, const std::vector<Row>& rows,
                                Duration lease);

// Nothing: the protocol has no such write.
std::optional<Transaction> InitTransaction(const ProtocolInfo& info, const std::string& table,
                                           const std::string& name);
std::optional<Transaction> ForceReleaseTransaction(const ProtocolInfo& info,
                                                   const std::string& table,
                                                   const std::string& name);

}  // namespace whorl::real_client
