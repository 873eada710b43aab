#include "cli/hunt/baseline_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "base/parse_duration.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/inputs.h"
#include "cli/shards/report_file.h"
#include "cli/version.h"
#include "sim/report/json_print.h"

namespace whorl::cli {
namespace {

using sim::Baseline;
using sim::FigureColumn;
using sim::FigureFamily;
using sim::FigureName;
using sim::Json;
using sim::ProtocolRecord;

// --- columns as text ---------------------------------------------------------------------------

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr size_t kDigitsOfHash = 4;
static_assert(sim::kShortHashMax == (1U << (6 * kDigitsOfHash)) - 1);

std::string HashesText(const std::vector<uint32_t>& hashes) {
  std::string text;
  for (const uint32_t hash : hashes) {
    for (size_t digit = kDigitsOfHash; digit-- > 0;) text += kBase64[hash >> (6 * digit) & 63];
  }
  return text;
}

std::vector<uint32_t> ReadHashes(const Json& json, size_t count) {
  const auto text = json.get<std::string>();
  if (text.size() != count * kDigitsOfHash) Refuse("hashes of more runs or of fewer than it has");
  std::vector<uint32_t> hashes(count, 0);
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t digit = kBase64.find(text[i]);
    if (digit == std::string_view::npos) Refuse("no hash: " + Quoted(text));
    uint32_t& hash = hashes[i / kDigitsOfHash];
    hash = hash << 6 | static_cast<uint32_t>(digit);
  }
  return hashes;
}

constexpr int kLettersOfLevel = 26;

std::string LevelsText(const std::vector<uint8_t>& levels) {
  std::string text;
  for (size_t i = 0; i < levels.size();) {
    const auto end = std::find_if(levels.begin() + static_cast<ptrdiff_t>(i), levels.end(),
                                  [&](uint8_t level) { return level != levels[i]; });
    const auto times = static_cast<size_t>(end - levels.begin()) - i;
    if (const int above = levels[i] / kLettersOfLevel; above > 0) {
      text += static_cast<char>('a' + above - 1);
    }
    text += static_cast<char>('A' + levels[i] % kLettersOfLevel);
    if (times > 1) text += std::to_string(times);
    i += times;
  }
  return text;
}

// Reads levels one after the other.
class LevelReader {
 public:
  explicit LevelReader(std::string_view text) : text_(text) {}

  bool HasMore() const { return at_ < text_.size(); }

  uint8_t Level() {
    int level = 0;
    if (Next() >= 'a' && Next() <= 'z') level = (text_[at_++] - 'a' + 1) * kLettersOfLevel;
    if (Next() < 'A' || Next() > 'Z') Refuse("no levels: " + Quoted(text_));
    level += text_[at_++] - 'A';
    if (level >= static_cast<int>(sim::kLevels)) Refuse("there is no such level");
    return static_cast<uint8_t>(level);
  }

  // How often the level comes, up to `most`.
  size_t Times(size_t most) {
    if (!IsDigit(Next())) return 1;
    size_t times = 0;
    while (IsDigit(Next()) && times <= most) {
      times = times * 10 + static_cast<size_t>(text_[at_++] - '0');
    }
    if (times == 0 || times > most) Refuse("levels of more runs than it has");
    return times;
  }

 private:
  char Next() const { return HasMore() ? text_[at_] : '\0'; }

