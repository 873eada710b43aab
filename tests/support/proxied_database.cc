#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "live/proxy/fault_proxy.h"
#include "tests/support/lock_database.h"

namespace whorl {
namespace {

using live::Interception;
using live::ProxiedCall;

class LosesCommitReplies final : public live::CallInterceptor {
 public:
  void LoseNext() { loses_next_ = true; }
  bool waits() const { return loses_next_; }

  Interception OnReply(const ProxiedCall& call, const Status& status,
                       const std::vector<std::string>&) override {
    const bool loses = call.method == "Commit" && status.ok() && loses_next_.exchange(false);
    return {.action = loses ? Interception::Action::kDrop : Interception::Action::kPass};
  }

 private:
  std::atomic<bool> loses_next_ = false;
};

class ProxiedDatabase final : public LockDatabase {
 public:
  explicit ProxiedDatabase(std::unique_ptr<LockDatabase> database)
      : database_(std::move(database)),
        proxy_(database_->Connection().endpoint, interceptor_),
        port_(proxy_.Open(/*node=*/0)) {}
  ~ProxiedDatabase() override {
    EXPECT_FALSE(interceptor_.waits()) << "no Commit came whose reply was to be lost";
  }
  real_client::ConnectionOptions Connection() const override {
    real_client::ConnectionOptions connection = database_->Connection();
    connection.endpoint = "127.0.0.1:" + std::to_string(port_);
    return connection;
  }
  std::string path() const override { return database_->path(); }
  server::Server* server() override { return database_->server(); }
  bool LoseNextCommitReply() override {
    interceptor_.LoseNext();
    return true;
  }
  bool DeleteSessions() override { return database_->DeleteSessions(); }

 private:
  const std::unique_ptr<LockDatabase> database_;
  LosesCommitReplies interceptor_;
  live::FaultProxy proxy_;
  const uint16_t port_;
};

}  // namespace

std::unique_ptr<LockDatabase> BehindProxy(std::unique_ptr<LockDatabase> database) {
  return std::make_unique<ProxiedDatabase>(std::move(database));
}

}  // namespace whorl
