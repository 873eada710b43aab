// Every mistake that the scenario loader knows, with the exact text that a person reads: errors.txt
// has the mistakes and the answers, this file what cannot be written there.
//
// To write the answers anew after a change that is meant, and to review the difference:
//   WHORL_UPDATE_GOLDEN=1 ./dev test -R ScenarioErrors
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/loader.h"

namespace whorl::sim::scenario_errors_test {
namespace {

constexpr std::string_view kGood = R"({
  "version": 1,
  "about": "x",
  "protocol": "spindle_v2",
  "nodes": ["a", "b"],
  "duration": "60s"
})";

// kGood with its `from` turned into `to`.
std::string Changed(std::string_view from, std::string_view to) {
  std::string text(kGood);
  return text.replace(text.find(from), from.size(), to);
}

// A scenario with `more` on the line after its last one, and on those after it.
std::string Add(std::string scenario, std::string_view more) {
  scenario.resize(scenario.size() - 2);
  return scenario.append(",\n  ").append(more).append("\n}");
}
std::string With(std::string_view more) { return Add(std::string(kGood), more); }

// Two locks and three nodes on lines 7 to 10; one node never starts.
std::string AmongLocks() {
  return Changed("[\"a\", \"b\"]", R"([
    { "name": "a", "locks": ["x"] }, { "name": "b" },
    { "name": "late", "start_at": "never" } ],
  "locks": ["x", "y"])");
}

std::string ErrorsOf(std::string_view text) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(text, "x.json");
  if (scenario.ok()) return "no error";
  EXPECT_EQ(scenario.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(scenario.status().message());
}

// --- errors.txt ----------------------------------------------------------------------------------

// The scenario that a line of errors.txt describes.
std::string ScenarioOf(const std::string& place, const std::string& text) {
  if (place == "text") return text;
  if (place == "about") return Changed("\"x\"", text);
  if (place == "protocol") return Changed("\"spindle_v2\"", text);
  if (place == "nodes") return Changed("[\"a\", \"b\"]", text);
  if (place == "duration") return Changed("\"60s\"", text);
  if (place == "add") return With(text);
  if (place == "fault") return With("\"faults\": [" + text + "]");
  if (place == "faults") return With("\"faults\": [\n" + text + "]");
  if (place == "fault among locks") return Add(AmongLocks(), "\"faults\": [" + text + "]");
  if (place == "row") return With("\"rows\": [" + text + "]");
  if (place == "truetime") return With("\"spanner\": { \"truetime\": " + text + "}");
  if (place == "expect") return With("\"expect\": {" + text + "}");
  if (place == "branches") return With("\"branches\": " + text);
  if (place == "schedule") {
    return With(
        "\"faults\": [{ \"at\": \"9s\", \"do\": \"pause\", \"node\": \"a\", \"for\": \"1s\" }],\n"
        "  \"schedule\": [" +
        text + "]");
  }
  return Add(Changed("spindle_v2", place), text);  // of another protocol
}

// Each part of errors.txt by its name, without the line that names it.
constexpr const char* kPath = WHORL_SOURCE_DIR "/tests/sim/scenario/errors.txt";
std::map<std::string, std::string> Parts() {
  std::map<std::string, std::string> parts;
  std::ifstream file(kPath);
  std::string* part = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) {
      part = &parts[line.substr(3)];
    } else if (part != nullptr) {
      part->append(line).append("\n");
    }
  }
  return parts;
}

// The part with the answers that the loader gives.
std::string Answered(const std::string& part) {
  std::string answered;
  std::string place;
  std::string text;
  const auto answer = [&] {
    if (place.empty()) return;
    std::istringstream errors(ErrorsOf(ScenarioOf(place, text)));
    for (std::string line; std::getline(errors, line);) answered.append("> " + line + "\n");
    place.clear();
  };
  std::istringstream lines(part);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(">")) continue;
    if (line.starts_with(" ")) {
      text.append("\n").append(line);
    } else {
      answer();
      const size_t colon = line.starts_with("#") ? std::string::npos : line.find(": ");
      if (colon != std::string::npos) {
        place = line.substr(0, colon);
        text = line.substr(colon + 2);
      }
    }
    answered.append(line).append("\n");
  }
  answer();
  return answered;
}

