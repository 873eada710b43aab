// Writes verdicts as a JUnit report (--junit FILE), which CI systems read.
//
// Invariant: a report has a failure where the command ends with 1, and an error where it ends with 2 or 3; what was
// found and does not decide the exit code is in a test that passed.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace whorl::cli {

enum class JunitOutcome : uint8_t {
  kPassed,
  kFailed,   // what the test claims is not so
  kError,    // there is no verdict, and there should be one
  kSkipped,  // it does not apply, or nothing that was read can tell
};

struct JunitTest {
  std::string group;  // CI systems fold tests by it: a protocol, a folder
  std::string name;
  JunitOutcome outcome = JunitOutcome::kPassed;
  std::string text;    // for people: the first line is the message
  double seconds = 0;  // that it took
};

// The document. `suite` is its name: "whorl replay".
std::string JunitText(std::string_view suite, const std::vector<JunitTest>& tests);

// A file that may not be wanted.
class JunitFile {
 public:
  explicit JunitFile(std::string suite) : suite_(std::move(suite)) {}

  // Opens the file before the work, so that a place that cannot be written shows before it. An empty path: no report is
  // wanted.
  absl::Status Open(const std::string& path);
  bool is_wanted() const { return is_wanted_; }
  void Add(JunitTest test) { tests_.push_back(std::move(test)); }
  void AddBadInput(const std::string& path, const std::vector<std::string>& errors);
  // Writes what was added. `unfinished`: why the work did not come to its end, which is an error; empty if it did.
  absl::Status Commit(const std::string& unfinished);

 private:
  std::string suite_;
  bool is_wanted_ = false;
  OutputFile file_;
  std::vector<JunitTest> tests_;
};

void AddJunit(CLI::App& app, std::string& path);

}  // namespace whorl::cli
