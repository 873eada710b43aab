// Writes and reads the lines of JSON between whorl and a program that takes part in a lock for a
// node (README.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/machine.h"

namespace whorl::live {

// --- to the program ------------------------------------------------------------------------------

std::string StartLine(const std::string& lock);
std::string AskLine(const std::string& lock, uint64_t id, Question question);
std::string StopLine(const std::string& lock, StopReason reason);

// --- from the program ----------------------------------------------------------------------------

struct ProgramReady {};
struct ProgramLeads {
  std::string lock;  // empty: the program's only one
  bool leads = false;
  // From now on, unless it says so again; empty: only an event ends it.
  std::optional<Duration> lapses_in;
};
struct ProgramAnswers {
  uint64_t id = 0;
  bool yes = false;
  std::optional<uint64_t> token;
  std::string error;
};
struct ProgramLogs {  // for people
  std::string text;
};
using ProgramLine = std::variant<ProgramReady, ProgramLeads, ProgramAnswers, ProgramLogs>;

// Returns what is wrong with the line, and what was expected; empty if nothing is.
std::string ParseProgramLine(std::string_view line, ProgramLine& out);

}  // namespace whorl::live
