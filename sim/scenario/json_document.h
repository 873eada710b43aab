// A JSON text as a tree in which every value and key knows its line and column.
//
// Invariants:
//   1. The nodes lie in one vector and refer to each other by index, so neither reading, walking
//   nor
//      freeing a document recurses, whatever its depth.
//   2. Strings and keys are valid UTF-8. Numbers keep the text that was written: nothing is rounded
//      on the way in, and whoever wants an integer gets exactly that integer or nothing.
//   3. An object has no two members of one name. The second is a problem and is left out.
//   4. Depth and number of values are bounded by the constants below.
// The JSON itself is read by nlohmann-json's SAX interface.
// Deliberately left out: writing, and conversions that a message should speak about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whorl::sim {

inline constexpr int kMaxJsonDepth = 64;
inline constexpr size_t kMaxJsonValues = 500'000;

// Both count from 1; a column is a character, not a byte.
struct Position {
  int line = 1;
  int column = 1;
};

enum class JsonKind : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };

// Something wrong in a text: where, and what was expected.
struct Problem {
  Position position;
  std::string pointer;  // JSON pointer (RFC 6901); empty for the document itself
  std::string text;
};

class JsonDocument;

// One value of a document, which has to outlive it and to stay where it is.
class JsonValue {
 public:
  JsonValue(const JsonDocument* document, int32_t index) : document_(document), index_(index) {}

  JsonKind kind() const;
  // What a string says, or how a number, `true` or `false` was written.
  std::string_view text() const;
  bool IsTrue() const { return kind() == JsonKind::kBoolean && text() == "true"; }
  // The number when it is an integer of that range, written as one (no fraction, no exponent).
  std::optional<int64_t> AsInt64() const;
  std::optional<uint64_t> AsUint64() const;

  std::string_view key() const;  // of a member of an object; empty otherwise
  Position position() const;     // of the value's first character
  Position key_position() const;
  std::string Pointer() const;

  // Elements or members in the order of the text; none for other kinds.
  std::vector<JsonValue> Children() const;
  size_t ChildCount() const;
  std::optional<JsonValue> Find(std::string_view member) const;

 private:
  const JsonDocument* document_;
  int32_t index_;
};

class JsonDocument {
 public:
  // The text's document, or nothing when it cannot be read to its end; then the last of `problems`
  // says why. Problems that do not end the reading (duplicate keys) may be added either way.
  static std::optional<JsonDocument> Parse(std::string_view text, std::vector<Problem>& problems);

  JsonValue root() const { return {this, 0}; }

 private:
  friend class JsonValue;
  friend class JsonBuilder;

  struct Entry {
    JsonKind kind = JsonKind::kNull;
    int32_t parent = -1;
    int32_t next = -1;    // sibling
    int32_t first = -1;   // child
    int32_t ordinal = 0;  // among its siblings
    int32_t children = 0;
    Position position;
    Position key_position;
    std::string key;
    std::string text;
  };
  const Entry& entry(int32_t index) const { return entries_[static_cast<size_t>(index)]; }
  std::string PointerOf(int32_t index) const;

  std::vector<Entry> entries_;
};

}  // namespace whorl::sim
