#include "cli/lock/options.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "cli/inputs.h"
#include "cli/option_values.h"
#include "real_client/linked_clients.h"
#include "real_client/lock_table.h"

namespace whorl::cli {
namespace {

using Words = std::vector<std::string_view>;

template <typename Take>
void AddText(CLI::App& app, const std::string& name, const std::string& type, const Take& take,
             const std::string& help) {
  app.add_option_function<std::string>(name, take, help)->type_name(type);
}

// This process's id: an operator who sees it in a table can find the process.
std::string DrawId() {
  std::array<char, 65> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
  uint32_t chance = 0;
  if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance)) chance = 0;
  std::array<char, 9> hex{};
  const auto end = std::to_chars(hex.data(), hex.data() + hex.size(), chance, 16);
  return Cat(host.data(), "-", std::to_string(getpid()), "-",
             std::string_view(hex.data(), static_cast<size_t>(end.ptr - hex.data())));
}

bool Says(const Status& status, std::string_view text) {
  return status.message.view().find(text) != std::string::npos;
}

std::string CompleteConnection(LockRequest& request) {
  real_client::ConnectionOptions& connection = request.connection;
  connection = {};
  std::string wrong;
  if (!request.credentials_file.empty() || !request.ca_file.empty()) {
    real_client::Tls tls;
    if (!request.ca_file.empty()) {
      wrong = ReadOption("--ca", request.ca_file, tls.root_certificates);
    }
    if (wrong.empty() && !request.credentials_file.empty()) {
      wrong = ReadOption("--credentials", request.credentials_file, tls.credentials_json);
    }
    connection.credentials = std::move(tls);
  }
  // An address that is named is not replaced by the environment's.
  if (request.endpoint.empty()) return wrong;
  const bool emulator = std::getenv("SPANNER_EMULATOR_HOST") != nullptr;
  if (emulator && std::holds_alternative<real_client::ApplicationDefault>(connection.credentials)) {
    connection.credentials = real_client::Plaintext{};
  }
  connection.endpoint = request.endpoint;
  return wrong;
}

}  // namespace

void AddDatabase(CLI::App& app, const SharedLockRequest& request) {
  app.add_option("--database", request->database,
                 "projects/P/instances/I/databases/D (default: $WHORL_DATABASE)")
      ->type_name("NAME");
  app.add_option("--database-role", request->database_role,
                 "role of fine-grained access control (default: none)")
      ->type_name("ROLE");
  app.add_option("--endpoint", request->endpoint,
                 "Spanner's address (default: $SPANNER_EMULATOR_HOST, else "
                 "spanner.googleapis.com:443)")
      ->type_name("HOST:PORT");
  app.add_option("--credentials", request->credentials_file,
                 "JSON file of credentials (default: Application Default Credentials)")
      ->type_name("FILE");
  app.add_option("--ca", request->ca_file,
                 "PEM file of the certificates to trust (default: the system's); without "
                 "--credentials none are sent")
      ->type_name("FILE");
}

void AddWhere(CLI::App& app, const SharedLockRequest& request) {
  AddDatabase(app, request);
  AddText(
      app, "--protocol", "P",
      [request](const std::string& text) {
        Words known;
        for (const ProtocolInfo& info : Protocols()) known.push_back(info.name);
        request->protocol = known[PlaceOfWord("--protocol", "protocol", text, known)];
      },
      "protocol of the locks (default: fenced_lease)");
  app.add_option("--table", request->table,
                 "table of the locks (default: the protocol's usual name)")
      ->type_name("NAME");
  AddText(
      app, "--client", "C",
      [request](const std::string& text) {
        const Words known = {real_client::kGrpcName, real_client::kGoogleCloudName};
        const std::string_view name = known[PlaceOfWord("--client", "client", text, known)];
        request->make_client = real_client::FindLinkedClient(name);
        if (request->make_client != nullptr) return;
        throw CLI::ValidationError(Cat("--client: this program was built without ", name,
                                       " (real_client/README.md says how)"));
      },
      "which library talks to Spanner: grpc or google-cloud-cpp (default: grpc)");
}

void AddTime(CLI::App& app, const std::string& name, std::optional<Duration>& out, Duration min,
             const std::string& help) {
  AddText(
      app, name, "TIME",
      [name, &out, min](const std::string& text) {
        const Duration time = DurationOf(name, text, "a time such as 30s");
        if (time < min) {
          throw CLI::ValidationError(
              Cat(name, " wants at least ", FormatDuration(min), ", and got ", Quoted(text)));
        }
        out = time;
      },
      help);
}

