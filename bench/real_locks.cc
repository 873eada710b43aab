// Measures what real locks cost and how fast they change hands, on the emulator or on whorl's own server,
// which this starts on a loopback port and ends:
//   whorl_real_locks many       thousands of locks in this process, by one client and one thread
//   whorl_real_locks curve      the same for growing numbers of locks, a row of a table for each
//   whorl_real_locks takeover   a leader of another process is killed, again and again
// Real time and a shared machine: compare figures of one run. The simulation's figures, which need
// neither, are those of `whorl bench takeover`.
#include <sys/resource.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "protocol/protocols.h"
#include "real_client/admin_client.h"
#include "real_client/lock.h"
#include "real_client/lock_table.h"
#include "real_client/os.h"
#include "tests/contract/real_processes.h"
#include "tests/support/lock_database.h"

namespace whorl {
namespace {

using real_client::MonotonicNow;

struct Options {
  std::string database = "emulator";
  int locks = 1000;
  std::vector<int> numbers = {125, 250, 500, 1000, 2000, 4000};
  int seconds = 300;
  int concurrency = 100;
  int start_over = 0;
  int tables = 1;
  int rounds = 20;
  int64_t lease_seconds = 10;
};

std::string Milliseconds3(Duration time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f ms", static_cast<double>(time.ns) / 1e6);
  return text;
}

// Prints one line with the least value, some quantiles and the greatest value.
void PrintDistribution(const char* what, std::vector<Duration> values) {
  if (values.empty()) return (void)std::printf("%s: none\n", what);
  std::ranges::sort(values);
  const auto at = [&](double part) {
    return Milliseconds3(
        values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))]);
  };
  std::printf("%s (%zu): least %s, p50 %s, p90 %s, p99 %s, greatest %s\n", what, values.size(),
              at(0).c_str(), at(0.5).c_str(), at(0.9).c_str(), at(0.99).c_str(), at(1).c_str());
}

std::shared_ptr<LockDatabase> Start(const Options& options, const std::string& protocol) {
  if (options.database == "server") return ServeModel(protocol);
  return StartEmulator(protocol);
}

// --- many ----------------------------------------------------------------------------------------

// Records the beginnings and ends of one lock's leadership.
class Belief final : public real_client::LockObserver {
 public:
  void OnLeadership(const real_client::Leadership& leadership) override {
    const std::lock_guard lock(mutex_);
    const LocalInstant now = MonotonicNow();
    if (leadership.leads && !leads_) {
      if (!first_) first_ = now;
      if (lost_) longest_gap_ = std::max(longest_gap_, now - *lost_);
    }
    if (!leadership.leads && leads_) {
      lost_ = now;
      ++losses_;
    }
    leads_ = leadership.leads;
  }
  void OnTransaction(const real_client::LockTransaction& transaction) override {
    const std::lock_guard lock(mutex_);
    if (transaction.status.code == Code::kCancelled) {
      ++outcomes_["replaced by a newer one before it was sent"];
      return;
    }
    ++outcomes_[std::string(transaction.outcome)];
    took_.push_back(transaction.took);
  }

  struct Report {
    std::optional<LocalInstant> first;
    Duration longest_gap;
    int losses = 0;
    bool leads = false;
    std::map<std::string, int64_t> outcomes;
    std::vector<Duration> took;
  };
  Report Tell() const {
    const std::lock_guard lock(mutex_);
    Duration gap = longest_gap_;
    if (!leads_ && lost_) gap = std::max(gap, MonotonicNow() - *lost_);
    return {.first = first_,
            .longest_gap = gap,
            .losses = losses_,
            .leads = leads_,
            .outcomes = outcomes_,
            .took = took_};
  }

 private:
  mutable std::mutex mutex_;
  bool leads_ = false;
  std::optional<LocalInstant> first_;
  std::optional<LocalInstant> lost_;
  Duration longest_gap_;
  int losses_ = 0;
  std::map<std::string, int64_t> outcomes_;
  std::vector<Duration> took_;
};

double CpuSeconds() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

int64_t ResidentKilobytes() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

// Adds up the records of all locks.
struct Sum {
  std::vector<Duration> first;  // from the start to leadership
  std::vector<Duration> gaps;
  std::vector<Duration> took;
  std::map<std::string, int64_t> outcomes;
  int losses = 0;
  int leading = 0;
};

Sum SumOf(const std::vector<std::shared_ptr<Belief>>& beliefs, LocalInstant began) {
  Sum sum;
  for (const auto& belief : beliefs) {
    const Belief::Report report = belief->Tell();
    if (report.first) sum.first.push_back(*report.first - began);
    sum.gaps.push_back(report.longest_gap);
    sum.losses += report.losses;
    sum.leading += report.leads ? 1 : 0;
    sum.took.insert(sum.took.end(), report.took.begin(), report.took.end());
    for (const auto& [outcome, count] : report.outcomes) sum.outcomes[outcome] += count;
  }
  return sum;
}

