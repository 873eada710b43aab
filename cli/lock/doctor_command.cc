#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/lock/blocking_calls.h"
#include "cli/lock/commands.h"
#include "cli/lock/options.h"
#include "cli/lock/table_shape.h"
#include "cli/lock/wait_notice.h"
#include "cli/output.h"
#include "real_client/admin_client.h"
#include "real_client/lock_table.h"
#include "real_client/os.h"
#include "real_client/spanner_client.h"
#include "sim/measure/statistics.h"
#include "sim/report/json_print.h"

namespace whorl::cli {
namespace {

using real_client::AdminClient;
using real_client::Holding;
using real_client::SpannerClient;
using sim::Json;

constexpr StepName kClock{"clock"};
constexpr Duration kMeasuredByDefault = Seconds(5);
constexpr size_t kRoundsMax = 1'000;
// A renewal that takes a quarter of the lease comes too late (latency_hint.h).
constexpr int64_t kLeaseOverLatency = 4;

constexpr std::string_view kDoctorFooter = R"(Examples:
  whorl lock doctor
  whorl lock doctor --lease 5s --for 60s
  whorl lock doctor --protocol spindle_v2 --json

Checks whether Spanner answers, the table is as the protocol needs it, this account may do what locks do, how
far this machine's clock is off and how long a write takes, and says which lease is the shortest that makes
sense. Writes go to a row of their own, which is deleted afterwards; they are tried for protocols whose rows can be
made and deleted by anybody (fenced_lease).
Exit codes: 0 all is well; 1 something is to be fixed, and how is said; 2 bad input or usage; 3 no answer.)";

enum class Health : uint8_t { kOk, kNote, kBad };

std::string_view WordFor(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kNote:
      return "note";
    case Health::kBad:
      return "FIX";
  }
  return "";
}

// What was found out about one thing.
struct Check {
  std::string what;
  Health health = Health::kOk;
  std::string found;
  std::string remedy;  // empty: there is nothing to do
};

// How long calls took.
class Times {
 public:
  void Add(Duration took) { ns_.push_back(took.ns); }
  bool empty() const { return ns_.empty(); }
  Duration p50() const { return {*All().p50.value}; }
  Duration p99() const { return {*All().p99.value}; }
  std::string Text(std::string_view one, std::string_view several) const {
    return Cat(CountText(static_cast<int64_t>(ns_.size()), one, several), ": p50 ",
               FormatSeconds(p50(), 4), " s, p99 ", FormatSeconds(p99(), 4), " s");
  }

 private:
  sim::Distribution All() const { return sim::DistributionOf(ns_, /*missing=*/0); }

  std::vector<int64_t> ns_;
};

class Doctor {
 public:
  explicit Doctor(const LockRequest& request)
      : request_(request),
        info_(request.info()),
        table_(request.TableName()),
        connection_(real_client::ResolveWithEnvironment(ClientOptionsOf(request).connection)),
        admin_(connection_, kCommandTimeout) {}

  // OK if Spanner answered. Then all that was found is in checks().
  Status Run() {
    Status status = SpannerClient::Create({.database = request_.database,
                                           .database_role = request_.database_role,
                                           .connection = connection_,
                                           .retry = info_.retry_policy},
                                          client_);
    if (!status.ok()) return status;
    {
      const WaitNotice notice(request_);
      status = CheckReach();
    }
    if (!status.ok()) return status;
    if (!CheckTable()) return {};
    CheckRights();
    CheckClock();
    CheckLatency();
    return {};
  }

  const std::vector<Check>& checks() const { return checks_; }

 private:
  void Report(std::string what, Health health, std::string found, std::string remedy = {}) {
    checks_.push_back({.what = std::move(what),
                       .health = health,
                       .found = std::move(found),
                       .remedy = std::move(remedy)});
  }

