#include "cli/option_values.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "base/parse_duration.h"
#include "base/text.h"
#include "sim/scenario/fields.h"

namespace whorl::cli {

uint64_t DefaultJobs() { return std::max(1U, std::thread::hardware_concurrency()); }

uint64_t DefaultJobsOn() { return 2 * DefaultJobs(); }

uint64_t NumberOf(std::string_view option, const std::string& text, uint64_t min, uint64_t max) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end && number >= min && number <= max) return number;
  throw CLI::ValidationError(Cat(option, " wants a whole number from ", std::to_string(min), " to ",
                                 std::to_string(max), ", and got ", Quoted(text)));
}

uint64_t MebibytesOf(std::string_view option, const std::string& text, uint64_t max) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(rest, end);
  const uint64_t most = unit == "G" ? max / 1'024 : max;
  const bool has_unit = unit.empty() || unit == "M" || unit == "G";
  if (error == std::errc() && has_unit && number >= 1 && number <= most) {
    return unit == "G" ? number * 1'024 : number;
  }
  throw CLI::ValidationError(Cat(option, " wants MiB from 1 to ", std::to_string(max),
                                 ", or GiB such as 8G, and got ", Quoted(text)));
}

Duration DurationOf(std::string_view option, const std::string& text, std::string_view example) {
  const std::variant<Duration, std::string> parsed = ParseDuration(text);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    throw CLI::ValidationError(Cat(option, ": ", *wrong));
  }
  const Duration duration = std::get<Duration>(parsed);
  if (duration >= Duration{}) return duration;
  throw CLI::ValidationError(Cat(option, " wants ", example, ", and got ", Quoted(text)));
}

size_t PlaceOfWord(std::string_view option, std::string_view what, const std::string& word,
                   std::span<const std::string_view> known) {
  const auto found = std::ranges::find(known, word);
  if (found != known.end()) return static_cast<size_t>(found - known.begin());
  throw CLI::ValidationError(Cat(option, ": ", sim::UnknownWord(what, word, known)));
}

Invariant InvariantOf(std::string_view option, const std::string& word) {
  return static_cast<Invariant>(PlaceOfWord(option, "invariant", word, AllWords<Invariant>()));
}

std::vector<std::string> CommaSeparated(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

void AddOn(CLI::App& app, std::optional<live::BackendKind>& on, const std::string& help) {
  app.add_option_function<std::string>(
         "--on",
         [&on](const std::string& text) {
           on = static_cast<live::BackendKind>(
               PlaceOfWord("--on", "backend", text, AllWords<live::BackendKind>()));
         },
         help)
      ->type_name("server|emulator|omni");
}

void AddNumber(CLI::App& app, const std::string& name, uint64_t min, uint64_t max,
               std::function<void(uint64_t)> take, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [name, min, max, take = std::move(take)](const std::string& text) {
           take(NumberOf(name, text, min, max));
         },
         help)
      ->type_name("N");
}

std::string ProgramAt(const std::string& option, const std::string& text) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(text, error);
  if (error || !std::filesystem::is_regular_file(path, error)) {
    throw CLI::ValidationError(Cat(option, ": there is no program ", Quoted(text)));
  }
  if (access(path.c_str(), X_OK) != 0) {
    throw CLI::ValidationError(Cat(option, ": ", Quoted(text), " cannot be executed"));
  }
  return path.string();
}

}  // namespace whorl::cli
