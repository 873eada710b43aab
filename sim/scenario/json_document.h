// Parses a JSON text into a tree in which every value and key knows its line and column.
//
// Invariants:
//   1. The entries are stored in one vector and refer to each other by index, so reading, walking
//      and freeing a document never recurse, whatever its depth.
//   2. Strings and keys are valid UTF-8. Numbers keep the text that was written: no value is
//      rounded on reading, and AsInt64() returns exactly the integer in the text or nothing.
//   3. An object has no two members of the same name. The second one is a problem and is left out.
//   4. Depth and number of values are bounded by the constants below.
// nlohmann-json's SAX interface parses the text.
// Deliberately left out: writing, and conversions that need an error message of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/located_error.h"

namespace whorl::sim {

inline constexpr int kMaxJsonDepth = 64;
inline constexpr size_t kMaxJsonValues = 500'000;

enum class JsonKind : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };

class JsonDocument;

// One value of a document. The document outlives it and is not moved meanwhile.
class JsonValue {
 public:
  JsonValue(const JsonDocument* document, int32_t index) : document_(document), index_(index) {}

  JsonKind kind() const;
  // The content of a string, or a number, `true` or `false` as it was written.
  std::string_view text() const;
  bool IsTrue() const { return kind() == JsonKind::kBoolean && text() == "true"; }
  // The number if it is in range and written as an integer (no fraction, no exponent).
  std::optional<int64_t> AsInt64() const;
  std::optional<uint64_t> AsUint64() const;

  std::string_view key() const;  // empty unless it is a member of an object
  Position position() const;     // where the value begins
  Position key_position() const;
  std::string Pointer() const;

  // The elements or members, in the order of the text; none for other kinds of value.
  std::vector<JsonValue> Children() const;
  size_t ChildCount() const;
  std::optional<JsonValue> Find(std::string_view member) const;

 private:
  const JsonDocument* document_;
  int32_t index_;
};

class JsonDocument {
 public:
  // Parses a text. Returns nothing if it cannot be read to its end; the last of `problems` then
  // says why. Duplicate keys are added to `problems` too, and do not end the reading.
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
