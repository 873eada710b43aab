#include "cli/check_command.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check.h"
#include "check/decoder.h"
#include "check/history.h"
#include "check/infer.h"
#include "check/input.h"
#include "check/reproduce.h"
#include "check/verdict_json.h"
#include "cli/check_scenario.h"
#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
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
  std::optional<check::InputFormat> format;
  std::string pattern;
  std::optional<Duration> lease;
  std::optional<Duration> clock_error;
  std::optional<Duration> window;
  std::string scenario_path;
  bool json = false;
};

// --- reading ---------------------------------------------------------------------------------------

// One input, a line at a time, whatever it is compressed with.
class Source {
 public:
  absl::Status Open(const std::string& path) {
    place_.file = path == "-" ? "standard input" : path;
    if (path == "-") return absl::OkStatus();
    file_ = std::make_unique<std::ifstream>();
    return OpenInput(path, *file_);
  }

  // Gives readers a line of their own: the file's format is found out by its first lines.
  void ReadAs(const ProtocolInfo& protocol, check::InputOptions options) {
    input_ = std::make_unique<check::Input>(protocol, std::move(options));
  }
  check::Input& input() { return *input_; }

  // Whether Next() waits for somebody else to write.
  bool MayWait() const {
    return file_ == nullptr && !has_ended_ && text_.find('\n', begin_) == std::string::npos;
  }
  // Goes to the next line, and waits for one if there is none yet. False at the end of the input.
  bool Next() {
    size_t end = text_.find('\n', begin_);
    while (end == std::string::npos && !has_ended_) {
      text_.erase(0, begin_);
      const size_t had = text_.size();
      begin_ = 0;
      Fill();
      end = text_.find('\n', had);
    }
    if (begin_ >= text_.size()) return false;
    end = std::min(end, text_.size());
    line_ = std::string_view(text_).substr(begin_, end - begin_);
    begin_ = end + 1;
    ++place_.line;
    return true;
  }
  std::string_view line() const { return line_; }
  const check::Place& place() const { return place_; }
  // What was wrong with the bytes; empty if nothing was.
  const std::string& broken() const { return broken_; }

 private:
  void Fill() {
    const std::string_view bytes = Bytes();
    std::string wrong = bytes.empty() ? decoder_.Finish(text_) : decoder_.Add(bytes, text_);
    has_ended_ = bytes.empty() || !wrong.empty();
    if (!wrong.empty()) broken_ = Cat(place_.file, ": ", wrong);
  }

  // The bytes that are there, waiting for the first of them; none at the end.
  std::string_view Bytes() {
    if (file_ == nullptr) {
      // A signal is heard by another thread, so it does not end the call.
      constexpr int kMilliseconds = 100;
      pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
      while (!SignalNotice::HasCome() && poll(&input, 1, kMilliseconds) == 0) continue;
      if (SignalNotice::HasCome()) return {};
      const ssize_t got = read(STDIN_FILENO, buffer_.data(), buffer_.size());
      return {buffer_.data(), got > 0 ? static_cast<size_t>(got) : 0};
    }
    if (file_->peek() == std::ifstream::traits_type::eof()) return {};
    const auto there =
        static_cast<size_t>(std::max<std::streamsize>(1, file_->rdbuf()->in_avail()));
    file_->read(buffer_.data(), static_cast<std::streamsize>(std::min(there, buffer_.size())));
    return {buffer_.data(), static_cast<size_t>(file_->gcount())};
  }

  static constexpr size_t kPiece = size_t{64} << 10U;
  std::unique_ptr<std::ifstream> file_;
  std::unique_ptr<check::Input> input_;
  check::Decoder decoder_;
  std::vector<char> buffer_ = std::vector<char>(kPiece);
  std::string text_;
  size_t begin_ = 0;
  bool has_ended_ = false;
  std::string_view line_;
  check::Place place_;
  std::string broken_;
};

class Judgement {
 public:
  Judgement(const ProtocolInfo& protocol, const CheckRequest& request)
      : keeps_all_(!request.scenario_path.empty()),
        checker_(protocol, {.lease = request.lease,
                            .clock_error = request.clock_error,
                            .window = request.window.value_or(check::CheckOptions{}.window)}) {}

