#include "cli/lock/blocking_calls.h"

#include <utility>

#include "real_client/os.h"

namespace whorl::cli {

Status AwaitDdl(real_client::AdminClient& admin, const std::string& database,
                std::vector<std::string>& out) {
  return real_client::AwaitStatus([&](auto done) {
    admin.GetDdl(database,
                 [&out, done = std::move(done)](Status status, std::vector<std::string> ddl) {
                   out = std::move(ddl);
                   done(std::move(status));
                 });
  });
}

Status OpenClient(const LockRequest& request, const RetryPolicy& retry,
                  std::unique_ptr<real_client::SpannerClient>& out) {
  return real_client::SpannerClient::Create(
      {.database = request.database,
       .database_role = request.database_role,
       .connection = real_client::ResolveWithEnvironment(ClientOptionsOf(request).connection),
       .retry = retry},
      out);
}

Status AwaitTransaction(real_client::SpannerClient& client, Transaction transaction,
                        std::vector<Row>* rows) {
  transaction.give_up_at = real_client::MonotonicNow() + kCommandTimeout;
  return real_client::AwaitStatus([&](auto done) {
    client.Run(std::move(transaction), [done = std::move(done), rows](TransactionResult result) {
      const bool has_rows = result.status.ok() && !result.results.empty();
      if (rows != nullptr && has_rows) *rows = std::move(result.results[0].rows);
      done(result.status);
    });
  });
}

}  // namespace whorl::cli
