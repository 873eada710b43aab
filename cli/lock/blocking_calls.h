// Calls Spanner and waits for the answer, for commands that do one thing after another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/lock/options.h"
#include "real_client/admin_client.h"
#include "real_client/spanner_client.h"

namespace whorl::cli {

// The statements that make the database as it is.
Status AwaitDdl(real_client::AdminClient& admin, const std::string& database,
                std::vector<std::string>& out);

// A client of the request's database that takes part as the request's role.
Status OpenClient(const LockRequest& request, const RetryPolicy& retry,
                  std::unique_ptr<real_client::SpannerClient>& out);

// Runs the transaction, for no longer than kCommandTimeout. `rows`: those of its first statement, if it succeeds; null if nobody wants them.
Status AwaitTransaction(real_client::SpannerClient& client, Transaction transaction,
                        std::vector<Row>* rows = nullptr);

}  // namespace whorl::cli
