// Names the database and says how to connect to it.
#pragma once

#include <cstdint>
#include <functional>
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
// INVALID_ARGUMENT, with the expected form, for any other text.
Status ParseDatabaseName(std::string_view path, DatabaseName& out);

// INVALID_ARGUMENT unless `path` is projects/P/instances/I.
Status ValidateInstancePath(std::string_view path);

// TLS with the credentials that Google's libraries find by themselves:
// GOOGLE_APPLICATION_CREDENTIALS, the login of gcloud, or the machine's service account.
struct ApplicationDefault {};
// Neither TLS nor credentials, for the emulator.
struct Plaintext {};
// TLS with the caller's certificates and credentials.
struct Tls {
  std::string root_certificates;  // PEM; empty: the system's
  // At most one is set: a bearer token; a function that returns the token for a call, on a thread of
  // gRPC, where it may block (empty: no token can be had, and the call fails); or the text of a JSON
  // file of credentials, of type service_account, authorized_user or external_account.
  std::string access_token;
  std::function<std::string()> renewed_access_token;
  std::string credentials_json;
  std::string server_name;  // the name that the certificate must have; empty: the endpoint's
};
using Credentials = std::variant<ApplicationDefault, Plaintext, Tls>;

struct ConnectionOptions {
  std::string endpoint = "spanner.googleapis.com:443";
  Credentials credentials;
  int32_t channels = 4;  // TCP connections
};
// Applies the environment variable SPANNER_EMULATOR_HOST, whose value is `emulator_host` if it is
// set: as in Google's clients, it replaces the endpoint and Application Default Credentials.
ConnectionOptions Resolve(ConnectionOptions options, std::optional<std::string> emulator_host);
// The same with this process's environment.
ConnectionOptions ResolveWithEnvironment(ConnectionOptions options);

class CallObserver;

struct ClientOptions {
  std::string database;       // projects/P/instances/I/databases/D
  std::string database_role;  // of fine-grained access control; empty: none
  ConnectionOptions connection;
  SessionPoolPolicy sessions = MultiplexedSessionPolicy();
  RetryPolicy retry = GoRetryPolicy();
  // The number of concurrent transactions of a client whose calls block (google_cloud/).
  int32_t threads = 64;
  // Observes, and may label, each call of a transaction of a SpannerClient. May be null.
  std::shared_ptr<CallObserver> call_observer;
};

}  // namespace whorl::real_client
