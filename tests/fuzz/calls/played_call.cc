#include "tests/fuzz/calls/played_call.h"

#include <sstream>
#include <stdexcept>

namespace whorl::fuzz {

std::string FormatScript(const std::vector<PlayedCall>& calls) {
  std::ostringstream out;
  for (const PlayedCall& call : calls) {
    out << call.number << ' ' << call.thread << ' ' << call.method;
    if (call.deadline_ms != 0) out << " deadline=" << call.deadline_ms;
    if (call.read_parts >= 0) out << " read=" << call.read_parts;
    if (call.cancel) out << " cancel";
    out << " | " << call.request << '\n';
  }
  return out.str();
}

std::vector<PlayedCall> ParseScript(std::istream& in) {
  std::vector<PlayedCall> calls;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    const size_t bar = line.find(" | ");
    const auto wrong = [&](const std::string& what) {
      return std::runtime_error("line " + std::to_string(number) + ": " + what);
    };
    if (bar == std::string::npos) throw wrong("no \" | \" before the request");
    PlayedCall call;
    call.request = line.substr(bar + 3);
    std::istringstream head(line.substr(0, bar));
    if (!(head >> call.number >> call.thread >> call.method)) {
      throw wrong("it does not begin with number, thread and method");
    }
    for (std::string word; head >> word;) {
      if (word == "cancel") {
        call.cancel = true;
      } else if (word.starts_with("deadline=")) {
        call.deadline_ms = std::stoll(word.substr(9));
      } else if (word.starts_with("read=")) {
        call.read_parts = std::stoi(word.substr(5));
      } else {
        throw wrong("unknown word: " + word);
      }
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace whorl::fuzz
