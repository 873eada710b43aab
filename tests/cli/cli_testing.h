// Runs the built command as people and scripts do, in a folder of the test's own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace whorl {

namespace fs = std::filesystem;

// A scenario in which nothing goes wrong.
inline constexpr std::string_view kQuiet = R"({
  "version": 1, "about": "Nothing happens.", "protocol": "spindle_v2", "lease": "2s",
  "nodes": ["a", { "name": "b", "start_at": "1s" }], "duration": "20s", "seed": 5,
  "expect": { "holds": ["one_live_token"] }
})";

inline std::string ReadText(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Those of a line, in which spaces stand only between them.
inline std::vector<std::string> Words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

inline std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

struct Ended {
  int code = -1;  // 128 + the signal, if one ended it
  std::string out;
  std::string err;
};

inline void PrintTo(const Ended& ended, std::ostream* out) {
  *out << "ended with " << ended.code << "\nout: " << ended.out << "\nerr: " << ended.err;
}

using TextMatcher = testing::Matcher<std::string>;

// Of a command that ended with this code, and printed these.
inline testing::Matcher<Ended> Ends(int code, const TextMatcher& out = testing::_,
                                    const TextMatcher& err = testing::_) {
  return testing::AllOf(testing::Field("code", &Ended::code, code),
                        testing::Field("out", &Ended::out, out),
                        testing::Field("err", &Ended::err, err));
}
inline testing::Matcher<Ended> Complains(int code, const TextMatcher& err) {
  return Ends(code, testing::_, err);
}

class CliTest : public testing::Test {
 protected:
  CliTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~CliTest() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, std::string_view text) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  // Runs a line of shell in the test's folder, in which $W is the command.
  Ended Shell(const std::string& line) {
    const std::string script =
        "cd '" + folder_.string() + "' && W='" WHORL_COMMAND "'; { " + line + "\n} >.out 2>.err";
    const int status = std::system(script.c_str());  // NOLINT(concurrency-mt-unsafe)
    return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .out = ReadText(folder_ / ".out"),
            .err = ReadText(folder_ / ".err")};
  }
  Ended Whorl(const std::string& arguments) { return Shell("\"$W\" " + arguments); }

  // Presses Ctrl-C as soon as the command, whose output is in out.txt and err.txt, is so far.
  // Returns its exit code, or -1 if a signal ended it.
  int InterruptedWhen(const std::string& arguments, const std::function<bool()>& is_so_far) {
    const std::string line = "exec " WHORL_COMMAND " " + arguments + " >out.txt 2>err.txt";
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGINT, SIG_DFL);  // a shell's background jobs ignore it, and so would this child
      if (chdir(folder_.c_str()) == 0) execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(99);
    }
    int status = 0;
    while (!is_so_far() && waitpid(child, &status, WNOHANG) == 0) {
    }
    kill(child, SIGINT);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Nothing is run, and nothing is said but `message`.
  void ExpectUsageError(const std::string& arguments, const std::string& message) {
    EXPECT_THAT(Whorl(arguments),
                Ends(2, testing::IsEmpty(),
                     testing::AllOf(testing::StartsWith("whorl: "), testing::HasSubstr(message))))
        << arguments;
  }

  // Names of files that are left in a folder of the test's.
  std::vector<std::string> Files(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ / folder)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) /
                           ("whorl_cli_" + std::to_string(getpid()) + "_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace whorl
