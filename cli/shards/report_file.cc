#include "cli/shards/report_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/text.h"
#include "cli/inputs.h"
#include "cli/shards/json_read.h"
#include "cli/version.h"

namespace whorl::cli {
namespace {

using sim::Json;

void CheckFormat(const Json& json, const ShardFormat& format) {
  if (At(json, "format").get<std::string>() != format.name) Refuse("of another format");
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

}  // namespace whorl::cli
