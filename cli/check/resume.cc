#include "cli/check/resume.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "check/input.h"
#include "cli/inputs.h"
#include "cli/output.h"

namespace whorl::cli {
namespace {

using check::HistoryMetrics;
using check::InvariantResult;
using sim::Json;
using sim::Verdict;

constexpr std::string_view kFormat = "whorl-check-resume";
constexpr int kVersion1 = 1;

constexpr std::pair<const char*, int64_t HistoryMetrics::*> kCounts[] = {
    {"row_changes", &HistoryMetrics::row_changes},
    {"grants", &HistoryMetrics::grants},
    {"takeovers", &HistoryMetrics::takeovers},
    {"renewals", &HistoryMetrics::renewals},
    {"duplicates", &HistoryMetrics::duplicates},
    {"gaps", &HistoryMetrics::gaps},
    {"late", &HistoryMetrics::late}};
constexpr std::pair<const char*, std::vector<Duration> HistoryMetrics::*> kDurations[] = {
    {"without_holder", &HistoryMetrics::without_holder},
    {"late_renewals", &HistoryMetrics::late_renewals}};

Json ResultJson(const InvariantResult& found) {
  return {{"invariant", std::string(WordOf(found.invariant))},
          {"verdict", std::string(WordOf(found.verdict))},
          {"violations", found.violations},
          {"possible", found.possible},
          {"at", found.at ? Json(FormatRfc3339(*found.at)) : Json(nullptr)},
          {"lock", found.lock},
          {"text", found.text},
          {"remedy", found.remedy}};
}

InvariantResult ResultFrom(const Json& json) {
  InvariantResult found;
  const auto invariant = ParseWord<Invariant>(json.at("invariant").get<std::string>());
  const auto verdict = ParseWord<Verdict>(json.at("verdict").get<std::string>());
  if (!invariant || !verdict) throw std::out_of_range("a finding of an unknown word");
  found.invariant = *invariant;
  found.verdict = *verdict;
  found.violations = json.at("violations").get<int64_t>();
  found.possible = json.at("possible").get<int64_t>();
  if (json.at("at").is_string()) found.at = ParseRfc3339(json.at("at").get<std::string>());
  found.lock = json.at("lock").get<std::string>();
  found.text = json.at("text").get<std::string>();
  found.remedy = json.at("remedy").get<std::string>();
  found.lacks_records = true;  // of those that are unknown, no other is written
  return found;
}

Json MetricsJson(const HistoryMetrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, count] : kCounts) json[name] = metrics.*count;
  for (const auto& [name, durations] : kDurations) {
    Json& list = json[name] = Json::array();
    for (const Duration duration : metrics.*durations) list.push_back(duration.ns);
  }
  return json;
}

HistoryMetrics MetricsFrom(const Json& json) {
  HistoryMetrics metrics;
  for (const auto& [name, count] : kCounts) metrics.*count = json.at(name).get<int64_t>();
  for (const auto& [name, durations] : kDurations) {
    for (const Json& ns : json.at(name)) (metrics.*durations).push_back({ns.get<int64_t>()});
  }
  return metrics;
}

// How bad it is; a verdict that only lacks lines of processes is none.
int BadnessOf(const InvariantResult& found) {
  switch (found.verdict) {
    case Verdict::kViolated:
      return 3;
    case Verdict::kPossiblyViolated:
      return 2;
    case Verdict::kUnknown:
      return found.lacks_records ? 1 : 0;
    case Verdict::kHolds:
    case Verdict::kNotApplicable:
      break;
  }
  return 0;
}

Resumed ResumedFrom(const Json& json, const CheckRequest& request) {
  Resumed resumed;
  const auto position = ParseRfc3339(json.at("position").get<std::string>());
  if (!position) throw std::out_of_range("\"position\" is no time");
  resumed.position = *position;
  const ProtocolInfo& protocol = *FindProtocol(request.protocol);
  check::Input input(protocol,
                     {.wanted = {}, .format = check::InputFormat::kJson, .pattern = nullptr});
  for (const Json& record : json.at("changes")) {
    const std::string wrong = input.Read(sim::DumpJson(record),
                                         {.file = request.resume_path, .line = 0}, resumed.changes);
    if (!wrong.empty()) throw std::out_of_range(wrong);
  }
  const bool are_changes = std::ranges::all_of(resumed.changes, [](const check::Operation& change) {
    return std::holds_alternative<check::RowChange>(change.what);
  });
  if (!are_changes) throw std::out_of_range("\"changes\" has a record that is no change of a row");
  for (check::Operation& operation : resumed.changes) {
    auto& change = std::get<check::RowChange>(operation.what);
    // Its row was known before.
    if (change.kind == check::RowChangeKind::kUpdated) change.before = change.after;
  }
  for (const Json& found : json.at("findings")) resumed.findings.push_back(ResultFrom(found));
  // A file of an earlier version has none.
  for (const Json& write : json.value("outside_writes", Json::array())) {
    const auto at = ParseRfc3339(write.at("at").get<std::string>());
    if (!at) throw std::out_of_range("an outside write without its time");
    resumed.outside_writes.push_back({.at = *at,
                                      .lock = write.at("lock").get<std::string>(),
                                      .text = write.at("text").get<std::string>()});
  }
  resumed.outside_count = json.value("outside_count", int64_t{0});
  resumed.metrics = MetricsFrom(json.at("metrics"));
  return resumed;
}

}  // namespace

