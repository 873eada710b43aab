// Converts values, statements, mutations and statuses from and to google-cloud-cpp's types.
#pragma once

#include <google/cloud/spanner/mutations.h>
#include <google/cloud/spanner/row.h>
#include <google/cloud/spanner/sql_statement.h>
#include <google/cloud/spanner/timestamp.h>
#include <google/cloud/status.h>

#include "base/time.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"

namespace whorl::real_client {

// The library appends the name of the call to Spanner's text and hides RetryInfo.
Status FromLibrary(const google::cloud::Status& status);
Timestamp FromLibrary(google::cloud::spanner::Timestamp timestamp);
// UNIMPLEMENTED for types that whorl does not have (ARRAY, NUMERIC and so on).
Status FromLibrary(const google::cloud::spanner::Row& row, Row& out);

google::cloud::spanner::SqlStatement ToLibrary(const Statement& statement);
google::cloud::spanner::Mutation ToLibrary(const Mutation& mutation);

}  // namespace whorl::real_client
