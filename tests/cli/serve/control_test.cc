// The control plane of `whorl serve` and `whorl proxy`.
#include <set>
#include <thread>

#include "tests/cli/serve/control_testing.h"
#include "tests/support/json_schema.h"

namespace whorl::serve_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(ControlTest, FaultsComeAndGoWhileProgramsRun) {
  StartServe();
  EXPECT_EQ(Lock("init job").code, 0);
  const Json ids =
      Post("/faults",
           R"({"faults": [{"match": {}, "do": "error", "code": "PERMISSION_DENIED", "times": 0}]})",
           201);
  EXPECT_EQ(ids.dump(), R"({"ids":[1]})");
  EXPECT_THAT(Lock("list"), Complains(3, HasSubstr("PERMISSION_DENIED")));
  const Json listed = Get("/faults");
  EXPECT_EQ(listed["faults"][0]["rule"], "body:1 (/faults/0)");
  EXPECT_GE(listed["faults"][0]["struck"], 1);
  Got(http_->Delete("/faults/1"), 204);
  EXPECT_EQ(Lock("list").code, 0);
  EXPECT_THAT(Got(http_->Delete("/faults/1"), 404).dump(), HasSubstr("there is no fault 1"));
  Post("/faults", R"({"faults": [{"match": {}, "do": "abort"}, {"match": {}, "do": "abort"}]})",
       201);
  Got(http_->Delete("/faults"), 204);
  EXPECT_EQ(Get("/faults").dump(), R"({"faults":[]})");
}

TEST_F(ControlTest, RulesInEarlierWordsAreTakenWithANote) {
  // docs/USING.md promises the note, and who posts rules sees no standard error.
  StartServe();
  const Json taken =
      Post("/faults", R"({"faults": [{"method": "Commit", "do": "drop_reply", "count": 3}]})", 201);
  EXPECT_EQ(taken["ids"].dump(), "[1]");
  EXPECT_THAT(taken["note"].get<std::string>(),
              AllOf(HasSubstr("an earlier release"), HasSubstr("whorl convert")));
  const Json today =
      Post("/faults",
           R"({"faults": [{"match": {"method": "Commit", "nth": 3}, "do": "drop_reply"}]})", 201);
  EXPECT_FALSE(today.contains("note")) << today.dump();
}

TEST_F(ControlTest, AClientIsCutOffAndLetGo) {
  StartServe({"--clients", "2"});
  EXPECT_EQ(Lock("init job").code, 0);
  const Json cut = Post("/clients/1", R"({"link": "refused"})");
  EXPECT_EQ(cut["to"], "refused");
  EXPECT_EQ(cut["from"], "refused");
  EXPECT_EQ(Get("/clients")["clients"][1]["to"], "up");
  EXPECT_EQ(Lock("list").code, 3);
  EXPECT_EQ(Post("/clients/1", R"({"link": "up", "direction": "to"})")["from"], "refused");
  Post("/clients/1", R"({"link": "up"})");
  EXPECT_EQ(Lock("list").code, 0);
}

TEST_F(ControlTest, VirtualTimeStandsStillUntilItIsMoved) {
  StartServe({"--virtual-time"});
  EXPECT_EQ(Lock("init job").code, 0);
  const std::string before = Get("/clock")["now"];
  EXPECT_THAT(before, HasSubstr("2026-01-01T00:00:0"));
  // Commits are answered nevertheless.
  EXPECT_EQ(Lock("exec job -- true").code, 0);
  const std::string after = Post("/clock", R"({"advance": "1h"})")["now"];
  EXPECT_THAT(after, HasSubstr("2026-01-01T01:00:0"));
  EXPECT_EQ(Get("/clock")["virtual"], true);
}

TEST_F(ControlTest, CurrentTimestampMayBeWrong) {
  StartServe({"--current-timestamp-error", "-5s"});
  EXPECT_EQ(Get("/clock")["current_timestamp_error"], "-5s");
  EXPECT_EQ(Post("/clock", R"({"current_timestamp_error": "60s"})")["current_timestamp_error"],
            "60s");
  EXPECT_EQ(Get("/clock")["virtual"], false);
  EXPECT_THAT(Post("/clock", R"({"advance": "1h"})", 400).dump(), HasSubstr("--virtual-time"));
}