// A check of something else must not go on with it.
Json ResumeHead(const CheckRequest& request) {
  const char* usual = std::getenv("WHORL_DATABASE");  // NOLINT(concurrency-mt-unsafe)
  const std::string database =
      request.database.name.empty() && usual != nullptr ? usual : request.database.name;
  return {{"format", kFormat},
          {"version", kVersion1},
          {"database", database},
          {"stream", request.database.stream},
          {"protocol", request.protocol},
          {"table", request.table},
          {"lock", request.lock},
          {"lease", request.lease ? FormatDuration(*request.lease) : ""}};
}

absl::Status ReadResume(const CheckRequest& request, std::optional<Resumed>& out) {
  std::error_code ignored;
  if (!std::filesystem::exists(request.resume_path, ignored)) return absl::OkStatus();
  std::ifstream file;
  if (absl::Status opened = OpenInput(request.resume_path, file); !opened.ok()) return opened;
  return ParseResume(std::string(std::istreambuf_iterator<char>(file), {}), request, out);
}

absl::Status ParseResume(std::string_view text, const CheckRequest& request,
                         std::optional<Resumed>& out) {
  const std::string path = Printable(request.resume_path, 1'000);
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("format", "") != kFormat) {
    return absl::InvalidArgumentError(
        Cat(path, " is no file of whorl check --resume; name another one"));
  }
  const Json head = ResumeHead(request);
  for (const auto& [name, value] : head.items()) {
    if (json.contains(name) && json[name] == value) continue;
    return absl::InvalidArgumentError(
        Cat(path, " is of another check: its ", name, " is ",
            sim::DumpJson(json.contains(name) ? json[name] : Json(nullptr)), ", and this one's ",
            sim::DumpJson(value), "; name another file, or remove it to begin anew"));
  }
  try {
    out = ResumedFrom(json, request);
  } catch (const std::exception& wrong) {
    return absl::InvalidArgumentError(
        Cat(path, " cannot be read: ", wrong.what(), "; remove it to begin anew"));
  }
  return absl::OkStatus();
}

InvariantResult WorseOf(const InvariantResult& before, const InvariantResult& now) {
  if (BadnessOf(now) > BadnessOf(before) || BadnessOf(before) == 0) return now;
  InvariantResult worse = before;
  worse.violations += now.violations;
  worse.possible += now.possible;
  return worse;
}

ResumeWriter::ResumeWriter(const CheckRequest& request, const ProtocolInfo& protocol)
    : request_(request), protocol_(protocol), landmarks_(protocol) {}

absl::Status ResumeWriter::Reached(Timestamp at, const check::Checker& checker,
                                   const FoundBefore& before) {
  for (const check::RowChange& change : given_) {
    if (change.commit < at) landmarks_.Add(change);
  }
  std::erase_if(given_, [&](const check::RowChange& change) { return change.commit < at; });
  reached_ = at;
  const auto now = std::chrono::steady_clock::now();
  if (written_ && now - when_ < std::chrono::seconds(1)) return absl::OkStatus();
  when_ = now;
  return Write(checker, before);
}

absl::Status ResumeWriter::End(const check::Checker& checker, const FoundBefore& before) {
  if (!reached_ || reached_ == written_) return absl::OkStatus();
  return Write(checker, before);
}

absl::Status ResumeWriter::Write(const check::Checker& checker, const FoundBefore& before) {
  Json json = ResumeHead(request_);
  json["position"] = FormatRfc3339(*reached_);
  Json& findings = json["findings"] = Json::array();
  for (const InvariantResult& now : checker.SoFar()) {
    InvariantResult found = now;
    for (const InvariantResult& earlier : before.findings) {
      if (earlier.invariant == now.invariant) found = WorseOf(earlier, now);
    }
    if (BadnessOf(found) > 0) findings.push_back(ResultJson(found));
  }
  Json& outside = json["outside_writes"] = Json::array();
  for (const auto* writes : {&before.outside_writes, &checker.outside_writes()}) {
    for (const check::OutsideWrite& write : *writes) {
      if (outside.size() == check::kOutsideKept) break;
      outside.push_back(
          {{"at", FormatRfc3339(write.at)}, {"lock", write.lock}, {"text", write.text}});
    }
  }
  json["outside_count"] = before.outside_count + checker.outside_count();
  json["metrics"] = MetricsJson(checker.metrics());
  Json& changes = json["changes"] = Json::array();
  for (const check::RowChange& change : landmarks_.Changes()) {
    changes.push_back(check::RecordJson(protocol_, change));
  }
  OutputFile file;
  if (absl::Status opened = file.Open(request_.resume_path); !opened.ok()) return opened;
  file.stream() << sim::DumpJson(json, 1) << '\n';
  written_ = reached_;
  return file.Commit();
}

}  // namespace whorl::cli