  // Reads a line. Returns the time of its last operation, by which files are merged.
  std::optional<Timestamp> Take(Source& source) {
    operations_.clear();
    Refuse(source.input().Read(source.line(), source.place(), operations_), source);
    std::optional<Timestamp> at;
    for (check::Operation& operation : operations_) {
      if (const std::optional<Timestamp> time = check::TimeOf(operation)) at = time;
      ++added_;
      if (keeps_all_) history_.Add(operation);
      checker_.Add(std::move(operation));
    }
    return at;
  }
  void End(Source& source) {
    Refuse(source.broken(), source);
    Refuse(source.input().Finish(), source);
  }
  // What is violated for certain, and was not so when this was called last.
  std::vector<InvariantFinding> News() {
    std::vector<InvariantFinding> news = checker_.Certain();
    std::erase_if(
        news, [&](const InvariantFinding& found) { return !told_.insert(found.invariant).second; });
    return news;
  }
  HistoryVerdict Verdict() { return checker_.Verdict(); }
  const check::Processes& processes() const { return checker_.processes(); }
  const check::History& history() const { return history_; }
  int64_t errors() const { return errors_; }
  int64_t added() const { return added_; }

 private:
  void Refuse(const std::string& wrong, const Source& source) {
    if (wrong.empty()) return;
    if (errors_++ < kErrorsShown) Complain(wrong);
    checker_.AddUnread(source.place());
  }

  const bool keeps_all_;
  check::History history_;  // if it is wanted after the verdict
  check::Checker checker_;
  std::vector<check::Operation> operations_;
  std::set<Invariant> told_;
  int64_t errors_ = 0;
  int64_t added_ = 0;
};