  std::string_view text_;
  size_t at_ = 0;
};

std::vector<uint8_t> ReadLevels(const Json& json, size_t count) {
  const auto text = json.get<std::string>();
  LevelReader reader(text);
  std::vector<uint8_t> levels;
  while (reader.HasMore()) {
    const uint8_t level = reader.Level();
    levels.insert(levels.end(), reader.Times(count - levels.size()), level);
  }
  if (levels.size() != count) Refuse("levels of fewer runs than it has");
  return levels;
}

// --- writing -----------------------------------------------------------------------------------

// One that changes worlds has to stand in the file, in HuntWords and among the options that --baseline compares;
// `style`, `lease_min` and `rate_ppm_max` are no options of the command.
static_assert(
    std::tuple_size_v<decltype(sim::WorldOptions::Tie(std::declval<sim::WorldOptions&>()))> == 6,
    "an option of worlds was added");

Json HuntJson(const Baseline& baseline) {
  const sim::HuntOptions& hunt = baseline.hunt;
  Json json = Json::object();
  json["protocols"] = hunt.protocols;
  json["seed"] = std::to_string(hunt.seed);
  json["duration"] = FormatDuration(hunt.world.duration);
  Json& kinds = json["faults"] = Json::array();
  for (const sim::FaultKind kind : hunt.world.kinds) {
    kinds.push_back(std::string(sim::FaultKindText(kind)));
  }
  json["beyond_assumptions"] = hunt.world.beyond_assumptions;
  json["runs"] = baseline.runs;
  return json;
}

Json EnumeratedJson(const Baseline& baseline) {
  Json json = Json::object();
  for (const FigureName& name : baseline.enumerated) {
    json[std::string(WordOf(name.family))].push_back(name.word);
  }
  return json;
}

Json NewLine(std::string_view line) {
  Json json = Json::object();
  json["line"] = line;
  return json;
}

std::string HeadLine(const Baseline& baseline) {
  Json json = Json::object();
  json["format"] = kBaselineFormatName;
  json["version"] = kBaselineFormat;
  json["whorl"] = kVersion;
  json["line"] = "hunt";
  json["hunt"] = HuntJson(baseline);
  json["figures"] = EnumeratedJson(baseline);
  return sim::DumpJson(json) + "\n";
}

std::string ProtocolLine(const std::string& protocol, const ProtocolRecord& record) {
  Json json = NewLine("protocol");
  json["protocol"] = protocol;
  json["runs"] = record.numbers.size();
  json["hash"] = HashText(record.hash);
  json["worlds"] = HashesText(record.worlds);
  json["events"] = HashesText(record.events);
  return sim::DumpJson(json) + "\n";
}

std::string FigureLine(const FigureName& name, const FigureColumn& column) {
  Json json = NewLine("figure");
  json["family"] = std::string(WordOf(name.family));
  json["name"] = name.word;
  json["runs"] = column.runs;
  json["sum"] = column.sum;
  json["levels"] = LevelsText(column.levels);
  return sim::DumpJson(json) + "\n";
}

// --- reading -----------------------------------------------------------------------------------

sim::FaultKind ReadFaultKind(const Json& json) {
  const auto word = json.get<std::string>();
  for (size_t i = 0; i < sim::kFaultKindCount; ++i) {
    const auto kind = static_cast<sim::FaultKind>(i);
    if (sim::FaultKindText(kind) == word) return kind;
  }
  Refuse("unknown fault " + Quoted(word));
}

FigureFamily ReadFamily(const std::string& word) {
  const std::optional<FigureFamily> family = ParseWord<FigureFamily>(word);
  if (!family) Refuse("unknown family of figures " + Quoted(word));
  return *family;
}

Duration ReadDuration(const Json& json) {
  const auto parsed = ParseDuration(json.get<std::string>());
  if (const auto* wrong = std::get_if<std::string>(&parsed)) Refuse(*wrong);
  return std::get<Duration>(parsed);
}

void ReadHunt(const Json& json, Baseline& baseline) {
  sim::HuntOptions hunt;
  for (const Json& name : At(json, "protocols")) {
    const auto protocol = name.get<std::string>();
    if (FindProtocol(protocol) == nullptr) Refuse("unknown protocol " + Quoted(protocol));
    hunt.protocols.push_back(protocol);
  }
  if (hunt.protocols.empty()) Refuse("no protocol");
  hunt.seed = Unsigned(At(json, "seed"));
  hunt.world.duration = ReadDuration(At(json, "duration"));
  for (const Json& kind : At(json, "faults")) hunt.world.kinds.push_back(ReadFaultKind(kind));
  hunt.world.beyond_assumptions = At(json, "beyond_assumptions").get<bool>();
  baseline = sim::BaselineOf(hunt);
  baseline.runs = At(json, "runs").get<uint64_t>();
  if (baseline.runs > sim::kBaselineRunsMax) Refuse("more runs than a baseline can have");
}

class BaselineReader {
 public:
  // Throws if this is no line of a baseline.
  void Read(const std::string& line) {
    const Json json = Json::parse(line);
    if (!has_head_) return ReadHead(json);
    if (is_ended_) Refuse("a line after the end");
    const auto kind = At(json, "line").get<std::string>();
    if (kind == "protocol") return ReadProtocol(json);
    if (kind == "figure") return ReadFigure(json);
    if (kind != "end") Refuse("unknown line " + Quoted(kind));
    if (baseline_.hunt.protocols.size() != baseline_.protocols.size() ||
        At(json, "figures").get<size_t>() != figures_) {
      Refuse("lines before it are missing");
    }
    is_ended_ = true;
  }

