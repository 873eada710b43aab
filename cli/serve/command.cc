#include "cli/serve/command.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <atomic>
#include <cerrno>
#include <exception>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/parse_duration.h"
#include "base/text.h"
#include "cli/exit_rules.h"
#include "cli/inputs.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/serve/control.h"
#include "cli/serve/fault_front.h"
#include "cli/serve/last_line.h"
#include "cli/signals.h"
#include "cli/usage.h"
#include "cli/version.h"
#include "real_client/options.h"
#include "spanner_model/server/schema_change.h"
#include "spanner_model/server/server.h"

namespace whorl::cli {
namespace {

constexpr size_t kHelpColumn = 26;
// Codes of env and timeout, as of `whorl lock exec`.
constexpr int kServeFailed = 125;
constexpr int kCannotExecute = 126;
constexpr int kNoSuchCommand = 127;

// Where --virtual-time begins: 2026-01-01.
constexpr Timestamp kVirtualStart = Timestamp::FromUnixNanos(1'767'225'600'000'000'000);

constexpr std::string_view kFooter = R"(Examples:
  whorl serve --ddl locks.sql -- go test ./...
  whorl serve --port 9010 --database projects/p1/instances/one/databases/locks
  whorl serve --ddl locks.sql --faults faults.json --history calls.jsonl -- npm test

Serves Cloud Spanner's API from whorl's model on 127.0.0.1, without TLS, and prints the line
SPANNER_EMULATOR_HOST=127.0.0.1:PORT, which official clients understand. Instance and databases are
there from the start; others can be made, as on Spanner. A COMMAND gets the variable in its
environment, and when it ends, serve ends with its exit code; otherwise serve ends at SIGINT or
SIGTERM. Nothing is kept.
Faults strike calls by rules. This one answers UNAVAILABLE to the third Commit, which has been done:
{"faults":[{"match":{"method":"Commit","count":3,"phase":"served"},"do":"error","code":"UNAVAILABLE"}]}
With "do":"drop_reply" that Commit gets no answer at all, so that a client without a deadline waits for ever.
scenarios/LANGUAGE.md has all words. At the end it says which rules struck.
Exit codes: without COMMAND 0 ended by a signal, 2 bad input or usage, 3 it could not serve; with
COMMAND the command's, 128 plus the signal that ended it, or 125, 126 and 127 as of env. With --judge 1 in
the place of 0 if something was violated, promised or not (--promised: what the protocol promises). If
whorl itself dies, it says so, ends COMMAND, and exits with 3. docs/EXIT_CODES.md has all of them.)";

constexpr std::string_view kProxyFooter = R"(Examples:
  whorl proxy --to 127.0.0.1:9010 --faults faults.json -- go test ./...
  whorl proxy --to 127.0.0.1:9010 --clients 2 --history calls.jsonl

Stands between programs and a Spanner that whorl does not serve, such as the official emulator: for
schemas and statements that whorl's model does not have. Programs connect without TLS, and without
credentials; the proxy has its own for a server that speaks TLS. It prints the line
SPANNER_EMULATOR_HOST=127.0.0.1:PORT for each client, and a COMMAND gets that of the first in its
environment, and those of all in WHORL_CLIENT_1, WHORL_CLIENT_2 and so on.
Exit codes: as of whorl serve.)";

struct ServeRequest {
  std::string to;  // the server before which whorl proxy stands; empty: whorl's own
  bool has_tls = false;
  std::string ca_file;
  std::string credentials_file;
  real_client::Credentials credentials = real_client::Plaintext{};  // of the way to it
  std::shared_ptr<FaultRequest> faults = std::make_shared<FaultRequest>();
  std::shared_ptr<ControlRequest> control = std::make_shared<ControlRequest>();
  std::vector<std::string> databases;
  std::vector<std::string> ddl_files;
  int port = 0;
  bool like_emulator = false;
  bool has_virtual_time = false;
  // Of CURRENT_TIMESTAMP, in nanoseconds.
  std::shared_ptr<std::atomic<int64_t>> current_timestamp_error =
      std::make_shared<std::atomic<int64_t>>(0);
  server::BackendOptions backend;
  std::vector<std::string> command;
};

