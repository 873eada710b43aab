#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/diff/nearest.h"
#include "cli/diff/text.h"
#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/page.h"
#include "sim/report/trace_diff.h"

namespace whorl::cli {
namespace {

using sim::Json;

struct DiffOptions {
  std::vector<std::string> paths;
  bool json = false;
  std::string html;
  bool nearest = false;
  // With `nearest` only:
  std::optional<uint64_t> seed;
  std::optional<Invariant> invariant;
  std::optional<uint64_t> jobs;
};

DiffNames TraceNames(const DiffOptions& options) { return {options.paths[0], options.paths[1]}; }

bool OpenTrace(const std::string& path, std::ifstream& stream) {
  const absl::Status opened = OpenInput(path, stream);
  if (!opened.ok()) Complain(std::string(opened.message()));
  return opened.ok();
}

// The page of both runs. The traces are read again from their beginnings, and whole.
absl::Status WriteComparison(const sim::TraceDifference& difference, const DiffOptions& options) {
  OutputFile file;
  if (absl::Status opened = file.Open(options.html); !opened.ok()) return opened;
  Json head = Json::object();
  head["names"] = options.paths;
  head["difference"] = DifferenceJson(difference, TraceNames(options));
  std::string bytes;
  for (const std::string& path : options.paths) {
    std::ifstream stream;
    if (absl::Status opened = OpenInput(path, stream); !opened.ok()) return opened;
    const absl::StatusOr<sim::PageModel::Data> run =
        sim::PageOfTrace({.stream = &stream, .name = path});
    if (!run.ok()) return run.status();
    if (bytes.empty()) head["bytes"] = run->bytes.size();
    head["heads"].push_back(run->head);
    bytes += run->bytes;
  }
  WritePage(PageKind::kCompare, head, bytes, file.stream());
  return file.Commit();
}

// Reads each trace once more for the page, so a pipe cannot be one.
absl::Status CheckHtml(const DiffOptions& options) {
  if (options.html.empty()) return absl::OkStatus();
  for (const std::string& path : options.paths) {
    std::error_code ignored;
    if (std::filesystem::equivalent(path, options.html, ignored)) {
      return absl::InvalidArgumentError(Cat("--html ", ShownTrace(options.html),
                                            " would write over the trace ", ShownTrace(path)));
    }
    if (!std::filesystem::is_regular_file(path, ignored)) {
      return absl::InvalidArgumentError(
          Cat(ShownTrace(path), ": --html reads a trace twice, so it wants a file"));
    }
  }
  return PagesMissing();
}

// Whether options were given that only --nearest has; says so.
bool RefusesWithoutNearest(const DiffOptions& options) {
  const std::pair<std::string_view, bool> only[] = {{"--seed", options.seed.has_value()},
                                                    {"--invariant", options.invariant.has_value()},
                                                    {"--jobs", options.jobs.has_value()}};
  bool refuses = false;
  for (const auto& [name, is_given] : only) {
    if (!is_given) continue;
    Complain(Cat(name, " is for the run of a scenario; it wants --nearest"));
    refuses = true;
  }
  return refuses;
}

int RunDiff(const DiffOptions& options) {
  if (options.nearest) {
    return DiffNearest({.paths = options.paths,
                        .seed = options.seed,
                        .invariant = options.invariant,
                        .json = options.json,
                        .html = options.html,
                        .jobs = options.jobs.value_or(DefaultJobs())});
  }
  if (RefusesWithoutNearest(options)) return kBadInput;
  if (options.paths.size() != 2) {
    Complain(
        "diff wants two traces, which whorl replay --trace writes (whorl diff --help has "
        "examples)");
    return kBadInput;
  }
  if (const absl::Status ready = CheckHtml(options); !ready.ok()) return End(ready);
  std::ifstream a;
  std::ifstream b;
  const bool opened = OpenTrace(options.paths[0], a) && OpenTrace(options.paths[1], b);
  if (!opened) return kBadInput;
  const absl::StatusOr<sim::TraceDifference> difference = sim::DiffTraces(
      {.stream = &a, .name = options.paths[0]}, {.stream = &b, .name = options.paths[1]});
  if (!difference.ok()) {
    Complain(std::string(difference.status().message()));
    return kBadInput;
  }
  if (!options.html.empty()) {
    if (const absl::Status written = WriteComparison(*difference, options); !written.ok()) {
      return End(written);
    }
  }
  if (options.json) {
    std::cout << sim::DumpJson(DifferenceJson(*difference, TraceNames(options)), 2) << '\n';
  } else {
    PrintDifference(*difference, TraceNames(options));
  }
  return End(FlushStdout(), difference->IsEqual() ? kAsExpected : kExpectationFailed);
}

constexpr std::string_view kDiffFooter = R"(Examples:
  whorl replay scenarios/leader_crashes.json --trace before
  ... change something, build ...
  whorl replay scenarios/leader_crashes.json --trace after
  whorl diff before/leader_crashes.1.jsonl after/leader_crashes.1.jsonl
  whorl diff before/leader_crashes.1.jsonl after/leader_crashes.1.jsonl --json
  whorl diff before/leader_crashes.1.jsonl after/leader_crashes.1.jsonl --html both.html

A failing run beside the nearest one that passes:
  whorl diff scenarios/insert_race.json --nearest
  whorl diff scenarios/insert_race.json --nearest --seed 7 --invariant lease_respected --html both.html
The nearest is, of 200 continuations of the failing run after each moment, the one in which the invariant
holds and which leaves the failing run last.

Exit codes: 0 equal, with --nearest no violation; 1 they differ, with --nearest a violation; 2 bad input (no
trace, another version, cut off) or usage; 3 the output could not be written; 130 interrupted.)";

}  // namespace

SubCommand AddDiffCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("diff", "Find the first event in which two runs differ");
  const auto options = std::make_shared<DiffOptions>();
  app->add_option("traces", options->paths,
                  "two traces, as whorl replay --trace writes them; with --nearest a scenario")
      ->type_name("A B")
      ->expected(0, 2);
  app->add_flag("--json", options->json, "print one JSON document");
  app->add_option("--html", options->html,
                  "write both runs into FILE as a page, side by side from their first difference")
      ->type_name("FILE");
  app->add_flag("--nearest", options->nearest,
                "run a scenario, and compare it with the nearest run that does not violate what it "
                "violates");
  AddNumber(
      *app, "--seed", 0, std::numeric_limits<uint64_t>::max(),
      [options](uint64_t seed) { options->seed = seed; },
      "with --nearest: seed of the failing run, instead of the file's");
  AddText(
      *app, "--invariant", "NAME", options,
      [](const std::string& text, DiffOptions& given) {
        given.invariant = InvariantOf("--invariant", text);
      },
      "with --nearest: the invariant that has to hold (default: the one that was violated first)");
  AddNumber(
      *app, "--jobs", 1, kJobsMax, [options](uint64_t n) { options->jobs = n; },
      "with --nearest: runs at the same time (default: one for each core); changes no output");
  app->footer(std::string(kDiffFooter));
  return {.app = app, .run = [options] { return RunDiff(*options); }};
}

}  // namespace whorl::cli
