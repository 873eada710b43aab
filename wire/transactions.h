// Encodes and decodes options and selectors of transactions, mutations and key sets as Google's protos.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "google/spanner/v1/keys.pb.h"
#include "google/spanner/v1/mutation.pb.h"
#include "google/spanner/v1/transaction.pb.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/rpc.h"
#include "wire/requests.h"

namespace whorl::wire {

namespace v1 = ::google::spanner::v1;

using BeginOptions = std::variant<BeginReadWrite, BeginReadOnly>;

v1::TransactionOptions EncodeOptions(const BeginOptions& options);
v1::TransactionSelector EncodeSelector(const TransactionSelector& selector);

// The options of a transaction with more than one call (not single-use).
Status DecodeOptions(const v1::TransactionOptions& proto, BeginOptions& out);
// An empty selector means a strong single-use read.
Status DecodeSelector(const v1::TransactionSelector& proto, TransactionSelector& out);

v1::Mutation EncodeMutation(const Mutation& mutation);
v1::KeySet EncodeKeySet(const KeySet& keys);

// Values are decoded by the table's column types in the directory. Otherwise as for requests.
Status DecodeMutation(const v1::Mutation& proto, const Directory& directory, Mutation& out);
Status DecodeKeySet(const v1::KeySet& proto, const std::string& table, const Directory& directory,
                    KeySet& out);

// INVALID_ARGUMENT "No value provided for required field: Message.field".
Status MissingField(std::string_view field);

}  // namespace whorl::wire
