// Every sample in the documentation is run: a scenario that it shows comes out as it expects, and a
// command prints what the page says it prints.
//
// A page may contain these, and the test does with them what stands beside:
//   ```json      valid JSON; an object with `version` and `protocol` is a scenario, and is replayed
//   ```console   `$ ` begins a command, and what follows is its output. `[...]` stands for any
//                number of lines that are left out; a command without output is run, and has to end
//                well, but what it prints is not looked at. `$ cat FILE` shows a file: later
//                commands of the page find it. The commands of a page run one after the other in
//                one folder that has scenarios/ and build/whorl.
//   links        lead to files of the repository, or to other sites, which are not asked
//   figures      with a unit do not stand in the prose of README.md and docs/, only in blocks and
//                tables that are printed by a command (documentation_tables.sh compares them) or
//                marked as measured by hand
// What differs between machines (the column `ratio`) is not compared.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/names.h"
#include "protocol/protocols.h"
#include "sim/judge/expectations.h"
#include "sim/judge/run.h"
#include "sim/scenario/loader.h"
#include "tests/cli/cli_testing.h"

namespace whorl::documentation_test {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

constexpr std::string_view kLeftOut = "[...]";
// How much the pages are known to hold: a reader of pages that finds nothing would pass.
constexpr size_t kLeastJsonBlocks = 20;
constexpr size_t kLeastCommands = 4;
constexpr size_t kLeastLinks = 50;

// Commands that the pages show and no test runs, by how they begin.
struct NotRun {
  std::string_view begins;
  std::string_view why;
};
constexpr std::array<NotRun, 0> kNotRun = {};

// --- pages -------------------------------------------------------------------------------------

struct Block {
  int line = 0;  // the number of its first line in the page
  std::string language;
  Lines lines;
};

struct Page {
  std::string path;  // from the root of the repository
  Lines lines;
  std::vector<Block> blocks;
};

Lines SplitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string Joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string WithoutIndent(std::string_view line, size_t indent) {
  const size_t text = std::min(line.find_first_not_of(' '), line.size());
  return std::string(line.substr(std::min(indent, text)));
}

// The fenced blocks of a page; one that is not closed goes to the end.
std::vector<Block> BlocksOf(std::string_view text) {
  std::vector<Block> blocks;
  bool inside = false;
  size_t indent = 0;
  int number = 0;
  for (const std::string& line : SplitLines(text)) {
    ++number;
    const size_t start = std::min(line.find_first_not_of(' '), line.size());
    if (line.compare(start, 3, "```") == 0) {
      inside = !inside;
      indent = start;
      if (inside) blocks.push_back({number + 1, line.substr(start + 3), {}});
    } else if (inside) {
      blocks.back().lines.push_back(WithoutIndent(line, indent));
    }
  }
  return blocks;
}

bool IsOurs(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.starts_with(".") && !name.starts_with("build");
}

std::vector<Page> Pages() {
  std::vector<Page> pages;
  const fs::path root = WHORL_SOURCE_DIR;
  for (auto entry = fs::recursive_directory_iterator(root);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->is_directory() && !IsOurs(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->path().extension() == ".md") {
      const std::string text = ReadText(entry->path());
      pages.push_back(
          {entry->path().lexically_relative(root).string(), SplitLines(text), BlocksOf(text)});
    }
  }
  std::ranges::sort(pages, {}, &Page::path);
  return pages;
}

std::string PlaceOf(const Page& page, int line) { return page.path + ":" + std::to_string(line); }

// --- commands ----------------------------------------------------------------------------------

struct Command {
  int line = 0;
  std::string text;  // without "$ "
  Lines output;
};

std::vector<Command> CommandsOf(const Block& block) {
  std::vector<Command> commands;
  for (size_t i = 0; i < block.lines.size(); ++i) {
    const std::string& line = block.lines[i];
    if (line.starts_with("$ ")) {
      commands.push_back({block.line + static_cast<int>(i), line.substr(2), {}});
    } else if (!commands.empty()) {
      commands.back().output.push_back(line);
    }
  }
  return commands;
}

// The line without what differs between machines, and without spaces at its end.
std::string Masked(const std::string& line) {
  static const std::regex ratio(R"( +[0-9][0-9,]*:1\b)");
  std::string masked = std::regex_replace(line, ratio, " N:1");
  masked.erase(masked.find_last_not_of(' ') + 1);
  return masked;
}

Lines MaskedLines(const Lines& lines) {
  Lines masked;
  for (const std::string& line : lines) masked.push_back(Masked(line));
  return masked;
}

bool MatchesFrom(const Lines& shown, size_t i, const Lines& actual, size_t j) {
  for (; i < shown.size(); ++i, ++j) {
    if (shown[i] == kLeftOut) {
      for (size_t rest = j; rest <= actual.size(); ++rest) {
        if (MatchesFrom(shown, i + 1, actual, rest)) return true;
      }
      return false;
    }
    if (j >= actual.size() || shown[i] != actual[j]) return false;
  }
  return j == actual.size();
}

// Whether the output is what the page shows.
bool Matches(const Lines& shown, const Lines& actual) {
  return MatchesFrom(MaskedLines(shown), 0, MaskedLines(actual), 0);
}

// For people: the first line of the page that the output lacks, if there is one.
std::string FirstMissing(const Lines& shown, const Lines& actual) {
  const Lines masked = MaskedLines(actual);
  for (const std::string& line : shown) {
    if (line != kLeftOut && std::ranges::find(masked, Masked(line)) == masked.end()) {
      return "this line is not in the output:\n" + line;
    }
  }
  return "all its lines are in the output, but not in this order or not without others between";
}

// What is run for a command of a page: without the page's remark, so that what two pages show is run
// once. `./dev replay` is `build/whorl replay`, of scenarios/ where no path is named.
std::string LineOf(const std::string& shown) {
  constexpr std::string_view kDev = "./dev replay";
  std::string command = shown.substr(0, shown.find(" #"));
  command.erase(command.find_last_not_of(' ') + 1);
  if (!command.starts_with(kDev)) return command;
  const std::string rest = command.substr(kDev.size());
  const bool names_a_path = rest.find(".json") != std::string::npos;
  return std::string("build/whorl replay") + (names_a_path ? "" : " scenarios") + rest;
}

// The command itself, or what is piped into it.
bool IsRun(const std::string& line) {
  return line.starts_with("build/whorl ") || line.starts_with("sed ");
}

class DocumentationTest : public CliTest {
 protected:
  DocumentationTest() {
    fs::create_directory(folder_ / "build");
    fs::create_symlink(WHORL_COMMAND, folder_ / "build/whorl");
    fs::create_symlink(WHORL_SOURCE_DIR "/scenarios", folder_ / "scenarios");
    fs::create_symlink(WHORL_SOURCE_DIR "/examples", folder_ / "examples");
  }

