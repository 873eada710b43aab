#include "tests/contract/real_processes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "real_client/os.h"
#include "tests/support/child_lines.h"

namespace whorl {
namespace {

using real_client::MonotonicNow;

// One process and its output.
class LockProcess {
 public:
  LockProcess(std::vector<std::string> command, std::string id, std::string lock)
      : id_(std::move(id)), lock_(std::move(lock)), child_(std::move(command)) {}

  bool leads() const { return leads_; }
  int looks() const { return looks_; }
  bool gone() const { return gone_; }
  const std::vector<Term>& terms() const { return terms_; }
  pid_t pid() const { return child_.pid(); }
  std::string Errors() const { return child_.Errors(); }

  // Reads the next line. False if the process prints no more, or nothing until the deadline.
  bool Hear(LocalInstant deadline) {
    const std::optional<std::string> line = child_.Next(deadline - MonotonicNow());
    if (!line) return false;
    std::istringstream words(*line);
    std::string what;
    words >> what;
    if (what == "looked") ++looks_;
    if (what == "gone") gone_ = true;
    if (what == "leads") HearLeads(words);
    if (what == "ends") {
      LocalInstant at;
      words >> at.ns;
      End(at);
    }
    return true;
  }
  void Kill() {
    child_.Kill();
    const LocalInstant at = MonotonicNow();
    while (Hear(at)) {
    }
    End(at);
  }

 private:
  void HearLeads(std::istream& words) {
    std::string token;
    LocalInstant at;
    words >> token >> until_.ns >> at.ns;
    if (leads_) return;
    leads_ = true;
    terms_.push_back(
        {.id = id_,
         .lock = lock_,
         .token = token == "-" ? std::nullopt : std::optional<uint64_t>(std::stoull(token)),
         .began = at,
         .ended = LocalInstant::Max()});
  }
  // The term ends at `at`, or before that when its lease expires.
  void End(LocalInstant at) {
    if (leads_) terms_.back().ended = std::min(at, until_);
    leads_ = false;
  }

  std::string id_;
  std::string lock_;
  ChildLines child_;
  bool leads_ = false;
  bool gone_ = false;
  int looks_ = 0;
  LocalInstant until_;
  std::vector<Term> terms_;
};

class RealProcesses final : public LockBackend {
 public:
  RealProcesses(const ProtocolInfo& info, std::shared_ptr<LockDatabase> database,
                std::string client, std::string suffix)
      : info_(info),
        database_(std::move(database)),
        client_(std::move(client)),
        suffix_(std::move(suffix)) {}

  void Start(const Contender& contender) override {
    const real_client::ConnectionOptions connection = database_->Connection();
    processes_[contender.id] = std::make_unique<LockProcess>(
        std::vector<std::string>{
            WHORL_LOCK_PROCESS, client_,
            std::holds_alternative<real_client::Plaintext>(connection.credentials)
                ? connection.endpoint
                : "-",
            database_->path(), std::string(info_.name), contender.lock + suffix_, contender.id,
            std::to_string(contender.lease.ns / Milliseconds(1).ns)},
        contender.id, contender.lock);
  }
  void AwaitTerm(const std::string& id) override {
    Await(id, "leadership", [](const LockProcess& process) { return process.leads(); });
  }
  void AwaitEnd(const std::string& id) override {
    Await(id, "the end of leadership", [](const LockProcess& process) { return !process.leads(); });
  }
  void AwaitTransactions(const std::string& id, int count) override {
    const int wanted = processes_.at(id)->looks() + count;
    Await(id, "a transaction",
          [wanted](const LockProcess& process) { return process.looks() >= wanted; });
  }
  void Crash(const std::string& id) override { processes_.at(id)->Kill(); }
  void Pause(const std::string& id) override {
    const pid_t pid = processes_.at(id)->pid();
    kill(pid, SIGSTOP);
    // Waits until all of its threads have stopped.
    siginfo_t what = {};
    waitid(P_PID, static_cast<id_t>(pid), &what, WSTOPPED);
  }
  void Resume(const std::string& id) override { kill(processes_.at(id)->pid(), SIGCONT); }
  void Stop(const std::string& id) override {
    kill(processes_.at(id)->pid(), SIGTERM);
    Await(id, "the end of the process", [](const LockProcess& process) { return process.gone(); });
  }
  bool LoseReply(const std::string&) override { return database_->LoseNextCommitReply(); }
  bool RefuseCommit() override { return database_->RefuseNextCommit(); }
  bool DeleteSessions(const std::string&) override { return database_->DeleteSessions(); }

  std::vector<Term> Terms() override {
    std::vector<Term> terms;
    for (const auto& [id, process] : processes_) {
      terms.insert(terms.end(), process->terms().begin(), process->terms().end());
    }
    std::ranges::sort(terms, {}, &Term::began);
    return terms;
  }
  LocalInstant Now() override { return MonotonicNow(); }

 private:
  template <typename Done>
  void Await(const std::string& id, const std::string& what, Done done) {
    LockProcess& process = *processes_.at(id);
    const LocalInstant deadline = MonotonicNow() + kWaitLimit;
    while (!done(process)) {
      if (process.Hear(deadline)) continue;
      FAIL() << id << ": " << what << " did not come within a minute\n" << process.Errors();
    }
    // Reads the other processes' output as well.
    for (const auto& [other, its] : processes_) {
      while (its->Hear(MonotonicNow())) {
      }
    }
  }

  const ProtocolInfo& info_;
  const std::shared_ptr<LockDatabase> database_;
  const std::string client_;
  const std::string suffix_;
  std::map<std::string, std::unique_ptr<LockProcess>> processes_;
};

}  // namespace

std::unique_ptr<LockBackend> StartProcesses(const ProtocolInfo& info,
                                            std::shared_ptr<LockDatabase> database,
                                            std::string client, std::string suffix) {
  return std::make_unique<RealProcesses>(info, std::move(database), std::move(client),
                                         std::move(suffix));
}

}  // namespace whorl
