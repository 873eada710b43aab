#include "sim/scenario/json_document.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace whorl::sim {
namespace {

// Further duplicates are left out of their objects without being reported.
constexpr size_t kMaxDuplicates = 100;

template <typename Integer>
std::optional<Integer> WholeNumber(JsonKind kind, std::string_view text) {
  if (kind != JsonKind::kNumber) return std::nullopt;
  Integer value = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// The library reads through this iterator; `consumed` tells the builder how far it has read.
class CountingIterator {
 public:
  // NOLINTBEGIN(readability-identifier-naming): std::iterator_traits looks these names up.
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  // NOLINTEND(readability-identifier-naming)

  CountingIterator(const char* at, size_t* consumed) : at_(at), consumed_(consumed) {}
  const char& operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*consumed_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  size_t* consumed_;
};

// Finds the line and column of offsets. Lines end as editors count them: by LF, CR LF or CR.
// REQUIRES: callers ask in ascending order.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}

  Position At(size_t offset) {
    for (; offset_ < std::min(offset, text_.size()); ++offset_) {
      const char c = text_[offset_];
      const bool is_cr_alone = c == '\r' && text_.substr(offset_ + 1, 1) != "\n";
      if (c == '\n' || is_cr_alone) {
        ++position_.line;
        position_.column = 1;
      } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
        ++position_.column;
      }
    }
    return position_;
  }

 private:
  std::string_view text_;
  size_t offset_ = 0;
  Position position_;
};

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..."
// without the place, which the problem states itself.
std::string WithoutPlace(std::string_view what) {
  static constexpr std::string_view kStart = "syntax error ";
  if (const size_t at = what.find(kStart); at != std::string_view::npos) {
    return Printable(what.substr(at + kStart.size()), 240);
  }
  const size_t at = what.find("] ");
  return Printable(at == std::string_view::npos ? what : what.substr(at + 2), 240);
}

std::string EscapedToken(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return Printable(token);
}

}  // namespace

JsonKind JsonValue::kind() const { return document_->entry(index_).kind; }
std::string_view JsonValue::text() const { return document_->entry(index_).text; }
std::string_view JsonValue::key() const { return document_->entry(index_).key; }
Position JsonValue::position() const { return document_->entry(index_).position; }
Position JsonValue::key_position() const { return document_->entry(index_).key_position; }
std::optional<int64_t> JsonValue::AsInt64() const { return WholeNumber<int64_t>(kind(), text()); }
std::optional<uint64_t> JsonValue::AsUint64() const {
  return WholeNumber<uint64_t>(kind(), text());
}
std::string JsonValue::Pointer() const { return document_->PointerOf(index_); }
size_t JsonValue::ChildCount() const {
  return static_cast<size_t>(document_->entry(index_).children);
}

std::vector<JsonValue> JsonValue::Children() const {
  std::vector<JsonValue> children;
  children.reserve(ChildCount());
  for (int32_t i = document_->entry(index_).first; i >= 0; i = document_->entry(i).next) {
    children.emplace_back(document_, i);
  }
  return children;
}

std::optional<JsonValue> JsonValue::Find(std::string_view member) const {
  if (kind() != JsonKind::kObject) return std::nullopt;
  for (int32_t i = document_->entry(index_).first; i >= 0; i = document_->entry(i).next) {
    if (document_->entry(i).key == member) return JsonValue(document_, i);
  }
  return std::nullopt;
}

std::string JsonDocument::PointerOf(int32_t index) const {
  std::vector<std::string> tokens;
  for (; entry(index).parent >= 0; index = entry(index).parent) {
    const Entry& at = entry(index);
    const bool member = entry(at.parent).kind == JsonKind::kObject;
    tokens.push_back(member ? EscapedToken(at.key) : std::to_string(at.ordinal));
  }
  std::string pointer;
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) pointer += "/" + *token;
  return pointer;
}

// Receives the library's events and appends entries. It is outside of the unnamed namespace only
// because it is a friend of JsonDocument.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonBuilder(std::string_view text, const size_t& consumed, std::vector<Problem>& problems)
      : text_(text), consumed_(consumed), problems_(problems), lines_(text) {}

  bool null() override { return AddLiteral(JsonKind::kNull, "null"); }
  bool boolean(bool value) override {
    return AddLiteral(JsonKind::kBoolean, value ? "true" : "false");
  }
  bool number_integer(number_integer_t) override { return AddNumber(); }
  bool number_unsigned(number_unsigned_t) override { return AddNumber(); }
  bool number_float(number_float_t, const string_t&) override { return AddNumber(); }
  bool string(string_t& value) override {
    return Add(JsonKind::kString, StartOfString(), std::move(value));
  }
  bool binary(binary_t&) override { return false; }  // JSON texts have none

  bool start_object(std::size_t) override { return Open(JsonKind::kObject); }
  bool start_array(std::size_t) override { return Open(JsonKind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& value) override;
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const size_t last_read = consumed_ == 0 ? 0 : consumed_ - 1;
    return Fail(last_read, Cat("not JSON at column ", std::to_string(lines_.At(last_read).column),
                               ": ", WithoutPlace(error.what())));
  }

  std::vector<JsonDocument::Entry> TakeEntries() { return std::move(document_.entries_); }

 private:
  // An object or array whose end has not been read yet.
  struct Level {
    int32_t index = 0;
    int32_t last_child = -1;
    std::map<std::string, int, std::less<>> lines;  // by key of an object
  };

  bool Add(JsonKind kind, size_t start, std::string text);
  bool AddLiteral(JsonKind kind, std::string text) {
    const size_t start = consumed_ - text.size();
    return Add(kind, start, std::move(text));
  }
  bool AddNumber();
  bool Open(JsonKind kind);
  bool Close() {
    levels_.pop_back();
    return true;
  }
  bool Fail(size_t offset, std::string text);
  void Link(int32_t index);
  size_t StartOfString() const;

  std::string_view text_;
  const size_t& consumed_;
  std::vector<Problem>& problems_;
  LineCounter lines_;
  JsonDocument document_;
  std::vector<Level> levels_;
  std::string key_;
  Position key_position_;
  bool is_duplicate_ = false;
};

