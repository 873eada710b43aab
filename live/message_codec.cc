#include "live/message_codec.h"

#include <mutex>
#include <set>

namespace whorl::live {

const char* InternedWord(const std::string& word) {
  // Never destroyed: names that borrow from it may outlive main.
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& words = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return words.insert(word).first->c_str();
}

}  // namespace whorl::live
