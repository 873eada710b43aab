#include "cli/diff_command.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/version.h"
#include "sim/report/trace_diff.h"
#include "sim/report/trace_page.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/number_text.h"

namespace whorl::cli {
namespace {

using sim::Cat;
using sim::Json;

constexpr int kDiffFormat = 1;

struct DiffOptions {
  std::vector<std::string> paths;
  bool json = false;
  std::string html;
};

// --- for people ----------------------------------------------------------------------------------

std::string Shown(const std::string& text) { return sim::Printable(text, sim::kMaxTraceLine); }
std::string Shown(const Json& json) { return Shown(sim::DumpJson(json)); }

void PrintFields(const std::vector<sim::FieldDifference>& fields) {
  for (const sim::FieldDifference& field : fields) {
    std::cout << "  " << Shown(field.field) << ": " << Shown(field.a) << " / " << Shown(field.b)
              << '\n';
  }
}

std::string EventsText(uint64_t events) {
  return sim::CountText(static_cast<int64_t>(events), "event", "events");
}

void PrintEvent(const sim::EventDifference& event, const DiffOptions& options) {
  std::cout << "the first event that differs is number " << event.n << ":\n";
  for (const std::string& line : event.before) std::cout << "  " << Shown(line) << '\n';
  const auto print = [](char mark, const std::optional<std::string>& line,
                        const std::string& path) {
    std::cout << mark << ' '
              << (line.has_value() ? Shown(*line) : Cat("(", Shown(path), " ends here)")) << '\n';
  };
  print('-', event.a, options.paths[0]);
  print('+', event.b, options.paths[1]);
  if (event.fields.empty()) return;
  std::cout << "it differs in:\n";
  PrintFields(event.fields);
}

void PrintDifference(const sim::TraceDifference& difference, const DiffOptions& options) {
  if (difference.IsEqual()) {
    std::cout << "equal: " << EventsText(difference.equal_events) << '\n';
    return;
  }
  if (!difference.header.empty()) {
    std::cout << "the heads differ (" << Shown(options.paths[0]) << " / " << Shown(options.paths[1])
              << "):\n";
    PrintFields(difference.header);
  }
  if (difference.event.has_value()) return PrintEvent(*difference.event, options);
  std::cout << "all " << EventsText(difference.equal_events) << " are alike";
  if (difference.hash_from.has_value()) {
    std::cout << ", but the hash differs from event " << *difference.hash_from
              << " on: the seeds differ, or something that was not observed does";
  }
  std::cout << '\n';
}

// --- for machines --------------------------------------------------------------------------------

Json FieldsJson(const std::vector<sim::FieldDifference>& fields) {
  Json json = Json::array();
  for (const sim::FieldDifference& field : fields) {
    json.push_back({{"field", field.field}, {"a", field.a}, {"b", field.b}});
  }
  return json;
}

Json LineJson(const std::optional<std::string>& line) {
  return line.has_value() ? Json::parse(*line, nullptr, /*allow_exceptions=*/false) : Json(nullptr);
}

Json DifferenceJson(const sim::TraceDifference& difference, const DiffOptions& options) {
  Json json = {{"format", "whorl-diff"}, {"version", kDiffFormat}, {"whorl", kVersion}};
  json["a"] = options.paths[0];
  json["b"] = options.paths[1];
  json["equal"] = difference.IsEqual();
  json["header"] = FieldsJson(difference.header);
  json["equal_events"] = difference.equal_events;
  json["hash_from"] =
      difference.hash_from.has_value() ? Json(*difference.hash_from) : Json(nullptr);
  Json& first = json["first"] = nullptr;
  if (!difference.event.has_value()) return json;
  const sim::EventDifference& event = *difference.event;
  first = {{"n", event.n}};
  Json& before = first["before"] = Json::array();
  for (const std::string& line : event.before) before.push_back(LineJson(line));
  first["a"] = LineJson(event.a);
  first["b"] = LineJson(event.b);
  first["fields"] = FieldsJson(event.fields);
  return json;
}

// --- the command ---------------------------------------------------------------------------------

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
  head["difference"] = DifferenceJson(difference, options);
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
      return absl::InvalidArgumentError(
          Cat("--html ", Shown(options.html), " would write over the trace ", Shown(path)));
    }
    if (!std::filesystem::is_regular_file(path, ignored)) {
      return absl::InvalidArgumentError(
          Cat(Shown(path), ": --html reads a trace twice, so it wants a file"));
    }
  }
  return PagesMissing();
}

int RunDiff(const DiffOptions& options) {
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
    std::cout << sim::DumpJson(DifferenceJson(*difference, options), 2) << '\n';
  } else {
    PrintDifference(*difference, options);
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

A failing run beside one that passes: trace two seeds, and compare them.
  whorl replay scenarios/insert_race.json --seed 1 --repeat 2 --trace seeds
  whorl diff seeds/insert_race.1.jsonl seeds/insert_race.2.jsonl --html both.html

Exit codes: 0 equal; 1 they differ; 2 bad input (no trace, another version, cut off) or usage;
3 the output could not be written; 130 interrupted.)";

}  // namespace

SubCommand AddDiffCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("diff", "Find the first event in which two traces differ");
  const auto options = std::make_shared<DiffOptions>();
  app->add_option("traces", options->paths, "two traces, as whorl replay --trace writes them")
      ->type_name("A B")
      ->expected(0, 2);
  app->add_flag("--json", options->json, "print one JSON document");
  app->add_option("--html", options->html,
                  "write both runs into FILE as a page, side by side from their first difference")
      ->type_name("FILE");
  app->footer(std::string(kDiffFooter));
  return {.app = app, .run = [options] { return RunDiff(*options); }};
}

}  // namespace whorl::cli
