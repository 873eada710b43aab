#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/lock/blocking_calls.h"
#include "cli/lock/commands.h"
#include "cli/lock/options.h"
#include "cli/lock/table_shape.h"
#include "cli/lock/wait_notice.h"
#include "cli/output.h"
#include "real_client/admin_client.h"
#include "real_client/change_stream_client.h"
#include "real_client/lock_table.h"

namespace whorl::cli {
namespace {

using real_client::AdminClient;
using real_client::LockClient;

constexpr std::string_view kInitFooter = R"(Examples:
  whorl lock init nightly --database projects/my-project/instances/my-instance/databases/my-db
  whorl lock init --protocol semaphore
  SPANNER_EMULATOR_HOST=localhost:9010 whorl lock init --create-database nightly
  whorl lock init nightly --new
  whorl lock init nightly --lease 30s --stream

Creates the protocol's table, unless it exists; a table of another shape is an error, and is not
changed. Then creates the row that all processes of the protocol need (semaphore), and a row for each
lock that is named (fenced_lease). Whether a process still leads by a row that was lost, nobody can see,
so no process may take the new row before a lease has passed, and the time at which it is free is
printed: --lease is the longest that the lock's users configure. With --new, which says that the locks
never existed, their rows are free at once, those that init has made before, too. With --stream it also creates a change stream of the table, for whorl check --stream: whole rows
with their old values, kept for a week.
Exit codes: 0 everything exists now; 2 bad input or usage; 3 it could not be created.)";

class Init {
 public:
  // `others`: DDL of the caller's own.
  Init(const LockRequest& request, std::vector<std::string> others)
      : request_(request),
        others_(std::move(others)),
        connection_(real_client::ResolveWithEnvironment(ClientOptionsOf(request).connection)),
        admin_(connection_, kCommandTimeout) {}

  Status Run() {
    Status status;
    if (request_.create_database) status = CreateDatabase();
    if (status.ok()) status = CheckDialect();
    if (status.ok()) status = CreateTable();
    if (status.ok() && request_.stream) status = CreateStream();
    for (const std::string& statement : others_) {
      if (status.ok()) status = CreateOther(statement);
    }
    return status.ok() ? InitLocks() : status;
  }

 private:
  void Say(std::string_view text) { std::cout << text << '\n' << std::flush; }

  Status CreateDatabase() {
    real_client::DatabaseName name;
    Status status = real_client::ParseDatabaseName(request_.database, name);
    // Creates an instance in an emulator only: a user chooses, and pays for, a real one.
    if (status.ok() && std::holds_alternative<real_client::Plaintext>(connection_.credentials)) {
      status = real_client::AwaitStatus([&](auto done) {
        admin_.CreateInstance({.path = name.InstancePath()}, std::move(done));
      });
      if (status.code == Code::kAlreadyExists) status = {};
    }
    if (!status.ok()) return status;
    status = real_client::AwaitStatus(
        [&](auto done) { admin_.CreateDatabase(request_.database, {}, std::move(done)); });
    if (status.code == Code::kAlreadyExists) return {};
    if (status.ok()) Say(Cat("made database ", request_.database));
    return status;
  }

  // A statement in the other dialect fails with an error that does not say so.
  Status CheckDialect() {
    bool postgres = false;
    const Status status = real_client::AwaitStatus([&](auto done) {
      admin_.SpeaksPostgres(request_.database,
                            [&postgres, done = std::move(done)](Status answer, bool found) {
                              postgres = found;
                              done(std::move(answer));
                            });
    });
    if (!status.ok() || !postgres) return status;
    return Error(Code::kFailedPrecondition,
                 Cat(request_.database,
                     " is of the PostgreSQL dialect, and whorl's locks are written in GoogleSQL; "
                     "they need a database of that dialect, which may be another one of the same "
                     "instance"));
  }

  Status CreateTable() {
    std::vector<std::string> ddl;
    Status status = AwaitDdl(admin_, request_.database, ddl);
    if (!status.ok()) return status;
    const ProtocolInfo& info = request_.info();
    const std::string table = request_.TableName();
    const std::string wanted = real_client::WithTable(info.create_table, info.table, table);
    const std::string_view found = FindTable(ddl, table);
    if (found.empty()) {
      status = real_client::AwaitStatus(
          [&](auto done) { admin_.UpdateDdl(request_.database, {wanted}, std::move(done)); });
      if (status.ok()) Say(Cat("made table ", table, " for ", info.name));
      return status;
    }
    if (const std::string other = DifferenceOfTables(wanted, found); !other.empty()) {
      return Error(Code::kFailedPrecondition,
                   Cat("there is a table ", table, " that is not as ", info.name,
                       " needs it: ", other, "; --table names another one"));
    }
    if (const ProtocolInfo* other = OwnerOf(found)) {
      return Error(Code::kFailedPrecondition,
                   Cat("there is a table ", table, " that is ", other->name,
                       "'s, and processes of ", info.name, " in it would lead beside those of ",
                       other->name, "; --table names another one"));
    }
    Say(Cat("table ", table, " is there already, as ", info.name, " needs it"));
    return {};
  }

  // Without a stream nobody can say later what happened to the locks.
  Status CreateStream() {
    const std::string name = request_.StreamName();
    const std::string table = request_.TableName();
    std::vector<std::string> ddl;
    Status status = AwaitDdl(admin_, request_.database, ddl);
    if (!status.ok()) return status;
    if (const std::string_view found = FindStream(ddl, name); !found.empty()) {
      if (StreamWatches(found, table)) {
        Say(Cat("change stream ", name, " of table ", table, " is there already"));
        return {};
      }
      return Error(Code::kFailedPrecondition,
                   Cat("there is a change stream ", name, " that does not watch all of table ",
                       table, "; --stream NAME names another one"));
    }
    const std::string wanted = Cat("CREATE CHANGE STREAM ", name, " FOR ", table,
                                   " OPTIONS (retention_period = '7d', "
                                   "value_capture_type = 'NEW_ROW_AND_OLD_VALUES')");
    status = real_client::AwaitStatus(
        [&](auto done) { admin_.UpdateDdl(request_.database, {wanted}, std::move(done)); });
    if (status.ok()) Say(Cat("made change stream ", name, " of table ", table));
    return status;
  }