  bool IsWhole() const { return is_ended_; }
  Baseline Take() && { return std::move(baseline_); }

 private:
  void ReadHead(const Json& json) {
    CheckFormatName(json, kBaselineFormatName);
    if (At(json, "version").get<int>() != kBaselineFormat) {
      Refuse("of another version of whorl; record it anew by --save-baseline");
    }
    ReadHunt(At(json, "hunt"), baseline_);
    baseline_.protocols.clear();
    baseline_.enumerated.clear();
    for (const auto& [family, words] : At(json, "figures").items()) {
      for (const Json& word : words) {
        baseline_.enumerated.insert({ReadFamily(family), word.get<std::string>()});
      }
    }
    has_head_ = true;
  }

  void ReadProtocol(const Json& json) {
    const auto name = At(json, "protocol").get<std::string>();
    if (std::ranges::count(baseline_.hunt.protocols, name) == 0)
      Refuse("a protocol that was not hunted");
    const auto [place, is_new] = baseline_.protocols.try_emplace(name);
    if (!is_new) Refuse("a second line of " + name);
    record_ = &place->second;
    record_->numbers = sim::RunsOf(baseline_.hunt, name, baseline_.runs);
    const size_t count = record_->numbers.size();
    if (At(json, "runs").get<size_t>() != count) {
      Refuse(
          "its runs were of other protocols than the same runs are now; record it anew by "
          "--save-baseline");
    }
    record_->hash = Unsigned(At(json, "hash"), 16);
    record_->worlds = ReadHashes(At(json, "worlds"), count);
    record_->events = ReadHashes(At(json, "events"), count);
  }

  void ReadFigure(const Json& json) {
    if (record_ == nullptr) Refuse("no line of its protocol before it");
    FigureName name{.family = ReadFamily(At(json, "family").get<std::string>()),
                    .word = At(json, "name").get<std::string>()};
    FigureColumn column{.runs = At(json, "runs").get<int64_t>(),
                        .sum = At(json, "sum").get<int64_t>(),
                        .levels = ReadLevels(At(json, "levels"), record_->numbers.size())};
    const auto zeros = std::ranges::count(column.levels, uint8_t{0});
    if (column.runs + zeros != static_cast<int64_t>(column.levels.size()) ||
        column.sum < column.runs) {
      Refuse("a figure whose levels do not add up");
    }
    if (!record_->columns.emplace(std::move(name), std::move(column)).second) {
      Refuse("a second line of this figure");
    }
    ++figures_;
  }

  Baseline baseline_;
  ProtocolRecord* record_ = nullptr;  // of the last line of a protocol
  size_t figures_ = 0;
  bool has_head_ = false;
  bool is_ended_ = false;
};

}  // namespace

std::string BaselineText(const Baseline& baseline) {
  std::string text = HeadLine(baseline);
  size_t figures = 0;
  for (const auto& [protocol, record] : baseline.protocols) {
    text += ProtocolLine(protocol, record);
    for (const auto& [name, column] : record.columns) text += FigureLine(name, column);
    figures += record.columns.size();
  }
  Json end = NewLine("end");
  end["figures"] = figures;
  return text + sim::DumpJson(end) + "\n";
}

absl::StatusOr<Baseline> ParseBaseline(std::string_view text, const std::string& path) {
  const std::string name = Printable(path, 1'000);
  const std::vector<std::string> lines = LinesOf(text);
  BaselineReader reader;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string refusal =
        RefusalOf("this is no JSON, or it is cut off", [&] { reader.Read(lines[i]); });
    if (refusal.empty()) continue;
    return absl::InvalidArgumentError(
        Cat(name, ":", std::to_string(i + 1),
            ": expected a line that whorl hunt --save-baseline has written: ", refusal));
  }
  if (reader.IsWhole()) return std::move(reader).Take();
  return absl::InvalidArgumentError(Cat(
      name,
      lines.empty() ? ": empty" : ": cut off: the last line, which counts the others, is missing",
      "; record it anew by --save-baseline"));
}

absl::StatusOr<Baseline> ReadBaseline(const std::string& path) {
  std::ifstream stream;
  if (absl::Status opened = OpenInput(path, stream); !opened.ok()) return opened;
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return ParseBaseline(text, path);
}

}  // namespace whorl::cli
