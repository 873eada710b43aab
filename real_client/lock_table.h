// Makes an operator's queries and writes on a protocol's table: the holders of locks, and the
// writes that create a row, delete it, and force a release.
//
// Lock names are passed as parameters; only validated identifiers of the table and its columns
// become part of the SQL text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/client/transaction.h"
#include "protocol/protocols.h"
#include "real_client/lock.h"

namespace whorl::real_client {

// The steps of transactions that are an operator's, and no protocol's.
namespace operator_steps {
inline constexpr StepName kList{"list"};      // reads who holds what
inline constexpr StepName kProbe{"probe"};    // reads whose table it is
inline constexpr StepName kChange{"change"};  // creates, frees or deletes a row
}  // namespace operator_steps

// Replaces the table name `from` in a text of ProtocolInfo by `to`.
std::string WithTable(std::string_view text, std::string_view from, std::string_view to);

// Whether Spanner accepts it as a name without quotes: a letter, then letters, digits and _, at most 128 in all.
bool IsIdentifier(std::string_view name);
// INVALID_ARGUMENT unless it is one.
Status ValidateTable(const std::string& table);
// INVALID_ARGUMENT unless a row of the protocol's table can have it as its key: not empty, UTF-8,
// and within Spanner's 8 KiB together with the suffix that the protocol appends.
Status ValidateLockName(const ProtocolInfo& info, const std::string& name);

// Reads one row, with every column that the protocol uses.
Transaction ProbeOf(const ProtocolInfo& info, const std::string& table);

// A read that succeeds only if the table has the columns by which another protocol's table differs
// from this protocol's, which it contains: processes of both would not see each other in it. `whose`
// is that protocol. nullopt if no other protocol's table contains this one's columns.
std::optional<Transaction> ForeignProbeOf(const ProtocolInfo& info, const std::string& table,
                                          const ProtocolInfo*& whose);
// INVALID_ARGUMENT with the remedy, if that read succeeded; OK if it found no such column; otherwise
// the read's error.
Status JudgeForeignProbe(const ProtocolInfo& info, const std::string& table,
                         const ProtocolInfo& whose, const Status& read);

// A read of the table's locks, or of one. REQUIRES: the table is valid.
Transaction ReadHoldings(const ProtocolInfo& info, const std::string& table,
                         const std::optional<std::string>& name);
Transaction ReadHoldings(const ProtocolInfo& info, const std::string& table,
                         const ListRange& range);
// The same for these locks. REQUIRES: there is one, and there are no more than kNamesAtOnce.
inline constexpr size_t kNamesAtOnce = 200;
Transaction ReadHoldings(const ProtocolInfo& info, const std::string& table,
                         std::span<const std::string> names);
// nullopt if the protocol needs its rows, or `listed` does not say when it was renewed.
std::optional<Transaction> DeleteTransaction(const ProtocolInfo& info, const std::string& table,
                                             const Holding& listed);
// The holdings in the rows of that read, sorted by name.
std::vector<Holding> HoldingsIn(const ProtocolInfo& info, const std::vector<Row>& rows,
                                Duration lease);

// Of the holdings of one lock, the one that is held now; otherwise one without a holder.
Holding CurrentHolding(std::vector<Holding> holdings, const std::string& lock);

// The id in the id column's content.
std::string IdIn(const std::string& content);
// The id column's content, for a process with a value that others can read.
std::string IdWithValue(const std::string& id, const std::string& value);

// Creates the row of a lock that never existed: nobody holds it. nullopt if a start needs no row.
std::optional<Transaction> InitTransaction(const ProtocolInfo& info, const std::string& table,
                                           const std::string& name);
// Creates the row of a lock whose row may have been lost under its holder: a process that begins takes
// it at `free_at`, and none takes it before the lease has passed since it saw it. REQUIRES:
// InitTransaction() is not nullopt.
Transaction InitHeldTransaction(const ProtocolInfo& info, const std::string& table,
                                const std::string& name, Timestamp free_at, Duration lease);
// Ends the lease of `only`, or of the holder, whichever that is. nullopt if the protocol has no such write.
// REQUIRES: the protocol has tokens if `only` names one.
std::optional<Transaction> ForceReleaseTransaction(const ProtocolInfo& info,
                                                   const std::string& table,
                                                   const std::string& name,
                                                   const ReleaseTarget& only);

}  // namespace whorl::real_client
