#include "check/json_text.h"

#include <rapidjson/error/en.h>

#include <algorithm>

namespace whorl::check {
namespace {

// What RapidJSON's vector instructions may read beyond the end.
constexpr size_t kPadding = 32;
// The recursive parser is faster; deeper texts than it can be given are longer than this.
constexpr size_t kShort = 2'048;

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

const Node* Find(const Node& object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (auto member = object.MemberBegin(); member != object.MemberEnd(); ++member) {
      if (TextOf(member->name) == name && !member->value.IsNull()) return &member->value;
    }
  }
  return nullptr;
}

rapidjson::Document& JsonText::Fresh() {
  document_.SetNull();
  allocator_.Clear();
  return document_;
}

const Node* JsonText::Parse(std::string_view text) {
  using rapidjson::kParseInsituFlag;
  using rapidjson::kParseIterativeFlag;
  using rapidjson::kParseValidateEncodingFlag;
  buffer_.assign(text);
  buffer_.append(kPadding, '\0');
  rapidjson::Document& document = Fresh();
  if (!IsAscii(text)) {
    document.ParseInsitu<kParseInsituFlag | kParseIterativeFlag | kParseValidateEncodingFlag>(
        buffer_.data());
  } else if (text.size() > kShort) {
    document.ParseInsitu<kParseInsituFlag | kParseIterativeFlag>(buffer_.data());
  } else {
    document.ParseInsitu(buffer_.data());
  }
  // A zero ends the text for RapidJSON.
  const size_t zero = text.find('\0');
  if (!document.HasParseError() && zero == std::string_view::npos) return &document;
  error_at_ = document.HasParseError() ? std::min(document.GetErrorOffset(), text.size()) : zero;
  error_ = document.HasParseError() ? rapidjson::GetParseError_En(document.GetParseError())
                                    : "A zero byte.";
  is_cut_ = document.HasParseError() && error_at_ >= text.size();
  return nullptr;
}

}  // namespace whorl::check
