// What earlier releases wrote and read goes on working (docs/USING.md, "From one release to the next").
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/cli_testing.h"

namespace whorl::cli::earlier_release_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

class EarlierReleaseTest : public CliTest {
 protected:
  // In the folder with the files of earlier releases.
  Ended WhorlThere(const std::string& arguments) {
    return Shell("cd '" WHORL_SOURCE_DIR "/tests/earlier_release' && \"$W\" " + arguments);
  }
};

void AddKeys(const json& value, const std::string& place, std::set<std::string>& keys) {
  if (value.is_array()) {
    for (const json& one : value) AddKeys(one, place + "/[]", keys);
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.items()) {
    keys.insert(place + "/" + key);
    AddKeys(member, place + "/" + key, keys);
  }
}

// Of one document, or of one on each line.
std::set<std::string> KeysOf(const std::string& text) {
  std::set<std::string> keys;
  if (const json whole = json::parse(text, nullptr, false); !whole.is_discarded()) {
    AddKeys(whole, "", keys);
    return keys;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) AddKeys(json::parse(line), "", keys);
  return keys;
}

// A program that reads a key of --json finds it in every later release. A key may be added.
TEST_F(EarlierReleaseTest, OutputsHaveTheKeysThatTheyHad) {
  const json outputs =
      json::parse(ReadText(WHORL_SOURCE_DIR "/tests/earlier_release/outputs.json"));
  ASSERT_GE(outputs.size(), 7U);
  for (const auto& [command, had] : outputs.items()) {
    const std::set<std::string> keys = KeysOf(WhorlThere(command).out);
    std::vector<std::string> lost;
    for (const std::string key : had) {
      if (!keys.contains(key)) lost.push_back(key);
    }
    EXPECT_THAT(lost, IsEmpty()) << command;
  }
}

TEST_F(EarlierReleaseTest, ScenariosAndHistoriesAreReadAsTheyWere) {
  EXPECT_THAT(WhorlThere("replay scenario.json"), Ends(0, HasSubstr("1 as expected"), IsEmpty()));
  EXPECT_THAT(
      WhorlThere("check changes.jsonl pod-a.jsonl --protocol spindle_v2 --lease 10s --json"),
      Ends(0, HasSubstr("\"token_monotonic\""), IsEmpty()));
}

TEST_F(EarlierReleaseTest, ConvertWritesRulesInTodaysWords) {
  const Ended converted = WhorlThere("convert rules.json");
  EXPECT_EQ(converted.code, 0) << converted.err;
  EXPECT_THAT(converted.err, IsEmpty());
  const json rules = json::parse(converted.out)["faults"];
  EXPECT_EQ(rules[0],
            json::parse(R"({"match": {"method": "Commit", "count": 3}, "do": "drop_reply"})"));
  EXPECT_EQ(rules[1], json::parse(R"({"match": {"sql_matches": "^select", "nth": 10}, "times": 0,
      "do": "latency", "add": {"min": "50ms", "p50": "1.025s", "p99": "1.9805s", "max": "2s"}})"));
  EXPECT_EQ(rules[4], json::parse(R"({"match": {"client": 1}, "do": "partition", "mode": "refuse",
                                      "for": "1s"})"));
  EXPECT_EQ(rules[5], json::parse(R"({"match": {"table": "locks", "parameters": {"name": "job"}},
                                      "do": "latency", "add": "1s", "percent": 5, "ttl": "1m"})"));
  EXPECT_EQ(rules[6], json::parse(R"({"match": {"method": "BatchWrite", "phase": "served"},
                                      "do": "error", "code": "UNAVAILABLE"})"));
  // Once is enough.
  Write("rules.json", converted.out);
  const Ended again = Whorl("convert rules.json --out rules.json");
  EXPECT_THAT(again, Ends(0, IsEmpty(), HasSubstr("has today's words already")));
  EXPECT_EQ(ReadText(folder_ / "rules.json"), converted.out);
}

TEST_F(EarlierReleaseTest, ConvertSaysWhatItCannotRead) {
  Write("cut.json", "{\"faults\": [\n");
  EXPECT_THAT(Whorl("convert cut.json"),
              Complains(2, HasSubstr("whorl: cut.json:1: /faults: not JSON")));
  EXPECT_THAT(Whorl("convert nosuch.json"), Complains(2, HasSubstr("nosuch.json: cannot be read")));
  EXPECT_THAT(Whorl("convert"), Complains(2, HasSubstr("file is required")));
  Write("scenario.json", kQuiet);
  EXPECT_THAT(Whorl("convert scenario.json"), Ends(0, std::string(kQuiet)));
}

}  // namespace
}  // namespace whorl::cli::earlier_release_test
