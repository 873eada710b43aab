// Runs `whorl serve` or `whorl proxy` with its control plane.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/scenario/json_text.h"
#include "tests/cli/lock/lock_cli_testing.h"

namespace whorl::serve_test {

using sim::Json;

class ControlTest : public CliTest {
 protected:
  // Starts whorl with --control on a free port, and waits until it says its addresses.
  void Start(std::vector<std::string> words) {
    words.insert(words.end(), {"--control", "0"});
    whorl_ = std::make_unique<RunningWhorl>(words);
    ASSERT_TRUE(whorl_->output().WaitFor("WHORL_CONTROL=http://127.0.0.1:"))
        << whorl_->output().text();
    ASSERT_TRUE(whorl_->output().WaitFor("\n"));
    http_ = std::make_unique<httplib::Client>(Said("WHORL_CONTROL="));
  }
  void StartServe(std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"serve", "--database", kLockDatabase});
    Start(options);
    ASSERT_TRUE(whorl_->output().WaitFor(std::string(kLockDatabase) + "\n"));
    spanner_ = Said("SPANNER_EMULATOR_HOST=");
  }
  std::string Said(const std::string& what) {
    const std::string text = whorl_->output().text();
    const size_t begin = text.find(what) + what.size();
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  Ended Lock(const std::string& arguments) {
    return Shell("SPANNER_EMULATOR_HOST=" + spanner_ + " WHORL_DATABASE=" + kLockDatabase +
                 " \"$W\" lock " + arguments);
  }
  Json Got(const httplib::Result& result, int code) {
    EXPECT_TRUE(result);
    EXPECT_EQ(result->status, code) << result->body;
    return result->body.empty() ? Json() : Json::parse(result->body);
  }
  void Says(int client, const std::string& event) {
    Got(http_->Post("/clients/" + std::to_string(client) + "/says",
                    R"({"lock": "job", "event": ")" + event + "\"}", "application/json"),
        204);
  }
  Json Get(const std::string& path) { return Got(http_->Get(path), 200); }
  Json Post(const std::string& path, const std::string& body, int code = 200) {
    return Got(http_->Post(path, body, "application/json"), code);
  }

  std::unique_ptr<RunningWhorl> whorl_;
  std::unique_ptr<httplib::Client> http_;
  std::string spanner_;
};

}  // namespace whorl::serve_test