  // What the command prints, both streams as on a terminal.
  const Ended& Run(const std::string& command) {
    const auto known = ran_.find(command);
    if (known != ran_.end()) return known->second;
    return ran_.emplace(command, Shell("{ " + command + "\n} 2>&1")).first->second;
  }

  void Check(const Page& page, const Command& command) {
    const std::string line = LineOf(command.text);
    if (line.starts_with("cat ")) {
      Write(line.substr(4), Joined(command.output));
      ran_.clear();  // what ran before may have read another text of that name
      return;
    }
    if (!IsRun(line)) return CheckNotRun(page, command);
    const Ended& ended = Run(line);
    ++commands_;
    if (command.output.empty()) {
      EXPECT_EQ(ended.code, 0) << PlaceOf(page, command.line) << ": " << command.text;
      return;
    }
    EXPECT_LE(ended.code, 2) << PlaceOf(page, command.line) << ": " << command.text;
    const Lines actual = SplitLines(ended.out);
    EXPECT_TRUE(Matches(command.output, actual))
        << PlaceOf(page, command.line) << ": `" << command.text << "` prints something else; "
        << FirstMissing(command.output, actual) << "\nThe output is:\n"
        << ended.out;
  }

  void CheckNotRun(const Page& page, const Command& command) {
    for (const NotRun& entry : kNotRun) {
      if (!command.text.starts_with(entry.begins)) continue;
      not_run_.insert(entry.begins);
      return;
    }
    ADD_FAILURE() << PlaceOf(page, command.line) << ": no test runs `" << command.text
                  << "`: show a command of build/whorl, or add it to kNotRun with the reason";
  }

