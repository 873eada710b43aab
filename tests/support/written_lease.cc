#include "tests/support/written_lease.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/lock_database.h"
#include "tests/support/raw_spanner.h"

namespace whorl {

void WriteFencedLease(const std::string& endpoint, const std::string& lock,
                      const std::string& writer, const std::string& token) {
  RawSpanner raw(MakeChannel(endpoint));
  const auto session = raw.CreateSession(kLockDatabase);
  ASSERT_TRUE(session.ok()) << session.status.error_message();
  google::spanner::v1::CommitRequest commit;
  commit.set_session(session.reply.name());
  commit.mutable_single_use_transaction()->mutable_read_write();
  auto& write = *commit.add_mutations()->mutable_insert_or_update();
  write.set_table("fenced_locks");
  auto& values = *write.add_values();
  const auto set = [&](const std::string& column, const std::string& value) {
    write.add_columns(column);
    values.add_values()->set_string_value(value);
  };
  set("name", lock);
  set("heartbeat", "spanner.commit_timestamp()");
  set("token", token);
  set("writer", writer);
  set("lease_ms", "10000");
  set("attempt", writer + "-1");
  const auto committed = raw.Commit(commit);
  ASSERT_TRUE(committed.ok()) << committed.status.error_message();
}

void LeaveTransactionOpen(const std::string& endpoint) {
  RawSpanner raw(MakeChannel(endpoint));
  const auto session = raw.CreateSession(kLockDatabase);
  ASSERT_TRUE(session.ok()) << session.status.error_message();
  google::spanner::v1::ExecuteSqlRequest read;
  read.set_session(session.reply.name());
  read.mutable_transaction()->mutable_begin()->mutable_read_write();
  read.set_sql("SELECT name FROM fenced_locks");
  auto heard = raw.ExecuteSql(read);
  // Another transaction is open just now.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (heard.status.error_code() == grpc::StatusCode::ABORTED &&
         std::chrono::steady_clock::now() < give_up) {
    heard = raw.ExecuteSql(read);
  }
  ASSERT_TRUE(heard.ok()) << heard.status.error_message();
}

}  // namespace whorl