void AddLease(CLI::App& app, const SharedLockRequest& request, const std::string& help) {
  AddTime(app, "--lease", request->lease, Nanoseconds(1), help);
}

void AddWho(CLI::App& app, const SharedLockRequest& request) {
  AddLease(app, request,
           "time without a renewal after which others may take the lock (default: 10s)");
  app.add_option(
         "--id", request->id,
         "this process's id, as others see it (default: host, process id and a random number)")
      ->type_name("ID");
  app.add_option("--value", request->value,
                 "text that others read with the lock, such as this process's address")
      ->type_name("TEXT");
  app.add_flag("--must-exist", request->must_exist,
               "refuse a lock that has no row, where a protocol keeps the rows of its locks");
  AddNumber(
      app, "--concurrency", 1, 1'000'000,
      [request](uint64_t most) { request->concurrency = static_cast<int32_t>(most); },
      "most transactions under way at a time; how many are is found by what Spanner answers "
      "(default: 100)");
  app.add_option("--metrics", request->metrics,
                 "serve http://HOST:PORT/metrics in Prometheus' text format")
      ->type_name("HOST:PORT");
}

void AddName(CLI::App& app, const SharedLockRequest& request) {
  app.add_option_function<std::string>(
         "NAME", [request](const std::string& name) { request->names = {name}; },
         "name of the lock")
      ->type_name("")
      ->required();
}

void AddNames(CLI::App& app, const SharedLockRequest& request, bool required) {
  app.add_option("NAME", request->names, "names of locks")->type_name("...")->required(required);
}

std::string Complete(LockRequest& request) {
  if (request.database.empty()) {
    const char* named = std::getenv("WHORL_DATABASE");
    if (named != nullptr) request.database = named;
  }
  if (request.database.empty()) {
    return "which database? --database projects/P/instances/I/databases/D, or $WHORL_DATABASE";
  }
  real_client::DatabaseName parsed;
  const Status status = real_client::ParseDatabaseName(request.database, parsed);
  if (!status.ok()) return Cat("--database: ", status.message);
  std::ranges::sort(request.names);
  const auto twice = std::ranges::adjacent_find(request.names);
  if (twice != request.names.end()) return Cat("lock ", Quoted(*twice), " is named twice");
  request.has_own_id = !request.id.empty();
  if (!request.has_own_id) request.id = DrawId();
  return CompleteConnection(request);
}

std::string CompleteWithTable(LockRequest& request) {
  if (std::string wrong = Complete(request); !wrong.empty()) return wrong;
  const Status status = real_client::ValidateTable(request.TableName());
  return status.ok() ? std::string() : std::string(status.message.view());
}

std::string EndpointOf(const LockRequest& request) {
  return real_client::ResolveWithEnvironment(ClientOptionsOf(request).connection).endpoint;
}

real_client::LockClientOptions ClientOptionsOf(const LockRequest& request) {
  return {.database = request.database,
          .database_role = request.database_role,
          .connection = request.connection,
          .make_client = request.make_client,
          .concurrency = request.concurrency};
}

real_client::LockOptions LockOptionsOf(const LockRequest& request, const std::string& name) {
  real_client::LockOptions options;
  options.name = name;
  options.protocol = request.protocol;
  options.id = request.id;
  options.value = request.value;
  options.lease = request.lease;
  options.table = request.table;
  return options;
}

std::string FreeAt(Timestamp time) { return Cat("free at ", FormatRfc3339(time)); }

std::string Explain(const LockRequest& request, const Status& status) {
  const std::string table = request.TableName();
  // It may speak of a column, and then of rights only.
  if (status.code == Code::kPermissionDenied) return Printable(FormatStatus(status), 1000);
  if (Says(status, "Table not found")) {
    return Cat("there is no table ", table, " in ", request.database,
               "; `whorl lock init --protocol ", request.protocol,
               request.table.empty() ? "" : " --table ", request.table, "` makes it");
  }
  if (Says(status, "Unrecognized name") || Says(status, "column") || Says(status, "Column")) {
    return Cat("the table ", table, " in ", request.database, " is not as ", request.protocol,
               " needs it: ", Printable(status.message, 400));
  }
  // PostgreSQL's words: it does not know `@name`.
  if (Says(status, "syntax error at or near")) {
    return Cat(request.database,
               " seems to be of the PostgreSQL dialect, and whorl's locks are "
               "written in GoogleSQL: ",
               Printable(status.message, 400));
  }
  return Printable(FormatStatus(status), 1000);
}

}  // namespace whorl::cli