  std::map<std::string, Ended> ran_;
  size_t commands_ = 0;
  std::set<std::string_view> not_run_;
};

// --- tests -------------------------------------------------------------------------------------

// People type what they read.
TEST_F(DocumentationTest, CommandsPrintWhatThePagesShow) {
  for (const Page& page : Pages()) {
    for (const Block& block : page.blocks) {
      if (block.language != "console") continue;
      for (const Command& command : CommandsOf(block)) Check(page, command);
    }
  }
  EXPECT_GE(commands_, kLeastCommands);
  for (const NotRun& entry : kNotRun) {
    EXPECT_TRUE(not_run_.contains(entry.begins))
        << "no page shows " << entry.begins << ": take it out of kNotRun";
  }
}

// People copy what they see.
TEST(Documentation, JsonIsValidAndScenariosComeOutAsTheyExpect) {
  size_t blocks = 0;
  size_t scenarios = 0;
  for (const Page& page : Pages()) {
    for (const Block& block : page.blocks) {
      if (block.language != "json") continue;
      ++blocks;
      const std::string place = PlaceOf(page, block.line);
      const std::string text = Joined(block.lines);
      const json value = json::parse(text, nullptr, false);
      EXPECT_FALSE(value.is_discarded()) << place << ": not JSON";
      if (!value.is_object() || !value.contains("version") || !value.contains("protocol")) continue;
      ++scenarios;
      const absl::StatusOr<sim::Scenario> scenario = sim::ParseScenario(text, place);
      ASSERT_TRUE(scenario.ok()) << scenario.status().message();
      const sim::RunResult result = sim::RunScenario(*scenario, scenario->seed, nullptr);
      for (const std::string& failure : sim::FailuresOf(*scenario, result)) {
        ADD_FAILURE() << place << ": " << failure;
      }
    }
  }
  EXPECT_GE(blocks, kLeastJsonBlocks);
  EXPECT_GE(scenarios, 1U);  // others are files that commands of the pages replay
}

// A scenario that the table lacks is one that nobody finds.
TEST(Documentation, TheTableOfScenariosNamesThoseThatThereAre) {
  std::multiset<std::string> listed;
  for (const std::string& line : SplitLines(ReadText(WHORL_SOURCE_DIR "/scenarios/README.md"))) {
    if (line.starts_with("| `")) listed.insert(line.substr(3, line.find('`', 3) - 3));
  }
  std::multiset<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(WHORL_SOURCE_DIR "/scenarios")) {
    const fs::path& path = entry.path();
    if (path.extension() == ".json" && !path.string().ends_with("schema.json")) {
      files.insert(path.stem().string());
    }
  }
  EXPECT_EQ(listed, files);
}