std::vector<std::string> NamesOfParts() {
  std::vector<std::string> names;
  for (const auto& [name, part] : Parts()) names.push_back(name);
  return names;
}

class ScenarioErrorsTest : public testing::TestWithParam<std::string> {};

TEST_P(ScenarioErrorsTest, AreAsTheFileSays) {
  const std::string part = Parts().at(GetParam());
  const std::string now = Answered(part);
  if (std::getenv("WHORL_UPDATE_GOLDEN") != nullptr) {
    std::ifstream in(kPath);
    std::string file(std::istreambuf_iterator<char>(in), {});
    const size_t at = file.find("## " + GetParam() + "\n") + GetParam().size() + 4;
    std::ofstream(kPath) << file.replace(at, part.size(), now);
    GTEST_SKIP() << "wrote " << kPath;
  }
  EXPECT_EQ(part, now) << "if this is meant, see the head of errors_test.cc";
}

INSTANTIATE_TEST_SUITE_P(Parts, ScenarioErrorsTest, testing::ValuesIn(NamesOfParts()),
                         [](const auto& part) { return part.param; });

// --- what cannot be written there ----------------------------------------------------------------

TEST(ScenarioErrors, NameAnEmptyText) {
  EXPECT_EQ(ErrorsOf(""), "x.json:1: empty: expected a JSON object");
  EXPECT_EQ(ErrorsOf(" \n\t"), "x.json:1: empty: expected a JSON object");
}

TEST(ScenarioErrors, SayWhereATextThatGoesOnOrIsNoUtf8StopsBeingJson) {
  EXPECT_EQ(ErrorsOf(std::string(kGood) + "\n}"),
            "x.json:8: not JSON at column 1: while parsing value - unexpected '}'; expected end of "
            "input");
  EXPECT_EQ(ErrorsOf("{ \"about\": \"\xff\" }"),
            "x.json:1: not JSON at column 13: while parsing value - invalid string: ill-formed "
            "UTF-8 byte; last read: '\"\\xff'");
}

