// The inclusion rules of the house, held on the sources themselves: who may include whom, and that
// no clock, no random generator, no thread and no hash order is within reach of what must be
// deterministic. The linker cannot hold them, because a header that is only included links nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace whorl::inclusion_rules_test {
namespace {

namespace fs = std::filesystem;

// ------------------------------------------------------------------------------------------------
// Includes of a text

struct Include {
  int line = 0;
  bool quoted = false;
  std::string target;  // as written; the whole rest of the line where it is neither "" nor <>
};

std::string_view StripLeft(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

// "x" or <x>, whatever follows; nothing when the directive names a macro.
Include ParseTarget(int line, std::string_view rest) {
  if (!rest.empty() && (rest.front() == '"' || rest.front() == '<')) {
    const bool quoted = rest.front() == '"';
    const size_t end = rest.find(quoted ? '"' : '>', 1);
    if (end != std::string_view::npos) {
      return {.line = line, .quoted = quoted, .target = std::string(rest.substr(1, end - 1))};
    }
  }
  return {.line = line, .quoted = true, .target = std::string(rest)};
}

std::optional<Include> ParseLine(int line, std::string_view text) {
  text = StripLeft(text);
  if (!text.starts_with('#')) return std::nullopt;
  text = StripLeft(text.substr(1));
  constexpr std::string_view kDirective = "include";
  if (!text.starts_with(kDirective)) return std::nullopt;
  return ParseTarget(line, StripLeft(text.substr(kDirective.size())));
}

std::vector<Include> ParseIncludes(std::string_view text) {
  std::vector<Include> includes;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (std::optional<Include> include = ParseLine(line, text.substr(0, end))) {
      includes.push_back(*std::move(include));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return includes;
}

// ------------------------------------------------------------------------------------------------
// The rules

struct Violation {
  std::string path;
  int line = 0;
  std::string include;
  std::string rule;

  friend std::ostream& operator<<(std::ostream& out, const Violation& violation) {
    return out << violation.path << ":" << violation.line << ": includes " << violation.include
               << ": " << violation.rule;
  }
};

enum class Foreign {
  kAny,            // whatever the linker can find
  kNoGrpc,         // all but gRPC and the stubs
  kDeterministic,  // and no clock, chance, thread or hash order
  kValueTypesOnly  // and nothing beyond the standard library, Abseil's value types and xxhash
};

// A part of the house and what it may include besides base/. The first area whose folder starts a path is
// the path's, so that the narrower folder stands first.
struct Area {
  std::string_view folder;
  Foreign foreign;
  std::string_view may_include;           // folders, itself among them, and headers
  std::string_view may_not_include = {};  // exceptions to `may_include` and `foreign`
};

// What is said to who breaks the area's rule.
std::string RuleOf(const Area& area) {
  std::string rule(area.folder);
  if (area.may_include.empty()) return rule + " has no files of its own, only its rooms";
  rule.append(" includes of the project only ").append(area.may_include);
  if (!area.may_not_include.empty()) rule.append(", and not ").append(area.may_not_include);
  return rule;
}

const std::vector<Area>& Areas() {
  using enum Foreign;
  static const std::vector<Area> areas = {
      {"base/", kValueTypesOnly, "base/", "absl/ xxhash.h"},
      {"protocol/spanner/", kValueTypesOnly, "protocol/spanner/"},
      {"protocol/", kValueTypesOnly, "protocol/"},
      {"wire/", kAny, "wire/ protocol/spanner/"},
      {"spanner_model/server/", kAny, "spanner_model/ wire/ protocol/spanner/"},
      {"spanner_model/", kValueTypesOnly, "spanner_model/ protocol/spanner/"},
      {"sim/scenario/", kDeterministic, "sim/scenario/ spanner_model/ protocol/"},
      {"sim/world/", kDeterministic, "sim/world/ sim/scenario/ spanner_model/ protocol/"},
      // A run is the world and everything that judges it; all other files of the room see only what
      // can be observed of the world.
      {"sim/judge/run.", kDeterministic, "sim/judge/ sim/world/ sim/scenario/ protocol/"},
      {"sim/judge/", kDeterministic,
       "sim/judge/ sim/world/copied_call.h sim/world/observation.h sim/world/reached_phase.h "
       "sim/scenario/ protocol/"},
      {"sim/report/", kDeterministic,
       "sim/report/ sim/judge/ sim/world/ sim/scenario/ spanner_model/ protocol/"},
      {"sim/hunt/", kDeterministic,
       "sim/hunt/ sim/report/ sim/judge/ sim/world/ sim/scenario/ protocol/"},
      // The search knows models only, so that it can be tested on systems that are not ours.
      {"sim/explore/engine/", kDeterministic, "sim/explore/engine/"},
      // What a state means: of the search it sees keys, and of the model what may be tried.
      {"sim/explore/components/", kDeterministic,
       "sim/explore/components/ sim/explore/engine/key.h sim/explore/engine/key_map.h "
       "sim/explore/bounds.h sim/explore/menu.h sim/judge/ sim/world/ sim/scenario/ "
       "spanner_model/ protocol/"},
      {"sim/explore/", kDeterministic,
       "sim/explore/ sim/report/ sim/judge/ sim/world/ sim/scenario/ spanner_model/ protocol/"},
      {"sim/measure/", kDeterministic,
       "sim/measure/ sim/report/ sim/judge/ sim/world/ sim/scenario/ protocol/"},
      {"sim/", kDeterministic, ""},
      // Replays what was inferred from a history, after the verdict.
      {"check/reproduce.", kDeterministic, "check/ sim/judge/ sim/scenario/ protocol/"},
      // Draw a history as runs are drawn.
      {"check/history_report.", kDeterministic,
       "check/ sim/report/ sim/judge/known.h sim/scenario/ protocol/"},
      {"check/history_headline.", kDeterministic, "check/ sim/report/"},
      {"check/page_events.", kDeterministic, "check/ sim/report/ sim/scenario/ protocol/"},
      // What others recorded is read by the protocols' rules alone: no world, and none of its judges.
      {"check/", kDeterministic, "check/ sim/scenario/ protocol/",
       "check/reproduce.h check/history_report.h check/history_headline.h check/page_events.h"},
      {"real_client/google_cloud/", kAny, "real_client/ wire/ protocol/"},
      {"real_client/", kAny, "real_client/ wire/ protocol/",
       "real_client/google_cloud/ google/cloud/"},
      {"live/proxy/", kAny,
       "live/proxy/ wire/ protocol/spanner/ real_client/lock_loop.h sim/scenario/direction.h "
       "sim/world/observation.h"},
      {"live/", kAny, "live/ check/ sim/ real_client/ spanner_model/server/ wire/ protocol/",
       "real_client/google_cloud/"},
      {"cli/grpc/", kNoGrpc, "cli/ live/ sim/ real_client/"},
      {"cli/lock/", kNoGrpc, "cli/ sim/ real_client/", "cli/grpc/"},
      {"cli/serve/", kAny, "cli/ live/ sim/ real_client/ spanner_model/server/",
       "cli/grpc/ cli/lock/"},
      // The program whorl, which links no gRPC.
      {"cli/", kNoGrpc, "cli/ check/ sim/ live/backend_kind.h", "cli/grpc/ cli/lock/ cli/serve/"},
  };
  return areas;
}

// What one file may include although the rules forbid it to its area, and why.
struct Exception {
  std::string_view path;
  std::vector<std::string_view> headers;
  std::string_view reason;
};

const std::vector<Exception>& Exceptions() {
  static const std::vector<Exception> exceptions = {
      {.path = "sim/explore/components/normal_form.cc",
       .headers = {"mutex"},
       .reason = "numbers scopes for the threads of a search; what number one has is seen nowhere"},
      {.path = "protocol/spanner/sql.cc",
       .headers = {"mutex"},
       .reason = "interns immutable texts, which worlds on several threads share"},
      {.path = "sim/explore/engine/thread_team.cc",
       .headers = {"thread", "mutex", "condition_variable"},
       .reason = "its threads wait for each other so that a search's result is that of one thread"},
      {.path = "sim/explore/held_bytes.h",
       .headers = {"atomic"},
       .reason = "counts what the threads of a search hold, for its limit of memory alone"},
      {.path = "sim/judge/batch.cc",
       .headers = {"thread", "mutex", "atomic"},
       .reason = "runs many worlds side by side, each on one thread"},
  };
  return exceptions;
}

// Headers, and why no deterministic code may see them. A pattern that ends in '/' or '_' covers
// what it starts, any other one header.
struct Forbidden {
  std::vector<std::string_view> patterns;
  std::string_view rule;
};

const std::vector<Forbidden>& ForbiddenToDeterministicCode() {
  static const std::vector<Forbidden> forbidden = {
      {.patterns = {"random", "absl/random/"},
       .rule =
           "chance is an input: a driver draws, by integer tables that are the same everywhere"},
      {.patterns = {"chrono", "ctime", "time.h", "sys/time.h", "absl/time/clock.h"},
       .rule = "time is an input: a driver chooses it, and only cli measures wall time"},
      {.patterns = {"thread", "mutex", "shared_mutex", "condition_variable", "future", "semaphore",
                    "latch", "barrier", "stop_token", "execution", "atomic", "coroutine",
                    "pthread.h", "absl/synchronization/"},
       .rule = "order is an input: nothing here runs beside anything else"},
      {.patterns = {"unordered_map", "unordered_set", "absl/hash/", "absl/container/flat_hash_",
                    "absl/container/node_hash_", "absl/container/internal/"},
       .rule = "hash order differs between runs and libraries, and may reach no trace, choice or "
               "fingerprint"},
  };
  return forbidden;
}

constexpr std::string_view kGrpcRule =
    "only wire, spanner_model/server, real_client and live include gRPC and the stubs";
constexpr std::string_view kValueTypesRule =
    "protocol and spanner_model include only the C++ standard library, Abseil's value types and "
    "xxhash.h";
constexpr std::string_view kFromRootRule =
    "an include of the project is a path from the repository's root, in quotes";

constexpr std::array<std::string_view, 7> kGrpcPrefixes = {
    "grpc/",           "grpc++/",     "grpcpp/",      "google/protobuf/",
    "google/spanner/", "google/rpc/", "google/cloud/"};

// Abseil's value types, and what is needed to handle them.
constexpr std::array<std::string_view, 11> kValueTypePrefixes = {
    "absl/types/",      "absl/strings/", "absl/status/",    "absl/time/",
    "absl/container/",  "absl/numeric/", "absl/algorithm/", "absl/base/",
    "absl/functional/", "absl/meta/",    "absl/utility/"};

// Only headers of the C++ standard library have neither folder nor ending; <unistd.h> and <time.h>
// are named otherwise.
bool IsStandardHeader(std::string_view header) {
  return header.find_first_of("./") == std::string_view::npos;
}

bool StartsWithAny(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return text.starts_with(prefix); });
}

// The same, of words with spaces between them.
bool StartsWithAnyOf(std::string_view text, std::string_view words) {
  std::istringstream prefixes{std::string(words)};
  return std::any_of(std::istream_iterator<std::string>(prefixes), {},
                     [&](const std::string& prefix) { return text.starts_with(prefix); });
}

bool Covers(std::string_view pattern, std::string_view header) {
  const bool covers_what_it_starts = pattern.ends_with('/') || pattern.ends_with('_');
  return covers_what_it_starts ? header.starts_with(pattern) : header == pattern;
}

bool IsExcepted(std::string_view path, std::string_view header) {
  return std::ranges::any_of(Exceptions(), [&](const Exception& exception) {
    return exception.path == path &&
           std::ranges::find(exception.headers, header) != exception.headers.end();
  });
}

const Area* AreaOf(std::string_view path) {
  const auto area = std::ranges::find_if(
      Areas(), [&](const Area& candidate) { return path.starts_with(candidate.folder); });
  return area == Areas().end() ? nullptr : &*area;
}

// Tests and benchmarks may include anything; no other area may include them.
bool IsProjectHeader(std::string_view header) {
  return AreaOf(header) != nullptr || header.starts_with("tests/") || header.starts_with("bench/");
}

bool IsGrpc(std::string_view header) {
  return StartsWithAny(header, kGrpcPrefixes) || header.ends_with(".pb.h");
}

// The rule that an include of a header of the project breaks; empty when it breaks none.
std::string BrokenByProjectHeader(const Area& area, const Include& include) {
  if (!include.quoted) return std::string(kFromRootRule);
  if (include.target.starts_with("base/")) return {};
  if (!StartsWithAnyOf(include.target, area.may_include) ||
      StartsWithAnyOf(include.target, area.may_not_include)) {
    return RuleOf(area);
  }
  // The server's headers bring gRPC with them.
  constexpr std::string_view kServer = "spanner_model/server/";
  const bool may_see_grpc = area.foreign == Foreign::kAny;
  return std::string(include.target.starts_with(kServer) && !may_see_grpc ? kGrpcRule : "");
}

std::string BrokenByForeignHeader(const Area& area, std::string_view header) {
  if (StartsWithAnyOf(header, area.may_not_include)) return RuleOf(area);
  if (area.foreign == Foreign::kAny) return {};
  if (IsGrpc(header)) return std::string(kGrpcRule);
  if (area.foreign == Foreign::kNoGrpc) return {};
  for (const Forbidden& forbidden : ForbiddenToDeterministicCode()) {
    const bool covered = std::ranges::any_of(
        forbidden.patterns, [&](std::string_view pattern) { return Covers(pattern, header); });
    if (covered) return std::string(forbidden.rule);
  }
  if (area.foreign == Foreign::kDeterministic) return {};
  const bool is_value_type =
      IsStandardHeader(header) || header == "xxhash.h" || StartsWithAny(header, kValueTypePrefixes);
  return std::string(is_value_type ? "" : kValueTypesRule);
}

std::string BrokenRule(const Area& area, std::string_view path, const Include& include) {
  if (IsExcepted(path, include.target)) return {};
  if (IsProjectHeader(include.target)) return BrokenByProjectHeader(area, include);
  // Google's style quotes foreign headers too (absl/..., grpcpp/...); a bare name or a relative
  // path in quotes, or a macro, is a header of ours that escaped the rules.
  const bool is_foreign = !include.quoted || (include.target.find('/') != std::string::npos &&
                                              !include.target.starts_with('.'));
  return is_foreign ? BrokenByForeignHeader(area, include.target) : std::string(kFromRootRule);
}

std::vector<Violation> CheckIncludes(std::string_view path, std::string_view text) {
  const Area* area = AreaOf(path);
  if (area == nullptr) return {};
  std::vector<Violation> violations;
  for (const Include& include : ParseIncludes(text)) {
    std::string rule = BrokenRule(*area, path, include);
    if (rule.empty()) continue;
    violations.push_back({.path = std::string(path),
                          .line = include.line,
                          .include = include.target,
                          .rule = std::move(rule)});
  }
  return violations;
}

// ------------------------------------------------------------------------------------------------
// The tree

bool IsSource(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cc";
}

std::string ReadText(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<fs::path> SourcesUnder(const fs::path& folder) {
  std::vector<fs::path> sources;
  if (!fs::exists(folder)) return sources;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && IsSource(entry.path())) sources.push_back(entry.path());
  }
  std::ranges::sort(sources);
  return sources;
}

