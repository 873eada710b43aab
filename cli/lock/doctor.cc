#include "cli/lock/doctor.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "base/time.h"
#include "cli/lock/blocking_calls.h"
#include "cli/lock/rights.h"
#include "cli/lock/table_shape.h"
#include "cli/lock/wait_notice.h"
#include "real_client/admin_client.h"
#include "real_client/lock_table.h"
#include "real_client/os.h"
#include "sim/measure/statistics.h"

namespace whorl::cli {
namespace {

using real_client::AdminClient;
using real_client::Holding;

constexpr StepName kClock{"clock"};
constexpr Duration kMeasuredByDefault = Seconds(5);
constexpr size_t kRoundsMax = 1'000;
// A renewal that takes a quarter of the lease comes too late (latency_hint.h).
constexpr int64_t kLeaseOverLatency = 4;

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
    Status status = OpenClient(request_, info_.retry_policy, client_);
    if (!status.ok()) return status;
    {
      const WaitNotice notice(request_);
      status = CheckReach();
    }
    if (!status.ok()) return status;
    if (!CheckTable()) return {};
    if (CheckRights() && CanMakeOwnRow()) MeasureWrites();
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

  std::string Who() const {
    if (request_.database_role.empty()) return "this account";
    return Cat("the role ", request_.database_role);
  }

  // True if all rights that are checked are there.
  bool CheckRights() {
    std::vector<std::string_view> granted;
    std::vector<std::pair<NeededRight, Status>> refused;
    for (const NeededRight& needed : RightsNeededBy(info_)) {
      Duration took;
      Status status = Execute(TransactionThatNeeds(needed.right, info_, table_), took);
      if (status.ok()) {
        granted.push_back(WordOf(needed.right));
      } else {
        refused.emplace_back(needed, std::move(status));
      }
    }
    if (!granted.empty()) {
      Report("rights", Health::kOk, Cat(Who(), " has ", ListOf(granted), " on table ", table_));
    }
    for (const auto& [needed, status] : refused) ReportRefusal(needed, status);
    const bool without_credentials =
        std::holds_alternative<real_client::Plaintext>(connection_.credentials);
    if (refused.empty() && !request_.database_role.empty() && without_credentials) {
      Report("rights", Health::kNote,
             Cat(connection_.endpoint,
                 " asks for no credentials, as an emulator: it may let "
                 "every role do everything"),
             "check the role on the real database");
    }
    return refused.empty();
  }

  void ReportRefusal(const NeededRight& needed, const Status& status) {
    const std::string_view right = WordOf(needed.right);
    const std::string_view only = needed.only_command;
    const std::string said = Printable(FormatStatus(status), 400);
    if (status.code != Code::kPermissionDenied) {
      return Report("rights", Health::kBad,
                    Cat("whether ", Who(), " has ", right, " on table ", table_,
                        " could not be found out: ", said),
                    "run whorl lock doctor again");
    }
    const std::string remedy =
        request_.database_role.empty()
            ? "grant it roles/spanner.databaseUser on the database, or name a role that has the "
              "right by --database-role"
            : GrantOf(needed.right, table_, request_.database_role);
    Report("rights", only.empty() ? Health::kBad : Health::kNote,
           Cat(Who(), " lacks ", right, " on table ", table_, ", which ",
               only.empty() ? Cat("processes of ", info_.name, " need")
                            : Cat("only `", only, "` needs"),
               ": ", said),
           remedy);
  }

  // Whether a row can be made, written and deleted without a process of the protocol noticing.
  bool CanMakeOwnRow() const {
    return !info_.init_lock.empty() && !info_.force_release.empty() && !info_.delete_lock.empty();
  }
  std::string RowName() const { return Cat("whorl lock doctor ", request_.id); }

  void MeasureWrites() {
    const std::string name = RowName();
    Duration took;
    const Status made = Execute(*real_client::InitTransaction(info_, table_, name), took);
    if (made.ok()) {
      WriteAgainAndAgain(name);
    } else {
      ReportRefusal({.right = Right::kInsert, .only_command = {}}, made);
    }
    // Whether it was made is not always known.
    if (const Status status = DeleteRow(name); !status.ok()) {
      Report("row", Health::kNote,
             Cat("the row ", Quoted(name), " of ", table_,
                 " is left over: ", Printable(FormatStatus(status), 400)),
             Cat("whorl lock delete --protocol ", info_.name, " --table ", table_, " '", name,
                 "' deletes it"));
    }
  }

  // As heartbeats do: one statement, and a Commit.
  void WriteAgainAndAgain(const std::string& name) {
    const LocalInstant end =
        real_client::MonotonicNow() + request_.measured.value_or(kMeasuredByDefault);
    for (size_t round = 0; round < kRoundsMax && real_client::MonotonicNow() < end; ++round) {
      Duration took;
      const Status status =
          Execute(*real_client::ForceReleaseTransaction(info_, table_, name, {}), took);
      if (status.ok()) {
        writes_.Add(took);
        continue;
      }
      if (status.code == Code::kPermissionDenied) {
        return ReportRefusal({.right = Right::kUpdate, .only_command = {}}, status);
      }
      ++failed_;
    }
  }

  Status DeleteRow(const std::string& name) {
    Duration took;
    std::vector<Row> rows;
    Status status = Execute(
        real_client::ReadHoldings(info_, table_, std::optional<std::string>(name)), took, &rows);
    if (!status.ok()) return status;
    const std::vector<Holding> holdings =
        real_client::HoldingsIn(info_, rows, request_.LeaseUsed());
    if (holdings.empty()) return status;
    return Execute(*real_client::DeleteTransaction(info_, table_, holdings.front()), took);
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
  std::unique_ptr<real_client::SpannerClient> client_;
  std::vector<Check> checks_;
  Times writes_;
  Times reads_;
  int64_t failed_ = 0;
};

}  // namespace

Status CheckLocks(const LockRequest& request, std::vector<Check>& out) {
  Doctor doctor(request);
  Status status = doctor.Run();
  out = doctor.checks();
  return status;
}

}  // namespace whorl::cli
