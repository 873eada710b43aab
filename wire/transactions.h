// Options of transactions, and the transaction in which a statement runs, as Google's protos.
#pragma once

#include <variant>

#include "google/spanner/v1/transaction.pb.h"
#include "protocol/spanner/rpc.h"

namespace whorl::wire {

namespace v1 = ::google::spanner::v1;

using BeginOptions = std::variant<BeginReadWrite, BeginReadOnly>;

v1::TransactionOptions EncodeOptions(const BeginOptions& options);
v1::TransactionSelector EncodeSelector(const TransactionSelector& selector);

// The options of a transaction with more than one call (not single-use).
Status DecodeOptions(const v1::TransactionOptions& proto, BeginOptions& out);
// An empty selector means a strong single-use read.
Status DecodeSelector(const v1::TransactionSelector& proto, TransactionSelector& out);

}  // namespace whorl::wire
