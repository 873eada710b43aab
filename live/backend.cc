#include "live/backend.h"

#include <future>
#include <stdexcept>
#include <utility>
#include <vector>

#include "live/emulator_process.h"
#include "protocol/names.h"
#include "protocol/protocols.h"
#include "real_client/admin_client.h"
#include "sim/scenario/error_text.h"
#include "spanner_model/server/server.h"

namespace whorl::live {
namespace {

using sim::Cat;

std::string TableOf(const sim::Scenario& scenario) {
  return std::string(FindProtocol(scenario.protocol)->create_table);
}

class ServerBackend final : public Backend {
 public:
  explicit ServerBackend(std::unique_ptr<server::Server> server)
      : server_(std::move(server)), address_(server_->address()), channel_(MakeChannel(address_)) {}
  const std::string& address() const override { return address_; }
  const std::shared_ptr<grpc::Channel>& channel() const override { return channel_; }

  static absl::StatusOr<std::unique_ptr<Backend>> Start(const sim::Scenario& scenario) {
    server::ServerOptions options;
    options.backend.epsilon = scenario.spanner.truetime.epsilon;
    options.backend.model.pending_rule =
        scenario.spanner.strict_pending_commit_timestamp == sim::PendingCommitTimestampRule::kTable
            ? model::PendingRule::kTable
            : model::PendingRule::kColumn;
    options.backend.databases = {{.name = kDatabase, .statements = {TableOf(scenario)}}};
    absl::StatusOr<std::unique_ptr<server::Server>> started =
        server::Server::Start(std::move(options));
    if (!started.ok()) return started.status();
    return std::make_unique<ServerBackend>(*std::move(started));
  }

 private:
  const std::unique_ptr<server::Server> server_;
  const std::string address_;
  const std::shared_ptr<grpc::Channel> channel_;
};

class EmulatorBackend final : public Backend {
 public:
  explicit EmulatorBackend(std::unique_ptr<EmulatorProcess> emulator)
      : emulator_(std::move(emulator)) {}
  const std::string& address() const override { return emulator_->address(); }
  const std::shared_ptr<grpc::Channel>& channel() const override { return emulator_->channel(); }

  static absl::StatusOr<std::unique_ptr<Backend>> Start(const sim::Scenario& scenario) {
    std::unique_ptr<EmulatorProcess> emulator;
    try {
      emulator = EmulatorProcess::Start();
    } catch (const std::runtime_error& error) {
      return absl::UnavailableError(error.what());
    }
    if (emulator == nullptr) {
      return absl::UnavailableError(
          "there is no Cloud Spanner emulator: name one in $SPANNER_EMULATOR, put emulator_main on "
          "PATH, or install the Google Cloud SDK's component cloud-spanner-emulator");
    }
    auto backend = std::make_unique<EmulatorBackend>(std::move(emulator));
    if (absl::Status made = backend->MakeTable(TableOf(scenario)); !made.ok()) return made;
    return backend;
  }

 private:
  absl::Status MakeTable(std::string ddl) const {
    real_client::AdminClient admin(
        {.endpoint = address(), .credentials = real_client::Plaintext{}, .channels = 1});
    const auto wait_for = [](auto begin) {
      std::promise<Status> promise;
      begin([&promise](Status status) { promise.set_value(std::move(status)); });
      return promise.get_future().get();
    };
    Status status = wait_for([&](auto done) {
      admin.CreateInstance({.path = "projects/test-project/instances/test-instance"},
                           std::move(done));
    });
    if (status.ok()) {
      status = wait_for(
          [&](auto done) { admin.CreateDatabase(kDatabase, {std::move(ddl)}, std::move(done)); });
    }
    if (status.ok()) return absl::OkStatus();
    return absl::UnavailableError(Cat("the emulator makes no table: ", FormatStatus(status)));
  }

  const std::unique_ptr<EmulatorProcess> emulator_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> StartBackend(BackendKind kind,
                                                      const sim::Scenario& scenario) {
  return kind == BackendKind::kServer ? ServerBackend::Start(scenario)
                                      : EmulatorBackend::Start(scenario);
}

sim::Scenario AsOn(BackendKind kind, sim::Scenario scenario) {
  if (kind == BackendKind::kEmulator) {
    scenario.spanner.strict_pending_commit_timestamp = sim::PendingCommitTimestampRule::kColumn;
    scenario.spanner.truetime.epsilon = {};
  }
  return scenario;
}

std::string ChangesOn(BackendKind kind, const sim::Scenario& scenario) {
  const sim::Scenario real = AsOn(kind, scenario);
  std::string changes;
  const auto add = [&changes](std::string_view change) {
    if (!changes.empty()) changes += "; ";
    changes += change;
  };
  if (real.spanner.strict_pending_commit_timestamp !=
      scenario.spanner.strict_pending_commit_timestamp) {
    add("a pending commit timestamp blocks its column only");
  }
  if (real.spanner.truetime != scenario.spanner.truetime) add("TrueTime's epsilon is 0");
  return changes;
}

}  // namespace whorl::live