std::string TableNumber(int number) { return "fenced_locks" + std::to_string(number); }

Status MakeTables(const LockDatabase& database, int count) {
  const ProtocolInfo& info = *FindProtocol("fenced_lease");
  std::vector<std::string> ddl;
  for (int i = 0; i < count; ++i) {
    ddl.push_back(real_client::WithTable(info.create_table, info.table, TableNumber(i)));
  }
  real_client::AdminClient admin(database.Connection());
  std::promise<Status> made;
  admin.UpdateDdl(database.path(), std::move(ddl), [&](Status status) { made.set_value(status); });
  return made.get_future().get();
}

// The locks of one client, from their start to their release.
class ManyLocks {
 public:
  explicit ManyLocks(const Options& options) : options_(options) {}

  Status Start() {
    database_ = whorl::Start(options_, "fenced_lease");
    if (database_ == nullptr) return Error(Code::kUnavailable, kNoEmulator);
    Status status = real_client::LockClient::Open({.database = database_->path(),
                                                   .connection = database_->Connection(),
                                                   .concurrency = options_.concurrency},
                                                  client_);
    if (status.ok()) status = MakeTables(*database_, options_.tables);
    for (int i = 0; status.ok() && i < options_.locks; ++i) {
      real_client::InitResult made;
      status = client_->InitLock("fenced_lease", TableOf(i), NameOf(i), {.is_new = true}, made);
    }
    memory_before_ = ResidentKilobytes();
    cpu_before_ = CpuSeconds();
    began_ = MonotonicNow();
    for (int i = 0; status.ok() && i < options_.locks; ++i) status = StartOne(i);
    return status;
  }
  Sum Look() const { return SumOf(beliefs_, began_); }
  LocalInstant began() const { return began_; }
  double cpu() const { return CpuSeconds() - cpu_before_; }
  int64_t memory_before() const { return memory_before_; }

  // How long it takes to give all locks back.
  Status Release(Duration& took) {
    const LocalInstant from = MonotonicNow();
    const Status status = client_->ReleaseAll(Seconds(60));
    took = MonotonicNow() - from;
    return status;
  }

 private:
  static std::string NameOf(int lock) { return "lock-" + std::to_string(lock); }
  std::string TableOf(int lock) const { return TableNumber(lock % options_.tables); }

  Status StartOne(int i) {
    beliefs_.push_back(std::make_shared<Belief>());
    std::unique_ptr<real_client::DistributedLock>& lock = locks_.emplace_back();
    Status made = client_->Make({.name = NameOf(i),
                                 .lease = Seconds(options_.lease_seconds),
                                 .table = TableOf(i),
                                 .observer = beliefs_.back()},
                                lock);
    if (!made.ok()) return made;
    if (i * options_.start_over / options_.locks !=
        (i + 1) * options_.start_over / options_.locks) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    lock->Start();
    return {};
  }

  const Options& options_;
  std::shared_ptr<LockDatabase> database_;
  std::unique_ptr<real_client::LockClient> client_;
  std::vector<std::shared_ptr<Belief>> beliefs_;
  std::vector<std::unique_ptr<real_client::DistributedLock>> locks_;
  int64_t memory_before_ = 0;
  double cpu_before_ = 0;
  LocalInstant began_;
};

int FailWith(const Status& status) {
  std::puts(status.message == kNoEmulator ? kNoEmulator : FormatStatus(status).c_str());
  return 3;
}

int Many(const Options& options) {
  ManyLocks locks(options);
  if (const Status started = locks.Start(); !started.ok()) return FailWith(started);
  std::this_thread::sleep_for(std::chrono::seconds(options.seconds));
  const Sum sum = locks.Look();
  const double cpu = locks.cpu();
  std::printf(
      "%d locks, lease %lld s, started over %d s, watched for %d s, at most %d transactions at a "
      "time\n",
      options.locks, static_cast<long long>(options.lease_seconds), options.start_over,
      options.seconds, options.concurrency);
  PrintDistribution("from the start to leadership", sum.first);
  std::printf("leading at the end: %d of %d; leaderships that ended: %d\n", sum.leading,
              options.locks, sum.losses);
  PrintDistribution("longest gap in belief, by lock", sum.gaps);
  PrintDistribution("transactions, from asking to the answer", sum.took);
  for (const auto& [outcome, count] : sum.outcomes) {
    std::printf("  %s: %lld\n", outcome.c_str(), static_cast<long long>(count));
  }
  std::printf("CPU of this process: %.2f s, %.2f %% of one core\n", cpu,
              100 * cpu / (options.seconds + options.start_over));
  std::printf("memory: %lld kB before the locks, %lld kB at most\n",
              static_cast<long long>(locks.memory_before()),
              static_cast<long long>(ResidentKilobytes()));
  Duration took;
  const Status released = locks.Release(took);
  std::printf("giving all back took %s: %s\n", Milliseconds3(took).c_str(),
              FormatStatus(released).c_str());
  return 0;
}

