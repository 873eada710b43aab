#include "cli/check_command.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check.h"
#include "check/json_lines.h"
#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/version.h"
#include "sim/measure/statistics.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/json_text.h"
#include "sim/scenario/number_text.h"

namespace whorl::cli {
namespace {

using check::Finding;
using check::HistoryVerdict;
using check::InvariantFinding;
using sim::Cat;
using sim::Json;

constexpr int kCheckFormat = 1;
constexpr int64_t kErrorsShown = 20;

struct CheckRequest {
  std::vector<std::string> files;
  std::string protocol;
  std::string lock;
  std::string table;
  std::vector<std::string> clocks;
  std::optional<Duration> lease;
  std::optional<Duration> clock_error;
  std::optional<Duration> window;
  bool json = false;
};

// --- reading ---------------------------------------------------------------------------------------

// One input, a line at a time.
class Source {
 public:
  absl::Status Open(const std::string& path) {
    place_.file = path == "-" ? "standard input" : path;
    if (path == "-") {
      stream_ = &std::cin;
      return absl::OkStatus();
    }
    file_ = std::make_unique<std::ifstream>();
    stream_ = file_.get();
    return OpenInput(path, *file_);
  }
  bool Next() {
    if (!std::getline(*stream_, line_)) return false;
    ++place_.line;
    return true;
  }
  const std::string& line() const { return line_; }
  const check::Place& place() const { return place_; }

 private:
  std::unique_ptr<std::ifstream> file_;
  std::istream* stream_ = nullptr;
  std::string line_;
  check::Place place_;
};

class Judgement {
 public:
  Judgement(const ProtocolInfo& protocol, const CheckRequest& request)
      : reader_(protocol, {.lock = request.lock, .table = request.table}),
        checker_(protocol, {.lease = request.lease,
                            .clock_error = request.clock_error,
                            .window = request.window.value_or(check::CheckOptions{}.window)}) {}

  // Reads a line. Returns the time of its last operation, by which files are merged.
  std::optional<Timestamp> Take(const Source& source) {
    operations_.clear();
    const std::string wrong = reader_.Read(source.line(), source.place(), operations_);
    if (!wrong.empty()) {
      if (errors_++ < kErrorsShown) Complain(wrong);
      checker_.AddUnread(source.place());
    }
    std::optional<Timestamp> at;
    for (check::Operation& operation : operations_) {
      if (const std::optional<Timestamp> time = check::TimeOf(operation)) at = time;
      ++added_;
      checker_.Add(std::move(operation));
    }
    return at;
  }
  HistoryVerdict Verdict() { return checker_.Verdict(); }
  int64_t errors() const { return errors_; }
  int64_t added() const { return added_; }

