#include "protocol/spanner/sql.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace whorl {
namespace {

// The text with its parameters, as one string that tells two statements apart.
std::string KeyOf(std::string_view text, const std::vector<Parameter>& parameters) {
  std::string key;
  key.reserve(text.size() + 16 * parameters.size());
  key = text;
  for (const Parameter& parameter : parameters) {
    key.push_back('\0');
    key += parameter.name;
    key.push_back('\0');
    key.push_back(static_cast<char>('0' + static_cast<int>(parameter.type)));
  }
  return key;
}

struct Texts {
  std::mutex mutex;
  std::map<std::string, const SqlText*> by_key;
  std::deque<SqlText> all;  // a deque, so that a text never moves
};

// Never destroyed: handles may outlive main.
Texts& TheTexts() {
  static Texts& texts = *new Texts;
  return texts;
}

}  // namespace

SqlText MakeSqlText(std::string_view text, std::vector<Parameter> parameters) {
  const std::string key = KeyOf(text, parameters);
  SqlText made;
  made.text = std::string(text);
  made.parameters = std::move(parameters);
  made.digest = XXH64(key.data(), key.size(), 0);
  return made;
}

Sql::Sql() {
  static const Sql empty = Intern("");
  text_ = empty.text_;
}

Sql Sql::Intern(std::string_view text, std::vector<Parameter> parameters) {
  const std::string key = KeyOf(text, parameters);
  Texts& texts = TheTexts();
  const std::lock_guard<std::mutex> lock(texts.mutex);
  const auto found = texts.by_key.find(key);
  if (found != texts.by_key.end()) return Sql(found->second);
  SqlText interned = MakeSqlText(text, std::move(parameters));
  interned.index = static_cast<uint32_t>(texts.all.size());
  texts.all.push_back(std::move(interned));
  texts.by_key.emplace(key, &texts.all.back());
  return Sql(&texts.all.back());
}

}  // namespace whorl
