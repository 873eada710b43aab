// JSON by RapidJSON, which says where a text is broken and is headers only, so that it costs a start of
// the command nothing. All of check/ includes it from here: it is set up by macros.
//
// Invariants:
//   1. What Parse() returns is valid UTF-8, however deeply nested.
//   2. Memory is that of the longest text so far.
#pragma once

#ifndef RAPIDJSON_SSE2
#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#endif
#include <rapidjson/document.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace whorl::check {

using Node = rapidjson::Value;

inline std::string_view TextOf(const Node& string) {
  return {string.GetString(), string.GetStringLength()};
}

// The first member that is there and not null, by any of its spellings; null if none is.
// REQUIRES: an object.
const Node* Find(const Node& object, std::initializer_list<std::string_view> names);
inline const Node* Find(const Node& object, std::string_view name) { return Find(object, {name}); }

class JsonText {
 public:
  // The value, or null. It lives until the next call; its strings are those of this object.
  const Node* Parse(std::string_view text);

  // Of the text that was refused.
  const std::string& error() const { return error_; }
  size_t error_at() const { return error_at_; }  // in bytes, from 0
  // Whether more of it might have made it a value.
  bool is_cut() const { return is_cut_; }

  // Null, for readers of other texts, who build a value themselves. It lives until the next call.
  rapidjson::Document& Fresh();

 private:
  std::string buffer_;
  std::vector<char> pool_ = std::vector<char>(kPool);
  rapidjson::MemoryPoolAllocator<> allocator_{pool_.data(), pool_.size()};
  rapidjson::Document document_{&allocator_};
  std::string error_;
  size_t error_at_ = 0;
  bool is_cut_ = false;

  static constexpr size_t kPool = size_t{64} << 10U;
};

}  // namespace whorl::check
