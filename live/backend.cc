#include "live/backend.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/text.h"
#include "live/emulator_process.h"
#include "protocol/names.h"
#include "protocol/protocols.h"
#include "real_client/admin_client.h"
#include "spanner_model/server/server.h"

namespace whorl::live {
namespace {

// The database on a server that ends with its run.
const std::string kOwnDatabase = "projects/test-project/instances/test-instance/databases/locks";

std::string TableOf(const sim::Scenario& scenario) {
  return std::string(FindProtocol(scenario.protocol)->create_table);
}

// Makes and drops databases; each call waits for its end.
class Administrator {
 public:
  explicit Administrator(const std::string& address)
      : client_({.endpoint = address, .credentials = real_client::Plaintext{}, .channels = 1}) {}

  Status CreateInstance(const std::string& path) {
    return real_client::AwaitStatus(
        [&](auto done) { client_.CreateInstance({.path = path}, std::move(done)); });
  }
  Status CreateDatabase(const std::string& name, const std::string& ddl) {
    return real_client::AwaitStatus(
        [&](auto done) { client_.CreateDatabase(name, {ddl}, std::move(done)); });
  }
  Status DropDatabase(const std::string& name) {
    return real_client::AwaitStatus(
        [&](auto done) { client_.DropDatabase(name, std::move(done)); });
  }

 private:
  real_client::AdminClient client_;
};

class ServerBackend final : public Backend {
 public:
  explicit ServerBackend(std::unique_ptr<server::Server> server)
      : server_(std::move(server)), address_(server_->address()), channel_(MakeChannel(address_)) {}
  const std::string& address() const override { return address_; }
  const std::string& database() const override { return kOwnDatabase; }
  const std::shared_ptr<grpc::Channel>& channel() const override { return channel_; }

  static absl::StatusOr<std::unique_ptr<Backend>> Start(const sim::Scenario& scenario) {
    server::ServerOptions options;
    options.backend.epsilon = scenario.spanner.truetime.epsilon;
    options.backend.model.pending_rule =
        scenario.spanner.strict_pending_commit_timestamp == sim::PendingCommitTimestampRule::kTable
            ? model::PendingRule::kTable
            : model::PendingRule::kColumn;
    options.backend.databases = {{.name = kOwnDatabase, .statements = {TableOf(scenario)}}};
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
  const std::string& database() const override { return kOwnDatabase; }
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
    Administrator administrator(emulator->address());
    Status status = administrator.CreateInstance("projects/test-project/instances/test-instance");
    if (status.ok()) status = administrator.CreateDatabase(kOwnDatabase, TableOf(scenario));
    if (status.ok()) return std::make_unique<EmulatorBackend>(std::move(emulator));
    return absl::UnavailableError(Cat("the emulator makes no table: ", FormatStatus(status)));
  }

 private:
  const std::unique_ptr<EmulatorProcess> emulator_;
};

// Spanner Omni has one project and one instance, both called default.
class EndpointBackend final : public Backend {
 public:
  explicit EndpointBackend(std::string address)
      : address_(std::move(address)),
        database_(Cat("projects/default/instances/default/databases/whorl_",
                      std::to_string(getpid()), "_", std::to_string(++databases_))),
        channel_(MakeChannel(address_)) {}
  ~EndpointBackend() override {
    if (has_database_) Administrator(address_).DropDatabase(database_);
  }
  const std::string& address() const override { return address_; }
  const std::string& database() const override { return database_; }
  const std::shared_ptr<grpc::Channel>& channel() const override { return channel_; }

  static absl::StatusOr<std::unique_ptr<Backend>> Start(const sim::Scenario& scenario) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody writes to the environment now.
    const char* address = std::getenv(kEndpointVariable);
    if (address == nullptr || *address == '\0') {
      return absl::UnavailableError(Cat("--on omni needs the address of a Spanner Omni: ",
                                        kEndpointVariable, "=HOST:PORT, without TLS"));
    }
    auto backend = std::make_unique<EndpointBackend>(address);
    if (!WaitForServer(*backend->channel(), nullptr)) {
      return absl::UnavailableError(
          Cat("no server answers at ", kEndpointVariable, "=", Printable(address, 200)));
    }
    const Status status =
        Administrator(address).CreateDatabase(backend->database(), TableOf(scenario));
    backend->has_database_ = status.ok();
    if (status.ok()) return backend;
    return absl::UnavailableError(
        Cat("no database can be made at ", Printable(address, 200), ": ", FormatStatus(status)));
  }

 private:
  static inline std::atomic<int> databases_ = 0;

  const std::string address_;
  const std::string database_;
  const std::shared_ptr<grpc::Channel> channel_;
  bool has_database_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> StartBackend(BackendKind kind,
                                                      const sim::Scenario& scenario) {
  switch (kind) {
    case BackendKind::kServer:
      return ServerBackend::Start(scenario);
    case BackendKind::kEmulator:
      return EmulatorBackend::Start(scenario);
    case BackendKind::kOmni:
      break;
  }
  return EndpointBackend::Start(scenario);
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