// Starts the command with the addresses in its environment. `control` is empty if there is no control
// plane. Returns 0, or errno.
int Spawn(std::vector<std::string> command, const std::vector<std::string>& addresses,
          const std::string& control, pid_t& child) {
  // NOLINTBEGIN(concurrency-mt-unsafe): no other thread of this program reads the environment now.
  setenv("SPANNER_EMULATOR_HOST", addresses[0].c_str(), 1);
  for (size_t i = 0; i < addresses.size(); ++i) {
    setenv(Cat("WHORL_CLIENT_", std::to_string(i + 1)).c_str(), addresses[i].c_str(), 1);
  }
  if (!control.empty()) setenv("WHORL_CONTROL", control.c_str(), 1);
  unsetenv("WHORL_CONTROL_TOKEN");
  // NOLINTEND(concurrency-mt-unsafe)
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // It hears the signals that this process handles on a thread.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error =
      posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

class Serving {
 public:
  explicit Serving(ServeRequest request) : request_(std::move(request)) {}

  int Run() {
    SayHowItDies();
    const Signals signals({SIGINT, SIGTERM, SIGHUP}, [this](int signal) { OnSignal(signal); });
    std::unique_ptr<server::Server> server;
    const int code = ServeUntilEnd(server);
    // A call that does not return holds it up.
    MustEndSoon(true);
    server.reset();
    MustEndSoon(false);
    return code;
  }

 private:
  int ServeUntilEnd(std::unique_ptr<server::Server>& server) {
    std::unique_ptr<FaultFront> front;
    std::vector<std::string> addresses;
    std::unique_ptr<ControlPlane> control;
    const bool has_front =
        !request_.to.empty() || request_.faults->IsAsked() || request_.control->IsAsked();
    const auto virtual_clock = request_.has_virtual_time ? std::make_shared<server::VirtualClock>(
                                                               kVirtualStart, OwnSteps())
                                                         : nullptr;
    if (request_.to.empty()) {
      server::ServerOptions options;
      options.backend = request_.backend;
      options.backend.current_timestamp_error = request_.current_timestamp_error;
      options.clock = virtual_clock;
      if (options.clock == nullptr) options.clock = std::make_shared<server::RealClock>();
      if (!has_front) options.port = request_.port;
      request_.faults->judged = {.upstream = {},
                                 .rows = live::RowsFor(*request_.faults->judge),
                                 .now = [clock = options.clock] { return clock->Now(); },
                                 .time_stands = request_.has_virtual_time,
                                 .commit_under_way = {}};
      options.backend.changes = request_.faults->judged.rows;
      auto started = server::Server::Start(std::move(options));
      if (!started.ok()) return Fail(started.status());
      server = *std::move(started);
      addresses = {server->address()};
    }
    if (has_front) {
      const absl::Status started =
          FaultFront::Start(*request_.faults,
                            {.endpoint = request_.to.empty() ? addresses[0] : request_.to,
                             .credentials = request_.credentials},
                            request_.port, front);
      if (!started.ok()) return Fail(started);
      addresses.clear();
      for (ServedClient& client : front->Clients()) addresses.push_back(std::move(client.address));
    }
    if (request_.control->IsAsked()) {
      auto* error = request_.to.empty() ? request_.current_timestamp_error.get() : nullptr;
      const absl::Status started = ControlPlane::Start(
          *request_.control,
          {.front = *front, .clock = virtual_clock.get(), .current_timestamp_error = error},
          control);
      if (!started.ok()) return Fail(started);
    }
    const std::string url = control == nullptr ? "" : control->url();
    const int code =
        request_.command.empty() ? WaitForSignal(addresses, url) : RunCommand(addresses, url);
    control.reset();
    if (front == nullptr) return code;
    const absl::Status ended = front->End();
    for (const std::string& line : front->Report()) Complain(line);
    if (!ended.ok()) {
      Complain(std::string(ended.message()));
      return request_.command.empty() ? kCannotRun : kServeFailed;
    }
    if (front->verdict() == nullptr) return code;
    const live::LiveVerdict::Summary summary = front->verdict()->Summarise();
    for (const std::string& line : summary.lines) Complain(line);
    return code == 0 ? CodeOf({}, {.has_found = summary.has_found}) : code;
  }

  int Fail(const absl::Status& status) {
    const bool is_in_use = status.code() == absl::StatusCode::kAlreadyExists;
    Complain(Cat(std::string(status.message()),
                 is_in_use ? "; name another port, or a free one by --port 0" : ""));
    const bool is_input = status.code() == absl::StatusCode::kInvalidArgument;
    return request_.command.empty() ? (is_input ? kBadInput : kCannotRun) : kServeFailed;
  }
  // With virtual time commits do not wait for a client that moves the clock.
  Duration OwnSteps() const {
    return request_.backend.epsilon * 2 + request_.backend.replication_latency + Milliseconds(1);
  }
  int WaitForSignal(const std::vector<std::string>& addresses, const std::string& control) {
    for (const std::string& address : addresses) {
      std::cout << "SPANNER_EMULATOR_HOST=" << address << '\n';
    }
    if (!control.empty()) std::cout << "WHORL_CONTROL=" << control << '\n';
    for (const auto& database : request_.backend.databases) std::cout << database.name << '\n';
    const absl::Status said = FlushStdout();
    if (said.ok()) signalled_.get_future().wait();
    return End(said);
  }
  // On the thread of the signals.
  void OnSignal(int signal) {
    const std::lock_guard lock(mutex_);
    if (command_ > 0) {
      kill(command_, signal);
    } else if (std::exchange(early_signal_, signal) == 0) {
      signalled_.set_value();
    }
  }
  // A signal that came while the command was being started is the command's, too.
  void SetCommand(pid_t command) {
    const std::lock_guard lock(mutex_);
    command_ = command;
    EndsWithIt(command);
    if (command_ > 0 && early_signal_ != 0) kill(command_, early_signal_);
  }

  int RunCommand(const std::vector<std::string>& addresses, const std::string& control) {
    pid_t child = 0;
    if (const int error = Spawn(request_.command, addresses, control, child); error != 0) {
      Complain(Cat(request_.command[0], ": ", std::generic_category().message(error)));
      return error == ENOENT ? kNoSuchCommand : kCannotExecute;
    }
    SetCommand(child);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    SetCommand(0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  const ServeRequest request_;
  std::mutex mutex_;  // guards the next two
  pid_t command_ = 0;
  int early_signal_ = 0;  // the first that came when there was no command; 0: none
  std::promise<void> signalled_;
};

// The error if a split has no place in the schema that the statements make, so that it has no effect.
std::string CheckSplits(const std::vector<server::NamedSplit>& splits,
                        const std::vector<std::string>& statements) {
  const auto change = server::PlanSchemaChange({}, statements);
  const auto* made = std::get_if<server::SchemaChange>(&change);
  if (made == nullptr) return {};  // the server names the error
  for (const server::NamedSplit& split : splits) {
    if (!server::PlaceSplits(made->schema, {split}).empty()) continue;
    const std::string what = Cat("--split ", split.table, ":", split.key, ": ");
    if (!made->schema.FindTable(split.table)) {
      return Cat(what, "--ddl makes no table ", split.table);
    }
    return Cat(what, "the key of ", split.table, " is not one STRING, nor one INT64 that this is");
  }
  return {};
}

// Fills in the databases. Returns what is wrong; empty if nothing is.
std::string Complete(ServeRequest& request) {
  std::vector<std::string> statements;
  for (const std::string& file : request.ddl_files) {
    std::string text;
    if (std::string wrong = ReadOption("--ddl", file, text); !wrong.empty()) return wrong;
    for (std::string& one : StatementsIn(text)) statements.push_back(std::move(one));
  }
  if (request.databases.empty()) {
    request.databases = {"projects/whorl/instances/whorl/databases/whorl"};
  }
  for (const std::string& name : request.databases) {
    real_client::DatabaseName parsed;
    const Status status = real_client::ParseDatabaseName(name, parsed);
    if (!status.ok()) return Cat("--database: ", status.message);
    request.backend.databases.push_back({.name = name, .statements = statements});
  }
  return CheckSplits(request.backend.splits, statements);
}

// Fills in the credentials of the way to the server. Returns what is wrong; empty if nothing is.
std::string CompleteUpstream(ServeRequest& request) {
  if (request.credentials_file.empty() && request.ca_file.empty()) {
    if (request.has_tls) request.credentials = real_client::ApplicationDefault{};
    return {};
  }
  real_client::Tls tls;
  std::string wrong;
  if (!request.ca_file.empty()) wrong = ReadOption("--ca", request.ca_file, tls.root_certificates);
  if (wrong.empty() && !request.credentials_file.empty()) {
    wrong = ReadOption("--credentials", request.credentials_file, tls.credentials_json);
  }
  request.credentials = std::move(tls);
  return wrong;
}

void AddPort(CLI::App& app, const std::shared_ptr<ServeRequest>& request) {
  AddNumber(
      app, "--port", 0, 65535, [request](uint64_t port) { request->port = static_cast<int>(port); },
      "port of 127.0.0.1 (default: a free one)");
}

void AddProxyOptions(CLI::App& app, const std::shared_ptr<ServeRequest>& request) {
  app.add_option("--to", request->to, "the server, which speaks plaintext unless told otherwise")
      ->type_name("HOST:PORT")
      ->required();
  app.add_flag("--tls", request->has_tls,
               "the server speaks TLS, and gets Application Default Credentials");
  app.add_option("--credentials", request->credentials_file,
                 "the server speaks TLS, and gets these credentials, a JSON file")
      ->type_name("FILE");
  app.add_option("--ca", request->ca_file,
                 "the server speaks TLS by a certificate of this PEM file; without --credentials "
                 "none are sent")
      ->type_name("FILE");
  AddPort(app, request);
  AddFaultOptions(app, request->faults);
  AddControlOption(app, request->control);
  app.footer(std::string(kProxyFooter));
}

void AddDatabases(CLI::App& app, const std::shared_ptr<ServeRequest>& request) {
  app.add_option("--database", request->databases,
                 "a database that is there from the start, projects/P/instances/I/databases/D; may "
                 "be repeated (default: projects/whorl/instances/whorl/databases/whorl)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--ddl", request->ddl_files,
                 "file of DDL for each of these databases; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  AddPort(app, request);
}

struct TimeOption {
  std::string name;
  Duration& (*in)(server::BackendOptions& options);
  std::string example;  // for the message when it is none
  std::string help;
};

void AddTime(CLI::App& app, const std::shared_ptr<ServeRequest>& request,
             const TimeOption& option) {
  app.add_option_function<std::string>(
         option.name,
         [option, request](const std::string& text) {
           option.in(request->backend) = DurationOf(option.name, text, option.example);
         },
         option.help)
      ->type_name("TIME");
}

void AddTimes(CLI::App& app, const std::shared_ptr<ServeRequest>& request) {
  using Options = server::BackendOptions;
  const TimeOption times[] = {
      {"--epsilon", [](Options& options) -> Duration& { return options.epsilon; },
       "a time such as 5ms", "half the width of TrueTime's interval (default: 100us)"},
      {"--replication", [](Options& options) -> Duration& { return options.replication_latency; },
       "a time such as 5ms", "time until enough replicas have a commit (default: 0s)"},
      {"--idle-limit", [](Options& options) -> Duration& { return options.model.idle_limit; },
       "a time such as 10s",
       "time without a call after which a transaction may be aborted (default: 10s)"},
      {"--session-limit",
       [](Options& options) -> Duration& { return options.model.session_idle_limit; },
       "a time such as 10s", "time without a call after which a session is gone (default: 1h)"}};
  for (const TimeOption& time : times) AddTime(app, request, time);
}

void AddVersions(CLI::App& app, const std::shared_ptr<ServeRequest>& request) {
  using Options = server::BackendOptions;
  AddTime(
      app, request,
      {"--retention", [](Options& options) -> Duration& { return options.model.version_retention; },
       "a time such as 10s", "how far back versions can be read (default: 1h)"});
  app.add_option("--versions", request->backend.most_old_versions,
                 "most old versions of rows in a database; reads reach back less far than the "
                 "retention where there would be more (default: 500000)")
      ->type_name("N");
  AddTime(app, request,
          {"--replica-lag", [](Options& options) -> Duration& { return options.model.replica_lag; },
           "a time such as 10s", "how far reads of bounded staleness lag behind (default: 0s)"});
}

void AddCurrentTimestamp(CLI::App& app, const std::shared_ptr<ServeRequest>& request) {
  app.add_option_function<std::string>(
         "--current-timestamp-error",
         [request](const std::string& text) {
           const auto parsed = ParseDuration(text);
           if (const auto* wrong = std::get_if<std::string>(&parsed)) {
             throw CLI::ValidationError(Cat("--current-timestamp-error: ", *wrong));
           }
           *request->current_timestamp_error = std::get<Duration>(parsed).ns;
         },
         "how far CURRENT_TIMESTAMP is ahead of TrueTime; behind it, if negative (default: 0s)")
      ->type_name("TIME");
}

// A flag that sets something of the backend.
CLI::Option* AddBackendFlag(CLI::App& app, const std::shared_ptr<ServeRequest>& request,
                            const std::string& name, void (*set)(server::BackendOptions& options),
                            const std::string& help) {
  return app.add_flag_function(name, [request, set](int64_t) { set(request->backend); }, help);
}

void AddTransactions(CLI::App& app, const std::shared_ptr<ServeRequest>& request) {
  using Options = server::BackendOptions;
  AddBackendFlag(
      app, request, "--no-retry-info", [](Options& options) { options.model.retry_delay.reset(); },
      "ABORTED does not say how long to wait before the next try");
  app.add_flag("--virtual-time", request->has_virtual_time,
               "time stands still, but for commit wait, until --control moves it");
  AddBackendFlag(
      app, request, "--pending-column",
      [](Options& options) { options.model.pending_rule = model::PendingRule::kColumn; },
      "after PENDING_COMMIT_TIMESTAMP() only its column cannot be read, as on the emulator, not "
      "the whole table");
  AddBackendFlag(
      app, request, "--repeatable-read",
      [](Options& options) { options.model.default_isolation = Isolation::kRepeatableRead; },
      "isolation of transactions that do not say (default: serializable)");
}

void AddSplits(CLI::App& app, const std::shared_ptr<ServeRequest>& request) {
  app.add_option_function<std::vector<std::string>>(
         "--split",
         [request](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const size_t colon = text.find(':');
             if (colon == 0 || colon == std::string::npos) {
               throw CLI::ValidationError(Cat("--split: needs TABLE:KEY, got ", text));
             }
             request->backend.splits.push_back(
                 {.table = text.substr(0, colon), .key = text.substr(colon + 1)});
           }
         },
         "a key at which a new split begins; rows of two splits may get the same commit timestamp; "
         "may be repeated")
      ->type_name("TABLE:KEY")
      ->allow_extra_args(false);
}

void AddSessions(CLI::App& app, const std::shared_ptr<ServeRequest>& request) {
  using Options = server::BackendOptions;
  CLI::Option* const regular = AddBackendFlag(
      app, request, "--regular-sessions",
      [](Options& options) { options.sessions = server::SessionKinds::kOnlyRegular; },
      "a client that asks for a multiplexed session gets a regular one, as on the emulator");
  AddBackendFlag(
      app, request, "--multiplexed-sessions",
      [](Options& options) { options.sessions = server::SessionKinds::kOnlyMultiplexed; },
      "a client that asks for a regular session is refused, as on Spanner Omni")
      ->excludes(regular);
}

// In the order of the help text.
void AddOptions(CLI::App& app, const std::shared_ptr<ServeRequest>& request) {
  AddDatabases(app, request);
  AddTimes(app, request);
  AddVersions(app, request);
  AddCurrentTimestamp(app, request);
  AddTransactions(app, request);
  AddSplits(app, request);
  AddSessions(app, request);
  app.add_flag("--like-emulator", request->like_emulator,
               "one read-write transaction at a time, and no commit wait");
  AddFaultOptions(app, request->faults);
  AddControlOption(app, request->control);
  app.footer(std::string(kFooter));
}

// The next release removes them.
constexpr std::string_view kDeprecated[] = {"--replication", "--no-retry-info", "--pending-column",
                                            "--repeatable-read"};

void WarnOfDeprecated(const CLI::App& serve) {
  for (const std::string_view option : kDeprecated) {
    if (serve.count(std::string(option)) == 0) continue;
    Complain(Cat(option, " will be removed in the next release; tell us if you need it"));
  }
}

int Run(int argc, char** argv) {
  const auto request = std::make_shared<ServeRequest>();
  const bool is_proxy = std::string_view(argv[1]) == "proxy";
  std::vector<std::string> arguments = {argv[1]};
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") {
      request->command.assign(argv + i + 1, argv + argc);
      if (!request->command.empty()) break;
      Complain(Cat(argv[1], " wants a command after --"));
      return kBadInput;
    }
    arguments.emplace_back(argv[i]);
  }
  const int wrong = request->command.empty() ? static_cast<int>(kBadInput) : kServeFailed;
  if (const std::string empty = EmptyArgument(arguments, Cat(" of whorl ", argv[1]));
      !empty.empty()) {
    Complain(empty);
    return wrong;
  }
  // As Spanner does; the emulator's clients expect it, too.
  request->backend.model.retry_delay = Milliseconds(1);
  CLI::App root("Simulation and verification testbed for distributed locks on Cloud Spanner.",
                "whorl");
  root.set_version_flag("--version", std::string("whorl ") + kVersion);
  root.require_subcommand(1);
  root.get_formatter()->column_width(kHelpColumn);
  if (is_proxy) {
    AddProxyOptions(
        *root.add_subcommand("proxy", "Put faults between programs and a Spanner server"), request);
  } else {
    AddOptions(*root.add_subcommand("serve", "Serve Cloud Spanner's API to any program"), request);
  }
  if (const auto code = Parse(root, arguments, wrong)) return *code;
  if (!is_proxy) WarnOfDeprecated(*root.get_subcommand("serve"));
  std::vector<std::string> mistakes = Load(*request->faults);
  const std::string mistake = is_proxy ? CompleteUpstream(*request) : Complete(*request);
  if (!mistake.empty()) mistakes.push_back(mistake);
  for (const std::string& one : mistakes) Complain(one);
  if (!mistakes.empty()) return wrong;
  if (request->like_emulator) {
    const server::BackendOptions like = server::EmulatorLike();
    request->backend.model.concurrency = like.model.concurrency;
    request->backend.model.pending_rule = like.model.pending_rule;
    request->backend.epsilon = like.epsilon;
    request->backend.commit_wait = like.commit_wait;
  }
  return Serving(std::move(*request)).Run();
}

}  // namespace

int RunServeCommand(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    Complain(std::string("cannot go on: ") + error.what());
    return kCannotRun;
  }
}

}  // namespace whorl::cli