TEST(ScenarioErrors, StopAtDepthAndAtNumberRatherThanAtTheStacksEnd) {
  EXPECT_EQ(ErrorsOf(std::string(100'000, '[')).substr(0, 20), "x.json:1: /0/0/0/0/0");
  EXPECT_TRUE(ErrorsOf(std::string(100'000, '[')).ends_with(": nested deeper than 64 levels"));
  std::string many = "[0";
  for (int i = 0; i < 500'000; ++i) many += ",0";
  EXPECT_EQ(ErrorsOf(many + "]"), "x.json:1: more than 500000 values");
}

TEST(ScenarioErrors, RefuseATextThatIsTooLong) {
  EXPECT_EQ(ErrorsOf(std::string(kMaxScenarioBytes + 1, ' ')),
            "x.json: longer than a scenario may be (16 MiB)");
}

TEST(ScenarioErrors, RefuseANameThatIsTooLong) {
  EXPECT_EQ(ErrorsOf(Changed("[\"a\", \"b\"]", "[\"" + std::string(101, 'n') + "\"]")),
            "x.json:5: /nodes/0: expected a name of at most 100 bytes, got one of 101");
}

TEST(ScenarioErrors, AreAtMostTwenty) {
  std::string faults = "\"faults\": [ 0";
  for (int i = 0; i < 1000; ++i) faults += ",\n    0";
  const std::string errors = ErrorsOf(With(faults + " ]"));
  EXPECT_TRUE(errors.starts_with("x.json:7: /faults/0: expected an object, got the number 0\n"));
  EXPECT_TRUE(
      errors.ends_with("x.json:26: /faults/19: expected an object, got the number 0\n"
                       "x.json: further errors are not shown"));
}

TEST(ScenarioErrors, ArePrintableWhateverTheTextSays) {
  // Nothing in a file from elsewhere may steer the terminal that shows the error.
  EXPECT_EQ(
      ErrorsOf(With("\"\\u001b[31m\\u009b\\n\": 1")).substr(0, 76),
      "x.json:7: /\\x1b[31m\\xc2\\x9b\\x0a: unknown key \"\\x1b[31m\\xc2\\x9b\\x0a\". Known k");
  EXPECT_LT(ErrorsOf(With("\"" + std::string(1 << 20, 'k') + "\": 1")).size(), 1'000U);
}

TEST(ScenarioErrors, StopThousandsOfPatternsFromFillingMemory) {
  std::string text = R"({ "version": 1, "about": "x", "protocol": "spindle_v2", "duration": "60s",
  "nodes": [{ "name": "pod", "count": 1000 }], "faults": [
    { "at": "1s", "do": "crash", "node": "*" })";
  for (int i = 0; i < 200; ++i) text += ",\n{ \"at\": \"1s\", \"do\": \"crash\", \"node\": \"*\" }";
  EXPECT_EQ(ErrorsOf(text + "] }"),
            "x.json:23: /faults/20: more than 20000 faults, counting each node that a pattern "
            "matches, and each of \"times\"");
}

TEST(ScenarioErrors, OfFaultsThatNeedAProcessSayThatThereIsNone) {
  const auto error = [](const std::string& faults) {
    const std::string errors = ErrorsOf(Add(AmongLocks(), "\"faults\": [" + faults + "]"));
    return errors == "no error" ? errors : errors.substr(errors.find("/faults"));
  };
  const std::string down = "/faults/0: can never fire: at 5s node \"late\" is not running";
  for (const std::string fault :
       {R"("do": "crash")", R"("do": "stop")", R"("do": "pause", "for": "1s")",
        R"("do": "session_loss")", R"("do": "clock", "stands": true, "for": "1s")"}) {
    const std::string at_5s = R"({ "at": "5s", "node": "late", )" + fault + "}";
    EXPECT_EQ(error(at_5s), down);
    EXPECT_EQ(error(at_5s + R"(, { "at": "6s", "do": "start", "node": "late" })"), down);
    EXPECT_EQ(error(R"({ "at": "4s", "do": "start", "node": "late" }, )" + at_5s), "no error");
    EXPECT_EQ(error(R"({ "do": "start", "node": "late",
      "when": { "node": "a", "step": "check", "phase": "sent" } }, )" +
                    at_5s),
              "no error");
  }
}

// --- files ---------------------------------------------------------------------------------------

TEST(ScenarioErrors, TellAFileThatCannotBeReadFromOneThatIsWrong) {
  const std::string directory = ::testing::TempDir();
  const absl::Status missing = LoadScenario(directory + "no_such_scenario.json").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.message(),
            directory + "no_such_scenario.json: cannot be read: No such file or directory");
  EXPECT_EQ(LoadScenario(directory).status().code(), absl::StatusCode::kUnavailable);

  const std::string path = directory + "whorl_scenario_errors_test.json";
  std::ofstream(path) << "{";
  EXPECT_EQ(LoadScenario(path).status().code(), absl::StatusCode::kInvalidArgument);
  std::filesystem::resize_file(path, 100'000'000);
  EXPECT_EQ(LoadScenario(path).status().message(),
            path + ": longer than a scenario may be (16 MiB)");
  std::ofstream(path) << kGood;
  EXPECT_EQ(LoadScenario(path)->name, "whorl_scenario_errors_test");
  std::filesystem::remove(path);
}

TEST(ScenarioErrors, EndADeviceThatNeverEnds) {
  EXPECT_EQ(LoadScenario("/dev/zero").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace whorl::sim::scenario_errors_test
