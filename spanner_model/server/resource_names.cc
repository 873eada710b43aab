#include "spanner_model/server/resource_names.h"

#include <algorithm>
#include <array>

namespace whorl::server {
namespace {

constexpr std::array<std::string_view, 4> kWords = {"projects", "instances", "databases",
                                                    "sessions"};
constexpr std::string_view kSpace = " \t\r\n";

// Removes and returns the part before the next '/'; removes the '/', too.
std::string_view TakePart(std::string_view& name) {
  const size_t end = std::min(name.find('/'), name.size());
  const std::string_view part = name.substr(0, end);
  name.remove_prefix(std::min(end + 1, name.size()));
  return part;
}

// Whether the name consists of `depth` pairs of a fixed word and an id.
bool HasForm(std::string_view name, size_t depth) {
  if (std::count(name.begin(), name.end(), '/') != static_cast<std::ptrdiff_t>(2 * depth - 1)) {
    return false;
  }
  for (size_t i = 0; i < depth; ++i) {
    if (TakePart(name) != kWords[i] || TakePart(name).empty()) return false;
  }
  return true;
}

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

bool IsNewId(std::string_view id, size_t longest, std::string_view signs) {
  if (id.size() < 2 || id.size() > longest || !IsLower(id[0]) || id.back() == '-') return false;
  return std::all_of(id.begin(), id.end(), [&](char c) {
    return IsLower(c) || (c >= '0' && c <= '9') || signs.find(c) != std::string_view::npos;
  });
}

std::string_view Strip(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

// Removes the word, in any case, from the front of a statement. False if the statement does not
// begin with it.
bool TakeWord(std::string_view& text, std::string_view upper_case_word) {
  text = Strip(text);
  if (text.size() <= upper_case_word.size()) return false;
  for (size_t i = 0; i < upper_case_word.size(); ++i) {
    constexpr char kToUpper = 'A' - 'a';
    const char c = text[i];
    if ((IsLower(c) ? static_cast<char>(c + kToUpper) : c) != upper_case_word[i]) {
      return false;
    }
  }
  text.remove_prefix(upper_case_word.size());
  if (text[0] != '`' && kSpace.find(text[0]) == std::string_view::npos) return false;
  text = Strip(text);
  return true;
}

}  // namespace

bool IsProjectName(std::string_view name) { return HasForm(name, 1); }
bool IsDatabaseName(std::string_view name) { return HasForm(name, 3); }

std::optional<SessionPath> ParseSessionName(std::string_view name) {
  if (!HasForm(name, 4)) return std::nullopt;
  const size_t last = name.rfind('/');
  const size_t end = name.rfind('/', last - 1);
  return SessionPath{.database = std::string(name.substr(0, end)),
                     .session = std::string(name.substr(last + 1))};
}

std::string MakeSessionName(const std::string& database, std::string_view session) {
  return ChildName(database, "sessions", session);
}

std::string InstanceOf(std::string_view database) {
  const size_t last = database.rfind('/');
  return std::string(database.substr(0, database.rfind('/', last - 1)));
}

std::string ChildName(std::string_view parent, std::string_view kind, std::string_view id) {
  std::string name(parent);
  name.append("/").append(kind).append("/").append(id);
  return name;
}

bool IsNewInstanceId(std::string_view id) { return IsNewId(id, 64, "-"); }
bool IsNewDatabaseId(std::string_view id) { return IsNewId(id, 30, "-_"); }

Status InstanceNotFound(const std::string& name) {
  return Error(Code::kNotFound, "Instance not found: " + name);
}

Status DatabaseNotFound(const std::string& name) {
  return Error(Code::kNotFound, "Database not found: " + name);
}

std::optional<std::string> ParseCreateDatabase(std::string_view statement) {
  if (!TakeWord(statement, "CREATE") || !TakeWord(statement, "DATABASE")) return std::nullopt;
  statement = Strip(statement);
  if (statement.size() > 2 && statement.front() == '`' && statement.back() == '`') {
    statement = statement.substr(1, statement.size() - 2);
  }
  if (!IsNewDatabaseId(statement)) return std::nullopt;
  return std::string(statement);
}

}  // namespace whorl::server
