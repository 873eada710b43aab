// `whorl check --stream` on the official emulator: real locks among real processes, judged by what the
// change stream says alone. Skipped if there is no emulator.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/cli/json_lines.h"
#include "tests/cli/lock/lock_cli_testing.h"
#include "tests/support/written_lease.h"

namespace whorl::change_stream_emulator_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kCheck = "check --stream fenced_locks_changes --protocol fenced_lease";

class ChangeStreamEmulatorTest : public CliTest {
 protected:
  // Partitions end and have children after two to four seconds; by default it takes at least twenty.
  ChangeStreamEmulatorTest()
      : database_(StartEmulator("fenced_lease",
                                {"--override_change_stream_partition_token_alive_seconds=2",
                                 "--change_stream_churning_interval=1s",
                                 "--change_stream_churn_thread_sleep_interval=1s"})) {
    if (database_ == nullptr) return;
    setenv("SPANNER_EMULATOR_HOST", database_->Connection().endpoint.c_str(), 1);
    setenv("WHORL_DATABASE", kLockDatabase, 1);
  }
  ~ChangeStreamEmulatorTest() override {
    unsetenv("SPANNER_EMULATOR_HOST");
    unsetenv("WHORL_DATABASE");
  }
  void SetUp() override {
    if (database_ == nullptr) GTEST_SKIP() << kNoEmulator;
    EXPECT_THAT(
        Whorl("lock init --stream"),
        Ends(0, HasSubstr("made change stream fenced_locks_changes of table fenced_locks\n")));
  }

  void WriteByHand(const std::string& name, const std::string& writer, const std::string& token) {
    WriteFencedLease(database_->Connection().endpoint, name, writer, token);
  }
  void WriteByHand(const std::string& name, const std::string& writer) {
    WriteByHand(name, writer, "spanner.commit_timestamp()");
  }

