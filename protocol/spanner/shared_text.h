// Holds a text that never changes and that its copies share: for texts that are empty most of the
// time, or that are handed on unread, such as a transaction's id. Moving one moves two words;
// copying an empty one costs no more.
#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace whorl {

class SharedText {
 public:
  SharedText() = default;
  // Not explicit, so that callers can pass any kind of text.
  SharedText(std::string text)  // NOLINT(google-explicit-constructor)
      : held_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}
  SharedText(std::string_view text)  // NOLINT(google-explicit-constructor)
      : SharedText(std::string(text)) {}
  SharedText(const char* text)  // NOLINT(google-explicit-constructor)
      : SharedText(std::string(text)) {}

  bool empty() const { return held_ == nullptr; }
  size_t size() const { return view().size(); }
  std::string_view view() const { return held_ == nullptr ? std::string_view() : *held_; }
  operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor)
  std::string str() const { return std::string(view()); }
  void clear() { held_.reset(); }

  friend bool operator==(const SharedText& a, const SharedText& b) {
    return a.held_ == b.held_ || a.view() == b.view();
  }
  friend bool operator==(const SharedText& a, std::string_view b) { return a.view() == b; }
  friend bool operator==(const SharedText& a, const char* b) { return a.view() == b; }
  friend bool operator==(const SharedText& a, const std::string& b) { return a.view() == b; }
  friend std::strong_ordering operator<=>(const SharedText& a, const SharedText& b) {
    return a.view() <=> b.view();
  }
  friend std::string operator+(std::string a, const SharedText& b) { return a.append(b.view()); }
  friend std::string operator+(const SharedText& a, std::string_view b) {
    return a.str().append(b);
  }
  friend std::ostream& operator<<(std::ostream& out, const SharedText& text) {
    return out << text.view();
  }

 private:
  std::shared_ptr<const std::string> held_;  // null for an empty text
};

}  // namespace whorl
