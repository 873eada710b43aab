// What a row must be like to be stored, whoever writes it: DML or a mutation.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/spanner/status.h"
#include "protocol/spanner/time.h"
#include "protocol/spanner/value.h"
#include "spanner_model/schema.h"
#include "spanner_model/storage.h"

namespace whorl::model {

// Whether the column may hold the value, which is NULL or of its type: FAILED_PRECONDITION when it
// is a NULL too many, too long, or a timestamp after `now` in a column with allow_commit_timestamp.
Status CheckValue(const Table& table, const Column& column, const Value& value, Timestamp now);
// Whether the column may await the commit timestamp.
Status CheckPendingColumn(const Table& table, const Column& column);

// All columns of the table, as bits.
uint64_t AllColumns(const Table& table);

// "[job, 1]"
std::string DescribeKey(const Key& key);

}  // namespace whorl::model
