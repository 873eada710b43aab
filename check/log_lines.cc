#include "check/log_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/text.h"
#include "check/json_text.h"

namespace whorl::check {
namespace {

// spindle v2 (github.com/flowerinthenight/spindle) with its own logger. It says who leads once in a round,
// after the callback has returned.
constexpr std::string_view kSpindleV2 = R"json({
  "time": "%Y/%m/%d %H:%M:%S",
  "resolution": "1s",
  "logs": "leads",
  "lines": [
    {"match": "\\[spindle/(?P<id>[^\\]]+)\\] (?P<time>\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d) leader active \\(me\\)",
     "event": "leads"},
    {"match": "\\[spindle/(?P<id>[^\\]]+)\\] (?P<time>\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d) leader active \\(not me\\)",
     "event": "leads_not"},
    {"match": "\\[spindle/(?P<id>[^\\]]+)\\] (?P<time>\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d) ",
     "event": "goes_on"}
  ]
})json";

constexpr std::array<std::pair<std::string_view, std::string_view>, 1> kReady = {
    {{"spindle_v2", kSpindleV2}}};

std::string TextOrNothing(const Node& object, std::string_view name) {
  return std::string(TextIn(object, name, /*required=*/false));
}

// "+02:00". Throws Wrong.
int SecondsOf(std::string_view offset) {
  int hours = 0;
  int minutes = 0;
  const bool has_form = offset.size() == 6 && (offset[0] == '+' || offset[0] == '-') &&
                        offset[3] == ':' &&
                        std::from_chars(&offset[1], &offset[3], hours).ptr == &offset[3] &&
                        std::from_chars(&offset[4], &offset[4] + 2, minutes).ptr == &offset[4] + 2;
  if (!has_form) throw Wrong{Cat("\"utc_offset\" is such as \"+02:00\", not ", Quoted(offset))};
  const int seconds = hours * 3'600 + minutes * 60;
  return offset[0] == '-' ? -seconds : seconds;
}

