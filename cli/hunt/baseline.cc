#include "cli/hunt/baseline.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/exit_rules.h"
#include "cli/hunt/baseline_comparison.h"
#include "cli/hunt/baseline_file.h"
#include "cli/hunt/text.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/shell_text.h"
#include "sim/hunt/baseline.h"

namespace whorl::cli {
namespace {

using sim::Baseline;
using sim::BatchStep;

// --- recording ---------------------------------------------------------------------------------

// What the first `runs` runs do. kAborted: it was interrupted.
absl::StatusOr<Baseline> Record(const HuntRequest& request, const sim::HuntOptions& hunt,
                                uint64_t runs) {
  const auto started = std::chrono::steady_clock::now();
  Baseline baseline = sim::BaselineOf(hunt);
  Progress progress;
  const absl::Status status = sim::RecordRuns(
      runs, static_cast<int>(request.jobs),
      [&](uint64_t done) {
        if (progress.IsDue()) progress.Show(SpeedText(done, SecondsSince(started)));
        return SignalNotice::HasCome() ? BatchStep::kStop : BatchStep::kGoOn;
      },
      baseline);
  Progress::Clear();
  if (!status.ok()) return status;
  std::cerr << SpeedText(baseline.runs, SecondsSince(started)) << '\n';
  if (baseline.runs == runs) return baseline;
  return absl::AbortedError(Cat("interrupted after ", std::to_string(baseline.runs), " of ",
                                std::to_string(runs),
                                " runs, so that there is nothing to compare"));
}

// "`whorl hunt ... --save-baseline FILE`".
std::string SaveCommand(const HuntRequest& request, const sim::HuntOptions& hunt, uint64_t runs,
                        const std::string& path) {
  return Cat(ShellQuoted(request.command), " hunt ", HuntWords(hunt), " --runs ",
             std::to_string(runs), " --save-baseline ", ShellQuoted(path));
}

int SayRecorded(const Baseline& baseline, const std::string& path) {
  size_t figures = 0;
  for (const auto& [protocol, record] : baseline.protocols) figures += record.columns.size();
  std::cout << Printable(path, 1'000) << ": "
            << CountText(static_cast<int64_t>(baseline.runs), "run", "runs") << ", " << figures
            << " figures; compare with it by --baseline\n";
  return End(FlushStdout());
}

// --- comparing ---------------------------------------------------------------------------------

int Tell(const HuntRequest& request, const BaselineComparison& comparison,
         const ComparisonWords& words, OutputFile& file) {
  absl::Status done;
  if (request.json || !request.out.empty()) {
    const std::string lines = MoveLines(comparison, words);
    if (request.json) std::cout << lines;
    if (!request.out.empty()) {
      file.stream() << lines;
      done.Update(file.Commit());
    }
  }
  if (!request.json) PrintMoves(comparison, words, std::cout);
  done.Update(FlushStdout());
  return EndJudged(done, *request.exits, {.has_found = comparison.HasFound()});
}

// Why an option that was given is not the file's; empty if it was not given, or says the same.
std::string Contradiction(const CLI::App& app, std::string_view option, bool is_same,
                          const std::string& of_file) {
  if (app.get_option(std::string(option))->count() == 0 || is_same) return {};
  return Cat("it was recorded with ", option, " ", of_file, "; leave ", option,
             " out, or record another one by --save-baseline");
}

std::string KindsText(const std::vector<sim::FaultKind>& kinds) {
  std::string text;
  for (const sim::FaultKind kind : kinds) {
    text += Cat(text.empty() ? "" : ",", sim::FaultKindText(kind));
  }
  return text.empty() ? "left out" : text;
}

std::vector<std::string> ContradictionsOf(const CLI::App& app, const HuntRequest& request,
                                          const Baseline& baseline) {
  const sim::HuntOptions& file = baseline.hunt;
  const sim::HuntOptions& given = request.hunt;
  const std::vector<std::string_view> protocols(file.protocols.begin(), file.protocols.end());
  std::vector<std::string> errors;
  for (std::string error : {
           Contradiction(app, "--protocol", given.protocols == file.protocols, ListOf(protocols)),
           Contradiction(app, "--seed", given.seed == file.seed, std::to_string(file.seed)),
           Contradiction(app, "--runs", request.runs.value_or(0) == baseline.runs,
                         std::to_string(baseline.runs)),
           Contradiction(app, "--duration", given.world.duration == file.world.duration,
                         FormatDuration(file.world.duration)),
           Contradiction(app, "--faults", given.world.kinds == file.world.kinds,
                         KindsText(file.world.kinds)),
           Contradiction(app, "--beyond-assumptions", file.world.beyond_assumptions, "left out"),
       }) {
    if (!error.empty()) errors.push_back(std::move(error));
  }
  return errors;
}

// Runs are shared out among all protocols, so a record of all of them is of use while these are the same.
absl::Status CheckProtocols(const Baseline& baseline, const std::string& path) {
  const std::vector<std::string>& names = baseline.hunt.protocols;
  const bool is_all = std::ranges::equal(names, Protocols(), {}, {}, &ProtocolInfo::name);
  if (is_all || names.size() == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat(Printable(path, 1'000),
          ": is of other protocols than this whorl has; record another one by --save-baseline"));
}

// --- other commands ----------------------------------------------------------------------------

// A folder that is removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "whorl-XXXXXX").string();
    if (!error && mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  // Empty: it could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs a line of shell, which hears the signals that this process handles on a thread. Returns its exit code, or
// 128 and the signal that ended it, as shells do.
int RunShell(const std::string& line) {
  std::array<std::string, 3> words = {"sh", "-c", line};
  std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/bin/sh", nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  constexpr int kNotStarted = 127;
  if (error != 0) return kNotStarted;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return kNotStarted;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What the command records of the hunt, into `path`.
absl::StatusOr<Baseline> RecordedBy(const HuntRequest& request, const std::string& command,
                                    uint64_t runs, const std::string& path) {
  const int code = RunShell(Cat(command, " hunt ", HuntWords(request.hunt), " --runs ",
                                std::to_string(runs), " --jobs ", std::to_string(request.jobs),
                                " --save-baseline ", ShellQuoted(path), " >/dev/null"));
  const std::string place = Cat("--compare-commands: ", Quoted(command));
  if (SignalNotice::HasCome()) return absl::AbortedError(Cat(place, " was interrupted"));
  if (code == 126 || code == 127) {
    return absl::InvalidArgumentError(
        Cat(place, " cannot be started; name a whorl, or words of a shell that start one"));
  }
  std::error_code error;
  if (code == kAsExpected && std::filesystem::exists(path, error)) return ReadBaseline(path);
  return absl::InvalidArgumentError(
      Cat(place, " ended with ", std::to_string(code),
          code == kBadInput
              ? " and recorded nothing; is it older than --save-baseline, or lacks the protocol?"
              : " and recorded nothing"));
}

// Why the two cannot be compared; empty if they can.
std::string Difference(const std::array<Baseline, 2>& both, const HuntRequest& request) {
  const auto& [before, now] = both;
  if (before.hunt == now.hunt && before.runs == now.runs) return {};
  if (before.hunt.protocols == now.hunt.protocols) {
    return "the two did not record the same hunt";
  }
  std::string text = "the two have not the same protocols";
  for (size_t side = 0; side < both.size(); ++side) {
    const std::vector<std::string>& names = both[side].hunt.protocols;
    const std::vector<std::string_view> words(names.begin(), names.end());
    text += Cat("; ", Quoted(request.compared_commands[side]), " has ", ListOf(words));
  }
  return Cat(text, "; name one by --protocol");
}

}  // namespace

int SaveBaseline(const HuntRequest& request) {
  const SignalNotice notice;
  OutputFile file;
  if (const absl::Status opened = file.Open(request.save_baseline); !opened.ok())
    return End(opened);
  const absl::StatusOr<Baseline> baseline =
      Record(request, request.hunt, RunsAsked(request).value_or(1));
  if (!baseline.ok()) return End(baseline.status());
  for (const auto& [protocol, record] : baseline->protocols) {
    if (record.unrepeatable.empty()) continue;
    Complain(Cat(protocol, ": run ", std::to_string(record.unrepeatable.front()),
                 " came out otherwise the second time, so nothing is recorded"));
    return kExpectationFailed;
  }
  file.stream() << BaselineText(*baseline);
  if (const absl::Status written = file.Commit(); !written.ok()) return End(written);
  return SayRecorded(*baseline, request.save_baseline);
}

int CompareWithBaseline(const CLI::App& app, HuntRequest request) {
  const SignalNotice notice;
  const absl::StatusOr<Baseline> before = ReadBaseline(request.baseline);
  if (!before.ok()) return End(before.status());
  if (const absl::Status known = CheckProtocols(*before, request.baseline); !known.ok()) {
    return End(known);
  }
  const std::vector<std::string> errors = ContradictionsOf(app, request, *before);
  for (const std::string& error : errors) {
    Complain(Cat(Printable(request.baseline, 1'000), ": ", error));
  }
  if (!errors.empty()) return kBadInput;
  OutputFile file;
  if (!request.out.empty()) {
    if (const absl::Status opened = file.Open(request.out); !opened.ok()) return End(opened);
  }
  const absl::StatusOr<Baseline> now = Record(request, before->hunt, before->runs);
  if (!now.ok()) return End(now.status());
  const ComparisonWords words{
      .before = "recorded",
      .now = "now",
      .command = ShellQuoted(request.command),
      .accept = SaveCommand(request, before->hunt, before->runs, request.baseline)};
  return Tell(request, CompareBaselines(*before, *now), words, file);
}

int CompareCommands(const HuntRequest& request) {
  const SignalNotice notice;
  OutputFile file;
  if (!request.out.empty()) {
    if (const absl::Status opened = file.Open(request.out); !opened.ok()) return End(opened);
  }
  const ScratchFolder folder;
  if (folder.path().empty()) {
    return End(absl::UnavailableError("no folder for temporary files can be made; set TMPDIR"));
  }
  std::array<Baseline, 2> both;
  for (size_t side = 0; side < both.size(); ++side) {
    absl::StatusOr<Baseline> recorded =
        RecordedBy(request, request.compared_commands[side], RunsAsked(request).value_or(1),
                   (std::filesystem::path(folder.path()) / std::to_string(side)).string());
    if (!recorded.ok()) return End(recorded.status());
    both[side] = *std::move(recorded);
  }
  if (const std::string difference = Difference(both, request); !difference.empty()) {
    return End(absl::InvalidArgumentError(Cat("--compare-commands: ", difference)));
  }
  const ComparisonWords words{
      .before = "first", .now = "second", .command = request.compared_commands[1], .accept = {}};
  return Tell(request, CompareBaselines(both[0], both[1]), words, file);
}

}  // namespace whorl::cli