// The cells of a row of a table, without the spaces around them.
Lines CellsOf(const std::string& row) {
  Lines cells;
  std::istringstream stream(row.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    const size_t begin = std::min(cell.find_first_not_of(' '), cell.size());
    cells.push_back(cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
  }
  return cells;
}

// `word`: rule | yes | no | n/a | ...
std::string RowOf(Invariant invariant, const std::string& claim,
                  std::span<const std::string> protocols) {
  std::string row = "| `" + std::string(WordOf(invariant)) + "`" + claim + " |";
  for (const std::string& name : protocols) {
    const ProtocolInfo* protocol = FindProtocol(name);
    if (protocol == nullptr) return name + " is no protocol";
    const Promise promise = protocol->promises[static_cast<size_t>(invariant)];
    row += promise == Promise::kPromised      ? " yes |"
           : promise == Promise::kNotPromised ? " no |"
                                              : " n/a |";
  }
  return row;
}

// The first table that a newcomer believes: it names every protocol and every rule, and promises no more than their
// pages. What the resource keeps is no protocol's promise.
TEST(Documentation, TheTableOfPromisesIsThatOfTheProtocols) {
  Lines protocols;
  Lines shown;
  std::vector<std::string> expected;
  bool inside = false;
  for (const std::string& line : SplitLines(ReadText(WHORL_SOURCE_DIR "/README.md"))) {
    if (line.starts_with("#")) inside = line == "## What each protocol promises";
    if (!inside) continue;
    if (line.starts_with("| invariant |")) {
      protocols = CellsOf(line);
      protocols.erase(protocols.begin());
    }
    if (line.starts_with("| `")) shown.push_back(line);
  }
  EXPECT_EQ(protocols.size(), Protocols().size());
  size_t row = 0;
  for (const Invariant invariant : AllOf<Invariant>()) {
    if (invariant == Invariant::kFencedWritesOrdered) continue;
    ASSERT_LT(row, shown.size()) << "no row for " << WordOf(invariant);
    const std::string& line = shown[row++];
    const size_t after_word = line.find('`', 3) + 1;
    const std::string claim = line.substr(after_word, line.find(" |") - after_word);
    EXPECT_EQ(line, RowOf(invariant, claim, protocols));
  }
  EXPECT_EQ(row, shown.size());
}

// A front door that takes ten minutes to read is closed.
TEST(Documentation, TheReadmeHasAtMostAHundredAndFiftyLines) {
  EXPECT_LE(SplitLines(ReadText(WHORL_SOURCE_DIR "/README.md")).size(), 150U);
}

// --- links -------------------------------------------------------------------------------------

// Targets of [text](target), without those of other sites and of the page itself.
Lines LinksOf(std::string_view line) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  Lines targets;
  const std::string text(line);
  for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
    const std::string target = (*match)[1].str().substr(0, (*match)[1].str().find('#'));
    if (!target.empty() && target.find("://") == std::string::npos) targets.push_back(target);
  }
  return targets;
}

// The lines of a page that are no block; the others are empty.
Lines WithoutBlocks(Lines lines) {
  bool inside = false;
  for (std::string& line : lines) {
    const bool is_fence =
        line.compare(std::min(line.find_first_not_of(' '), line.size()), 3, "```") == 0;
    if (is_fence) inside = !inside;
    if (inside || is_fence) line.clear();
  }
  return lines;
}

// Pages are read by following their links, and folders move.
TEST(Documentation, LinksLeadToFiles) {
  size_t links = 0;
  for (const Page& page : Pages()) {
    const Lines lines = WithoutBlocks(page.lines);
    for (size_t i = 0; i < lines.size(); ++i) {
      for (const std::string& target : LinksOf(lines[i])) {
        ++links;
        const fs::path path =
            fs::path(WHORL_SOURCE_DIR) / fs::path(page.path).parent_path() / target;
        EXPECT_TRUE(fs::exists(path))
            << PlaceOf(page, static_cast<int>(i) + 1) << ": there is no " << target;
      }
    }
  }
  EXPECT_GE(links, kLeastLinks);
}

