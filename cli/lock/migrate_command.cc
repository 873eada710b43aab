#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "cli/interrupt.h"
#include "cli/lock/blocking_calls.h"
#include "cli/lock/commands.h"
#include "cli/lock/options.h"
#include "cli/lock/table_shape.h"
#include "cli/lock/wait_notice.h"
#include "cli/output.h"
#include "real_client/admin_client.h"
#include "real_client/lock_table.h"

namespace whorl::cli {
namespace {

using real_client::AdminClient;

constexpr std::string_view kOld = "spindle_v2";
constexpr std::string_view kNew = "fenced_lease";
constexpr StepName kLook{"look"};

constexpr std::string_view kMigrateFooter = R"(Examples:
  whorl lock migrate --table locktable --lease 10s
  whorl lock run nightly --table locktable

Stop all processes of spindle first. Then this looks at the heartbeats of all locks twice, a lease and
a second apart, and does nothing if one of them has moved: some process still takes part. Otherwise it
adds the columns that fenced_lease needs and deletes spindle's takeover rows. fenced_lease takes part in
that table when it is named by --table; spindle v2 of whorl refuses the table from then on. spindle
itself does not look: a process of it that is started again would keep leases alive that are not its
own, so that nobody else takes them.
Exit codes: 0 migrated, or it was so already; 1 a process of spindle still takes part; 2 bad input or
usage; 3 it could not be done.)";

class Migration {
 public:
  Migration(const LockRequest& request, Duration lease)
      : request_(request),
        lease_(lease),
        connection_(real_client::ResolveWithEnvironment(ClientOptionsOf(request).connection)),
        admin_(connection_, kCommandTimeout) {}

  // Sets `still` to a sentence if a process of spindle still takes part.
  Status Run(std::string& still) {
    std::string ddl;
    Status status;
    {
      const WaitNotice notice(request_);
      status = FindDdl(ddl);
    }
    if (!status.ok()) return status;
    const std::string table = request_.TableName();
    if (IsAs(kNew, ddl)) {
      Say(Cat("the table ", table, " is as ", kNew, " needs it already"));
      return {};
    }
    if (!IsAs(kOld, ddl)) {
      return Error(Code::kFailedPrecondition,
                   Cat("the table ", table, " is not ", kOld, "'s: ", Difference(kOld, ddl)));
    }
    status = Watch(still);
    if (!status.ok() || !still.empty()) return status;
    return Change();
  }

 private:
  using Heartbeats = std::map<std::string, std::pair<Value, Value>>;  // lock: heartbeat, writer

  static void Say(std::string_view text) { std::cout << text << '\n' << std::flush; }

  std::string Difference(std::string_view protocol, std::string_view ddl) const {
    const ProtocolInfo& info = *FindProtocol(protocol);
    return DifferenceOfTables(
        real_client::WithTable(info.create_table, info.table, request_.TableName()), ddl);
  }
  bool IsAs(std::string_view protocol, std::string_view ddl) const {
    return Difference(protocol, ddl).empty();
  }

  Status FindDdl(std::string& out) {
    std::vector<std::string> ddl;
    Status status = AwaitDdl(admin_, request_.database, ddl);
    if (!status.ok()) return status;
    out = FindTable(ddl, request_.TableName());
    if (!out.empty()) return {};
    return Error(Code::kFailedPrecondition,
                 Cat("there is no table ", request_.TableName(), " in ", request_.database));
  }

  Status Execute(Transaction transaction, std::vector<Row>* rows) {
    if (client_ == nullptr) {
      Status status = OpenClient(request_, FindProtocol(kNew)->retry_policy, client_);
      if (!status.ok()) return status;
    }
    return AwaitTransaction(*client_, std::move(transaction), rows);
  }

  Status Read(Heartbeats& out) {
    std::vector<Row> rows;
    Status status = Execute(
        OneStatement(kLook, Mode::kStrongRead,
                     Sql::Intern("SELECT name, heartbeat, writer FROM " + request_.TableName(), {}),
                     {}),
        &rows);
    for (Row& row : rows) {
      out[std::get<std::string>(row[0])] = {std::move(row[1]), std::move(row[2])};
    }
    return status;
  }

  Status Watch(std::string& still) {
    Heartbeats before;
    Heartbeats after;
    Status status = Read(before);
    if (!status.ok()) return status;
    const Duration wait = lease_ + Seconds(1);
    Say(Cat("waiting for ", FormatSeconds(wait, 0), " s, whether a process of ", kOld,
            " still takes part"));
    std::this_thread::sleep_for(std::chrono::nanoseconds(wait.ns));
    status = Read(after);
    for (const auto& [lock, now] : after) {
      const auto was = before.find(lock);
      if (was != before.end() && was->second == now) continue;
      const auto* writer = std::get_if<std::string>(&now.second);
      still = Cat("lock ", Quoted(lock), " was renewed or taken",
                  writer == nullptr ? "" : Cat(" by ", Quoted(*writer)),
                  " meanwhile: stop all processes of spindle first");
      break;
    }
    return status;
  }

  Status Change() {
    const std::string table = request_.TableName();
    Status status = real_client::AwaitStatus([&](auto done) {
      admin_.UpdateDdl(request_.database,
                       {"ALTER TABLE " + table + " ADD COLUMN lease_ms INT64",
                        "ALTER TABLE " + table + " ADD COLUMN attempt STRING(MAX)"},
                       std::move(done));
    });
    if (!status.ok()) return status;
    status =
        Execute(OneStatement(steps::kWrite, Mode::kReadWrite,
                             Sql::Intern("DELETE FROM " + table + " WHERE token IS NULL", {}), {}),
                nullptr);
    if (status.ok()) {
      Say(Cat("the table ", table, " is as ", kNew, " needs it; name it by --table ", table));
    }
    return status;
  }

  const LockRequest& request_;
  const Duration lease_;
  const real_client::ConnectionOptions connection_;
  AdminClient admin_;
  std::unique_ptr<real_client::SpannerClient> client_;
};

int RunMigrate(LockRequest& request) {
  if (const std::string wrong = CompleteWithTable(request); !wrong.empty()) {
    Complain(wrong);
    return kBadInput;
  }
  HandleSignals();
  std::string still;
  const Status status =
      Migration(request, request.lease.value_or(request.info().lease_default)).Run(still);
  if (!status.ok()) {
    Complain(status.code == Code::kFailedPrecondition ? status.message : Explain(request, status));
    return kCannotRun;
  }
  if (still.empty()) return End(FlushStdout());
  Complain(still);
  return kExpectationFailed;
}

}  // namespace

SubCommand AddMigrateCommand(CLI::App& lock) {
  CLI::App* app =
      lock.add_subcommand("migrate", "Turn a table of spindle v2 into one of fenced_lease");
  const auto request = std::make_shared<LockRequest>();
  request->protocol = kOld;
  AddDatabase(*app, request);
  app->add_option("--table", request->table, "the table (default: locktable)")->type_name("NAME");
  AddLease(*app, request, "lease of spindle's processes, the longest of them (default: 10s)");
  app->footer(std::string(kMigrateFooter));
  return {.app = app, .run = [request] { return RunMigrate(*request); }};
}

}  // namespace whorl::cli
