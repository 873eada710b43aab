// Tells which call a thread works on, for the last line of a process that dies of it.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace whorl::server {

class CurrentCall {
 public:
  // Texts that do not fit lose their ends.
  CurrentCall(std::string_view method, std::string_view session) {
    char* at = std::copy_n(method.begin(), std::min(method.size(), kMax / 2), text_.begin());
    if (!session.empty()) {
      for (const char c : std::string_view(" of session ")) *at++ = c;
      const auto left = static_cast<size_t>(text_.end() - at) - 1;
      at = std::copy_n(session.begin(), std::min(session.size(), left), at);
    }
    *at = '\0';
  }
  ~CurrentCall() { text_[0] = '\0'; }
  CurrentCall(const CurrentCall&) = delete;
  CurrentCall& operator=(const CurrentCall&) = delete;

  // Of this thread; empty if it works on none. A signal handler may ask.
  static std::string_view Text() { return text_.data(); }

 private:
  static constexpr size_t kMax = 400;
  static inline thread_local std::array<char, kMax> text_{};
};

}  // namespace whorl::server
