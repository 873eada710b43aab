// What the page of `whorl play` asks of its server, and who may ask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "base/text.h"
#include "cli/play/playground.h"
#include "cli/play/server.h"
#include "sim/report/starter_scenario.h"
#include "tests/cli/cli_testing.h"

namespace whorl::cli {
namespace {

using sim::Json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class PlayTest : public CliTest {
 protected:
  Playground playground_{folder_.string(), std::chrono::seconds(20)};
};

std::string FirstError(const Json& answer) {
  return answer.contains("errors") ? answer["errors"][0].get<std::string>() : std::string();
}

// A start that does not load, or whose fault does not strike, teaches nothing.
TEST_F(PlayTest, EveryStartRunsAndItsFaultStrikesInEveryProtocol) {
  for (const ProtocolInfo& protocol : Protocols()) {
    for (const sim::IncidentStart& start : sim::IncidentStarts()) {
      SCOPED_TRACE(Cat(protocol.name, ": ", start.words));
      const Json begun = playground_.Start(std::string(protocol.name), start.words);
      ASSERT_TRUE(begun.contains("text")) << begun;
      const Json ran = playground_.Run(begun["text"].get<std::string>());
      ASSERT_EQ(FirstError(ran), "");
      for (const Json& failure : ran["failures"]) {
        EXPECT_THAT(failure.get<std::string>(), Not(HasSubstr("strike")));
      }
      EXPECT_THAT(playground_.Page(), AllOf(StartsWith("<!doctype html>"), EndsWith("</html>\n")));
    }
  }
}

TEST_F(PlayTest, APauseLongerThanTheLeaseShowsTwoWorkers) {
  const Json begun = playground_.Start("spindle_v2", "a long pause");
  const Json ran = playground_.Run(begun["text"].get<std::string>());
  EXPECT_THAT(ran.dump(), HasSubstr("single_worker"));
  EXPECT_GT(ran["story"].size(), 3U);
}

TEST_F(PlayTest, MistakesNameTheirLines) {
  const Json mistaken = playground_.Run(Replaced(std::string(kQuiet), "\"lease\"", "\n\"leese\""));
  EXPECT_THAT(FirstError(mistaken), AllOf(StartsWith("scenario:3"), HasSubstr("lease")));
  EXPECT_THAT(FirstError(playground_.Run("")), StartsWith("scenario:1"));
  EXPECT_THAT(FirstError(playground_.Start("spindel_v2", "a crash")), HasSubstr("spindle_v2"));
}

TEST_F(PlayTest, HuntsFromAQuietScenarioToOneThatViolates) {
  const Json begun = playground_.Start("spindle_v2", "a quiet run");
  const Json found = playground_.Hunt(begun["text"].get<std::string>());
  ASSERT_TRUE(found.contains("text")) << found;
  EXPECT_THAT(found["about"].get<std::string>(), HasSubstr("is violated"));
  const Json ran = playground_.Run(found["text"].get<std::string>());
  EXPECT_GT(ran["violated"].size(), 0U) << ran;
  EXPECT_EQ(ran["good"], true) << "it expects what it violates";
}

// Its own runs are never too long: this one would take minutes.
TEST_F(PlayTest, ARunThatTakesTooLongIsEnded) {
  Playground impatient(folder_.string(), std::chrono::milliseconds(50));
  const std::string longer = Replaced(std::string(kQuiet), "\"20s\"", "\"2000h\"");
  EXPECT_THAT(FirstError(impatient.Run(longer)), HasSubstr("whorl replay"));
}

TEST_F(PlayTest, SavesInItsFolderAndReplacesNothingOfOthers) {
  Write("mine.json", "mine");
  EXPECT_THAT(FirstError(playground_.Save("mine", "{}")), HasSubstr("is there already"));
  EXPECT_EQ(ReadText(folder_ / "mine.json"), "mine");
  for (const char* name : {"", "../x", "a/b", ".hidden", "-x", "a b"}) {
    EXPECT_THAT(FirstError(playground_.Save(name, "{}")), HasSubstr("a name has letters")) << name;
  }
  EXPECT_TRUE(playground_.Save("new", "one").contains("path"));
  EXPECT_TRUE(playground_.Save("new", "two").contains("path")) << "it is this session's";
  EXPECT_EQ(ReadText(folder_ / "new.json"), "two");
}

// --- who may ask ---------------------------------------------------------------------------------

class PlayServerTest : public PlayTest {
 protected:
  PlayServerTest() {
    auto started = PlayServer::Start(0, playground_);
    EXPECT_TRUE(started.ok());
    server_ = *std::move(started);
    const std::string url = server_->url();
    const size_t question = url.find("/?token=");
    client_ = std::make_unique<httplib::Client>(url.substr(0, question));
    token_ = url.substr(question + 8);
    port_ = url.substr(url.rfind(':', question) + 1, question - url.rfind(':', question) - 1);
  }
  int Get(const std::string& path, const httplib::Headers& headers = {}) {
    const auto answer = client_->Get(path, headers);
    return answer ? answer->status : 0;
  }
  int PostRun(const httplib::Headers& headers) {
    const auto answer = client_->Post("/run", headers, R"({"text": "{}"})", "application/json");
    return answer ? answer->status : 0;
  }

  std::unique_ptr<PlayServer> server_;
  std::unique_ptr<httplib::Client> client_;
  std::string token_;
  std::string port_;
};

TEST_F(PlayServerTest, AnswersThePageThatHasItsToken) {
  EXPECT_EQ(Get("/?token=" + token_), 200);
  EXPECT_EQ(Get("/schema?token=" + token_), 200);
  EXPECT_EQ(PostRun({{"X-Whorl-Token", token_}}), 200);
  EXPECT_EQ(PostRun({{"X-Whorl-Token", token_}, {"Origin", "http://127.0.0.1:" + port_}}), 200);
  EXPECT_EQ(Get("/nothing?token=" + token_), 404);
}

TEST_F(PlayServerTest, RefusesOtherSitesOtherNamesAndThoseWithoutToken) {
  EXPECT_EQ(Get("/"), 401);
  EXPECT_EQ(Get("/run?token=0" + token_), 401);
  EXPECT_EQ(PostRun({}), 401);
  EXPECT_EQ(PostRun({{"X-Whorl-Token", token_}, {"Origin", "https://elsewhere.example"}}), 403);
  EXPECT_EQ(PostRun({{"X-Whorl-Token", token_}, {"Origin", "null"}}), 403);
  // A name of another site that leads to this machine.
  EXPECT_EQ(Get("/?token=" + token_, {{"Host", "elsewhere.example:" + port_}}), 403);
}

TEST_F(PlayServerTest, APortThatIsTakenIsSaid) {
  Playground other(folder_.string(), std::chrono::seconds(1));
  EXPECT_THAT(std::string(PlayServer::Start(std::stoi(port_), other).status().message()),
              HasSubstr("is taken"));
}

// --- the command ---------------------------------------------------------------------------------

TEST_F(CliTest, PlayRefusesWhatIsNoFolder) {
  EXPECT_THAT(Whorl("play nowhere"), Complains(2, HasSubstr("nowhere: is no folder")));
  EXPECT_THAT(Whorl("play --prot 1"), Complains(2, HasSubstr("--port")));
}

}  // namespace
}  // namespace whorl::cli
