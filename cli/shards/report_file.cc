#include "cli/shards/report_file.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <variant>

#include "base/parse_duration.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/version.h"

namespace whorl::cli {

namespace {

using sim::Json;

void CheckFormat(const Json& json, const ShardFormat& format) {
  CheckFormatName(json, format.name);
  if (At(json, "version").get<int>() != format.version ||
      At(json, "whorl").get<std::string>() != kVersion) {
    Refuse("of another version of whorl; merge it with the whorl that wrote it");
  }
}

}  // namespace

Json HeadOfShardReport(const ShardFormat& format, const Coverage& coverage) {
  Json json = Json::object();
  json["format"] = format.name;
  json["version"] = format.version;
  json["whorl"] = kVersion;
  json["shards"] = coverage.shards;
  json["covered"] = CoveredJson(coverage);
  return json;
}

absl::Status ReadShardReport(const std::string& path, const ShardFormat& format,
                             const std::function<void(const Json&)>& read) {
  std::ifstream stream;
  if (absl::Status opened = OpenInput(path, stream); !opened.ok()) return opened;
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const std::string refusal =
      RefusalOf("this is no JSON, or it is cut off; run the shard again", [&] {
        const Json json = Json::parse(text);
        CheckFormat(json, format);
        read(json);
      });
  if (refusal.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(Printable(path, 1000), ": expected a report that ",
                                        format.command, " --out has written: ", refusal));
}

absl::Status CheckOutIsNoInput(const std::vector<std::string>& merged, const std::string& out) {
  for (const std::string& path : merged) {
    std::error_code ignored;  // what is not there is no input
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    if (!std::filesystem::equivalent(path, out, ignored)) continue;
    return absl::InvalidArgumentError(Cat("--out ", Printable(out, 1'000),
                                          " would write over the report ", Printable(path, 1'000),
                                          "; name another file"));
  }
  return absl::OkStatus();
}

using sim::Json;

void Refuse(const std::string& what) { throw std::invalid_argument(what); }

std::string RefusalOf(std::string_view no_json, const std::function<void()>& read) {
  try {
    read();
    return {};
  } catch (const Json::parse_error&) {
    return std::string(no_json);
  } catch (const Json::exception&) {
    return "a value has another type";
  } catch (const std::invalid_argument& error) {
    return Printable(error.what(), 300);
  }
}

const Json& At(const Json& json, std::string_view key) {
  if (!json.is_object() || !json.contains(key)) Refuse(Cat("no ", Quoted(key)));
  return json[std::string(key)];
}

void CheckFormatName(const Json& json, std::string_view name) {
  const auto found = At(json, "format").get<std::string>();
  if (found != name)
    Refuse(Cat("of another format, ", Quoted(found), " instead of ", Quoted(name)));
}

uint64_t Unsigned(const Json& json, int base) {
  const auto text = json.get<std::string>();
  const char* end = text.data() + text.size();
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || rest != end) Refuse("no number: " + Quoted(text));
  return number;
}

Coverage ReadCoverage(const Json& shards, const Json& covered, std::optional<uint64_t> asked) {
  Coverage coverage{.shards = shards.get<uint64_t>(), .runs = {}};
  if (coverage.shards < 1 || coverage.shards > kShardsMax) Refuse("no such number of shards");
  for (const Json& pair : covered) {
    const auto shard = pair.at(0).get<uint64_t>();
    const auto runs = pair.at(1).get<uint64_t>();
    if (shard < 1 || shard > coverage.shards) Refuse("there is no such shard");
    if (asked && runs > RunsOfShard(*asked, shard - 1, coverage.shards)) {
      Refuse("a shard has more runs than there are");
    }
    if (!coverage.runs.emplace(shard - 1, runs).second) Refuse("a shard is there twice");
  }
  if (coverage.runs.empty()) Refuse("no shard");
  return coverage;
}

namespace json_read_internal {

Duration SecondsOf(const Json& json) {
  const auto parsed = ParseDuration(json.get<std::string>() + "s");
  if (const auto* wrong = std::get_if<std::string>(&parsed)) Refuse(*wrong);
  return std::get<Duration>(parsed);
}

}  // namespace json_read_internal

}  // namespace whorl::cli
