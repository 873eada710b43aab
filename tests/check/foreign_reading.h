// Reads histories in the formats of others, for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "check/check.h"
#include "check/input.h"

namespace whorl::check {

inline constexpr size_t kWholeLines = size_t{1} << 20;

struct Heard {
  std::vector<Operation> operations;
  std::vector<std::string> errors;

  std::string FirstError() const { return errors.empty() ? std::string() : errors[0]; }
  const LogLine& SaidAt(size_t i) const { return std::get<LogLine>(operations.at(i).what); }
  std::vector<LogLine> AllSaid() const {
    std::vector<LogLine> found;
    for (const Operation& operation : operations) {
      if (const auto* said = std::get_if<LogLine>(&operation.what)) found.push_back(*said);
    }
    return found;
  }
  std::vector<LogLine> Of(Statement statement) const {
    std::vector<LogLine> found = AllSaid();
    std::erase_if(found, [&](const LogLine& said) { return said.statement != statement; });
    return found;
  }
  // The only one that there is, and nothing is wrong.
  template <typename T>
  T Sole() const {
    EXPECT_THAT(errors, testing::IsEmpty());
    EXPECT_THAT(operations, testing::SizeIs(1));
    return std::get<T>(operations.at(0).what);
  }
};

// `part`: lines that are longer are given by their parts.
inline Heard ReadAll(const std::string& text, InputOptions options = {}, size_t part = kWholeLines,
                     const std::string& file = "h") {
  Input input(*FindProtocol("spindle_v2"), options);
  Heard heard;
  Place place = {.file = file, .line = 0};
  const auto note = [&](const std::string& wrong) {
    for (std::string& refused : options.wanted.Counts().TakeRefused()) {
      heard.errors.push_back(std::move(refused));
    }
    if (!wrong.empty()) heard.errors.push_back(wrong);
  };
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    ++place.line;
    for (; line.size() > part; line.remove_prefix(part)) {
      note(input.Part(line.substr(0, part), place, heard.operations));
    }
    note(input.Read(line, place, heard.operations));
    at = end + 1;
  }
  note(input.Finish());
  return heard;
}

inline HistoryVerdict JudgeText(const std::string& text, InputOptions options = {},
                                CheckOptions check = {}) {
  Checker checker(*FindProtocol("spindle_v2"), check);
  for (Operation& operation : ReadAll(text, options).operations) checker.Add(std::move(operation));
  AddUnclear(options.wanted.Counts(), checker);
  return checker.Verdict();
}

// An attribute of OpenTelemetry; the value is JSON.
inline std::string Attribute(const std::string& key, const std::string& value) {
  return R"({"key":")" + key + R"(","value":)" + value + "}";
}
inline std::string TextAttribute(const std::string& key, const std::string& text) {
  return Attribute(key, R"({"stringValue":")" + text + R"("})");
}

}  // namespace whorl::check
