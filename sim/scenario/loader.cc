#include "sim/scenario/loader.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "base/text.h"
#include "protocol/protocols.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/json_document.h"
#include "sim/scenario/parts.h"

namespace whorl::sim {

namespace {

// "gc_pause" for "x/gc_pause.json".
std::string NameOf(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(".json")) name.remove_suffix(5);
  return std::string(name);
}

// The keys at which the table is divided.
void ReadSplits(const ObjectFields& fields, const Known& known, SpannerSpec& spanner,
                Problems& problems) {
  const auto splits = fields.Names("splits", "key");
  if (!splits) return;
  spanner.splits = *splits;
  const JsonValue at = *fields.Find("splits");
  if (spanner.splits.size() >= SpannerSpec::kSplitsMax) {
    problems.Add(at, Cat("expected at most ", std::to_string(SpannerSpec::kSplitsMax - 1),
                         " keys, got ", std::to_string(spanner.splits.size())));
  }
  if (known.protocol != nullptr && known.protocol->takes_one_lock) {
    problems.Add(at, Cat(known.protocol->name, " has one row, which cannot be divided"));
  }
}

void ReadSpanner(const ObjectFields& file, const Known& known, SpannerSpec& spanner,
                 Problems& problems) {
  const std::optional<ObjectFields> fields = file.Object("spanner");
  if (!fields.has_value()) return;
  spanner.preset = fields->Word<Preset>("preset").value_or(spanner.preset);
  if (const std::optional<ObjectFields> truetime = fields->Object("truetime")) {
    ReadTrueTime(*truetime, spanner.truetime, problems);
  }
  spanner.current_timestamp_error =
      fields->Time("current_timestamp_error").value_or(spanner.current_timestamp_error);
  spanner.strict_pending_commit_timestamp =
      fields->Word<PendingCommitTimestampRule>("strict_pending_commit_timestamp")
          .value_or(spanner.strict_pending_commit_timestamp);
  spanner.default_isolation =
      fields->Word<DefaultIsolation>("default_isolation").value_or(spanner.default_isolation);
  ReadSplits(*fields, known, spanner, problems);
}

void ReadNetwork(const ObjectFields& file, NetworkSpec& network) {
  const std::optional<ObjectFields> fields = file.Object("network");
  if (!fields.has_value()) return;
  network.connection_timeout =
      fields->Time("connection_timeout").value_or(network.connection_timeout);
  network.announce_releases =
      fields->Boolean("announce_releases").value_or(network.announce_releases);
  network.commit_timeout = fields->Time("commit_timeout");
}

void ReadWorkload(const ObjectFields& file, const Known& known, WorkloadSpec& workload,
                  Problems& problems) {
  const std::optional<ObjectFields> fields = file.Object("workload");
  if (!fields.has_value()) return;
  workload.write_every = fields->Time("write_every").value_or(workload.write_every);
  workload.work_for = fields->Time("work_for").value_or(workload.work_for);
  workload.stop_takes = fields->Time("stop_takes").value_or(workload.stop_takes);
  workload.resource = fields->Word<ResourceKind>("resource").value_or(workload.resource);
  workload.ask = fields->Words<SideQuestion>("ask", "question");
  workload.ask_every = fields->Time("ask_every").value_or(workload.ask_every);
  workload.hold_for = fields->Time("hold_for");
  workload.lock_again = fields->Time("lock_again");
  const bool has_tokens = known.protocol == nullptr || known.protocol->has_tokens;
  if (has_tokens || workload.resource != ResourceKind::kFenced) return;
  problems.Add(*fields->Find("resource"),
               Cat(known.protocol->name, " hands out no tokens, which a ",
                   "resource could fence by: expected \"unfenced\""));
}

// Reads the keys that other parts refer to.
Known ReadBasics(const ObjectFields& file, Scenario& scenario, Problems& problems) {
  Known known;
  scenario.about = file.Text("about").value_or("");
  if (const auto protocol = file.Word<size_t>("protocol", "protocol")) {
    known.protocol = &Protocols()[*protocol];
    scenario.protocol = known.protocol->name;
  }
  scenario.constants = file.Word<Constants>("constants").value_or(scenario.constants);
  if (known.protocol != nullptr && scenario.constants == Constants::kGrid &&
      known.protocol->make_grid_config == nullptr) {
    problems.Add(*file.Find("constants"),
                 Cat(known.protocol->name, " has none but those that ship"));
  }
  const std::optional<std::vector<std::string>> locks = file.Names("locks", "lock");
  known.locks = locks.has_value() || !file.Has("locks");
  scenario.locks = locks.value_or(std::vector<std::string>{"lock"});
  if (known.protocol != nullptr && known.protocol->takes_one_lock && scenario.locks.size() > 1) {
    problems.Add(*file.Find("locks"),
                 Cat(known.protocol->name, " has one row and takes one lock, got ",
                     std::to_string(scenario.locks.size())));
  }
  const std::optional<Duration> duration = file.Time("duration");
  known.duration = duration.has_value();
  scenario.duration = duration.value_or(Duration{});
  scenario.seed = file.Unsigned("seed").value_or(scenario.seed);
  return known;
}

void ReadScenario(const JsonValue& root, Scenario& scenario, Problems& problems) {
  // Another version may have other keys, so messages about them would be of no use.
  if (const std::optional<JsonValue> version = root.Find("version")) {
    if (version->AsInt64() != scenario.version) {
      problems.Add(*version, Cat("expected 1, the only version of the scenario language, got ",
                                 Described(*version)));
      return;
    }
  }
  const ObjectFields file(root, ObjectId::kScenario, problems);
  if (root.kind() != JsonKind::kObject) return;
  if (file.Has("$schema")) file.Text("$schema");
  Known known = ReadBasics(file, scenario, problems);
  ReadNodes(file, known, scenario, problems);
  ReadRows(file, known, scenario, problems);
  const size_t before_spanner = problems.size();
  ReadSpanner(file, known, scenario.spanner, problems);
  known.spanner = problems.size() == before_spanner;
  ReadNetwork(file, scenario.network);
  ReadWorkload(file, known, scenario.workload, problems);
  const size_t before_faults = problems.size();
  ReadFaults(file, known, scenario, problems);
  ReadSchedule(file, known, problems.size() == before_faults, scenario, problems);
  ReadBranches(file, scenario, problems);
  ReadExpect(file, known, scenario, problems);
}

absl::Status ErrorOf(std::string_view path, const std::vector<Problem>& problems) {
  std::string text;
  for (const std::string& line : ErrorLines(path, problems))
    text += Cat(text.empty() ? "" : "\n", line);
  return absl::InvalidArgumentError(text);
}

absl::Status TooLong(std::string_view path) {
  return absl::InvalidArgumentError(Cat(PathText(path), ": longer than a scenario may be (",
                                        std::to_string(kMaxScenarioBytes >> 20), " MiB)"));
}

absl::Status CannotRead(std::string_view path, int error) {
  const std::string text =
      Cat(PathText(path), ": cannot be read: ", std::generic_category().message(error));
  return error == ENOENT ? absl::NotFoundError(text) : absl::UnavailableError(text);
}

// Reads at most one byte more than is allowed, so that reading a pipe or a device ends too.
absl::StatusOr<std::string> ReadAll(const std::string& path) {
  std::error_code ignored;  // opening the file gives a better message
  if (path != "-" && std::filesystem::is_regular_file(path, ignored) &&
      std::filesystem::file_size(path, ignored) > kMaxScenarioBytes && !ignored) {
    return TooLong(path);
  }
  const auto close = [](std::FILE* file) {
    if (file != stdin) std::fclose(file);
  };
  const std::unique_ptr<std::FILE, decltype(close)> file(
      path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
  if (file == nullptr) return CannotRead(path, errno);
  std::string text;
  std::array<char, 65'536> buffer{};
  while (text.size() <= kMaxScenarioBytes && std::feof(file.get()) == 0 &&
         std::ferror(file.get()) == 0) {
    text.append(buffer.data(), std::fread(buffer.data(), 1, buffer.size(), file.get()));
  }
  if (std::ferror(file.get()) != 0) return CannotRead(path, errno);
  return text;
}

}  // namespace

absl::StatusOr<Scenario> ParseScenario(std::string_view text, std::string_view path) {
  if (text.size() > kMaxScenarioBytes) return TooLong(path);
  Scenario scenario;
  scenario.name = NameOf(path);
  scenario.path = path;
  Problems problems;
  if (const auto document = JsonDocument::Parse(text, problems.list())) {
    ReadScenario(document->root(), scenario, problems);
  }
  if (!problems.empty()) return ErrorOf(path, problems.list());
  return scenario;
}

absl::StatusOr<std::string> ReadScenarioText(const std::string& path) { return ReadAll(path); }

absl::StatusOr<Scenario> LoadScenario(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadScenarioText(path);
  if (!text.ok()) return text.status();
  return ParseScenario(*text, path);
}

namespace {

// An application that asks is at work from an answer to its write, and stops in between only by chance.
void WarnOfStopTakes(const Scenario& scenario, std::vector<std::string>& warnings) {
  const WorkloadSpec& workload = scenario.workload;
  if (workload.stop_takes.ns == 0) return;
  std::vector<std::string_view> nodes;
  for (const NodeSpec& node : scenario.nodes) {
    if (node.use == Use::kHasLock) nodes.push_back(node.name);
  }
  if (nodes.empty()) return;
  const bool is_all = nodes.size() == scenario.nodes.size();
  const std::string whose = is_all              ? "any node"
                            : nodes.size() == 1 ? Cat("node ", Quoted(nodes.front()))
                                                : Cat("nodes ", ListOf(nodes));
  warnings.push_back(Cat(
      "/workload/stop_takes has ", workload.work_for.ns == 0 ? "no" : "hardly any", " effect on ",
      whose,
      ": with \"use\": \"has_lock\", the default, an application is at work only from an answer ",
      "to its write (\"work_for\": ", FormatDuration(workload.work_for), "); with ",
      "\"use\": \"callback\" it is at work for as long as it leads"));
}

// Only users of Lock unlock and lock again.
void WarnOfLocking(const Scenario& scenario, std::vector<std::string>& warnings) {
  const WorkloadSpec& workload = scenario.workload;
  const auto is_lock = [](const NodeSpec& node) { return node.use == Use::kLock; };
  if (std::ranges::any_of(scenario.nodes, is_lock)) return;
  const auto warn = [&](std::string_view key) {
    warnings.push_back(Cat("/workload/", key, " has no effect: no node has \"use\": \"lock\""));
  };
  if (workload.hold_for) warn("hold_for");
  if (workload.lock_again) warn("lock_again");
}

void WarnOfAnnouncements(const Scenario& scenario, std::vector<std::string>& warnings) {
  const ProtocolInfo* protocol = FindProtocol(scenario.protocol);
  if (protocol == nullptr || protocol->announces_releases) return;
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    if (scenario.faults[i].As<AnnounceFault>() == nullptr) continue;
    warnings.push_back(Cat("the fault on line ", std::to_string(scenario.faults[i].line),
                           " has no effect: ", scenario.protocol,
                           " does not listen to announcements of releases"));
    return;
  }
}

}  // namespace

std::vector<std::string> WarningsOf(const Scenario& scenario) {
  std::vector<std::string> warnings;
  WarnOfStopTakes(scenario, warnings);
  WarnOfLocking(scenario, warnings);
  WarnOfAnnouncements(scenario, warnings);
  return warnings;
}

}  // namespace whorl::sim
