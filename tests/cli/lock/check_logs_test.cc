// The whole chain from processes to a verdict: locks that log what they do, `whorl serve` that writes what it
// saw, and `whorl check`, to which nobody says anything of the clocks.
#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "real_client/lock.h"
#include "real_client/lock_log.h"
#include "tests/cli/json_lines.h"
#include "tests/cli/lock/lock_cli_testing.h"

namespace whorl::check_logs_test {
namespace {

using nlohmann::json;
using testing::SizeIs;

constexpr const char* kCheck = "check --from 5m --protocol fenced_lease --lease 1s --json ";

class CheckLogsTest : public CliTest {
 protected:
  CheckLogsTest() { setenv("WHORL_DATABASE", kLockDatabase, 1); }
  ~CheckLogsTest() override {
    unsetenv("WHORL_DATABASE");
    unsetenv("SPANNER_EMULATOR_HOST");
  }

  // Starts the server, and remembers the addresses that it has for its clients.
  std::unique_ptr<RunningWhorl> Serve() {
    auto serve = std::make_unique<RunningWhorl>(Words("serve --clients pod-a,pod-b --database " +
                                                      std::string(kLockDatabase) + " --history " +
                                                      (folder_ / "calls.jsonl").string()));
    EXPECT_TRUE(serve->output().WaitFor(std::string(kLockDatabase) + "\n"));
    std::istringstream lines(serve->output().text());
    for (std::string line; std::getline(lines, line);) {
      const size_t at = line.find("=127.0.0.1:");
      if (at != std::string::npos) addresses_.push_back(line.substr(at + 1));
    }
    return serve;
  }
  std::unique_ptr<RunningWhorl> Run(size_t client, const std::string& id) {
    setenv("SPANNER_EMULATOR_HOST", addresses_.at(client).c_str(), 1);
    return std::make_unique<RunningWhorl>(Words("lock run job --lease 1s --json --id " + id +
                                                " --out " + (folder_ / (id + ".jsonl")).string()));
  }
  bool HasLogged(const std::string& id, const std::string& event) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < give_up) {
      if (ReadText(folder_ / (id + ".jsonl")).find("\"" + event + "\"") != std::string::npos) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  std::vector<std::string> addresses_;
};

// pod-a is paused for longer than its lease, and pod-b takes over.
TEST_F(CheckLogsTest, WhatLocksLogAndServeSawIsJudgedWithoutAnythingSaidOfClocks) {
  const auto serve = Serve();
  ASSERT_THAT(addresses_, SizeIs(2));
  setenv("SPANNER_EMULATOR_HOST", addresses_[0].c_str(), 1);
  ASSERT_EQ(Whorl("lock init --new job").code, 0);
  const auto a = Run(0, "pod-a");
  ASSERT_TRUE(HasLogged("pod-a", "renewed"));
  const auto b = Run(1, "pod-b");
  ASSERT_TRUE(HasLogged("pod-b", "started"));
  a->Signal(SIGSTOP);
  ASSERT_TRUE(HasLogged("pod-b", "renewed"));
  a->Signal(SIGCONT);
  ASSERT_TRUE(HasLogged("pod-a", "lost"));
  for (const auto* pod : {&a, &b}) {
    (*pod)->Signal(SIGTERM);
    EXPECT_EQ((*pod)->WaitForEnd(), 0);
  }

  // With what the processes have logged: their calls show their clocks.
  const json logged = ParsedJson(Whorl(kCheck + std::string("pod-a.jsonl pod-b.jsonl")));
  EXPECT_EQ(logged["invariants"]["single_leader_belief"]["verdict"], "holds") << logged.dump(1);
  EXPECT_EQ(logged["invariants"]["lease_respected"]["verdict"], "holds");
  EXPECT_EQ(logged["invariants"]["handed_token_monotonic"]["verdict"], "holds");
  EXPECT_EQ(logged["metrics"]["takeovers"], 1);
  // All by one clock, which is Spanner's here.
  for (const char* pod : {"pod-a", "pod-b"}) {
    const json ahead = logged["clocks"][pod];
    ASSERT_TRUE(ahead.is_array()) << pod << logged.dump(1);
    EXPECT_LE(std::stod(ahead[0].get<std::string>()), 0) << pod;
    EXPECT_GE(std::stod(ahead[1].get<std::string>()), 0) << pod;
    EXPECT_LT(std::stod(ahead[1].get<std::string>()), 0.5) << pod;
  }
  EXPECT_EQ(logged["metrics"]["gaps"], 0) << "lines are in the order of their numbers";
  EXPECT_GE(logged["metrics"]["takeover_costs"]["calls"]["p50"], 2)
      << "a look, and the call that took it";

  // With what serve saw, and no line of a process: who called is known, and no clock.
  // Which lock a call is about its statements say.
  const json seen = ParsedJson(Whorl(kCheck + std::string("calls.jsonl")));
  EXPECT_EQ(seen["invariants"]["lease_respected"]["verdict"], "holds");
  EXPECT_EQ(seen["invariants"]["single_leader_belief"]["verdict"], "unknown");
  EXPECT_EQ(seen["metrics"]["takeover_costs"], logged["metrics"]["takeover_costs"]);

  // With both, nothing is counted twice, and nothing is less certain.
  const json both =
      ParsedJson(Whorl(kCheck + std::string("--lock job calls.jsonl pod-a.jsonl pod-b.jsonl")));
  EXPECT_EQ(both["invariants"]["single_leader_belief"]["verdict"], "holds");
  EXPECT_EQ(both["metrics"]["takeover_costs"], logged["metrics"]["takeover_costs"]);

  serve->Signal(SIGTERM);
  EXPECT_EQ(serve->WaitForEnd(), 0);
}

// The same for a program's own locks.
class CheckLockLogTest : public LockCliTest {};

TEST_F(CheckLockLogTest, AProgramsOwnLocksLogWhatCheckJudges) {
  std::unique_ptr<real_client::LockClient> client;
  ASSERT_TRUE(real_client::LockClient::Open(
                  {.database = kLockDatabase, .connection = database_->Connection()}, client)
                  .ok());
  real_client::InitResult made;
  ASSERT_TRUE(client->InitLock("fenced_lease", "", "job", {.is_new = true}, made).ok());
  for (const std::string id : {"pod-a", "pod-b"}) {
    std::ofstream file(folder_ / (id + ".jsonl"));
    real_client::LockLog log(id, [&](const std::string& line) { file << line << '\n'; });
    std::unique_ptr<real_client::DistributedLock> lock;
    ASSERT_TRUE(
        client
            ->Make({.name = "job", .id = id, .lease = Seconds(1), .observer = log.Observe("job")},
                   lock)
            .ok());
    log.Started("job", Seconds(1));
    ASSERT_TRUE(lock->Lock().ok());
    log.Works("job");
    log.Rests("job");
    lock->Unlock();
    lock.reset();
    log.Stopped();
  }
  const json read = ParsedJson(Whorl(kCheck + std::string("pod-a.jsonl pod-b.jsonl")));
  for (const char* invariant : {"token_monotonic", "lease_respected", "handed_token_monotonic",
                                "single_leader_belief", "single_worker", "no_work_after_release"}) {
    EXPECT_EQ(read["invariants"][invariant]["verdict"], "holds") << invariant << read.dump(1);
  }
  EXPECT_EQ(read["metrics"]["gaps"], 0);
  int commits = 0;
  int number = 0;
  for (const json& line : JsonLines(ReadText(folder_ / "pod-a.jsonl"))) {
    EXPECT_EQ(line["n"], ++number);
    if (line["event"] != "call" || !line.contains("commit")) continue;
    ++commits;
    EXPECT_LE(line["sent"], line["commit"]) << "one clock, as text";
    EXPECT_LE(line["commit"], line["time"]);
  }
  EXPECT_GE(commits, 2) << "it took the lock and gave it back";
}

}  // namespace
}  // namespace whorl::check_logs_test
