// Where the database is and how it is reached.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/client/session_pool.h"
#include "protocol/client/transaction_runner.h"
#include "protocol/spanner/status.h"

namespace whorl::real_client {

// projects/P/instances/I/databases/D, in parts.
struct DatabaseName {
  std::string project;
  std::string instance;
  std::string database;

  std::string Path() const { return InstancePath() + "/databases/" + database; }
  std::string InstancePath() const { return "projects/" + project + "/instances/" + instance; }
  WHORL_FIELDS(DatabaseName, project, instance, database);
};
// INVALID_ARGUMENT, with the form that was expected.
Status ParseDatabaseName(std::string_view path, DatabaseName& out);

// INVALID_ARGUMENT unless `path` is projects/P/instances/I.
Status ValidateInstancePath(std::string_view path);

// What Google's libraries find by themselves: GOOGLE_APPLICATION_CREDENTIALS, the login of gcloud,
// or the service account of the machine. Over TLS.
struct ApplicationDefault {};
// Neither TLS nor credentials: the emulator.
struct Plaintext {};
// TLS with certificates of the caller's choice.
struct Tls {
  std::string root_certificates;  // PEM; empty: those of the system
  // At most one of them: a bearer token, or the text of a service account's JSON key file.
  std::string access_token;
  std::string service_account_key;
  std::string server_name;  // that the certificate has to name; empty: that of the endpoint
};
using Credentials = std::variant<ApplicationDefault, Plaintext, Tls>;

struct ConnectionOptions {
  std::string endpoint = "spanner.googleapis.com:443";
  Credentials credentials;
  int32_t channels = 4;  // TCP connections
};
// The environment's SPANNER_EMULATOR_HOST, if it is set, takes the place of the endpoint and of
// Application Default Credentials, as in Google's clients. `emulator_host`: its value, or nothing.
ConnectionOptions Resolve(ConnectionOptions options, std::optional<std::string> emulator_host);
// The same with the environment of this process.
ConnectionOptions ResolveWithEnvironment(ConnectionOptions options);

class CallObserver;

struct ClientOptions {
  std::string database;  // projects/P/instances/I/databases/D
  ConnectionOptions connection;
  SessionPoolPolicy sessions = MultiplexedSessionPolicy();
  RetryPolicy retry = GoRetryPolicy();
  // Of a client whose calls block (google_cloud/): so many transactions run at a time.
  int32_t threads = 64;
  // Of SpannerClient: hears of each call of a transaction, and may name it. Null: nobody does.
  std::shared_ptr<CallObserver> call_observer;
};

}  // namespace whorl::real_client