// The anchor that GitHub gives to a heading.
std::string AnchorOf(std::string heading) {
  heading.erase(0, heading.find_first_not_of("# "));
  std::string anchor;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

std::set<std::string> AnchorsOf(const fs::path& path) {
  std::set<std::string> anchors;
  for (const std::string& line : WithoutBlocks(SplitLines(ReadText(path)))) {
    if (line.starts_with("#")) anchors.insert(AnchorOf(line));
  }
  return anchors;
}

// Headings move to other pages, and a link to none leads to the top, where the reader looks in vain.
TEST(Documentation, LinksToHeadingsLeadToOnes) {
  static const std::regex link(R"(\]\(([^)\s#]*\.md)?#([^)\s]+)\))");
  size_t links = 0;
  for (const Page& page : Pages()) {
    const Lines lines = WithoutBlocks(page.lines);
    const fs::path here = fs::path(WHORL_SOURCE_DIR) / page.path;
    for (size_t i = 0; i < lines.size(); ++i) {
      for (std::sregex_iterator match(lines[i].begin(), lines[i].end(), link), end; match != end;
           ++match) {
        ++links;
        const std::string file = (*match)[1].str();
        const fs::path target = file.empty() ? here : here.parent_path() / file;
        EXPECT_TRUE(AnchorsOf(target).contains((*match)[2].str()))
            << PlaceOf(page, static_cast<int>(i) + 1) << ": " << target.lexically_normal().string()
            << " has no heading #" << (*match)[2].str();
      }
    }
  }
  EXPECT_GE(links, 20U);
}

// The files of the project that a comment names, as in "live/coordinator.cc".
std::vector<std::string> FilesNamedIn(const std::string& comment) {
  static const std::regex file(
      R"((^|[^\w/.-])((protocol|wire|spanner_model|sim|real_client|live|cli)/[\w/]+\.(h|cc|md))\b)");
  std::vector<std::string> files;
  for (std::sregex_iterator match(comment.begin(), comment.end(), file), end; match != end;
       ++match) {
    files.push_back((*match)[2].str());
  }
  return files;
}

// Comments lead to other files, and files move.
TEST(Documentation, CommentsNameFilesThatThereAre) {
  constexpr size_t kLeastNamed = 20;
  size_t named = 0;
  for (const char* folder :
       {"protocol", "wire", "spanner_model", "sim", "real_client", "live", "cli"}) {
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(WHORL_SOURCE_DIR) / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cc") continue;
      const Lines lines = SplitLines(ReadText(entry.path()));
      for (size_t i = 0; i < lines.size(); ++i) {
        const size_t comment = lines[i].find("// ");
        if (comment == std::string::npos) continue;
        for (const std::string& file : FilesNamedIn(lines[i].substr(comment))) {
          ++named;
          EXPECT_TRUE(fs::exists(fs::path(WHORL_SOURCE_DIR) / file))
              << entry.path().string() << ":" << i + 1 << ": there is no " << file;
        }
      }
    }
  }
  EXPECT_GE(named, kLeastNamed);
}

// --- figures -----------------------------------------------------------------------------------

// A figure with a unit, outside of `code` and of link targets.
std::string FigureIn(const std::string& line) {
  static const std::regex skipped(R"(`[^`]*`|\]\([^)]*\)|<!--.*-->)");
  static const std::regex figure(
      R"(\b[0-9][0-9,.]* ?(ns|us|ms|s|min|h|%|seconds?|minutes?|hours?|KB|MB|MiB|GB|times|runs|tests|passed)(?![A-Za-z0-9_]))");
  const std::string text = std::regex_replace(line, skipped, "");
  std::smatch match;
  return std::regex_search(text, match, figure) ? match[0].str() : "";
}

// Whether lines[i] stands in a table or block that says where its figures come from: directly below
// a line "Printed by", or below a paragraph that begins "Measured by hand on" with date, machine
// and command.
bool HasItsSource(std::span<const std::string> lines, size_t i) {
  if (!lines[i].starts_with("|")) return false;
  while (i > 0 && lines[i].starts_with("|")) --i;
  if (lines[i].starts_with("<!-- Printed by build/whorl ")) return true;
  while (i > 0 && lines[i].empty()) --i;
  while (i > 0 && !lines[i].empty() && !lines[i].starts_with("Measured by hand on ")) --i;
  return lines[i].starts_with("Measured by hand on 20");
}

// A figure in prose goes stale unseen.
TEST(Documentation, FiguresStandInTablesThatSayWhereTheyComeFrom) {
  for (const Page& page : Pages()) {
    if (page.path != "README.md" && !page.path.starts_with("docs/")) continue;
    const Lines lines = WithoutBlocks(page.lines);
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string figure = FigureIn(lines[i]);
      if (figure.empty() || HasItsSource(lines, i)) continue;
      ADD_FAILURE()
          << PlaceOf(page, static_cast<int>(i) + 1) << ": \"" << figure
          << "\" is a figure that no test holds: print it by a command in a block, or put "
             "it in a table below \"Measured by hand on DATE\"";
    }
  }
}

// Blocks of text that no command prints are as stale as prose.
TEST(Documentation, TextBlocksSayWhereTheyComeFrom) {
  for (const Page& page : Pages()) {
    if (page.path != "README.md" && !page.path.starts_with("docs/")) continue;
    for (const Block& block : page.blocks) {
      if (block.language != "text") continue;
      size_t above = static_cast<size_t>(block.line) - 3;  // the line above the fence
      const bool is_printed = page.lines[above].starts_with("<!-- Printed by build/whorl ");
      while (above > 0 && page.lines[above].empty()) --above;
      while (above > 0 && !page.lines[above].empty() &&
             !page.lines[above].starts_with("Measured by hand on ")) {
        --above;
      }
      EXPECT_TRUE(is_printed || page.lines[above].starts_with("Measured by hand on 20"))
          << PlaceOf(page, block.line);
    }
  }
}

