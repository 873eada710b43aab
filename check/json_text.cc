#include "check/json_text.h"

#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
// It adds to null pointers to find out that its stack is empty.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace whorl::check {
namespace {

// What RapidJSON's vector instructions may read beyond the end.
constexpr size_t kPadding = 32;
// The recursive parser is faster; deeper texts than it can be given are longer than this.
constexpr size_t kShort = 2'048;

bool IsAscii(std::string_view text) {
  // Eight bytes at once, since every line is asked.
  uint64_t bits = 0;
  for (; text.size() >= sizeof(bits); text.remove_prefix(sizeof(bits))) {
    uint64_t eight = 0;
    std::memcpy(&eight, text.data(), sizeof(eight));
    bits |= eight;
  }
  for (const char c : text) bits |= static_cast<unsigned char>(c);
  constexpr uint64_t kHighBits = 0x8080808080808080U;
  return (bits & kHighBits) == 0;
}

// Makes the tree of what the parser reports.
class Builder {
 public:
  explicit Builder(Nodes& nodes) : nodes_(nodes) {}

  const Node* root() const { return root_; }

  bool Null() { return Add(NodeKind::kNull) != nullptr; }
  bool Bool(bool value) {
    Add(NodeKind::kOther)->text = value ? "true" : "false";
    return true;
  }
  bool Int(int number) { return Int64(number); }
  bool Uint(unsigned number) { return Int64(number); }
  bool Int64(int64_t number) {
    Add(NodeKind::kInteger)->integer = number;
    return true;
  }
  bool Uint64(uint64_t number) {  // also what fits an int64
    const bool fits = number <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return fits ? Int64(static_cast<int64_t>(number)) : Double(0);
  }
  bool Double(double) { return Add(NodeKind::kOther) != nullptr; }
  bool RawNumber(const char*, unsigned, bool) { return Add(NodeKind::kOther) != nullptr; }
  bool String(const char* text, unsigned size, bool) {
    Add(NodeKind::kString)->text = {text, size};
    return true;
  }
  bool Key(const char* text, unsigned size, bool) {
    name_ = {text, size};
    return true;
  }
  bool StartObject() { return Open(NodeKind::kObject); }
  bool EndObject(unsigned) { return Close(); }
  bool StartArray() { return Open(NodeKind::kArray); }
  bool EndArray(unsigned) { return Close(); }

 private:
  Node* Add(NodeKind kind) {
    Node* node = nodes_.New(kind);
    node->name = name_;
    name_ = {};
    if (open_.empty()) {
      root_ = node;
    } else {
      open_.back()->Add(node);
    }
    return node;
  }
  bool Open(NodeKind kind) {
    open_.push_back(Add(kind));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  Nodes& nodes_;
  const Node* root_ = nullptr;
  std::vector<Node*> open_;
  std::string_view name_;
};

}  // namespace

const Node* JsonText::Parse(std::string_view text) {
  using rapidjson::kParseInsituFlag;
  using rapidjson::kParseIterativeFlag;
  using rapidjson::kParseValidateEncodingFlag;
  buffer_.assign(text);
  buffer_.append(kPadding, '\0');
  nodes_.Clear();
  rapidjson::Reader reader;
  rapidjson::InsituStringStream stream(buffer_.data());
  Builder builder(nodes_);
  if (!IsAscii(text)) {
    reader.Parse<kParseInsituFlag | kParseIterativeFlag | kParseValidateEncodingFlag>(stream,
                                                                                      builder);
  } else if (text.size() > kShort) {
    reader.Parse<kParseInsituFlag | kParseIterativeFlag>(stream, builder);
  } else {
    reader.Parse<kParseInsituFlag>(stream, builder);
  }
  // A zero ends the text for RapidJSON.
  const size_t zero = text.find('\0');
  if (!reader.HasParseError() && zero == std::string_view::npos) return builder.root();
  error_at_ = reader.HasParseError() ? std::min(reader.GetErrorOffset(), text.size()) : zero;
  error_ = reader.HasParseError() ? rapidjson::GetParseError_En(reader.GetParseErrorCode())
                                  : "A zero byte.";
  is_cut_ = reader.HasParseError() && error_at_ >= text.size();
  return nullptr;
}

}  // namespace whorl::check
