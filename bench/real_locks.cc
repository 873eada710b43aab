// What real locks cost and how fast they change hands, on the emulator or on whorl's own server,
// which this starts on a loopback port and ends:
//   whorl_real_locks many       thousands of locks in this process, by one client and one thread
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
  int seconds = 300;
  int concurrency = 4;  // the emulator runs one transaction at a time
  int start_over = 60;
  int tables = 100;  // the emulator reads a whole table for each statement
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

// What one lock went through.
class Belief final : public real_client::LockObserver {
 public:
  void OnLeadership(const real_client::Leadership& leadership) override {
    const std::lock_guard lock(mutex_);
    const Duration now = MonotonicNow();
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
  void OnTransaction(StepName, const TransactionResult& result, Duration took) override {
    const std::lock_guard lock(mutex_);
    ++outcomes_[std::string(WordOf(result.outcome))];
    took_.push_back(took);
  }

  struct Report {
    std::optional<Duration> first;
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
  std::optional<Duration> first_;
  std::optional<Duration> lost_;
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

void ReportMany(const Options& options, const std::vector<std::shared_ptr<Belief>>& beliefs,
                Duration began, double cpu, int64_t memory_before) {
  std::vector<Duration> first;
  std::vector<Duration> gaps;
  std::vector<Duration> took;
  std::map<std::string, int64_t> outcomes;
  int losses = 0;
  int64_t leading = 0;
  for (const auto& belief : beliefs) {
    const Belief::Report report = belief->Tell();
    if (report.first) first.push_back(*report.first - began);
    gaps.push_back(report.longest_gap);
    losses += report.losses;
    leading += report.leads ? 1 : 0;
    took.insert(took.end(), report.took.begin(), report.took.end());
    for (const auto& [outcome, count] : report.outcomes) outcomes[outcome] += count;
  }
  std::printf(
      "%d locks, lease %lld s, started over %d s, watched for %d s, %d transactions at a time\n",
      options.locks, static_cast<long long>(options.lease_seconds), options.start_over,
      options.seconds, options.concurrency);
  PrintDistribution("from the start to leadership", first);
  std::printf("leading at the end: %lld of %d; leaderships that ended: %d\n",
              static_cast<long long>(leading), options.locks, losses);
  PrintDistribution("longest gap in belief, by lock", gaps);
  PrintDistribution("transactions, from asking to the answer", took);
  for (const auto& [outcome, count] : outcomes) {
    std::printf("  %s: %lld\n", outcome.c_str(), static_cast<long long>(count));
  }
  std::printf("CPU of this process: %.2f s, %.2f %% of one core\n", cpu,
              100 * cpu / (options.seconds + options.start_over));
  std::printf("memory: %lld kB before the locks, %lld kB at most\n",
              static_cast<long long>(memory_before), static_cast<long long>(ResidentKilobytes()));
}

std::string TableNumber(int number) { return "locktable" + std::to_string(number); }

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

int Many(const Options& options) {
  const auto database = Start(options, "fenced_lease");
  if (database == nullptr) return (void)std::puts(kNoEmulator), 3;
  std::unique_ptr<real_client::LockClient> client;
  const Status opened = real_client::LockClient::Open({.database = database->path(),
                                                       .connection = database->Connection(),
                                                       .concurrency = options.concurrency},
                                                      client);
  if (!opened.ok()) return (void)std::puts(FormatStatus(opened).c_str()), 3;
  const auto name = [](int i) { return "lock-" + std::to_string(i); };
  const auto table = [&](int i) { return TableNumber(i % options.tables); };
  const Status tables = MakeTables(*database, options.tables);
  if (!tables.ok()) return (void)std::puts(FormatStatus(tables).c_str()), 3;
  for (int i = 0; i < options.locks; ++i) {
    const Status init = client->InitLock("fenced_lease", table(i), name(i));
    if (!init.ok()) return (void)std::puts(FormatStatus(init).c_str()), 3;
  }
  const int64_t memory_before = ResidentKilobytes();
  const double cpu_before = CpuSeconds();
  const Duration began = MonotonicNow();
  std::vector<std::shared_ptr<Belief>> beliefs;
  std::vector<std::unique_ptr<real_client::DistributedLock>> locks;
  for (int i = 0; i < options.locks; ++i) {
    beliefs.push_back(std::make_shared<Belief>());
    std::unique_ptr<real_client::DistributedLock>& lock = locks.emplace_back();
    const Status made = client->Make({.name = name(i),
                                      .lease = Seconds(options.lease_seconds),
                                      .table = table(i),
                                      .observer = beliefs.back()},
                                     lock);
    if (!made.ok()) return (void)std::puts(FormatStatus(made).c_str()), 3;
    // Spread out, as the emulator does one transaction at a time.
    if (i * options.start_over / options.locks != (i + 1) * options.start_over / options.locks) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    lock->Start();
  }
  std::this_thread::sleep_for(std::chrono::seconds(options.seconds));
  ReportMany(options, beliefs, began, CpuSeconds() - cpu_before, memory_before);
  for (const auto& lock : locks) lock->UnlockThen([] {});
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
    const Duration crashed = backend->Now();
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
  many->add_option("--locks", options.locks)->check(CLI::PositiveNumber);
  many->add_option("--start-over", options.start_over, "seconds in which they start");
  many->add_option("--tables", options.tables, "that the locks are spread over")
      ->check(CLI::PositiveNumber);
  many->add_option("--seconds", options.seconds, "then they are watched so long")
      ->check(CLI::PositiveNumber);
  many->add_option("--concurrency", options.concurrency)->check(CLI::PositiveNumber);
  CLI::App* takeover = app.add_subcommand("takeover", "after SIGKILL of the leader");
  takeover->add_option("--rounds", options.rounds)->check(CLI::PositiveNumber);
  for (CLI::App* command : {many, takeover}) {
    command->add_option("--database", options.database, "emulator or server")
        ->check(CLI::IsMember({"emulator", "server"}));
    command->add_option("--lease", options.lease_seconds, "in seconds")->check(CLI::PositiveNumber);
  }
  CLI11_PARSE(app, argc, argv);
  return app.got_subcommand(many) ? Many(options) : Takeover(options);
}

}  // namespace
}  // namespace whorl

int main(int argc, char** argv) { return whorl::Main(argc, argv); }