absl::string_view Absl(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct LogPattern::Line {
  std::unique_ptr<RE2> match;
  std::vector<std::string> groups;  // by number, from 1; empty: it has no name
  Members constants;
};

LogPattern::LogPattern() = default;
LogPattern::LogPattern(LogPattern&&) noexcept = default;
LogPattern& LogPattern::operator=(LogPattern&&) noexcept = default;
LogPattern::~LogPattern() = default;

std::string LogPattern::Parse(std::string_view text) {
  JsonText json;
  const Node* mapping = json.Parse(text);
  if (mapping == nullptr) {
    const std::string_view before = text.substr(0, json.error_at());
    return Cat(std::to_string(std::ranges::count(before, '\n') + 1), ": is no JSON (", json.error(),
               ")");
  }
  return Parse(*mapping);
}

std::string LogPattern::Parse(const Node& mapping) {
  try {
    if (!mapping.IsObject()) throw Wrong{"a mapping is an object"};
    for (const auto& member : mapping) {
      const std::string_view name = member.name;
      if (name != "time" && name != "utc_offset" && name != "resolution" && name != "lines" &&
          name != "about" && name != "logs") {
        throw Wrong{Cat("a mapping has no ", Quoted(name),
                        ", but time, utc_offset, resolution, logs, lines and about")};
      }
    }
    time_ = TextOrNothing(mapping, "time");
    resolution_ = TextOrNothing(mapping, "resolution");
    if (!resolution_.empty()) ParseLength(resolution_, "resolution");
    logs_ = TextOrNothing(mapping, "logs");
    if (const Node* logs = Find(mapping, "logs")) KindsIn(*logs);
    const std::string offset = TextOrNothing(mapping, "utc_offset");
    if (!offset.empty()) utc_offset_s_ = SecondsOf(offset);
    const Node* lines = Find(mapping, "lines");
    if (lines == nullptr || !lines->IsArray() || lines->first == nullptr) {
      throw Wrong{"wants \"lines\", a list of objects with \"match\" and \"event\""};
    }
    for (const Node& node : *lines) {
      if (!node.IsObject()) throw Wrong{"\"lines\" is a list of objects"};
      Line line;
      RE2::Options options;
      options.set_log_errors(false);
      const std::string_view match = TextIn(node, "match");
      line.match = std::make_unique<RE2>(re2::StringPiece(match.data(), match.size()), options);
      if (!line.match->ok()) throw Wrong{Cat(Quoted(match), ": ", line.match->error())};
      line.groups.resize(static_cast<size_t>(line.match->NumberOfCapturingGroups()));
      for (const auto& [number, name] : line.match->CapturingGroupNames()) {
        line.groups[static_cast<size_t>(number - 1)] = name;
      }
      for (const auto& member : node) {
        const std::string name(member.name);
        if (name != "match") line.constants.emplace_back(name, TextIn(node, name));
      }
      const auto says = [&](std::string_view name) {
        return std::ranges::count(line.groups, name) > 0 ||
               std::ranges::any_of(line.constants,
                                   [&](const auto& member) { return member.first == name; });
      };
      if (!says("event")) throw Wrong{Cat(Quoted(match), " wants an \"event\"")};
      lines_.push_back(std::move(line));
    }
    return {};
  } catch (const Wrong& wrong) {
    return wrong.text;
  }
}

std::vector<std::string> LogPattern::Expressions() const {
  std::vector<std::string> expressions;
  for (const Line& line : lines_) expressions.push_back(line.match->pattern());
  return expressions;
}

std::optional<LogPattern::Found> LogPattern::Match(std::string_view text) const {
  const re2::StringPiece piece(text.data(), text.size());
  for (size_t which = 0; which < lines_.size(); ++which) {
    const Line& line = lines_[which];
    std::vector<re2::StringPiece> found(line.groups.size() + 1);
    if (!line.match->Match(piece, 0, text.size(), RE2::UNANCHORED, found.data(),
                           static_cast<int>(found.size()))) {
      continue;
    }
    Members members = line.constants;
    for (size_t i = 0; i < line.groups.size(); ++i) {
      const std::string_view value(found[i + 1].data(), found[i + 1].size());
      const std::string& name = line.groups[i];
      if (name.empty() || value.empty()) continue;
      const bool is_time = name == "time" || name == "sent" || name == "received";
      if (!is_time || (time_.empty() && ParseRfc3339(value))) {
        members.emplace_back(name, value);
        continue;
      }
      absl::Time time;
      std::string error;
      const std::string format = time_.empty() ? std::string(absl::RFC3339_full) : time_;
      if (!absl::ParseTime(Absl(format), Absl(value), absl::FixedTimeZone(utc_offset_s_), &time,
                           &error)) {
        throw Wrong{Cat(Quoted(name), " is no time as ", Quoted(format), " says: ", Quoted(value),
                        ": ", error)};
      }
      members.emplace_back(name, FormatRfc3339(Timestamp::FromUnixNanos(absl::ToUnixNanos(time))));
    }
    if (!resolution_.empty()) members.emplace_back("resolution", resolution_);
    if (!logs_.empty()) members.emplace_back("logs", logs_);
    return Found{.expression = which, .members = std::move(members)};
  }
  return std::nullopt;
}

std::optional<std::string_view> ReadyPattern(std::string_view name) {
  for (const auto& [known, mapping] : kReady) {
    if (known == name) return mapping;
  }
  return std::nullopt;
}

std::string ReadPattern(const std::string& name, LogPattern& out) {
  std::string text;
  if (const auto ready = ReadyPattern(name)) {
    text = *ready;
  } else {
    std::ifstream file(name, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad()) {
      std::vector<std::string_view> names;
      for (const auto& [known, mapping] : kReady) names.push_back(known);
      return Cat(Quoted(name), " is no file that can be read, and no ready pattern: those are ",
                 ListOf(names));
    }
  }
  const std::string wrong = out.Parse(text);
  return wrong.empty() ? wrong : Cat(Printable(name, 1'000), ": ", wrong);
}

std::string LogLines::Read(std::string_view line, const Place& place, std::vector<Operation>& out) {
  const size_t had = out.size();
  try {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
    std::optional<LogPattern::Found> found = pattern_.Match(line);
    if (!found) {
      wanted_.Counts().Pass(kNoExpression, line,
                            pattern_.is_complete() ? Bearing::kNone : Bearing::kMayDecide);
      return {};
    }
    wanted_.Counts().Matched(found->expression, {});
    LogPattern::Members& members = found->members;
    const bool is_none = std::ranges::any_of(members, [](const auto& member) {
      return member.first == "event" && member.second == "none";
    });
    if (is_none) {
      wanted_.Counts().Pass("the pattern says \"none\"");
      return {};
    }
    const auto has = [&](std::string_view name) {
      return std::ranges::any_of(members, [&](const auto& member) { return member.first == name; });
    };
    if (!has("id")) {
      std::string_view id = place.file;
      id.remove_prefix(std::min(id.rfind('/') + 1, id.size()));
      members.emplace_back("id", id.substr(0, id.find('.')));
    }
    if (!has("lock") && !wanted_.lock.empty()) members.emplace_back("lock", wanted_.lock);
    nodes_.Clear();
    Node* object = nodes_.New(NodeKind::kObject);
    for (const auto& [name, value] : members) {
      Node* member = nodes_.NewString(value);
      member->name = name;
      object->Add(member);
    }
    RecordReader(protocol_, wanted_, place, out).Read(*object);
    return {};
  } catch (const Wrong& wrong) {
    out.resize(had);
    return Cat(WhereIs(place), ": ", wrong.text);
  }
}

}  // namespace whorl::check