class InclusionRulesTest : public testing::TestWithParam<std::string_view> {
 protected:
  const fs::path root_ = WHORL_SOURCE_DIR;
};

// The folders are the architecture: a core that sees a clock, or a model that sees a protocol, can
// no longer be replayed, explored or trusted, and one include is enough.
TEST_P(InclusionRulesTest, HoldInEverySource) {
  const std::vector<fs::path> sources = SourcesUnder(root_ / GetParam());
  EXPECT_FALSE(sources.empty()) << "nothing was checked under " << GetParam();
  for (const fs::path& source : sources) {
    const std::string path = fs::relative(source, root_).generic_string();
    EXPECT_THAT(CheckIncludes(path, ReadText(source)), testing::IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, InclusionRulesTest,
                         testing::Values("base", "protocol", "wire", "spanner_model", "sim",
                                         "check", "real_client", "live/proxy", "live", "cli"),
                         [](const auto& folder) {
                           std::string name(folder.param);
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

// What a protocol does otherwise than others is a field of its rules (sim/scenario/rules.h): a protocol from
// outside can then have it, too, and who adds one finds all differences in one place.
TEST_P(InclusionRulesTest, NoSourceComparesWithAProtocolsName) {
  const std::regex comparison(
      R"re([=!]=\s*"(spindle_v2|spindle_v3|fenced_lease|semaphore|lease_lock)")re");
  for (const fs::path& source : SourcesUnder(root_ / GetParam())) {
    const std::string text = ReadText(source);
    std::smatch found;
    EXPECT_FALSE(std::regex_search(text, found, comparison))
        << fs::relative(source, root_).generic_string() << ": " << found[0];
  }
}

// Where protocols are judged, and run, neither a name nor a step of one of them stands, be it compared or not: that
// would be a difference that no rule has. A lock table that is described in a file has no name here.
TEST(ProtocolNamesTest, NoneStandsWhereAnyProtocolIsJudged) {
  const fs::path root = WHORL_SOURCE_DIR;
  // Formats of logs, by the program that writes them; and what is said of files that nobody can read.
  const std::vector<std::string> excepted = {"check/log_lines.cc", "check/looks_like.cc"};
  const std::regex quoted(R"re("(spindle_v2|spindle_v3|fenced_lease|semaphore|lease_lock)")re");
  const std::regex qualified(
      R"re(\b(spindle_v2|spindle_v3|fenced_lease|semaphore|lease_lock)::)re");
  for (const std::string folder : {"check", "live", "sim/judge", "sim/report", "sim/measure"}) {
    for (const fs::path& source : SourcesUnder(root / folder)) {
      const std::string path = fs::relative(source, root).generic_string();
      if (std::ranges::find(excepted, path) != excepted.end()) continue;
      std::istringstream lines(ReadText(source));
      for (std::string line; std::getline(lines, line);) {
        const std::string code = line.substr(0, line.find("//"));
        const std::string_view text = StripLeft(code);
        if (text.starts_with("/*") || text.starts_with("* ")) continue;
        EXPECT_FALSE(std::regex_search(code, quoted) || std::regex_search(code, qualified))
            << path << ": " << line;
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------
// The check itself, on crafted texts

struct Case {
  std::string_view path;
  std::string_view include;  // with its quotes or brackets
  std::string_view rule;     // a part of the rule that is broken; empty when none is
};

void ExpectVerdict(const Case& expected) {
  const std::string text = "#include " + std::string(expected.include) + "\n";
  const std::vector<Violation> violations = CheckIncludes(expected.path, text);
  SCOPED_TRACE(std::string(expected.path) + " with " + text);
  if (expected.rule.empty()) {
    EXPECT_THAT(violations, testing::IsEmpty());
    return;
  }
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_THAT(violations[0].rule, testing::HasSubstr(std::string(expected.rule)));
}

// A rule that has never been seen to fail may be checking nothing.
TEST(InclusionRulesCheckTest, CatchesWhatCrossesAFolder) {
  struct Crossing {
    std::string path;
    std::string header;
    std::string folder;  // whose rule it breaks
  };
  for (const auto& [path, header, folder] : std::vector<Crossing>{
           {"base/text.h", "protocol/spanner/value.h", "base/"},
           {"protocol/spanner/value.h", "protocol/machine.h", "protocol/spanner/"},
           {"protocol/machine.h", "sim/world/world.h", "protocol/"},
           {"protocol/client/runner.cc", "spanner_model/rows.h", "protocol/"},
           {"spanner_model/rows.h", "protocol/machine.h", "spanner_model/"},
           {"spanner_model/rows.h", "sim/world/world.h", "spanner_model/"},
           {"spanner_model/server/server.cc", "protocol/machine.h", "spanner_model/server/"},
           {"wire/values.h", "protocol/machine.h", "wire/"},
           {"wire/values.h", "spanner_model/rows.h", "wire/"},
           {"spanner_model/rows.h", "wire/values.h", "spanner_model/"},
           {"protocol/machine.h", "wire/values.h", "protocol/"},
           {"sim/world/world.h", "wire/values.h", "sim/world/"},
           {"cli/main.cc", "wire/values.h", "cli/"},
           {"check/rows.cc", "sim/judge/ledger.h", "check/"},
           {"check/rows.cc", "sim/world/world.h", "check/"},
           {"check/check_c.cc", "check/reproduce.h", "check/"},
           {"check/check.cc", "check/history_report.h", "check/"},
           {"check/page_events.cc", "sim/judge/run.h", "check/page_events."},
           {"check/reproduce.cc", "sim/world/world.h", "check/reproduce."},
           {"cli/replay/options.h", "cli/lock/commands.h", "cli/"},
           {"cli/grpc_commands.cc", "cli/grpc/commands.h", "cli/"},
           {"cli/main.cc", "real_client/lock.h", "cli/"},
           {"cli/lock/options.h", "live/backend.h", "cli/lock/"},
           {"cli/serve/command.cc", "wire/values.h", "cli/serve/"},
           {"cli/lock/options.h", "cli/grpc/commands.h", "cli/lock/"},
           {"cli/grpc/main.cc", "wire/values.h", "cli/grpc/"},
           {"live/coordinator.h", "cli/output.h", "live/"},
           {"real_client/lock.h", "real_client/google_cloud/google_cloud_client.h", "real_client/"},
           {"real_client/lock.h", "<google/cloud/options.h>", "real_client/"},
           {"live/proxy/relay.h", "sim/world/world.h", "live/proxy/"},
           {"live/proxy/relay.h", "real_client/lock.h", "live/proxy/"},
           {"sim/world/world.h", "live/proxy/relay.h", "sim/world/"},
           {"live/coordinator.h", "spanner_model/database.h", "live/"},
           {"live/proxy/relay.h", "live/coordinator.h", "live/proxy/"},
           {"cli/main.cc", "live/coordinator.h", "cli/"},
           {"real_client/client.cc", "live/proxy/relay.h", "real_client/"},
           {"sim/world/world.h", "cli/version.h", "sim/world/"},
           {"sim/world/world.h", "real_client/client.h", "sim/world/"},
           {"sim/world/world.h", "tests/fixture.h", "sim/world/"},
           {"sim/scenario/rules.h", "sim/world/observation.h", "sim/scenario/"},
           {"sim/world/driver.cc", "sim/judge/run.h", "sim/world/"},
           {"sim/judge/ledger.h", "sim/world/world.h", "sim/judge/"},
           {"sim/judge/run.h", "sim/report/trace.h", "sim/judge/run."},
           {"sim/report/trace.h", "sim/hunt/hunt.h", "sim/report/"},
           {"sim/hunt/hunt.h", "sim/measure/cost.h", "sim/hunt/"},
           {"sim/measure/cost.h", "sim/hunt/hunt.h", "sim/measure/"},
           {"sim/explore/model.h", "sim/hunt/hunt.h", "sim/explore/"},
           {"sim/explore/engine/search.h", "sim/world/world.h", "sim/explore/engine/"},
           {"sim/explore/components/symmetry.h", "sim/explore/lock_model.h",
            "sim/explore/components/"},
           {"sim/world/world.h", "sim/explore/engine/search.h", "sim/world/"},
           {"sim/homeless.cc", "sim/world/world.h", "sim/"},
           {"real_client/client.cc", "sim/world/world.h", "real_client/"},
           {"cli/main.cc", "spanner_model/rows.h", "cli/"},
           {"cli/main.cc", "protocol/machine.h", "cli/"}}) {
    const std::string include = header.starts_with('<') ? header : "\"" + header + "\"";
    const std::vector<Violation> violations = CheckIncludes(path, "#include " + include + "\n");
    ASSERT_EQ(violations.size(), 1U) << path << " with " << header;
    EXPECT_THAT(violations[0].rule, testing::StartsWith(folder + " "))
        << path << " with " << header;
  }
}

// A header named in another way than the rules expect would pass unseen.
TEST(InclusionRulesCheckTest, CatchesProjectHeadersNotNamedFromTheRoot) {
  for (const Case& expected :
       std::vector<Case>{{"sim/world/world.cc", "\"world.h\"", "from the repository's root"},
                         {"sim/world/world.cc", "\"../cli/main.h\"", "from the repository's root"},
                         {"cli/main.cc", "<sim/world/world.h>", "in quotes"},
                         {"sim/world/world.cc", "WORLD_HEADER", "from the repository's root"}}) {
    ExpectVerdict(expected);
  }
}

// gRPC brings threads and clocks; a room that links it can no longer be simulated.
TEST(InclusionRulesCheckTest, CatchesGrpcOutsideItsPlaces) {
  for (const Case& expected :
       std::vector<Case>{{"protocol/client/runner.h", "<grpcpp/grpcpp.h>", "gRPC"},
                         {"spanner_model/rows.h", "\"google/spanner/v1/spanner.pb.h\"", "gRPC"},
                         {"sim/world/world.h", "<grpc/grpc.h>", "gRPC"},
                         {"sim/world/world.h", "\"spanner_model/server/server.h\"", "gRPC"},
                         {"spanner_model/rows.h", "\"spanner_model/server/server.h\"", "gRPC"},
                         {"cli/main.cc", "\"grpcpp/grpcpp.h\"", "gRPC"},
                         {"cli/grpc/main.cc", "\"grpcpp/grpcpp.h\"", "gRPC"}}) {
    ExpectVerdict(expected);
  }
}

// Time, order and chance are inputs: each of these headers is a back door to one of them.
TEST(InclusionRulesCheckTest, CatchesClocksChanceThreadsAndHashOrder) {
  for (const std::string_view path : {"protocol/spanner/value.h", "protocol/machine.h",
                                      "spanner_model/rows.cc", "sim/world/world.h"}) {
    for (const std::string_view header : {"<random>", "<absl/random/random.h>"}) {
      ExpectVerdict({path, header, "chance is an input"});
    }
    for (const std::string_view header : {"<chrono>", "<ctime>", "\"absl/time/clock.h\""}) {
      ExpectVerdict({path, header, "time is an input"});
    }
    for (const std::string_view header : {"<thread>", "<mutex>", "<future>", "<atomic>"}) {
      ExpectVerdict({path, header, "order is an input"});
    }
    for (const std::string_view header :
         {"<unordered_map>", "<unordered_set>", "\"absl/hash/hash.h\"",
          "\"absl/container/flat_hash_map.h\"", "<absl/container/node_hash_set.h>"}) {
      ExpectVerdict({path, header, "hash order"});
    }
  }
}

// What ships in a lock client, and what is explored by the million, stays small.
TEST(InclusionRulesCheckTest, CatchesForeignLibrariesInProtocolAndModel) {
  for (const Case& expected :
       std::vector<Case>{{"protocol/machine.h", "<nlohmann/json.hpp>", "value types"},
                         {"protocol/spanner/sql.cc", "<boost/asio.hpp>", "value types"},
                         {"spanner_model/rows.h", "<unistd.h>", "value types"},
                         {"spanner_model/rows.h", "\"absl/flags/flag.h\"", "value types"}}) {
    ExpectVerdict(expected);
  }
}

// Rules that forbid what the house needs would be switched off.
TEST(InclusionRulesCheckTest, AllowsWhatTheDesignAllows) {
  for (const Case& expected :
       std::vector<Case>{{"protocol/spanner/value.cc", "\"protocol/spanner/value.h\"", ""},
                         {"protocol/spanner/value.h", "<variant>", ""},
                         {"protocol/spindle_v2/spindle_v2.cc", "<xxhash.h>", ""},
                         {"protocol/spindle_v2/spindle_v2.cc", "\"protocol/client/runner.h\"", ""},
                         {"spanner_model/rows.h", "\"protocol/spanner/value.h\"", ""},
                         {"spanner_model/rows.h", "\"absl/container/btree_map.h\"", ""},
                         {"spanner_model/rows.h", "\"absl/status/statusor.h\"", ""},
                         {"spanner_model/server/server.cc", "<grpcpp/grpcpp.h>", ""},
                         {"spanner_model/server/server.cc", "<thread>", ""},
                         {"spanner_model/server/server.cc", "\"wire/values.h\"", ""},
                         {"wire/values.cc", "<grpcpp/support/status.h>", ""},
                         {"wire/values.cc", "\"google/spanner/v1/type.pb.h\"", ""},
                         {"wire/values.cc", "\"protocol/spanner/value.h\"", ""},
                         {"real_client/client.cc", "\"wire/values.h\"", ""},
                         {"sim/scenario/scenario.cc", "<nlohmann/json.hpp>", ""},
                         {"sim/world/world.h", "\"spanner_model/rows.h\"", ""},
                         {"sim/explore/model.h", "\"sim/world/world.h\"", ""},
                         {"sim/explore/model.h", "\"sim/explore/engine/search.h\"", ""},
                         {"sim/world/world.h", "\"protocol/machine.h\"", ""},
                         {"real_client/client.cc", "<grpcpp/grpcpp.h>", ""},
                         {"real_client/client.cc", "\"protocol/client/runner.h\"", ""},
                         {"live/proxy/relay.h", "\"sim/scenario/direction.h\"", ""},
                         {"live/proxy/node_server.h", "<grpcpp/server.h>", ""},
                         {"live/backend.cc", "\"spanner_model/server/server.h\"", ""},
                         {"check/reproduce.cc", "\"sim/judge/run.h\"", ""},
                         {"cli/main.cc", "\"sim/world/world.h\"", ""},
                         {"cli/replay/options.h", "\"live/backend_kind.h\"", ""},
                         {"cli/lock/options.h", "\"real_client/lock.h\"", ""},
                         {"cli/grpc/replay_on.cc", "\"live/comparison.h\"", ""},
                         {"cli/grpc/main.cc", "\"cli/lock/command.h\"", ""},
                         {"real_client/google_cloud/x.cc", "<google/cloud/options.h>", ""},
                         {"cli/main.cc", "<chrono>", ""},
                         {"tests/sim/world/world_test.cc", "\"spanner_model/rows.h\"", ""}}) {
    ExpectVerdict(expected);
  }
}

// An exception is for one file and the headers it names, or it becomes a habit.
TEST(InclusionRulesCheckTest, ExceptsNamedHeadersOfNamedFilesOnly) {
  for (const Case& expected :
       std::vector<Case>{{"sim/explore/components/normal_form.cc", "<mutex>", ""},
                         {"protocol/spanner/sql.cc", "<mutex>", ""},
                         {"protocol/spanner/sql.cc", "<thread>", "order is an input"},
                         {"protocol/spanner/sql.h", "<mutex>", "order is an input"},
                         {"sim/explore/engine/thread_team.cc", "<thread>", ""},
                         {"sim/explore/engine/search.h", "<thread>", "order is an input"},
                         {"sim/explore/held_bytes.h", "<atomic>", ""},
                         {"sim/explore/memoized_model.h", "<atomic>", "order is an input"},
                         {"sim/judge/batch.cc", "<thread>", ""},
                         {"sim/judge/batch.cc", "<mutex>", ""},
                         {"sim/judge/batch.cc", "<atomic>", ""},
                         {"sim/judge/batch.cc", "<chrono>", "time is an input"}}) {
    ExpectVerdict(expected);
  }
}

// A finding is repaired by who can jump to it.
TEST(InclusionRulesCheckTest, NamesFileLineIncludeAndRule) {
  const std::vector<Violation> violations = CheckIncludes("protocol/machine.h",
                                                          "#pragma once\n"
                                                          "// #include <mutex> would be wrong\n"
                                                          "#include <vector>\n"
                                                          "  #  include <random>  // dice\n");
  ASSERT_EQ(violations.size(), 1U);
  std::ostringstream message;
  message << violations[0];
  EXPECT_THAT(message.str(), testing::StartsWith("protocol/machine.h:4: includes random: chance"));
}

// An exception without its reason cannot be reviewed, and one for no area excepts nothing.
TEST(InclusionRulesCheckTest, EveryExceptionHasAnAreaAndAReason) {
  for (const Exception& exception : Exceptions()) {
    EXPECT_NE(AreaOf(exception.path), nullptr) << exception.path;
    EXPECT_FALSE(exception.reason.empty()) << exception.path;
  }
}

}  // namespace
}  // namespace whorl::inclusion_rules_test