// Reads all sources side by side, always the one that has come least far in time, until they end or a
// signal comes. Before it waits for more it says what is certain.
void ReadAll(std::vector<Source>& sources, Judgement& judgement, bool tells) {
  std::vector<std::pair<Timestamp, Source*>> open;
  for (Source& source : sources) open.emplace_back(Timestamp::Min(), &source);
  while (!open.empty() && !SignalNotice::HasCome()) {
    const auto next = std::ranges::min_element(
        open, [](const auto& a, const auto& b) { return a.first < b.first; });
    Source& source = *next->second;
    if (tells && source.MayWait()) {
      for (const InvariantFinding& found : judgement.News()) {
        std::cout << "violated  " << WordOf(found.invariant) << ": "
                  << sim::Printable(found.text, 2'000) << std::endl;
      }
    }
    if (!source.Next()) {
      judgement.End(source);
      open.erase(next);
      continue;
    }
    if (const auto at = judgement.Take(source)) next->first = *at;
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
  json.update(check::VerdictJson(verdict));
  const check::HistoryMetrics& metrics = verdict.metrics;
  json["metrics"]["without_holder"] = DurationsJson(metrics.without_holder);
  json["metrics"]["belief_overlaps"] = DurationsJson(metrics.belief_overlaps);
  json["unread"] = errors;
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
    Complain(Cat("rows of ", protocol->name, " do not name their holder; known are ",
                 sim::ListOf(names)));
    return nullptr;
  }
  return protocol;
}

bool Opens(const std::string& path, Source& source) {
  const absl::Status opened = source.Open(path);
  if (!opened.ok()) Complain(std::string(opened.message()));
  return opened.ok();
}

// A ready mapping of a log, or a file with one.
bool ReadPattern(const CheckRequest& request, check::LogPattern& pattern) {
  if (request.pattern.empty()) {
    if (request.format != check::InputFormat::kLog) return true;
    Complain("--format log wants --pattern");
    return false;
  }
  std::string text;
  if (const auto ready = check::ReadyPattern(request.pattern)) {
    text = *ready;
  } else {
    std::ifstream file;
    if (const absl::Status opened = OpenInput(request.pattern, file); !opened.ok()) {
      Complain(Cat(std::string(opened.message()), "; ready patterns are ",
                   sim::ListOf(check::ReadyPatterns())));
      return false;
    }
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  const std::string wrong = pattern.Parse(text);
  if (!wrong.empty()) Complain(Cat(request.pattern, ": ", wrong));
  return wrong.empty();
}

// Nothing, and it is said, if there is nothing to write a scenario of.
std::optional<check::Reproduction> Reproduced(const CheckRequest& request,
                                              const ProtocolInfo& protocol,
                                              const Judgement& judgement,
                                              const HistoryVerdict& verdict) {
  std::optional<check::InferredScenario> inferred = check::InferScenario(
      protocol, judgement.history(), judgement.processes(), request.lease, verdict);
  if (inferred) return check::Reproduce(std::move(*inferred), verdict);
  Complain("--scenario: no process of the history takes part in a lock");
  return std::nullopt;
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
  check::LogPattern pattern;
  if (!ReadPattern(request, pattern)) return kBadInput;
  const check::InputOptions reading = {.wanted = {.lock = request.lock, .table = request.table},
                                       .format = request.format,
                                       .pattern = request.pattern.empty() ? nullptr : &pattern};
  Judgement judgement(*protocol, request);
  for (const std::string& path : request.clocks) {
    Source clocks;
    if (!Opens(path, clocks)) return kBadInput;
    clocks.ReadAs(*protocol, {.wanted = {}, .format = {}, .pattern = nullptr});
    while (clocks.Next()) judgement.Take(clocks);
    judgement.End(clocks);
  }
  std::vector<Source> sources(request.files.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!Opens(request.files[i], sources[i])) return kBadInput;
    sources[i].ReadAs(*protocol, reading);
  }
  const SignalNotice notice;
  ReadAll(sources, judgement, /*tells=*/!request.json);
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
  std::optional<check::Reproduction> reproduction;
  absl::Status written = absl::OkStatus();
  if (!request.scenario_path.empty()) {
    reproduction = Reproduced(request, *protocol, judgement, verdict);
    if (!reproduction) return kBadInput;
    written = WriteScenario(request.scenario_path, reproduction->scenario);
  }
  if (request.json) {
    Json json = VerdictJson(verdict, request, judgement.errors());
    if (reproduction) json["scenario"] = ReproductionJson(request.scenario_path, *reproduction);
    std::cout << sim::DumpJson(json, 2) << '\n';
  } else {
    Print(verdict, *protocol);
    if (reproduction && written.ok()) PrintReproduction(request.scenario_path, *reproduction);
  }
  if (!written.ok()) return End(written);
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
  whorl check examples/check/*.jsonl --protocol spindle_v2 --scenario night.json

Files have data change records of a change stream on the lock table, and what processes log
(docs/CHECKING.md has the schema, and what to log at least): JSON, CSV, OpenTelemetry spans in OTLP's JSON,
Jepsen's histories (EDN, JSON), or with --pattern any log; gzip and zstd are unpacked. They are merged by
time. From standard input a violation is told as soon as it is certain; Ctrl-C ends the input.
Each invariant holds, is violated, is possibly violated (what would decide it is said), or is unknown.
Exit codes: 0 nothing was violated for certain; 1 something was; 2 bad input (a line that cannot be read, a
clock that cannot be; the rest is judged) or usage; 3 the output could not be written; 130 interrupted.)";

}  // namespace

SubCommand AddCheckCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("check", "Judge what happened: a history that others recorded");
  const auto request = std::make_shared<CheckRequest>();
  app->add_option("files", request->files, "files of a history, or - (standard input)")
      ->type_name("FILE..");
  app->add_option("--protocol", request->protocol, "the lock's protocol: whorl protocols")
      ->type_name("NAME");
  app->add_option("--lock", request->lock, "judge this lock only")->type_name("NAME");
  app->add_option("--table", request->table, "leave out changes of other tables")
      ->type_name("NAME");
  AddText(
      *app, "--format", "FORMAT", request,
      [](const std::string& text, CheckRequest& to) {
        const auto words = AllWords<check::InputFormat>();
        to.format = static_cast<check::InputFormat>(PlaceOfWord("--format", "format", text, words));
      },
      "json, edn, csv or log (default: as each file begins)");
  app->add_option("--pattern", request->pattern,
                  "how to read logs: spindle_v2, or a file of regular expressions")
      ->type_name("NAME|FILE");
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
  app->add_option("--scenario", request->scenario_path,
                  "write what happened as a scenario, replay it and compare")
      ->type_name("FILE");
  app->add_flag("--json", request->json, "print one JSON document");
  app->footer(std::string(kCheckFooter));
  return {.app = app, .run = [request] { return RunCheck(*request); }};
}

}  // namespace whorl::cli