  // Runs the transaction, and returns how it ended and how long it took.
  Status Execute(Transaction transaction, Duration& took, std::vector<Row>* rows = nullptr) {
    const LocalInstant began = real_client::MonotonicNow();
    const Status status = AwaitTransaction(*client_, std::move(transaction), rows);
    took = real_client::MonotonicNow() - began;
    return status;
  }

  static Transaction ReadOfClock() {
    return OneStatement(kClock, Mode::kStrongRead,
                        Sql::Intern("SELECT CURRENT_TIMESTAMP() AS now", {}), {});
  }

  Status CheckReach() {
    Duration took;
    const Status status = Execute(ReadOfClock(), took);
    if (status.ok()) {
      Report("reach", Health::kOk,
             Cat("Spanner answers at ", EndpointOf(request_), ", first after ",
                 FormatSeconds(took, 3), " s"));
    }
    return status;
  }

  // False if there is no use in checking more.
  bool CheckTable() {
    std::vector<std::string> ddl;
    const Status status = AwaitDdl(admin_, request_.database, ddl);
    if (!status.ok()) {
      Report("table", Health::kNote,
             Cat("the schema cannot be read: ", Printable(FormatStatus(status), 400)),
             "spanner.databases.getDdl lets this account compare it; locks do not need it");
      return true;
    }
    const std::string make = Cat("whorl lock init --protocol ", info_.name,
                                 request_.table.empty() ? "" : Cat(" --table ", table_));
    const std::string_view found = FindTable(ddl, table_);
    if (found.empty()) {
      Report("table", Health::kBad, Cat("there is no table ", table_), Cat(make, " makes it"));
      return false;
    }
    const std::string difference =
        DifferenceOfTables(real_client::WithTable(info_.create_table, info_.table, table_), found);
    if (!difference.empty()) {
      Report("table", Health::kBad,
             Cat("table ", table_, " is not as ", info_.name, " needs it: ", difference),
             "name another table by --table");
      return false;
    }
    if (IsOfAnother()) return false;
    Report("table", Health::kOk, Cat("table ", table_, " is as ", info_.name, " needs it"));
    return true;
  }

  // Whether the table is that of a protocol whose columns contain this one's, which is said.
  bool IsOfAnother() {
    const ProtocolInfo* whose = nullptr;
    std::optional<Transaction> probe = real_client::ForeignProbeOf(info_, table_, whose);
    if (!probe) return false;
    Duration took;
    const Status read = Execute(*std::move(probe), took);
    if (!read.ok()) return false;
    Report("table", Health::kBad,
           std::string(real_client::JudgeForeignProbe(info_, table_, *whose, read).message.view()),
           "name another table by --table");
    return true;
  }

  // Whether a row can be made, written and deleted without a process of the protocol noticing.
  bool CanWrite() const {
    return !info_.init_lock.empty() && !info_.force_release.empty() && !info_.delete_lock.empty();
  }
  std::string RowName() const { return Cat("whorl lock doctor ", request_.id); }

  Status ReadRow(std::optional<Holding>& out) {
    Duration took;
    std::vector<Row> rows;
    const Status status =
        Execute(real_client::ReadHoldings(info_, table_, std::optional<std::string>(RowName())),
                took, &rows);
    if (!status.ok()) return status;
    std::vector<Holding> holdings = real_client::HoldingsIn(info_, rows, request_.LeaseUsed());
    if (!holdings.empty()) out = std::move(holdings.front());
    return status;
  }

  // False, after saying so, if the account may not.
  bool May(const Status& status, std::string_view right) {
    if (status.ok()) return true;
    const bool is_right = status.code == Code::kPermissionDenied;
    Report("rights", Health::kBad,
           Cat("this account cannot ", right, " rows of ", table_, ": ",
               Printable(FormatStatus(status), 400)),
           !is_right ? std::string()
           : request_.database_role.empty()
               ? "grant it roles/spanner.databaseUser, or SELECT, INSERT, UPDATE and DELETE on the "
                 "table to its database role"
               : Cat("GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE ", table_, " TO ROLE ",
                     request_.database_role));
    return false;
  }

