#include "sim/scenario/earlier_words.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/parse_duration.h"
#include "base/text.h"
#include "base/time.h"
#include "sim/scenario/json_text.h"

namespace whorl::sim {
namespace {

// Which keys stood in a rule and go on to do so; all others, unknown ones too, said which calls it strikes.
constexpr std::array<std::string_view, 7> kOfRule = {"do",    "code",       "for", "about",
                                                     "times", "impossible", "ttl"};

std::string_view NameInMatch(std::string_view key) { return key == "every" ? "nth" : key; }

std::optional<Duration> DurationIn(const Json& json) {
  if (!json.is_string()) return std::nullopt;
  const std::variant<Duration, std::string> parsed = ParseDuration(json.get<std::string>());
  return std::holds_alternative<Duration>(parsed) ? std::optional(std::get<Duration>(parsed))
                                                  : std::nullopt;
}

// An earlier latency was drawn evenly between two durations, as these quantiles say, or was one, which might be 0s.
Json DelayOf(const Json& lasts) {
  if (DurationIn(lasts) == Duration{}) return "1ns";
  if (!lasts.is_array() || lasts.size() != 2) return lasts;
  const std::optional<Duration> least = DurationIn(lasts[0]);
  const std::optional<Duration> most = DurationIn(lasts[1]);
  if (!least || !most) return lasts;
  const Duration between = *most - *least;
  return {{"min", lasts[0]},
          {"p50", FormatDuration(*least + between / 2)},
          {"p99", FormatDuration(*most - between / 100)},
          {"max", lasts[1]}};
}

void ConvertKind(Json& rule) {
  const Json kind = rule.value("do", Json());
  if (kind == "hold" || kind == "latency") {
    rule["do"] = "latency";
    if (const auto lasts = rule.find("for"); lasts != rule.end()) {
      Json add = DelayOf(*lasts);
      rule.erase("for");
      rule["add"] = std::move(add);
    }
  } else if (kind == "black_hole" || kind == "reset") {
    rule["do"] = "partition";
    if (kind == "reset") rule["mode"] = "refuse";
  } else if (kind == "error" && !rule.contains("code")) {
    rule["code"] = "UNAVAILABLE";
  }
}

Json ConvertRule(const Json& earlier) {
  Json match = Json::object();
  Json rule = {{"match", Json::object()}};
  for (const auto& [key, value] : earlier.items()) {
    if (key == "probability") {
      rule["percent"] = value;
    } else if (std::ranges::find(kOfRule, key) != kOfRule.end()) {
      rule[key] = value;
    } else {
      match[std::string(NameInMatch(key))] = value;
    }
  }
  rule["match"] = std::move(match);
  ConvertKind(rule);
  return rule;
}

}  // namespace

std::optional<std::string> FromEarlierWords(std::string_view text) {
  Json file = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  // A scenario has nodes.
  if (!file.is_object() || !file.contains("faults") || !file["faults"].is_array() ||
      file.contains("nodes") || file.contains("protocol")) {
    return std::nullopt;
  }
  bool is_earlier = false;
  for (Json& rule : file["faults"]) {
    if (!rule.is_object() || rule.contains("match")) continue;
    is_earlier = true;
    rule = ConvertRule(rule);
  }
  if (!is_earlier) return std::nullopt;
  return DumpJson(file, 2) + "\n";
}

}  // namespace whorl::sim
