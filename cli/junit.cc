#include "cli/junit.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "base/text.h"

namespace whorl::cli {
namespace {

// As the text of an attribute or an element. XML 1.0 has no way to write most control characters.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' ? '?' : c;
    }
  }
  return escaped;
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string SecondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", seconds);
  return text;
}

std::string_view ElementOf(JunitOutcome outcome) {
  switch (outcome) {
    case JunitOutcome::kFailed:
      return "failure";
    case JunitOutcome::kError:
      return "error";
    case JunitOutcome::kSkipped:
      return "skipped";
    case JunitOutcome::kPassed:
      break;
  }
  return "system-out";
}

std::string TestText(const JunitTest& test) {
  std::string text = Cat("    <testcase classname=\"", Escaped(test.group), "\" name=\"",
                         Escaped(test.name), "\" time=\"", SecondsText(test.seconds), "\"");
  if (test.outcome == JunitOutcome::kPassed && test.text.empty()) return text + "/>\n";
  const std::string_view element = ElementOf(test.outcome);
  text += Cat(">\n      <", element);
  if (test.outcome != JunitOutcome::kPassed) {
    text += Cat(" message=\"", Escaped(FirstLine(test.text)), "\"");
  }
  return text + Cat(">", Escaped(test.text), "</", element, ">\n    </testcase>\n");
}

}  // namespace

std::string JunitText(std::string_view suite, const std::vector<JunitTest>& tests) {
  const auto count = [&](JunitOutcome outcome) {
    return std::to_string(std::ranges::count(tests, outcome, &JunitTest::outcome));
  };
  double seconds = 0;
  for (const JunitTest& test : tests) seconds += test.seconds;
  const std::string counts =
      Cat(" tests=\"", std::to_string(tests.size()), "\" failures=\"", count(JunitOutcome::kFailed),
          "\" errors=\"", count(JunitOutcome::kError), "\" skipped=\"",
          count(JunitOutcome::kSkipped), "\" time=\"", SecondsText(seconds), "\"");
  std::string text =
      Cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"",
          Escaped(suite), "\"", counts, ">\n");
  for (const JunitTest& test : tests) text += TestText(test);
  return text + "  </testsuite>\n</testsuites>\n";
}

absl::Status JunitFile::Open(const std::string& path) {
  is_wanted_ = !path.empty();
  return is_wanted_ ? file_.Open(path) : absl::OkStatus();
}

void JunitFile::AddBadInput(const std::string& path, const std::vector<std::string>& errors) {
  JunitTest test{.group = suite_, .name = path, .outcome = JunitOutcome::kError, .text = {}};
  for (const std::string& error : errors) test.text += Cat(test.text.empty() ? "" : "\n", error);
  Add(std::move(test));
}

absl::Status JunitFile::Commit(const std::string& unfinished) {
  if (!is_wanted_) return absl::OkStatus();
  if (!unfinished.empty()) {
    Add({.group = suite_,
         .name = "the work came to its end",
         .outcome = JunitOutcome::kError,
         .text = unfinished});
  }
  file_.stream() << JunitText(suite_, tests_);
  return file_.Commit();
}

void AddJunit(CLI::App& app, std::string& path) {
  app.add_option("--junit", path, "write the verdicts into FILE as a JUnit report, for CI systems")
      ->type_name("FILE");
}

}  // namespace whorl::cli