// --- curve ---------------------------------------------------------------------------------------

int Curve(const Options& options) {
  std::printf("%s, lease %lld s, at most %d transactions at a time\n", options.database.c_str(),
              static_cast<long long>(options.lease_seconds), options.concurrency);
  std::printf("%8s  %11s  %11s  %8s  %12s  %12s\n", "locks", "led by 90 s", "all lead at", "lost",
              "commits/s", "given back in");
  for (const int number : options.numbers) {
    Options row = options;
    row.locks = number;
    ManyLocks locks(row);
    if (const Status started = locks.Start(); !started.ok()) return FailWith(started);
    std::this_thread::sleep_for(
        std::chrono::nanoseconds((locks.began() + Seconds(90) - MonotonicNow()).ns));
    const Sum before = locks.Look();
    std::this_thread::sleep_for(std::chrono::seconds(options.seconds));
    const Sum after = locks.Look();
    Duration took;
    const Status released = locks.Release(took);
    const bool all = before.leading == number && after.first.size() == static_cast<size_t>(number);
    const double commits =
        static_cast<double>(after.outcomes.at("committed") - before.outcomes.at("committed")) /
        options.seconds;
    std::printf("%8d  %11d  %11s  %8d  %12.1f  %12s\n", number, before.leading,
                all ? Milliseconds3(*std::ranges::max_element(before.first)).c_str() : "-",
                after.losses, commits, released.ok() ? Milliseconds3(took).c_str() : "not all");
    std::fflush(stdout);
  }
  return 0;
}

// --- takeover ------------------------------------------------------------------------------------

int Takeover(const Options& options) {
  const ProtocolInfo& info = *FindProtocol("fenced_lease");
  const std::shared_ptr<LockDatabase> database = Start(options, std::string(info.name));
  if (database == nullptr) return (void)std::puts(kNoEmulator), 3;
  const auto backend = StartProcesses(info, database, "grpc", "");
  const auto contender = [&](int i) {
    return Contender{
        .id = "p" + std::to_string(i), .lock = "takeover", .lease = Seconds(options.lease_seconds)};
  };
  backend->Start(contender(0));
  backend->AwaitTerm("p0");
  std::vector<Duration> took;
  for (int i = 0; i < options.rounds; ++i) {
    const std::string leader = contender(i).id;
    const std::string follower = contender(i + 1).id;
    backend->Start(contender(i + 1));
    backend->AwaitTransactions(follower, 2);
    // At another moment of the leader's cycle each time: 0.6 of a lease, in golden sections.
    backend->AwaitTransactions(leader, 1);
    const double part = static_cast<double>(i) * 0.618034;
    const double cycle = 0.6 * static_cast<double>(options.lease_seconds);
    std::this_thread::sleep_for(
        std::chrono::duration<double>((part - static_cast<int>(part)) * cycle));
    backend->Crash(leader);
    const LocalInstant crashed = backend->Now();
    backend->AwaitTerm(follower);
    took.push_back(backend->Terms().back().began - crashed);
    std::printf("%2d: %s\n", i + 1, Milliseconds3(took.back()).c_str());
    std::fflush(stdout);
  }
  PrintDistribution("from SIGKILL to the next leadership", took);
  return 0;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("What real locks cost, and how fast they change hands.");
  app.require_subcommand(1);
  CLI::App* many = app.add_subcommand("many", "many locks of one process");
  CLI::App* curve = app.add_subcommand("curve", "many locks, for growing numbers of them");
  many->add_option("--locks", options.locks)->check(CLI::PositiveNumber);
  curve->add_option("--locks", options.numbers)->delimiter(',')->check(CLI::PositiveNumber);
  many->add_option("--start-over", options.start_over, "seconds in which they start");
  for (CLI::App* command : {many, curve}) {
    command->add_option("--tables", options.tables, "that the locks are spread over")
        ->check(CLI::PositiveNumber);
    command->add_option("--seconds", options.seconds, "then they are watched so long")
        ->check(CLI::PositiveNumber);
    command->add_option("--concurrency", options.concurrency)->check(CLI::PositiveNumber);
  }
  CLI::App* takeover = app.add_subcommand("takeover", "after SIGKILL of the leader");
  takeover->add_option("--rounds", options.rounds)->check(CLI::PositiveNumber);
  for (CLI::App* command : {many, curve, takeover}) {
    command
        ->add_option("--database", options.database,
                     "emulator (as it comes: it aborts transactions at random) or server")
        ->check(CLI::IsMember({"emulator", "server"}));
    command->add_option("--lease", options.lease_seconds, "in seconds")->check(CLI::PositiveNumber);
  }
  CLI11_PARSE(app, argc, argv);
  if (app.got_subcommand(many)) return Many(options);
  return app.got_subcommand(curve) ? Curve(options) : Takeover(options);
}

}  // namespace
}  // namespace whorl

int main(int argc, char** argv) { return whorl::Main(argc, argv); }