  void CheckRights() {
    Duration took;
    if (!May(Execute(real_client::ProbeOf(info_, table_), took), "read")) return;
    if (!CanWrite()) {
      Report(
          "rights", Health::kNote,
          Cat("this account can read rows of ", table_, "; writes were not tried, since a row of ",
              info_.name, " cannot be made and deleted without a trace"));
      return;
    }
    const std::string name = RowName();
    if (!May(Execute(*real_client::InitTransaction(info_, table_, name), took), "insert")) return;
    const bool can_update = May(
        Execute(*real_client::ForceReleaseTransaction(info_, table_, name, {}), took), "update");
    if (can_update) Measure();
    std::optional<Holding> row;
    Status status = ReadRow(row);
    if (status.ok() && row) {
      status = Execute(*real_client::DeleteTransaction(info_, table_, *row), took);
    }
    const bool can_delete = May(status, "delete");
    if (!can_delete) {
      Report("row", Health::kNote, Cat("the row ", Quoted(name), " of ", table_, " is left over"),
             Cat("delete it by hand; locks of ", info_.name, " do without that right"));
    }
    if (can_update && can_delete) {
      Report("rights", Health::kOk,
             Cat("this account can read, insert, update and delete rows of ", table_));
    }
  }

  // Writes the row again and again, as heartbeats do: one statement, and a Commit.
  void Measure() {
    const LocalInstant end =
        real_client::MonotonicNow() + request_.measured.value_or(kMeasuredByDefault);
    for (size_t round = 0; round < kRoundsMax && real_client::MonotonicNow() < end; ++round) {
      Duration took;
      const Status status =
          Execute(*real_client::ForceReleaseTransaction(info_, table_, RowName(), {}), took);
      if (!status.ok()) {
        ++failed_;
        continue;
      }
      writes_.Add(took);
    }
  }

  // Spanner's clock when it answered is between this machine's when the read was sent and when it came.
  void CheckClock() {
    constexpr int kReads = 10;
    std::optional<Duration> least;
    std::optional<Duration> most;
    for (int i = 0; i < kReads; ++i) {
      const Timestamp sent = real_client::SystemNow();
      Duration took;
      std::vector<Row> rows;
      const Status status = Execute(ReadOfClock(), took, &rows);
      const Timestamp received = real_client::SystemNow();
      if (!status.ok() || rows.empty()) continue;
      reads_.Add(took);
      const auto* now = std::get_if<Timestamp>(&rows[0][0]);
      if (now == nullptr) continue;
      least = std::max(least.value_or(sent - *now), sent - *now);
      most = std::min(most.value_or(received - *now), received - *now);
    }
    if (!least) return Report("clock", Health::kNote, "Spanner did not tell its time");
    const std::string text = Cat("this machine's clock is ", FormatSeconds(*least, 4), " to ",
                                 FormatSeconds(*most, 4), " s ahead of Spanner's");
    if (info_.state_traits.ignores_wall_clock) {
      return Report("clock", Health::kOk, Cat(text, "; ", info_.name, " does not use it"));
    }
    // What its page rests on: of two clocks, each within a second.
    constexpr Duration kMost = Seconds(1);
    const bool is_off = *least > kMost || *most < -kMost;
    Report(
        "clock", is_off ? Health::kBad : Health::kOk, text,
        is_off ? Cat(info_.name, " uses it: have it set by NTP (chrony, systemd-timesyncd)") : "");
  }

  // To whole tenths of a second below ten, else to whole seconds.
  static Duration RoundedUp(Duration time) {
    const Duration unit = time < Seconds(10) ? Milliseconds(100) : Seconds(1);
    return unit * ((time.ns + unit.ns - 1) / unit.ns);
  }

