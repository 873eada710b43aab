// How a transaction begins, and where a statement runs, as Google's protos.
#pragma once

#include <variant>

#include "google/spanner/v1/transaction.pb.h"
#include "protocol/spanner/rpc.h"

namespace whorl::wire {

namespace v1 = ::google::spanner::v1;

using BeginOptions = std::variant<BeginReadWrite, BeginReadOnly>;

v1::TransactionOptions EncodeOptions(const BeginOptions& options);
v1::TransactionSelector EncodeSelector(const TransactionSelector& selector);

// Of a transaction that is to have more than one call.
Status DecodeOptions(const v1::TransactionOptions& proto, BeginOptions& out);
// Without a selector: a strong read by itself.
Status DecodeSelector(const v1::TransactionSelector& proto, TransactionSelector& out);

}  // namespace whorl::wire
