// Mutations, and the key sets of mutations and reads, as Google's protos.
#pragma once

#include <string>
#include <string_view>

#include "google/spanner/v1/keys.pb.h"
#include "google/spanner/v1/mutation.pb.h"
#include "protocol/spanner/mutation.h"
#include "wire/requests.h"

namespace whorl::wire {

v1::Mutation EncodeMutation(const Mutation& mutation);
v1::KeySet EncodeKeySet(const KeySet& keys);

// Values are decoded by the table's column types in the directory. Otherwise as for requests.
Status DecodeMutation(const v1::Mutation& proto, const Directory& directory, Mutation& out);
Status DecodeKeySet(const v1::KeySet& proto, const std::string& table, const Directory& directory,
                    KeySet& out);

// INVALID_ARGUMENT "No value provided for required field: Message.field".
Status MissingField(std::string_view field);

}  // namespace whorl::wire
