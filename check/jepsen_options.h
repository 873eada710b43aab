// Says how Jepsen's histories of locks are read.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/words.h"

namespace whorl::check {

// What an :f means.
enum class Verb : uint8_t { kAcquire, kRelease, kRenew, kIgnore };
constexpr auto WordTableOf(Verb) {
  return MakeWordTable<Verb>({
      {Verb::kAcquire, "acquire"},
      {Verb::kRelease, "release"},
      {Verb::kRenew, "renew"},
      {Verb::kIgnore, "ignore"},
  });
}

// What a :value is that may be several things: one that an acquire got, and that its invocation did not have.
enum class Meaning : uint8_t { kNotKnown, kLock, kToken, kNothing };
constexpr auto WordTableOf(Meaning) {
  return MakeWordTable<Meaning>({
      {Meaning::kNotKnown, "unknown"},
      {Meaning::kLock, "lock"},
      {Meaning::kToken, "token"},
      {Meaning::kNothing, "nothing"},
  });
}

class Verbs {
 public:
  // "acquire=try-lock,lock release=unlock", or a line for each of them: in the place of the verb's usual words.
  // Returns what is wrong.
  std::string Parse(std::string_view text);
  std::optional<Verb> Find(std::string_view f) const;

 private:
  std::map<std::string, Verb, std::less<>> words_ = {{"acquire", Verb::kAcquire},
                                                     {"lock", Verb::kAcquire},
                                                     {"release", Verb::kRelease},
                                                     {"unlock", Verb::kRelease},
                                                     {"renew", Verb::kRenew}};
};

struct JepsenOptions {
  Verbs verbs;
  Meaning value = Meaning::kNotKnown;
  std::optional<Duration> lease;  // for how long a lock is had that is not renewed
  // When the test of each file began; of the file with an empty name: of all others.
  std::map<std::string, Timestamp, std::less<>> began;
};

// What was taken for granted, by all files.
struct JepsenCounts {
  int64_t operations = 0;
  int64_t releases_failed = 0;    // and the process still has the lock
  int64_t releases_not_held = 0;  // since it had it no longer, as the answer said
  int64_t releases_unknown = 0;
  int64_t acquires_refused = 0;  // :ok, with a value that refuses
  int64_t acquires_again = 0;    // by the process that had it

  // For people.
  std::vector<std::string> Assumptions(bool has_lease) const;
};

}  // namespace whorl::check
