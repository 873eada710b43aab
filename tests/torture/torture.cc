// Tortures `whorl lock exec`: workers run commands under locks while processes are killed and
// stopped, links are held and cut, and Spanner itself stops or loses its state. Afterwards no two
// commands of a lock may have run at the same time, tokens must have grown, and nothing may be left.
//
//   whorl_torture [--database server|emulator] [--for 120] [--workers 8] [--locks 2] [--lease 2]
//                 [--seed 1] [--whorl PATH]
//
// Real time: a seed draws the same faults, but not the same run. Exit codes: 0 clean; 1 a promise was
// broken; 3 it could not run.
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "live/child_process.h"
#include "real_client/os.h"
#include "tests/support/lock_database.h"
#include "tests/torture/link.h"

namespace whorl::torture {
namespace {

namespace fs = std::filesystem;
using real_client::MonotonicNow;

struct Options {
  std::string database = "server";
  int seconds = 120;
  int workers = 8;
  int locks = 2;
  int lease = 2;
  uint64_t seed = 1;
  std::string whorl = WHORL_COMMAND;
};

// --- the command ---------------------------------------------------------------------------------

// Writes "token time" every 2 ms for `milliseconds`, and ends with 7.
int BeCommand(const char* file, int milliseconds) {
  std::FILE* out = std::fopen(file, "ae");
  const char* token = std::getenv("WHORL_LOCK_TOKEN");  // NOLINT(concurrency-mt-unsafe)
  if (out == nullptr || token == nullptr) return 2;
  std::setvbuf(out, nullptr, _IOLBF, 0);
  const LocalInstant end = MonotonicNow() + Milliseconds(milliseconds);
  for (LocalInstant now = MonotonicNow(); now < end; now = MonotonicNow()) {
    std::fprintf(out, "%s %lld\n", token, static_cast<long long>(now.ns));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return 7;
}

// --- Spanner -------------------------------------------------------------------------------------

class Spanner {
 public:
  explicit Spanner(const Options& options) : options_(options) {}

  bool Start() {
    if (options_.database == "server") {
      database_ = ServeModel("fenced_lease");
    } else {
      database_ = StartEmulator("fenced_lease");
    }
    if (database_ == nullptr) return false;
    const std::string endpoint = database_->Connection().endpoint;
    port_ = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
    return true;
  }
  void LoseState() {
    port_ = 0;
    database_.reset();
    if (!Start()) throw std::runtime_error("Spanner could not be started again");
  }
  int port() const { return port_; }
  // -1 if it is not a process of its own.
  pid_t process() const { return database_->process(); }

 private:
  const Options& options_;
  std::unique_ptr<LockDatabase> database_;
  std::atomic<int> port_ = 0;
};

// --- workers -------------------------------------------------------------------------------------

struct Term {
  std::string lock;
  std::string file;
  int worker = 0;
  uint64_t token = 0;
  LocalInstant first;
  LocalInstant last;
};

double Milli(Duration time) { return static_cast<double>(time.ns) / 1e6; }

// The process id of whorl's guard; nullopt if it has none now.
std::optional<pid_t> GuardOf(pid_t whorl) {
  const std::string id = std::to_string(whorl);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  pid_t guard = 0;
  if (!(children >> guard)) return std::nullopt;
  return guard;
}

class Worker {
 public:
  Worker(int number, const Options& options, Spanner& spanner, fs::path folder)
      : number_(number),
        options_(options),
        folder_(std::move(folder)),
        link_([&spanner] { return spanner.port(); }) {}

  // Begins the next command if the last one has ended.
  void Work(std::mt19937_64& random, std::map<std::string, int>& ends) {
    if (process_ && process_->IsRunning()) return;
    NoteEnd(ends);
    const std::string lock =
        "lock-" + std::to_string(random() % static_cast<uint64_t>(options_.locks));
    const std::string file =
        folder_ / (lock + "." + std::to_string(number_) + "." + std::to_string(++terms_));
    const auto milliseconds =
        static_cast<int>(random() % (3000UL * static_cast<uint64_t>(options_.lease)));
    std::vector<std::string> command = {
        "/usr/bin/env",
        "SPANNER_EMULATOR_HOST=127.0.0.1:" + std::to_string(link_.port()),
        std::string("WHORL_DATABASE=") + kLockDatabase,
        options_.whorl,
        "lock",
        "exec",
        lock,
        "--id",
        "w" + std::to_string(number_),
        "--lease",
        std::to_string(options_.lease) + "s",
        "--",
        fs::read_symlink("/proc/self/exe"),
        "--be-command",
        file,
        std::to_string(milliseconds)};
    process_ = std::make_unique<ChildProcess>(command);
  }
  // Counts how the last command has ended.
  void NoteEnd(std::map<std::string, int>& ends) {
    if (!process_ || process_->IsRunning()) return;
    const int status = process_->status();
    ++ends[WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                               : "exit code " + std::to_string(WEXITSTATUS(status))];
    process_.reset();
  }
  std::optional<pid_t> whorl() {
    if (!process_ || !process_->IsRunning()) return std::nullopt;
    return process_->pid();
  }
  Link& link() { return link_; }

  // Stops whorl or its guard; nullopt, and nothing is done, as long as one of them is stopped: both at
  // once is what nothing bounds (cli/lock/README.md). The function lets it go on.
  std::optional<std::function<void()>> Stop(pid_t process) {
    if (is_stopped_) return std::nullopt;
    is_stopped_ = true;
    kill(process, SIGSTOP);
    return [this, process] {
      kill(process, SIGCONT);
      is_stopped_ = false;
    };
  }
  void End() {
    if (const auto id = whorl()) kill(*id, SIGTERM);
  }

 private:
  const int number_;
  const Options& options_;
  const fs::path folder_;
  Link link_;
  int terms_ = 0;
  bool is_stopped_ = false;
  std::unique_ptr<ChildProcess> process_;
};

// --- faults --------------------------------------------------------------------------------------

class Torture {
 public:
  explicit Torture(const Options& options)
      : options_(options), random_(options.seed), spanner_(options) {
    std::string name = fs::temp_directory_path() / "whorl_torture.XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the torture");
    folder_ = name;
  }
  ~Torture() { fs::remove_all(folder_); }

  int Run() {
    if (!spanner_.Start()) {
      std::puts(kNoEmulator);
      return 3;
    }
    for (int i = 0; i < options_.workers; ++i) {
      workers_.push_back(std::make_unique<Worker>(i, options_, spanner_, folder_));
    }
    const LocalInstant end = MonotonicNow() + Seconds(options_.seconds);
    LocalInstant next_fault = MonotonicNow() + Seconds(options_.lease);
    while (MonotonicNow() < end) {
      for (const auto& worker : workers_) worker->Work(random_, ends_);
      Mend(MonotonicNow());
      if (MonotonicNow() >= next_fault) {
        Strike();
        next_fault = MonotonicNow() + Milliseconds(Draw(100, 1500));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    Mend(LocalInstant::Max());
    for (const auto& worker : workers_) worker->End();
    const bool all_ended = WaitForAll();
    return Report(all_ended);
  }

 private:
  int64_t Draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  // A fault that lasts ends then.
  void Later(Duration pause, std::function<void()> mend) {
    mends_.emplace(MonotonicNow() + pause, std::move(mend));
  }
  void Mend(LocalInstant now) {
    while (!mends_.empty() && mends_.begin()->first <= now) {
      mends_.extract(mends_.begin()).mapped()();
    }
  }

  static constexpr int kAll = -1;
  // Notes a fault of a worker, or of all, which lasts for `pause`.
  void Note(const std::string& what, int worker, Duration pause = {}) {
    ++faults_[what];
    const LocalInstant now = MonotonicNow();
    strikes_.push_back({.begin = now, .end = now + pause, .worker = worker, .what = what});
  }

  void StopProcess(const std::string& what, int worker, pid_t process, Duration pause) {
    auto go_on = workers_[static_cast<size_t>(worker)]->Stop(process);
    if (!go_on) return;
    Note(what, worker, pause);
    Later(pause, std::move(*go_on));
  }

  void Strike() {
    const auto number = static_cast<int>(Draw(0, options_.workers - 1));
    Worker& worker = *workers_[static_cast<size_t>(number)];
    const Duration pause = Milliseconds(Draw(50, 3000L * options_.lease));
    const auto whorl = worker.whorl();
    const auto guard = whorl ? GuardOf(*whorl) : std::nullopt;
    switch (Draw(0, 10)) {
      case 0:
      case 1:
        if (!whorl) return;
        Note("whorl killed", number);
        kill(*whorl, SIGKILL);
        return;
      case 2:
      case 3:
        if (whorl) StopProcess("whorl stopped", number, *whorl, pause);
        return;
      case 4:
        if (!guard) return;
        Note("guard killed", number);
        kill(*guard, SIGKILL);
        return;
      case 5:
        if (guard) StopProcess("guard stopped", number, *guard, pause);
        return;
      case 6:
      case 7:
        Note("link held", number, pause);
        worker.link().Set(LinkMode::kHolds);
        return Later(pause, [&worker] { worker.link().Set(LinkMode::kPasses); });
      case 8:
        Note("link cut", number, pause);
        worker.link().Set(LinkMode::kCut);
        return Later(pause, [&worker] { worker.link().Set(LinkMode::kPasses); });
      case 9:
        if (spanner_.process() < 0) return;
        Note("Spanner stopped", kAll, pause);
        kill(spanner_.process(), SIGSTOP);
        return Later(pause, [id = spanner_.process()] { kill(id, SIGCONT); });
      default:
        if (Draw(0, 3) != 0) return;
        Note("Spanner lost its state", kAll);
        spanner_.LoseState();
    }
  }

  bool WaitForAll() {
    const LocalInstant end = MonotonicNow() + Seconds(60);
    while (MonotonicNow() < end) {
      const bool runs = std::ranges::any_of(
          workers_, [](const auto& worker) { return worker->whorl().has_value(); });
      if (!runs && Left() == 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  // The processes of commands that are still there: the folder's name is in their command lines.
  int Left() const {
    int left = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline");
      const std::string line(std::istreambuf_iterator<char>(file), {});
      if (line.find(folder_.string()) != std::string::npos) ++left;
    }
    return left;
  }

  std::vector<Term> Terms() const {
    std::vector<Term> terms;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      std::ifstream file(entry.path());
      const std::string name = entry.path().filename();
      const size_t dot = name.find('.');
      Term term = {
          .lock = name.substr(0, dot), .file = name, .worker = std::stoi(name.substr(dot + 1))};
      int64_t time = 0;
      for (uint64_t token = 0; file >> token >> time;) {
        if (term.token == 0) term.first = LocalInstant{time};
        term.token = token;
        term.last = LocalInstant{time};
      }
      if (term.token != 0) terms.push_back(term);
    }
    std::ranges::sort(terms, {}, [](const Term& term) { return std::pair(term.lock, term.first); });
    return terms;
  }
  // The last fault that struck the term's worker before the next term began.
  std::string CauseOf(const Term& term, const Term& next) const {
    std::string cause = "none";
    for (const StruckFault& strike : strikes_) {
      const bool concerns = strike.worker == kAll || strike.worker == term.worker;
      if (concerns && strike.end >= term.first && strike.begin <= next.first) cause = strike.what;
    }
    return cause;
  }

  int Report(bool all_ended) {
    for (const auto& worker : workers_) worker->NoteEnd(ends_);
    const std::vector<Term> terms = Terms();
    int broken = 0;
    std::map<std::string, std::pair<int, Duration>> gaps;  // count and least, by cause
    for (size_t i = 1; i < terms.size(); ++i) {
      const Term& before = terms[i - 1];
      const Term& term = terms[i];
      if (before.lock != term.lock) continue;
      const Duration gap = term.first - before.last;
      auto& [count, least] =
          gaps.try_emplace(CauseOf(before, term), 0, Duration::Max()).first->second;
      ++count;
      least = std::min(least, gap);
      if (gap <= Duration()) {
        ++broken;
        std::printf("overlap of %.1f ms: %s and %s\n", -Milli(gap), before.file.c_str(),
                    term.file.c_str());
      }
      if (term.token <= before.token) {
        ++broken;
        std::printf("a token went back: %s has %llu, and %s before it %llu\n", term.file.c_str(),
                    static_cast<unsigned long long>(term.token), before.file.c_str(),
                    static_cast<unsigned long long>(before.token));
      }
    }
    std::printf("%s, %d s, %d workers, %d locks, lease %d s, seed %llu: %zu terms\n",
                options_.database.c_str(), options_.seconds, options_.workers, options_.locks,
                options_.lease, static_cast<unsigned long long>(options_.seed), terms.size());
    std::puts(
        "changes of the holder by the last fault of the earlier one, and the shortest time\n"
        "between its last write and the next one's first (an overlap, if negative):");
    for (const auto& [cause, gap] : gaps) {
      std::printf("  %-24s %5d %10.1f ms\n", cause.c_str(), gap.first, Milli(gap.second));
    }
    std::puts("faults:");
    for (const auto& [fault, count] : faults_) std::printf("  %-24s %5d\n", fault.c_str(), count);
    std::puts("whorl lock exec ended with:");
    for (const auto& [end, count] : ends_) {
      // The command's, its own failures, killed by a fault, ended by us; 137 is a command that its
      // guard killed.
      constexpr std::array<const char*, 6> kExpected = {"exit code 7",   "exit code 125",
                                                        "exit code 137", "exit code 143",
                                                        "signal 9",      "signal 15"};
      const bool expected = std::ranges::find(kExpected, end) != kExpected.end();
      if (!expected) ++broken;
      std::printf("  %-24s %5d%s\n", end.c_str(), count, expected ? "" : "  UNEXPECTED");
    }
    if (!all_ended) {
      ++broken;
      std::printf("%d processes were left\n", Left());
    }
    if (terms.size() < static_cast<size_t>(options_.seconds) / 10) {
      ++broken;
      std::puts("hardly any command ran, which proves nothing");
    }
    std::puts(broken == 0 ? "clean" : "BROKEN");
    return broken == 0 ? 0 : 1;
  }

  const Options& options_;
  std::mt19937_64 random_;
  Spanner spanner_;
  fs::path folder_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::multimap<LocalInstant, std::function<void()>> mends_;
  struct StruckFault {
    LocalInstant begin;
    LocalInstant end;
    int worker = kAll;
    std::string what;
  };
  std::vector<StruckFault> strikes_;
  std::map<std::string, int> faults_;
  std::map<std::string, int> ends_;  // how whorl ended
};

int Main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--be-command") {
    return BeCommand(argv[2], std::atoi(argv[3]));
  }
  Options options;
  CLI::App app("Tortures `whorl lock exec`.");
  app.add_option("--database", options.database)->check(CLI::IsMember({"server", "emulator"}));
  app.add_option("--for", options.seconds, "in seconds")->check(CLI::PositiveNumber);
  app.add_option("--workers", options.workers)->check(CLI::PositiveNumber);
  app.add_option("--locks", options.locks)->check(CLI::PositiveNumber);
  app.add_option("--lease", options.lease, "in seconds")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed);
  app.add_option("--whorl", options.whorl, "the program that is tortured");
  CLI11_PARSE(app, argc, argv);
  try {
    return Torture(options).Run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "whorl_torture: %s\n", error.what());
    return 3;
  }
}

}  // namespace
}  // namespace whorl::torture

int main(int argc, char** argv) { return whorl::torture::Main(argc, argv); }
