// A job that runs on one machine at a time: takes a lock on Cloud Spanner, works while it leads,
// and writes to a table that refuses a leader that was replaced.
//
// Usage: nightly projects/P/instances/I/databases/D
// The database needs fenced_lease's table and the resource's, which this makes, on an emulator
// together with the database:
//   whorl lock init --create-database --ddl examples/real_lock/accounts.sql

#include <cstdint>
#include <cstdio>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "real_client/lock.h"
#include "real_client/spanner_client.h"

namespace {

using whorl::Status;
using whorl::real_client::DistributedLock;
using whorl::real_client::LockClient;
using whorl::real_client::LockGuard;
using whorl::real_client::LockOutcome;
using whorl::real_client::SpannerClient;

constexpr const char* kAccount = "savings";

whorl::TransactionResult Run(SpannerClient& spanner, whorl::Transaction transaction) {
  std::promise<whorl::TransactionResult> promise;
  spanner.Run(std::move(transaction), [&](auto result) { promise.set_value(std::move(result)); });
  return promise.get_future().get();
}

whorl::Transaction Dml(const char* sql, std::vector<whorl::Parameter> parameters,
                       std::vector<whorl::Value> values) {
  return whorl::OneStatement(whorl::steps::kWrite, whorl::Mode::kReadWrite,
                             whorl::Sql::Intern(sql, std::move(parameters)), std::move(values));
}

Status OpenAccount(SpannerClient& spanner) {
  const Status status =
      Run(spanner, Dml("INSERT INTO accounts (id, balance, fence) VALUES (@id, 0, 0)",
                       {{.name = "id", .type = whorl::Type::kString}}, {std::string(kAccount)}))
          .status;
  return status.code == whorl::Code::kAlreadyExists ? Status() : status;
}

// The fence: one statement that writes only what no later leader has written. It keeps the greatest
// token that it has seen, in the row that it protects, so the two cannot come apart.
enum class Written { kYes, kNo, kUnknown };
Written Deposit(SpannerClient& spanner, int64_t amount, uint64_t token) {
  const whorl::TransactionResult result =
      Run(spanner, Dml("UPDATE accounts SET balance = balance + @amount, fence = @token "
                       "WHERE id = @id AND fence <= @token",
                       {{.name = "amount", .type = whorl::Type::kInt64},
                        {.name = "token", .type = whorl::Type::kInt64},
                        {.name = "id", .type = whorl::Type::kString}},
                       {amount, static_cast<int64_t>(token), std::string(kAccount)}));
  if (result.outcome == whorl::Outcome::kUnknown) return Written::kUnknown;
  if (result.outcome == whorl::Outcome::kAborted) {
    std::fprintf(stderr, "nightly: %s\n", FormatStatus(result.status).c_str());
    return Written::kNo;
  }
  return result.results[0].row_count == 1 ? Written::kYes : Written::kNo;
}

int Work(SpannerClient& spanner, LockGuard& guard) {
  const uint64_t token = guard.token().value();
  for (int i = 1; i <= 3; ++i) {
    if (guard.stop().stop_requested()) {
      std::printf("the lock was lost; whoever has it now goes on\n");
      return 1;
    }
    if (Deposit(spanner, 10, token) != Written::kYes) {
      std::printf("deposit %d was refused, or nothing certain was heard of it\n", i);
      return 1;
    }
    std::printf("deposit %d written\n", i);
  }
  // As a leader would that was replaced and does not know it yet.
  const bool refused = Deposit(spanner, 10, token - 1) == Written::kNo;
  std::printf("a write with an older token is %s\n", refused ? "refused" : "ACCEPTED");
  return refused ? 0 : 1;
}

int Fail(const Status& status) {
  std::fprintf(stderr, "nightly: %s\n", FormatStatus(status).c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: nightly projects/P/instances/I/databases/D\n");
    return 2;
  }
  std::unique_ptr<SpannerClient> spanner;
  std::unique_ptr<LockClient> locks;
  std::unique_ptr<DistributedLock> lock;
  Status status = SpannerClient::Create({.database = argv[1]}, spanner);
  if (status.ok()) status = LockClient::Open({.database = argv[1]}, locks);
  if (status.ok()) status = locks->Make({.name = "nightly", .lease = whorl::Seconds(5)}, lock);
  if (status.ok()) status = OpenAccount(*spanner);
  if (!status.ok()) return Fail(status);
  LockGuard guard(*lock, whorl::Seconds(60));
  if (guard.result().outcome == LockOutcome::kHeld) {
    std::printf("another process does this job\n");
    return 0;
  }
  // Spanner refused or did not answer: perhaps no machine has done the job.
  if (!guard) return Fail(guard.result().error);
  std::printf("leads\n");
  return Work(*spanner, guard);
}