 private:
  check::JsonLines reader_;
  check::Checker checker_;
  std::vector<check::Operation> operations_;
  int64_t errors_ = 0;
  int64_t added_ = 0;
};

// Reads all sources side by side, always the one that has come least far in time.
void ReadAll(std::vector<Source>& sources, Judgement& judgement) {
  std::vector<std::pair<Timestamp, Source*>> open;
  for (Source& source : sources) open.emplace_back(Timestamp::Min(), &source);
  while (!open.empty()) {
    const auto next = std::ranges::min_element(
        open, [](const auto& a, const auto& b) { return a.first < b.first; });
    if (!next->second->Next()) {
      open.erase(next);
      continue;
    }
    if (const auto at = judgement.Take(*next->second)) next->first = *at;
  }
}

// --- for people ------------------------------------------------------------------------------------

sim::Distribution DistributionOf(const std::vector<Duration>& durations) {
  std::vector<int64_t> ns;
  for (const Duration duration : durations) ns.push_back(duration.ns);
  return sim::DistributionOf(std::move(ns), /*missing=*/0);
}

std::string Numbers(const std::vector<Duration>& durations) {
  const sim::Distribution all = DistributionOf(durations);
  if (all.count == 0) return "none";
  return Cat(std::to_string(all.count), " (median ", FormatDuration({*all.p50.value}), ", 90 % ",
             FormatDuration({*all.p90.value}), ", longest ", FormatDuration({*all.max}), ")");
}

std::string Explained(const InvariantFinding& found) {
  std::string text = found.text;
  if (found.finding == Finding::kViolated && found.violations > 1) {
    text += Cat(" (the first of ", std::to_string(found.violations), ")");
  }
  if (found.finding == Finding::kPossible && found.clocks_wanted) {
    text += Cat("; clocks known to ", FormatDuration(*found.clocks_wanted), " would");
  }
  if (!found.remedy.empty()) text += Cat("; to know: ", found.remedy);
  return text;
}

void Print(const HistoryVerdict& verdict, const ProtocolInfo& protocol) {
  for (const InvariantFinding& found : verdict.invariants) {
    if (found.finding == Finding::kNotJudged) continue;
    const bool promised =
        protocol.promises[static_cast<size_t>(found.invariant)] == Promise::kPromised;
    std::string word(WordOf(found.finding));
    word.resize(std::max<size_t>(word.size(), 9), ' ');
    std::cout << word << ' ' << WordOf(found.invariant) << (promised ? " (promised)" : "") << '\n';
    const std::string text = Explained(found);
    if (!text.empty()) std::cout << "          " << sim::Printable(text, 2'000) << '\n';
  }
  std::string others;
  for (const InvariantFinding& found : verdict.invariants) {
    if (found.finding != Finding::kNotJudged) continue;
    others += Cat("\n          ", WordOf(found.invariant), ": ", found.text);
  }
  std::cout << "not judged" << others << "\n\n";
  const check::HistoryMetrics& metrics = verdict.metrics;
  std::cout << "row changes " << metrics.row_changes << ", lines of processes "
            << metrics.statements << ", calls " << metrics.calls << "; repeated "
            << metrics.duplicates << ", gaps " << metrics.gaps << ", too late " << metrics.late
            << '\n'
            << "grants " << metrics.grants << ", takeovers " << metrics.takeovers << '\n'
            << "time without a lease: " << Numbers(metrics.without_holder) << '\n'
            << "overlaps of beliefs, at least: " << Numbers(metrics.belief_overlaps) << '\n';
  std::cout << "taken for granted:";
  for (const std::string& assumption : verdict.assumptions) std::cout << "\n  " << assumption;
  std::cout << '\n';
}

// --- for machines ----------------------------------------------------------------------------------

Json DurationsJson(const std::vector<Duration>& durations) {
  const sim::Distribution all = DistributionOf(durations);
  Json json = {{"count", all.count}};
  if (all.count == 0) return json;
  json["p50"] = sim::SecondsText(Duration{*all.p50.value});
  json["p90"] = sim::SecondsText(Duration{*all.p90.value});
  json["p99"] = sim::SecondsText(Duration{*all.p99.value});
  json["max"] = sim::SecondsText(Duration{*all.max});
  return json;
}

Json VerdictJson(const HistoryVerdict& verdict, const CheckRequest& request, int64_t errors) {
  Json json = {{"format", "whorl-check"}, {"version", kCheckFormat}, {"whorl", kVersion}};
  json["protocol"] = request.protocol;
  Json& invariants = json["invariants"] = Json::object();
  for (const InvariantFinding& found : verdict.invariants) {
    Json& one = invariants[std::string(WordOf(found.invariant))];
    one["verdict"] = std::string(WordOf(found.finding));
    one["violations"] = found.violations;
    one["possible"] = found.possible;
    one["at"] = found.at ? Json(FormatRfc3339(*found.at)) : Json(nullptr);
    one["text"] = found.text;
    one["remedy"] = found.remedy;
    one["clocks_wanted"] =
        found.clocks_wanted ? Json(sim::SecondsText(*found.clocks_wanted)) : Json(nullptr);
  }
  const check::HistoryMetrics& metrics = verdict.metrics;
  json["metrics"] = {{"row_changes", metrics.row_changes},
                     {"statements", metrics.statements},
                     {"calls", metrics.calls},
                     {"grants", metrics.grants},
                     {"takeovers", metrics.takeovers},
                     {"duplicates", metrics.duplicates},
                     {"gaps", metrics.gaps},
                     {"late", metrics.late}};
  json["metrics"]["without_holder"] = DurationsJson(metrics.without_holder);
  json["metrics"]["belief_overlaps"] = DurationsJson(metrics.belief_overlaps);
  json["unread"] = errors;
  json["problems"] = verdict.problems;
  json["assumptions"] = verdict.assumptions;
  return json;
}

// --- the command -----------------------------------------------------------------------------------

const ProtocolInfo* ChooseProtocol(const CheckRequest& request) {
  std::vector<std::string_view> names;
  for (const ProtocolInfo& protocol : Protocols()) {
    if (check::CanJudge(protocol)) names.push_back(protocol.name);
  }
  if (request.protocol.empty()) {
    Complain(Cat("check wants --protocol: ", sim::ListOf(names)));
    return nullptr;
  }
  const ProtocolInfo* protocol = FindProtocol(request.protocol);
  if (protocol == nullptr) {
    Complain(sim::UnknownWord("protocol", request.protocol, names));
    return nullptr;
  }
  if (!check::CanJudge(*protocol)) {
    Complain(Cat("histories of ", protocol->name,
                 ", which has no tokens, are not judged yet; known are ", sim::ListOf(names)));
    return nullptr;
  }
  return protocol;
}

bool Opens(const std::string& path, Source& source) {
  const absl::Status opened = source.Open(path);
  if (!opened.ok()) Complain(std::string(opened.message()));
  return opened.ok();
}

int RunCheck(const CheckRequest& request) {
  const ProtocolInfo* protocol = ChooseProtocol(request);
  if (protocol == nullptr) return kBadInput;
  if (request.files.empty()) {
    Complain("check wants the files of a history, or - (whorl check --help has examples)");
    return kBadInput;
  }
  if (std::ranges::count(request.files, "-") > 1) {
    Complain("standard input can be read once only");
    return kBadInput;
  }
  Judgement judgement(*protocol, request);
  for (const std::string& path : request.clocks) {
    Source clocks;
    if (!Opens(path, clocks)) return kBadInput;
    while (clocks.Next()) judgement.Take(clocks);
  }
  std::vector<Source> sources(request.files.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!Opens(request.files[i], sources[i])) return kBadInput;
  }
  ReadAll(sources, judgement);
  if (judgement.errors() > kErrorsShown) {
    Complain(Cat("and ", std::to_string(judgement.errors() - kErrorsShown),
                 " more lines that cannot be read"));
  }
  if (judgement.added() == 0) {
    Complain("there is no record of a history in what was read");
    return kBadInput;
  }
  const HistoryVerdict verdict = judgement.Verdict();
  for (const std::string& problem : verdict.problems) Complain(problem);
  if (request.json) {
    std::cout << sim::DumpJson(VerdictJson(verdict, request, judgement.errors()), 2) << '\n';
  } else {
    Print(verdict, *protocol);
  }
  const bool violated = std::ranges::any_of(verdict.invariants, [](const InvariantFinding& found) {
    return found.finding == Finding::kViolated;
  });
  const bool is_bad = judgement.errors() > 0 || !verdict.problems.empty();
  const int code = is_bad ? kBadInput : kAsExpected;
  return End(FlushStdout(), violated ? kExpectationFailed : code);
}

constexpr std::string_view kCheckFooter = R"(Examples:
  whorl check examples/check/changes.jsonl --protocol spindle_v2 --lease 10s
  whorl check examples/check/*.jsonl --protocol spindle_v2 --clock-error 50ms
  cat examples/check/*.jsonl | whorl check - --protocol spindle_v2 --json

A file has JSON lines: data change records of a change stream on the lock table, and what processes
log (docs/CHECKING.md has the schema, and what to log at least). Files are merged by time.
Each invariant holds, is violated, is possibly violated (what would decide it is said), or is unknown.
Exit codes: 0 nothing was violated for certain; 1 something was; 2 bad input (a line that cannot be read, a
clock that cannot be; the rest is judged) or usage; 3 the output could not be written; 130 interrupted.)";

}  // namespace

SubCommand AddCheckCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("check", "Judge what happened: a history that others recorded");
  const auto request = std::make_shared<CheckRequest>();
  app->add_option("files", request->files, "files of JSON lines, or - (standard input)")
      ->type_name("FILE..");
  app->add_option("--protocol", request->protocol, "the lock's protocol: whorl protocols")
      ->type_name("NAME");
  app->add_option("--lock", request->lock, "judge this lock only")->type_name("NAME");
  app->add_option("--table", request->table, "leave out changes of other tables")
      ->type_name("NAME");
  AddText(
      *app, "--lease", "TIME", request,
      [](const std::string& text, CheckRequest& to) {
        to.lease = DurationOf("--lease", text, "10s");
      },
      "the lease of processes that do not say theirs");
  AddText(
      *app, "--clock-error", "TIME", request,
      [](const std::string& text, CheckRequest& to) {
        to.clock_error = DurationOf("--clock-error", text, "10ms");
      },
      "how far the clocks of processes may be off, either way");
  app->add_option("--clocks", request->clocks,
                  "what is known of each process's clock: lines \"process\"")
      ->type_name("FILE")
      ->allow_extra_args(false);
  AddText(
      *app, "--window", "TIME", request,
      [](const std::string& text, CheckRequest& to) {
        to.window = DurationOf("--window", text, "60s");
      },
      "how much later a record may come than one of a later time (default: 60s)");
  app->add_flag("--json", request->json, "print one JSON document");
  app->footer(std::string(kCheckFooter));
  return {.app = app, .run = [request] { return RunCheck(*request); }};
}

}  // namespace whorl::cli