  void CheckLatency() {
    const bool has_writes = !writes_.empty();
    if (!has_writes && reads_.empty()) return;
    const Times& times = has_writes ? writes_ : reads_;
    std::string text = times.Text(has_writes ? "write" : "read", has_writes ? "writes" : "reads");
    if (failed_ > 0) text += Cat("; ", std::to_string(failed_), " failed");
    Report("latency", failed_ > 0 ? Health::kNote : Health::kOk, std::move(text));
    const Duration shortest = std::max(RoundedUp(times.p99() * kLeaseOverLatency), info_.lease_min);
    const std::string sense =
        Cat("a lease of ", FormatDuration(shortest),
            " or more makes sense: ", std::to_string(kLeaseOverLatency), " times p99 of a ",
            has_writes ? "write" : "read", has_writes ? "" : ", and a write takes longer", "; ",
            info_.name, "'s least is ", FormatDuration(info_.lease_min));
    if (request_.lease && *request_.lease < shortest) {
      return Report("lease", Health::kBad,
                    Cat("a lease of ", FormatDuration(*request_.lease),
                        " is too short: renewals would come too late"),
                    sense);
    }
    Report("lease", Health::kOk, sense);
  }

  const LockRequest& request_;
  const ProtocolInfo& info_;
  const std::string table_;
  const real_client::ConnectionOptions connection_;
  AdminClient admin_;
  std::unique_ptr<SpannerClient> client_;
  std::vector<Check> checks_;
  Times writes_;
  Times reads_;
  int64_t failed_ = 0;
};

void PrintChecks(const std::vector<Check>& checks) {
  constexpr size_t kWidth = 6;
  for (const Check& check : checks) {
    std::string word(WordFor(check.health));
    word.resize(kWidth, ' ');
    std::cout << word << check.what << ": " << check.found << '\n';
    if (!check.remedy.empty()) std::cout << std::string(kWidth, ' ') << check.remedy << '\n';
  }
}

Json ChecksJson(const LockRequest& request, const std::vector<Check>& checks) {
  Json all = Json::array();
  for (const Check& check : checks) {
    Json json = {{"what", check.what}, {"health", WordFor(check.health)}, {"found", check.found}};
    if (!check.remedy.empty()) json["remedy"] = check.remedy;
    all.push_back(std::move(json));
  }
  return {{"format", "whorl-doctor"},
          {"version", 2},
          {"protocol", request.protocol},
          {"table", request.TableName()},
          {"checks", std::move(all)}};
}

int RunDoctor(LockRequest& request) {
  if (const std::string wrong = CompleteWithTable(request); !wrong.empty()) {
    Complain(wrong);
    return kBadInput;
  }
  HandleSignals();
  Doctor doctor(request);
  const Status status = doctor.Run();
  if (!status.ok()) {
    Complain(Explain(request, status));
    return status.code == Code::kInvalidArgument ? kBadInput : kCannotRun;
  }
  if (request.json) {
    std::cout << sim::DumpJson(ChecksJson(request, doctor.checks()), 2) << '\n';
  } else {
    PrintChecks(doctor.checks());
  }
  const bool is_well = std::ranges::none_of(
      doctor.checks(), [](const Check& check) { return check.health == Health::kBad; });
  return End(FlushStdout(), is_well ? kAsExpected : kExpectationFailed);
}

}  // namespace

SubCommand AddDoctorCommand(CLI::App& lock) {
  CLI::App* app =
      lock.add_subcommand("doctor", "Say whether locks would work here, and with which lease");
  const auto request = std::make_shared<LockRequest>();
  AddWhere(*app, request);
  AddLease(*app, request, "lease to judge (default: none; the shortest that makes sense is said)");
  AddTime(*app, "--for", request->measured, Milliseconds(100),
          "time to measure writes (default: 5s)");
  app->add_flag("--json", request->json, "print one JSON document");
  app->footer(std::string(kDoctorFooter));
  return {.app = app, .run = [request] { return RunDoctor(*request); }};
}

}  // namespace whorl::cli
