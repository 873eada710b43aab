#include "cli/inputs.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "base/text.h"
#include "sim/scenario/loader.h"

namespace whorl::cli {

namespace {

namespace fs = std::filesystem;

constexpr int kWaitForWriterMs = 1000;

bool IsScenarioFile(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") && !name.ends_with("schema.json");
}

void AddBad(const std::string& path, std::string_view error, Inputs& inputs) {
  inputs.bad.push_back({.path = path, .errors = {Cat(Printable(path, 1000), ": ", error)}});
}

absl::Status Unreadable(const std::string& path, std::string_view reason) {
  return absl::UnavailableError(CannotRead(path, reason));
}

// Reads an open pipe to its end, or until there is more than a scenario may have.
absl::StatusOr<std::string> ReadOpenPipe(int pipe, const std::string& path) {
  pollfd waiting = {.fd = pipe, .events = POLLIN, .revents = 0};
  poll(&waiting, 1, kWaitForWriterMs);
  std::string text;
  std::array<char, 65'536> buffer{};
  while (text.size() <= sim::kMaxScenarioBytes) {
    const ssize_t count = read(pipe, buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<size_t>(count));
    } else if (count == 0) {
      // POLLHUP shows that a writer has come and gone without writing.
      if (text.empty() && waiting.revents == 0) {
        return Unreadable(path, "nobody writes into this pipe");
      }
      break;
    } else if (errno == EAGAIN) {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's interface
      fcntl(pipe, F_SETFL, 0);  // there is a writer: wait for it
    } else if (errno != EINTR) {
      return Unreadable(path, std::generic_category().message(errno));
    }
  }
  return text;
}

// Opening a pipe into which no process writes would block for ever.
absl::StatusOr<std::string> ReadPipe(const std::string& path) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's interface
  const int pipe = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (pipe < 0) return Unreadable(path, std::generic_category().message(errno));
  absl::StatusOr<std::string> text = ReadOpenPipe(pipe, path);
  close(pipe);
  return text;
}

void LoadFile(const std::string& path, Inputs& inputs) {
  std::error_code ignored;  // whatever it is, opening the file says it better
  absl::StatusOr<std::string> text =
      fs::is_fifo(path, ignored) ? ReadPipe(path) : sim::ReadScenarioText(path);
  absl::StatusOr<sim::Scenario> scenario =
      text.ok() ? ScenarioFrom(*text, path) : absl::StatusOr<sim::Scenario>(text.status());
  if (scenario.ok()) {
    inputs.scenarios.push_back(*std::move(scenario));
    inputs.texts.push_back(*std::move(text));
  } else {
    inputs.bad.push_back(
        {.path = path, .errors = LinesOf(std::string(scenario.status().message()))});
  }
}

void LoadFolder(const std::string& folder, Inputs& inputs) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsScenarioFile(entry->path())) files.push_back(entry->path().string());
  }
  if (error) {
    inputs.bad.push_back({.path = folder, .errors = {CannotRead(folder, error.message())}});
    return;
  }
  if (files.empty()) {
    return AddBad(folder, "no scenario in this folder (*.json, but not *schema.json)", inputs);
  }
  std::ranges::sort(files);
  for (const std::string& file : files) LoadFile(file, inputs);
}

}  // namespace

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Inputs LoadInputs(const std::vector<std::string>& paths) {
  Inputs inputs;
  bool has_read_stdin = false;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" && std::exchange(has_read_stdin, true)) {
      AddBad(path, "standard input can be read once only", inputs);
    } else if (path != "-" && fs::is_directory(path, error)) {
      LoadFolder(path, inputs);
    } else {
      LoadFile(path, inputs);
    }
  }
  return inputs;
}

std::string CannotRead(const std::string& path, std::string_view reason) {
  return Cat(Printable(path, 1'000), ": cannot be read: ", reason);
}

// Opening a folder succeeds, as for a file; only reading it fails.
absl::Status OpenInput(const std::string& path, std::ifstream& stream) {
  std::error_code error;
  if (fs::is_directory(path, error)) return Unreadable(path, "it is a folder");
  errno = 0;
  stream.open(path, std::ios::binary);
  if (stream) return absl::OkStatus();
  return Unreadable(path, std::generic_category().message(errno));
}

absl::StatusOr<sim::Scenario> ScenarioFrom(const std::string& text, const std::string& path) {
  absl::StatusOr<sim::Scenario> scenario = sim::ParseScenario(text, path);
  if (scenario.ok() && path == "-") scenario->name = "stdin";
  return scenario;
}

std::string SameInput(const Inputs& inputs, const std::string& path) {
  std::error_code ignored;  // what is not there is no input
  if (!fs::is_regular_file(path, ignored)) return {};
  const auto is_it = [&](const auto& input) { return fs::equivalent(input.path, path, ignored); };
  const auto scenario = std::ranges::find_if(inputs.scenarios, is_it);
  if (scenario != inputs.scenarios.end()) return scenario->path;
  const auto bad = std::ranges::find_if(inputs.bad, is_it);
  return bad == inputs.bad.end() ? std::string() : bad->path;
}

std::vector<std::string> StatementsIn(const std::string& text) {
  std::vector<std::string> statements(1);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, std::min(line.find("--"), line.find('#')));
    for (const char c : line + "\n") {
      if (c == ';') {
        statements.emplace_back();
      } else if (!statements.back().empty() || !std::isspace(static_cast<unsigned char>(c))) {
        statements.back() += c;
      }
    }
  }
  std::erase(statements, "");
  for (std::string& one : statements) one.erase(one.find_last_not_of(" \t\r\n") + 1);
  return statements;
}

std::string ReadOption(std::string_view option, const std::string& path, std::string& out) {
  std::ifstream file(path);
  if (file) out.assign(std::istreambuf_iterator<char>(file), {});
  if (file && !out.empty()) return {};
  return Cat(option, ": ", Quoted(path), file ? " is empty" : " cannot be read");
}

}  // namespace whorl::cli
