// The skeletons of docs/CONTRIBUTING.md compile: a new fault, checker or command begins with one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/cli_testing.h"

namespace whorl::contributing_test {
namespace {

// The ```cpp blocks below a heading, in their order.
std::vector<std::string> Blocks(const std::string& page, const std::string& heading) {
  const size_t begin = page.find("\n## " + heading + "\n");
  const std::string section =
      begin == std::string::npos ? "" : page.substr(begin, page.find("\n## ", begin + 1) - begin);
  std::vector<std::string> blocks;
  const std::string fence = "\n```cpp\n";
  for (size_t at = section.find(fence); at != std::string::npos; at = section.find(fence, at)) {
    at += fence.size();
    blocks.push_back(section.substr(at, section.find("\n```", at) - at) + "\n");
  }
  return blocks;
}

class Contributing : public CliTest {
 protected:
  // What the compiler says of the text; empty if nothing.
  std::string Compiled(const std::string& text) {
    Write("skeleton.cc", text);
    const Ended ended = Shell(std::string("c++ -std=c++20 -fsyntax-only -Wall -Wextra -I ") +
                              WHORL_SOURCE_DIR + " " + (folder_ / "skeleton.cc").string());
    return ended.code == 0 ? ended.err
                           : "ended with " + std::to_string(ended.code) + ": " + ended.err;
  }
  std::vector<std::string> BlocksOf(const std::string& heading) {
    return Blocks(ReadText(std::filesystem::path(WHORL_SOURCE_DIR) / "docs/CONTRIBUTING.md"),
                  heading);
  }
};

TEST_F(Contributing, TheFaultCompiles) {
  const std::vector<std::string> blocks = BlocksOf("Add a kind of fault");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(Compiled("#include \"sim/scenario/faults/kinds.h\"\nnamespace whorl::sim {\n" +
                     blocks[0] + "}\n" + blocks[1]),
            "");
}

TEST_F(Contributing, TheCheckerCompiles) {
  const std::vector<std::string> blocks = BlocksOf("Add a checker");
  ASSERT_EQ(blocks.size(), 1u);
  // A name in place of that which its author adds.
  EXPECT_EQ(Compiled("#define kShortNames kOneLiveToken\n" + blocks[0]), "");
}

TEST_F(Contributing, TheCommandCompiles) {
  const std::vector<std::string> blocks = BlocksOf("Add a command");
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(Compiled(blocks[0]), "");
}

// A skeleton that cannot be wrong shows nothing.
TEST_F(Contributing, AMistakeIsFound) {
  EXPECT_NE(
      Compiled("#include \"sim/scenario/faults/keys.h\"\nwhorl::sim::FaultInfo x = {.wrod = 1};"),
      "");
}

}  // namespace
}  // namespace whorl::contributing_test
