#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "google/spanner/v1/spanner.pb.h"
#include "live/proxy/fault_proxy.h"
#include "tests/support/lock_database.h"

namespace whorl {
namespace {

using live::Interception;
using live::ProxiedCall;

class StrikesCommits final : public live::CallInterceptor {
 public:
  void LoseNextReply() { loses_next_ = true; }
  void RefuseNext() { refuses_next_ = true; }
  bool waits() const { return loses_next_ || refuses_next_; }

  // Spanner ends a transaction whose Commit it refuses, so that no lock is left.
  Interception OnRequest(const ProxiedCall& call, const std::string& message) override {
    if (call.method != "Commit" || !refuses_next_.exchange(false)) return {};
    google::spanner::v1::CommitRequest commit;
    commit.ParseFromString(message);
    google::spanner::v1::RollbackRequest rollback;
    rollback.set_session(commit.session());
    rollback.set_transaction_id(commit.transaction_id());
    return {.action = Interception::Action::kAnswer,
            .delay = {},
            .status = Error(Code::kFailedPrecondition, "refused by a test"),
            .metadata = {},
            .before_answer = Interception::OwnCall{.path = "/google.spanner.v1.Spanner/Rollback",
                                                   .message = rollback.SerializeAsString()}};
  }
  Interception OnReply(const ProxiedCall& call, const Status& status,
                       const std::vector<std::string>&) override {
    const bool loses = call.method == "Commit" && status.ok() && loses_next_.exchange(false);
    return {.action = loses ? Interception::Action::kDrop : Interception::Action::kPass};
  }

 private:
  std::atomic<bool> loses_next_ = false;
  std::atomic<bool> refuses_next_ = false;
};

class ProxiedDatabase final : public LockDatabase {
 public:
  explicit ProxiedDatabase(std::unique_ptr<LockDatabase> database)
      : database_(std::move(database)),
        proxy_(database_->Connection().endpoint, interceptor_),
        port_(proxy_.Open(/*node=*/0)) {}
  ~ProxiedDatabase() override {
    EXPECT_FALSE(interceptor_.waits()) << "no Commit came that was to be struck";
  }
  real_client::ConnectionOptions Connection() const override {
    real_client::ConnectionOptions connection = database_->Connection();
    connection.endpoint = "127.0.0.1:" + std::to_string(port_);
    return connection;
  }
  std::string path() const override { return database_->path(); }
  server::Server* server() override { return database_->server(); }
  bool LoseNextCommitReply() override {
    interceptor_.LoseNextReply();
    return true;
  }
  bool RefuseNextCommit() override {
    interceptor_.RefuseNext();
    return true;
  }
  bool DeleteSessions() override { return database_->DeleteSessions(); }

 private:
  const std::unique_ptr<LockDatabase> database_;
  StrikesCommits interceptor_;
  live::FaultProxy proxy_;
  const uint16_t port_;
};

}  // namespace

std::unique_ptr<LockDatabase> BehindProxy(std::unique_ptr<LockDatabase> database) {
  return std::make_unique<ProxiedDatabase>(std::move(database));
}

}  // namespace whorl
