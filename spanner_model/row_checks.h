// Checks the constraints that a row has to meet to be stored, by DML or by a mutation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/time.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"
#include "spanner_model/schema.h"
#include "spanner_model/storage.h"

namespace whorl::model {

// Whether the column may hold the value. FAILED_PRECONDITION for NULL in a NOT NULL column, for a
// value that is too long, and for a timestamp after `now` in a column with allow_commit_timestamp.
// REQUIRES: the value is NULL or of the column's type.
Status CheckValue(const Table& table, const Column& column, const Value& value, Timestamp now);
// Spanner's limit (cloud.google.com/spanner/quotas, 2026-11).
inline constexpr size_t kKeySizeMax = 8'192;  // bytes
// INVALID_ARGUMENT for a key beyond it.
Status CheckKeySize(const Table& table, const Key& key);
// Whether the commit timestamp may be written to the column.
Status CheckPendingColumn(const Table& table, const Column& column);

// The set of all columns of the table, as bits.
uint64_t AllColumns(const Table& table);

// "[job, 1]"
std::string DescribeKey(const Key& key);

}  // namespace whorl::model