TEST_F(ControlTest, TheHistoryIsAStream) {
  StartServe();
  EXPECT_EQ(Lock("init job").code, 0);
  std::string followed;
  std::thread follower([&] {
    httplib::Client http(Said("WHORL_CONTROL="));
    http.Get("/history?follow=1", [&](const char* data, size_t size) {
      followed.append(data, size);
      return followed.find("Commit") == std::string::npos;
    });
  });
  EXPECT_EQ(Lock("exec job -- true").code, 0);
  follower.join();
  EXPECT_THAT(followed, AllOf(HasSubstr("\"method\":\"CreateSession\""), HasSubstr("Commit")));
  const std::string all = http_->Get("/history")->body;
  const auto lines = std::ranges::count(all, '\n');
  EXPECT_GT(lines, 3);
  const std::string rest = http_->Get("/history?from=2")->body;
  EXPECT_EQ(std::ranges::count(rest, '\n'), lines - 2);
  EXPECT_TRUE(all.ends_with(rest));
  EXPECT_EQ(http_->Get("/history?from=100000")->body, "");
}

TEST_F(ControlTest, EndsWithThoseWhoFollow) {
  StartServe();
  std::thread follower(
      [url = Said("WHORL_CONTROL=")] { httplib::Client(url).Get("/history?follow=1"); });
  whorl_->Signal(SIGTERM);
  EXPECT_EQ(whorl_->WaitForEnd(), 0);
  follower.join();
}

TEST_F(ControlTest, MetricsCountCallsByClientAndCode) {
  StartServe();
  EXPECT_EQ(Lock("init job").code, 0);
  EXPECT_EQ(Lock("exec job -- true").code, 0);
  EXPECT_THAT(
      http_->Get("/metrics")->body,
      AllOf(HasSubstr("whorl_serve_calls_total{client=\"1\",code=\"OK\",method=\"Commit\"}"),
            HasSubstr("whorl_serve_call_duration_seconds_count{method=\"Commit\"}")));
}

TEST_F(ControlTest, BadRequestsChangeNothingAndSayWhy) {
  StartServe();
  EXPECT_THAT(Post("/faults", "{\"faults\": [\n{\"do\": \"abbort\"}]}", 400).dump(),
              AllOf(HasSubstr("body:2: /faults/0/do"), HasSubstr("abort")));
  EXPECT_THAT(
      Post("/faults", R"({"faults": [{"match": {"client": 2}, "do": "abort"}]})", 400).dump(),
      HasSubstr("there are 1 clients"));
  EXPECT_EQ(Get("/faults").dump(), R"({"faults":[]})");
  EXPECT_THAT(Post("/clients/1", R"({"link": "dwon"})", 400).dump(), HasSubstr("dwon"));
  EXPECT_THAT(Post("/clients/1", R"({})", 400).dump(), HasSubstr("expected"));
  EXPECT_THAT(Post("/clients/1", R"({"direction": "to"})", 400).dump(), HasSubstr("missing"));
  EXPECT_THAT(Post("/clients/0", R"({"link": "up"})", 404).dump(), HasSubstr("no client 0"));
  EXPECT_THAT(Post("/clients/2", R"({"link": "up"})", 404).dump(), HasSubstr("no client 2"));
  EXPECT_THAT(Post("/clock", "[", 400).dump(), HasSubstr("JSON object"));
  EXPECT_THAT(Post("/clock", R"({"advance": 5})", 400).dump(), HasSubstr("string"));
  EXPECT_THAT(Post("/clock", R"({"advanced": "5s"})", 400).dump(), HasSubstr("advance"));
  EXPECT_THAT(Got(http_->Get("/verdicts"), 404).dump(), HasSubstr("there is no GET /verdicts"));
  EXPECT_THAT(Got(http_->Get("/history?from=x"), 400).dump(), HasSubstr("from"));
  EXPECT_EQ(http_->Post("/faults", std::string(2 << 20, ' '), "application/json")->status, 413);
}

TEST_F(ControlTest, AnAddressBeyondThisMachineWantsASecret) {
  unsetenv("WHORL_CONTROL_TOKEN");
  EXPECT_THAT(Whorl("serve --control 0.0.0.0:0"), Complains(2, HasSubstr("WHORL_CONTROL_TOKEN")));
  EXPECT_EQ(Whorl("serve --control 99999999").code, 2);
  EXPECT_EQ(Whorl("serve --control here").code, 2);
  setenv("WHORL_CONTROL_TOKEN", "secret", 1);
  StartServe();
  unsetenv("WHORL_CONTROL_TOKEN");
  EXPECT_THAT(Got(http_->Get("/faults"), 401).dump(), HasSubstr("Authorization"));
  http_->set_default_headers({{"Authorization", "Bearer secret"}});
  Get("/faults");
}

