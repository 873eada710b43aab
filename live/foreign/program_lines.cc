#include "live/foreign/program_lines.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace whorl::live {
namespace {

using nlohmann::json;

constexpr size_t kShown = 200;
constexpr uint64_t kLapsesInMost = uint64_t{1000} * 3600 * 24 * 365;  // ms

std::string Line(const json& value) { return value.dump() + "\n"; }

// Numbers above 2^53 do not survive JSON in every language, so a token may be a string, too.
bool ReadToken(const json& value, std::optional<uint64_t>& out) {
  if (value.is_null()) return true;
  if (value.is_number_unsigned()) {
    out = value.get<uint64_t>();
    return true;
  }
  if (!value.is_string()) return false;
  const auto text = value.get<std::string>();
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  out = number;
  return true;
}

std::string ReadLock(const json& line, std::string& out) {
  const auto lock = line.find("lock");
  if (lock == line.end()) return {};
  if (!lock->is_string()) return "\"lock\" is a lock's name, a string";
  out = lock->get<std::string>();
  return {};
}

std::string ParseAnswer(const json& line, ProgramAnswers& out) {
  const auto id = line.find("id");
  if (id == line.end() || !id->is_number_unsigned()) {
    return "an answer wants \"id\", the number of the question";
  }
  out.id = id->get<uint64_t>();
  const auto yes = line.find("yes");
  if (yes == line.end() || !yes->is_boolean()) return "an answer wants \"yes\", true or false";
  out.yes = yes->get<bool>();
  const auto token = line.find("token");
  if (token != line.end() && !ReadToken(*token, out.token)) {
    return "\"token\" is an unsigned number, or one as a string";
  }
  const auto error = line.find("error");
  if (error != line.end() && error->is_string()) out.error = error->get<std::string>();
  return {};
}

}  // namespace

std::string StartLine(const std::string& lock) { return Line({{"do", "start"}, {"lock", lock}}); }

std::string AskLine(const std::string& lock, uint64_t id, Question question) {
  const char* word = "has_lock";
  if (question == Question::kLock) word = "lock";
  if (question == Question::kUnlock) word = "unlock";
  return Line({{"do", "ask"}, {"lock", lock}, {"id", id}, {"question", word}});
}

std::string StopLine(const std::string& lock, StopReason reason) {
  return Line({{"do", "stop"}, {"lock", lock}, {"reason", std::string(WordOf(reason))}});
}

std::string ParseProgramLine(std::string_view line, ProgramLine& out) {
  const json read = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object()) {
    return Cat("is no JSON object: ", Quoted(std::string(line.substr(0, kShown))),
               "; logs belong on standard error");
  }
  const auto event = read.find("event");
  if (event == read.end() || !event->is_string()) return "has no \"event\"";
  const auto word = event->get<std::string>();
  if (word == "ready") {
    out = ProgramReady{};
  } else if (word == "leads" || word == "leads_not") {
    ProgramLeads leads{.lock = {}, .leads = word == "leads", .lapses_in = {}};
    if (std::string wrong = ReadLock(read, leads.lock); !wrong.empty()) return wrong;
    if (const auto lapses = read.find("lapses_in_ms"); lapses != read.end()) {
      if (!leads.leads || !lapses->is_number_unsigned() ||
          lapses->get<uint64_t>() > kLapsesInMost) {
        return "\"lapses_in_ms\" is a number of milliseconds, with the event leads";
      }
      leads.lapses_in = Milliseconds(lapses->get<int64_t>());
    }
    out = leads;
  } else if (word == "log") {
    const auto text = read.find("text");
    if (text == read.end() || !text->is_string()) return "a log wants \"text\", a string";
    out = ProgramLogs{.text = text->get<std::string>()};
  } else if (word == "answer") {
    ProgramAnswers answers;
    std::string wrong = ParseAnswer(read, answers);
    out = answers;
    return wrong;
  } else {
    return Cat("has the event ", Quoted(word),
               "; known are ready, leads, leads_not, answer and log");
  }
  return {};
}

}  // namespace whorl::live