  // The other protocol whose table `found` is, though it has all that this one needs; null if it is
  // this protocol's.
  const ProtocolInfo* OwnerOf(std::string_view found) const {
    for (const ProtocolInfo& other : Protocols()) {
      if (other.columns.size() <= request_.info().columns.size()) continue;
      const std::string its =
          real_client::WithTable(other.create_table, other.table, request_.TableName());
      if (DifferenceOfTables(its, found).empty()) return &other;
    }
    return nullptr;
  }

  // The rows that processes need, or benefit from.
  Status InitLocks() {
    const ProtocolInfo& info = request_.info();
    std::vector<std::string> names = request_.names;
    // Its one row has no name.
    if (!info.init_row.empty()) names = {request_.TableName()};
    if (names.empty()) return {};
    std::unique_ptr<LockClient> client;
    Status status = LockClient::Open(ClientOptionsOf(request_), client);
    for (const std::string& name : names) {
      if (!status.ok()) break;
      real_client::InitResult made;
      status = client->InitLock(request_.protocol, request_.table, name,
                                {.is_new = request_.is_new, .lease = request_.lease}, made);
      if (status.ok()) SayMade(name, made);
    }
    return status;
  }

  void SayMade(const std::string& name, const real_client::InitResult& made) {
    const ProtocolInfo& info = request_.info();
    const bool needs_row = !info.init_lock.empty() || !info.init_row.empty();
    const std::string what =
        info.init_row.empty() ? Cat("lock ", Quoted(name)) : Cat("the row of ", name);
    if (made.free_at) {
      Say(Cat(what, made.made ? " is " : " was made before, and is ", FreeAt(*made.free_at),
              "; --new if the lock never existed"));
    } else if (made.made || !needs_row) {
      Say(Cat(what, " can be taken"));
    } else {
      Say(Cat(what, " is there already"));
    }
  }

  Status CreateOther(const std::string& statement) {
    Status status = real_client::AwaitStatus(
        [&](auto done) { admin_.UpdateDdl(request_.database, {statement}, std::move(done)); });
    const std::string what = Quoted(statement.substr(0, statement.find('(')));
    const bool exists = status.Says("Duplicate name in schema");
    if (status.ok()) Say(Cat("did ", what));
    if (exists) Say(Cat("done already: ", what));
    return exists ? Status() : status;
  }

  const LockRequest& request_;
  const std::vector<std::string> others_;
  const real_client::ConnectionOptions connection_;
  AdminClient admin_;
};

// Checks names and table before anything is sent.
Status Validate(const LockRequest& request) {
  std::unique_ptr<LockClient> client;
  Status status = LockClient::Open(ClientOptionsOf(request), client);
  std::vector<std::string> names = request.names;
  if (names.empty()) names.emplace_back("any");
  for (const std::string& name : names) {
    std::unique_ptr<real_client::DistributedLock> lock;
    if (status.ok()) status = client->Make(LockOptionsOf(request, name), lock);
  }
  return status;
}

int RunInit(LockRequest& request) {
  if (const std::string wrong = Complete(request); !wrong.empty()) {
    Complain(wrong);
    return kBadInput;
  }
  std::string ddl;
  if (!request.ddl_file.empty()) {
    if (const std::string wrong = ReadOption("--ddl", request.ddl_file, ddl); !wrong.empty()) {
      Complain(wrong);
      return kBadInput;
    }
  }
  if (request.stream) {
    const Status status = real_client::ValidateStreamName(request.StreamName());
    if (!status.ok()) {
      Complain(status.message);
      return kBadInput;
    }
  }
  HandleSignals();
  if (const Status status = Validate(request); !status.ok()) {
    const bool is_input = status.code == Code::kInvalidArgument;
    Complain(is_input ? status.message : Explain(request, status));
    return is_input ? kBadInput : kCannotRun;
  }
  const WaitNotice notice(request);
  const Status status = Init(request, StatementsIn(ddl)).Run();
  if (status.ok()) return End(FlushStdout());
  Complain(status.code == Code::kFailedPrecondition ? status.message : Explain(request, status));
  return kCannotRun;
}

}  // namespace

SubCommand AddInitCommand(CLI::App& lock) {
  CLI::App* app = lock.add_subcommand("init", "Create the tables and rows that a protocol needs");
  const auto request = std::make_shared<LockRequest>();
  AddNames(*app, request, /*required=*/false);
  AddWhere(*app, request);
  AddLease(*app, request,
           "longest lease of the locks' users, which a new row is kept from them (default: 10s)");
  app->add_flag("--new", request->is_new,
                "the locks never existed: nobody can hold them, and their rows are free at once");
  app->add_flag("--create-database", request->create_database,
                "create the database first, and in an emulator its instance, too");
  app->add_option_function<std::string>(
         "--stream", [request](const std::string& name) { request->stream = name; },
         "create a change stream of the table, too (default: the table's name and _changes)")
      ->type_name("[NAME]")
      ->expected(0, 1);
  app->add_option("--ddl", request->ddl_file,
                  "do the DDL in FILE, too, such as the table of what the lock protects")
      ->type_name("FILE");
  app->footer(std::string(kInitFooter));
  return {.app = app, .run = [request] { return RunInit(*request); }};
}

}  // namespace whorl::cli