// --- the test of the tests ---------------------------------------------------------------------

TEST(DocumentationMatching, LeavesOutLinesOnlyWhereThePageSaysSo) {
  EXPECT_TRUE(Matches({"a", "b"}, {"a", "b"}));
  EXPECT_TRUE(Matches({"a", "[...]", "c"}, {"a", "b", "b", "c"}));
  EXPECT_TRUE(Matches({"[...]", "c", "[...]"}, {"a", "c"}));
  EXPECT_TRUE(Matches({"[...]", "c", "d"}, {"c", "a", "c", "d"}));
  EXPECT_FALSE(Matches({"a"}, {"a", "b"}));
  EXPECT_FALSE(Matches({"a", "b"}, {"a"}));
  EXPECT_FALSE(Matches({"a", "[...]", "c"}, {"a", "b", "d"}));
  EXPECT_FALSE(Matches({"a", "c"}, {"a", "b", "c"}));
}

TEST(DocumentationMatching, MasksTheRatioAndNothingElse) {
  EXPECT_TRUE(Matches({"ok  x  1  60.000    114,647:1  -"}, {"ok  x  1  60.000      7,012:1  -"}));
  EXPECT_FALSE(Matches({"ok  x  1  60.000    114,647:1  -"}, {"ok  x  2  60.000    114,647:1  -"}));
  EXPECT_FALSE(Matches({"ok  x  1  60.000  114,647:1  -"}, {"ok  x  1  61.000  114,647:1  -"}));
}

TEST(DocumentationMatching, FindsFiguresWithUnitsOutsideOfCode) {
  EXPECT_EQ(FigureIn("it takes 65 ms more"), "65 ms");
  EXPECT_EQ(FigureIn("p99 is 1,234.5s."), "1,234.5s");
  EXPECT_EQ(FigureIn("Debian 12 has g++ 12; `lease 10s`, [a](x10s.json), p99, the 5th"), "");
  const Lines lines = {"Measured by hand on 2026-11-22, by",
                       "`./dev bench`:",
                       "",
                       "| a |",
                       "| 5 s |",
                       "",
                       "| 6 s |"};
  EXPECT_TRUE(HasItsSource(lines, 4));
  EXPECT_FALSE(HasItsSource(lines, 6));
  const Lines printed = {"<!-- Printed by build/whorl hunt -->", "| 5 s |", "7 s"};
  EXPECT_TRUE(HasItsSource(printed, 1));
  EXPECT_FALSE(HasItsSource(printed, 2));
}

TEST(DocumentationMatching, FindsLinksWithinTheRepository) {
  EXPECT_EQ(LinksOf("[a](b/c.md#d) and [e](#f), [g](https://h.i), ![j](k.svg)"),
            (Lines{"b/c.md", "k.svg"}));
  EXPECT_EQ(WithoutBlocks({"a", "```text", "b", "```", "c"}), (Lines{"a", "", "", "", "c"}));
}

TEST(DocumentationMatching, FindsBlocksWithTheirLinesAndCommands) {
  const std::vector<Block> blocks =
      BlocksOf("x\n```json\n{}\n```\n- y\n  ```console\n  $ a\n  b\n  ```\n");
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].line, 3);
  EXPECT_EQ(blocks[0].language, "json");
  EXPECT_EQ(blocks[1].lines, (Lines{"$ a", "b"}));
  const std::vector<Command> commands = CommandsOf(blocks[1]);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].text, "a");
  EXPECT_EQ(commands[0].output, Lines{"b"});
  EXPECT_EQ(LineOf("./dev replay"), "build/whorl replay scenarios");
  EXPECT_EQ(LineOf("./dev replay --json  # x.json"), "build/whorl replay scenarios --json");
  EXPECT_EQ(LineOf("./dev replay a.json"), "build/whorl replay a.json");
}

}  // namespace
}  // namespace whorl::documentation_test