  std::unique_ptr<RunningWhorl> Watch() const {
    return std::make_unique<RunningWhorl>(
        Words(kCheck + (" --follow --resume " + (folder_ / "watch.json").string())));
  }
  // Waits until a watch with --resume watch.json has read what has this text.
  bool HasKept(const std::string& text) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < give_up) {
      const bool is_there = std::filesystem::exists(folder_ / "watch.json");
      if (is_there && ReadText(folder_ / "watch.json").find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  std::unique_ptr<LockDatabase> database_;
};

// The truth about locks that did what they promise, while partitions of the stream end.
TEST_F(ChangeStreamEmulatorTest, RealLocksUnderContentionHoldWhatTheyPromise) {
  std::map<std::string, std::unique_ptr<RunningWhorl>> pods;
  for (const char* id : {"pod-a", "pod-b", "pod-c"}) {
    pods[id] = std::make_unique<RunningWhorl>(
        Words("lock run job other --lease 1s --json --id " + std::string(id)));
  }
  const auto holder_of_job = [&] {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    std::string holder;
    while (!pods.contains(holder) && std::chrono::steady_clock::now() < give_up) {
      // Who waits for a busy emulator prints a line for each refusal.
      for (const auto& [id, pod] : pods) pod->output().ReadReady();
      const json held = json::parse(Whorl("lock get job --json").out, nullptr, false);
      const bool is_held = held.is_object() && held["holder"].is_string();
      holder = is_held ? held["holder"].get<std::string>() : "";
    }
    return holder;
  };
  for (const size_t renewals : {6, 12}) {
    const std::string holder = holder_of_job();
    ASSERT_TRUE(pods.contains(holder)) << holder;
    RunningWhorl& pod = *pods[holder];
    ASSERT_TRUE(pod.output().WaitFor("\"renewed\"", renewals)) << pod.output().text();
    pod.Signal(SIGKILL);
    pods.erase(holder);
    // The emulator runs no other transaction until one that is begun beside it ends it.
    LeaveTransactionOpen(database_->Connection().endpoint);
  }
  EXPECT_TRUE(pods.contains(holder_of_job()));
  for (const auto& [id, pod] : pods) {
    pod->Signal(SIGTERM);
    EXPECT_EQ(pod->WaitForEnd(), 0) << id;
  }
  const Ended ended = Whorl(std::string(kCheck) + " --json");
  EXPECT_EQ(ended.code, 0) << ended.err;
  const json read = ParsedJson(ended);
  EXPECT_EQ(read["invariants"]["token_monotonic"]["verdict"], "holds");
  EXPECT_EQ(read["invariants"]["lease_respected"]["verdict"], "holds");
  EXPECT_GE(read["metrics"]["takeovers"], 2);
  EXPECT_GT(read["metrics"]["row_changes"], 15);
  EXPECT_EQ(read["metrics"]["gaps"], 0);
  // The versions of the rows tell the same.
  const Ended versions = Whorl("check --from 5m --protocol fenced_lease --json");
  EXPECT_EQ(versions.code, 0) << versions.err;
  const json of_versions = ParsedJson(versions);
  EXPECT_EQ(of_versions["metrics"], read["metrics"]);
  EXPECT_EQ(of_versions["invariants"]["lease_respected"]["verdict"], "holds");
}

TEST_F(ChangeStreamEmulatorTest, AHistoryThatBreaksThemIsViolated) {
  WriteByHand("job", "pod-a");
  WriteByHand("job", "pod-b");  // at once, within the lease
  WriteByHand("job", "pod-c", "2026-01-01T00:00:00Z");
  EXPECT_THAT(Whorl(kCheck),
              // A token that is not its commit's no process writes.
              Ends(1, AllOf(HasSubstr("violated  outside_write"),
                            HasSubstr("set token to 2026-01-01T00:00:00Z, which is not its commit"),
                            HasSubstr("violated  lease_respected"),
                            HasSubstr("pod-b took lock \"job\" from pod-a"))));
}

// On call: it is told while it happens, and Ctrl-C gives the verdict.
TEST_F(ChangeStreamEmulatorTest, AStreamIsFollowed) {
  WriteByHand("job", "pod-a");
  const auto watched = Watch();
  RunningWhorl& check = *watched;
  ASSERT_TRUE(HasKept("pod-a")) << check.output().text();
  WriteByHand("job", "pod-b");
  EXPECT_TRUE(
      check.output().WaitFor("violated  lease_respected: pod-b took lock \"job\" from pod-a"))
      << check.output().text();
  check.Signal(SIGINT);
  EXPECT_EQ(check.WaitForEnd(), 1);
  EXPECT_THAT(check.output().text(), HasSubstr("row changes 2"));
}

// A watch that is killed goes on in another process, which knows who held the lock and what was told.
TEST_F(ChangeStreamEmulatorTest, AnotherProcessGoesOnWhereAWatchWasKilled) {
  WriteByHand("job", "pod-a");
  auto first = Watch();
  ASSERT_TRUE(HasKept("pod-a")) << first->output().text();
  first->Signal(SIGKILL);
  first.reset();
  // Within the lease of pod-a, of whose grant only the killed process has read.
  WriteByHand("job", "pod-b");
  auto second = Watch();
  EXPECT_TRUE(
      second->output().WaitFor("violated  lease_respected: pod-b took lock \"job\" from pod-a"))
      << second->output().text();
  ASSERT_TRUE(HasKept("\"violated\"")) << second->output().text();
  second->Signal(SIGKILL);
  second.reset();
  // What was told is not told again, and counts.
  auto third = Watch();
  WriteByHand("other", "pod-c");
  ASSERT_TRUE(HasKept("pod-c")) << third->output().text();
  third->Signal(SIGINT);
  EXPECT_EQ(third->WaitForEnd(), 1);
  const std::string text = third->output().text();
  EXPECT_THAT(text, AllOf(HasSubstr("violated  lease_respected (promised)\n          pod-b took"),
                          HasSubstr("row changes 3,"), HasSubstr("takeovers 1\n"),
                          Not(HasSubstr("lease_respected: pod-b"))));
  // A file of another check is none to go on with.
  EXPECT_THAT(
      Whorl("check --stream mine --protocol fenced_lease --resume watch.json"),
      Complains(2, AllOf(HasSubstr("is of another check: its stream is \"fenced_locks_changes\""),
                         HasSubstr("remove it to begin anew"))));
  Write("no.json", "{}");
  EXPECT_THAT(Whorl("check --stream mine --protocol fenced_lease --resume no.json").err,
              HasSubstr("is no file of whorl check --resume"));
  // Nor is one whose changes are none.
  std::string kept = ReadText(folder_ / "watch.json");
  kept.replace(
      kept.find("\"changes\": ["), 12,
      R"("changes": [{"event":"leads","id":"a","lock":"job","time":"2026-01-01T00:00:00Z"},)");
  Write("watch.json", kept);
  EXPECT_THAT(Whorl(kCheck + std::string(" --resume watch.json")),
              Complains(2, HasSubstr("watch.json cannot be read: \"changes\" has a record")));
  EXPECT_THAT(Whorl("check --protocol fenced_lease --resume x.json --from 1m").err,
              HasSubstr("--resume keeps where a check of a change stream was"));
}

TEST_F(ChangeStreamEmulatorTest, ErrorsSayWhereAndWhatToDo) {
  const auto expect = [&](const std::string& arguments, int code, const TextMatcher& says) {
    EXPECT_THAT(Whorl(arguments), Ends(code, "", says)) << arguments;
  };
  expect("check --stream none --protocol fenced_lease", 2,
         AllOf(HasSubstr("there is no change stream none in projects/test-project"),
               HasSubstr("whorl lock init --stream none")));
  expect(std::string(kCheck) + " --from 2020-01-01T00:00:00Z", 2,
         AllOf(HasSubstr("has no records of that time"), HasSubstr("earliest read timestamp")));
  expect(kCheck, 2, HasSubstr("has no change of the lock table"));
  expect(std::string(kCheck) + " --database projects/p/instances/i/databases/d", 3,
         HasSubstr("an emulator begins empty"));
  expect(std::string(kCheck) + " --endpoint 127.0.0.1:1", 3,
         HasSubstr("is the emulator running? SPANNER_EMULATOR_HOST"));
}

TEST_F(ChangeStreamEmulatorTest, InitFindsItsStreamAgain) {
  EXPECT_THAT(
      Whorl("lock init --stream").out,
      HasSubstr("change stream fenced_locks_changes of table fenced_locks is there already"));
  EXPECT_EQ(Whorl("lock init --table others --stream mine").code, 0);
  EXPECT_THAT(Whorl("lock init --stream mine"),
              Complains(3, HasSubstr("does not watch all of table fenced_locks")));
  EXPECT_EQ(Whorl("lock init --stream '2 bad'").code, 2);
}

}  // namespace
}  // namespace whorl::change_stream_emulator_test