TEST_F(ControlTest, ACommandFindsIt) {
  EXPECT_THAT(Shell("\"$W\" serve --control 0 -- sh -c 'echo at $WHORL_CONTROL'"),
              Ends(0, HasSubstr("at http://127.0.0.1:")));
  EXPECT_THAT(Whorl("serve --control 192.0.2.1:80").err, HasSubstr("WHORL_CONTROL_TOKEN"));
}

// --- openapi.json --------------------------------------------------------------------------------

// Every operation of the file is asked, rightly and wrongly: each code that the file names comes, no
// other does, and the bodies are as described.
TEST_F(ControlTest, AnswersAsTheOpenApiFileSays) {
  StartServe({"--virtual-time", "--judge", "fenced_lease", "--table", "fenced_locks"});
  ASSERT_EQ(Lock("init job").code, 0);
  ASSERT_EQ(Lock("exec job -- true").code, 0);
  const Json document = Json::parse(ReadText(WHORL_SOURCE_DIR "/cli/serve/openapi.json"));
  struct Asked {
    std::string operation;  // as the file names it
    std::string path;
    std::string body;
  };
  const std::vector<Asked> all = {
      {"post /faults", "/faults", R"({"faults": [{"match": {}, "do": "abort"}]})"},
      {"post /faults", "/faults", "{}"},
      {"get /faults", "/faults", ""},
      {"delete /faults/{id}", "/faults/1", ""},
      {"delete /faults/{id}", "/faults/9", ""},
      {"delete /faults", "/faults", ""},
      {"get /clients", "/clients", ""},
      {"post /clients/{client}", "/clients/1", R"({"link": "up", "direction": "from"})"},
      {"post /clients/{client}", "/clients/1", R"({"link": "u"})"},
      {"post /clients/{client}", "/clients/3", R"({"link": "up"})"},
      {"post /clients/{client}/says", "/clients/1/says", R"({"event": "leads", "lock": "job"})"},
      {"post /clients/{client}/says", "/clients/1/says", R"({"event": "led", "lock": "job"})"},
      {"post /clients/{client}/says", "/clients/3/says", R"({"event": "leads", "lock": "job"})"},
      {"get /verdict", "/verdict", ""},
      {"get /clock", "/clock", ""},
      {"post /clock", "/clock", R"({"advance": "1s", "current_timestamp_error": "1ms"})"},
      {"post /clock", "/clock", ""},
      {"get /history", "/history", ""},
      {"get /history", "/history?from=-1", ""},
      {"get /metrics", "/metrics", ""},
  };
  std::set<std::string> described;
  for (const auto& [path, operations] : document["paths"].items()) {
    for (const auto& [method, operation] : operations.items()) {
      for (const auto& [code, response] : operation["responses"].items()) {
        described.insert(method + " " + path + " " + code);
      }
    }
  }
  std::set<std::string> met;
  for (const Asked& asked : all) {
    SCOPED_TRACE(asked.operation + " " + asked.path + " " + asked.body);
    const std::string method = asked.operation.substr(0, asked.operation.find(' '));
    const std::string path = asked.operation.substr(method.size() + 1);
    const httplib::Result result = method == "get" ? http_->Get(asked.path)
                                   : method == "delete"
                                       ? http_->Delete(asked.path)
                                       : http_->Post(asked.path, asked.body, "application/json");
    ASSERT_TRUE(result);
    const std::string code = std::to_string(result->status);
    met.insert(asked.operation + " " + code);
    const Json& responses = document["paths"][path][method]["responses"];
    ASSERT_TRUE(responses.contains(code)) << code << " " << result->body;
    const Json& response = responses[code];
    if (!response.contains("content")) {
      EXPECT_EQ(result->body, "");
      continue;
    }
    const auto content = response["content"].begin();
    EXPECT_TRUE(result->get_header_value("Content-Type").starts_with(content.key()));
    if (content.key() != "application/json") continue;
    EXPECT_EQ(MistakeIn(Json::parse(result->body), (*content)["schema"], document), "");
  }
  EXPECT_EQ(met, described);
}

}  // namespace
}  // namespace whorl::serve_test