// The closing quote was read last; a quote within the string follows a backslash.
size_t JsonBuilder::StartOfString() const {
  size_t start = consumed_ - 2;
  while (text_[start] != '"' || (start > 0 && text_[start - 1] == '\\')) --start;
  return start;
}

// The parser sees that a number has ended only by reading the next character or the text's end.
bool JsonBuilder::AddNumber() {
  static constexpr std::string_view kLetters = "+-.0123456789eE";
  size_t end = consumed_;
  if (kLetters.find(text_[end - 1]) == std::string_view::npos) --end;
  size_t start = end;
  while (start > 0 && kLetters.find(text_[start - 1]) != std::string_view::npos) --start;
  return Add(JsonKind::kNumber, start, std::string(text_.substr(start, end - start)));
}

bool JsonBuilder::key(string_t& value) {
  key_position_ = lines_.At(StartOfString());
  key_ = std::move(value);
  const auto [first, is_new] = levels_.back().lines.emplace(key_, key_position_.line);
  is_duplicate_ = !is_new;
  if (is_duplicate_ && problems_.size() < kMaxDuplicates) {
    const std::string object = document_.PointerOf(levels_.back().index);
    problems_.push_back({key_position_, Cat(object, "/", EscapedToken(key_)),
                         Cat("duplicate key ", Quoted(key_), "; the first is on line ",
                             std::to_string(first->second))});
  }
  return true;
}

bool JsonBuilder::Add(JsonKind kind, size_t start, std::string text) {
  if (document_.entries_.size() >= kMaxJsonValues) {
    return Fail(start, Cat("more than ", std::to_string(kMaxJsonValues), " values"));
  }
  JsonDocument::Entry entry;
  entry.kind = kind;
  entry.position = lines_.At(start);
  entry.text = std::move(text);
  if (!levels_.empty()) {
    entry.parent = levels_.back().index;
    if (document_.entry(entry.parent).kind == JsonKind::kObject) {
      entry.key = std::exchange(key_, std::string());
      entry.key_position = key_position_;
    }
  }
  document_.entries_.push_back(std::move(entry));
  Link(static_cast<int32_t>(document_.entries_.size()) - 1);
  return true;
}

// A duplicate member has an entry, but its object does not link to it.
void JsonBuilder::Link(int32_t index) {
  if (levels_.empty() || std::exchange(is_duplicate_, false)) return;
  Level& level = levels_.back();
  JsonDocument::Entry& parent = document_.entries_[static_cast<size_t>(level.index)];
  document_.entries_[static_cast<size_t>(index)].ordinal = parent.children++;
  if (level.last_child < 0) {
    parent.first = index;
  } else {
    document_.entries_[static_cast<size_t>(level.last_child)].next = index;
  }
  level.last_child = index;
}

bool JsonBuilder::Open(JsonKind kind) {
  if (levels_.size() >= static_cast<size_t>(kMaxJsonDepth)) {
    return Fail(consumed_ - 1,
                Cat("nested deeper than ", std::to_string(kMaxJsonDepth), " levels"));
  }
  if (!Add(kind, consumed_ - 1, "")) return false;
  Level level;
  level.index = static_cast<int32_t>(document_.entries_.size()) - 1;
  levels_.push_back(std::move(level));
  return true;
}

bool JsonBuilder::Fail(size_t offset, std::string text) {
  const std::string pointer = levels_.empty() ? "" : document_.PointerOf(levels_.back().index);
  problems_.push_back({lines_.At(offset), pointer, std::move(text)});
  return false;
}

std::optional<JsonDocument> JsonDocument::Parse(std::string_view text,
                                                std::vector<Problem>& problems) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    problems.push_back({{}, "", "empty: expected a JSON object"});
    return std::nullopt;
  }
  size_t consumed = 0;
  JsonBuilder builder(text, consumed, problems);
  const char* first = text.data();
  const CountingIterator begin(first, &consumed);
  const CountingIterator end(first + text.size(), &consumed);
  if (!nlohmann::json::sax_parse(begin, end, &builder)) return std::nullopt;
  JsonDocument document;
  document.entries_ = builder.TakeEntries();
  return document;
}

}  // namespace whorl::sim
