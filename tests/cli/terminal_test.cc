// What replay prints on a terminal: a table that fits, and how far a long run is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/cli_testing.h"

namespace whorl::terminal_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TerminalTest : public CliTest {
 protected:
  using Enough = std::function<bool(std::string_view)>;

  std::string Replay(size_t width, const std::string& path, const Enough& enough = {}) {
    return Run(width, {"replay", path}, enough);
  }

  // Runs the command on a terminal of that width until it ends, or until its output is `enough`.
  std::string Run(size_t width, const std::vector<std::string>& arguments,
                  const Enough& enough = {}) {
    std::vector<std::string> words = {"whorl"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> line;
    for (std::string& word : words) line.push_back(word.data());
    line.push_back(nullptr);
    winsize size = {
        .ws_row = 40, .ws_col = static_cast<uint16_t>(width), .ws_xpixel = 0, .ws_ypixel = 0};
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
      signal(SIGINT, SIG_DFL);
      // Under CI=true and on a dumb terminal, there is neither colour nor progress.
      unsetenv("CI");
      setenv("TERM", "xterm", 1);
      setenv("NO_COLOR", "1", 1);
      const bool ready = chdir(folder_.c_str()) == 0;
      if (ready) execv(WHORL_COMMAND, line.data());
      _exit(99);
    }
    std::string output;
    std::array<char, 4096> piece{};
    for (ssize_t got = 0; (got = read(terminal, piece.data(), piece.size())) > 0;) {
      output.append(piece.data(), static_cast<size_t>(got));
      if (enough && enough(output)) {
        kill(child, SIGKILL);
        break;
      }
    }
    close(terminal);
    waitpid(child, nullptr, 0);
    std::erase(output, '\r');
    return output;
  }
};

constexpr std::string_view kTwoViolations = R"({
  "version": 1, "about": "Two hold a lock.", "protocol": "lease_lock", "lease": "10s",
  "nodes": ["a", { "name": "b", "start_at": "2s", "clock": { "offset": "60s" } }], "duration": "60s", "seed": 5,
  "expect": { "violates": ["lease_respected", "single_leader_belief",
                           "has_lock_truthful", "single_worker"] }
})";

// Lines that the terminal breaks by itself are no table any more.
TEST_F(TerminalTest, TheTableFits) {
  const std::string path = Write("two_hold_it.json", kTwoViolations);
  for (const size_t width : {60U, 80U, 100U, 130U, 237U}) {
    std::istringstream lines(Replay(width, path));
    std::string table;
    for (std::string line; std::getline(lines, line);) {
      const bool is_row = line.starts_with("verdict") || line.starts_with("ok") ||
                          line.find("(expected)") != std::string::npos;
      if (!is_row) continue;
      EXPECT_LE(line.size(), width) << line;
      table += line + "\n";
    }
    EXPECT_THAT(table, AllOf(HasSubstr("lease_respected (expected)"),
                             HasSubstr("single_leader_belief (expected)"),
                             HasSubstr("has_lock_truthful (expected)")))
        << width;
    EXPECT_EQ(table.find("grants") != std::string::npos, width >= 80) << table;
    EXPECT_EQ(table.find("ratio") != std::string::npos, width >= 130) << table;
  }
}

// The table of replay has fewer columns on a narrow terminal.
std::string BelowTable(const std::string& output) {
  const size_t story = output.find("violated at");
  return story == std::string::npos ? output : output.substr(story);
}

// A word that is broken by the terminal has to be put together by the reader.
TEST_F(TerminalTest, NothingBreaksWithinAWord) {
  const std::string path = Write("two_hold_it.json", kTwoViolations);
  const std::vector<std::vector<std::string>> commands = {
      {"--help"}, {"hunt", "--help"}, {"protocols"}, {"replay", path, "--explain"}};
  for (const std::vector<std::string>& command : commands) {
    const std::string narrow = Run(60, command);
    EXPECT_EQ(Words(BelowTable(narrow)), Words(BelowTable(Run(2'000, command)))) << command[0];
    std::istringstream lines(narrow);
    for (std::string line; std::getline(lines, line);) {
      const bool is_shell = line.find("whorl ") != std::string::npos;
      const bool has_one_word = Words(line).size() <= 1;
      if (is_shell || has_one_word) continue;
      EXPECT_LE(line.size(), 60U) << line;
    }
  }
}

// What may be pasted stays whole.
TEST_F(TerminalTest, ALineOfShellIsNotBroken) {
  const std::string output =
      Run(60, {"hunt", "--protocol", "spindle_v2", "--duration", "40s", "--runs", "60", "--seed",
               "4", "--invariant", "lease_respected", "--any"});
  const size_t line = output.find("  echo '{");
  ASSERT_NE(line, std::string::npos) << output;
  EXPECT_THAT(output.substr(line, output.find('\n', line) - line),
              HasSubstr("replay - --explain="));
}

// An hour without a word looks like a program that hangs.
TEST_F(TerminalTest, ALongRunShowsHowFarItIs) {
  const std::string path = Write("long.json", R"({
    "version": 1, "about": "A hundred days.", "protocol": "spindle_v2",
    "nodes": ["a", "b"], "duration": "2400h"})");
  const std::string output = Replay(100, path, [](std::string_view text) {
    return text.find(" left") != std::string_view::npos;
  });
  EXPECT_THAT(output, HasSubstr(" of 8640000 s simulated, "));
}

// The line is never longer than the terminal is wide: the rest of it would stay there.
TEST_F(TerminalTest, ALongSearchShowsHowFarItIs) {
  const std::vector<std::string> endless = {
      "explore", "--protocol", "fenced_lease", "--crashes", "3", "--pauses", "3"};
  const std::string wide = Run(200, endless, [](std::string_view text) {
    return text.find(" MiB") != std::string_view::npos;
  });
  EXPECT_THAT(wide, AllOf(HasSubstr(" states, "), HasSubstr(" transitions, "),
                          HasSubstr(" to go on from, "), HasSubstr(" steps, "),
                          HasSubstr(" states a second, ")));
  EXPECT_EQ(wide.find(" left"), std::string::npos) << "nobody can know that";
  const std::string narrow =
      Run(40, endless, [](std::string_view text) { return text.size() > 300; });
  constexpr std::string_view kClear = "\x1b[K";
  const size_t begin = narrow.find(kClear);
  ASSERT_NE(begin, std::string::npos);
  const size_t end = narrow.find(kClear, begin + 1);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(end - begin - kClear.size(), 39U);
}

}  // namespace
}  // namespace whorl::terminal_test
