// Whether two servers answered the same.
//
// Compared: status codes, also of a batch's statement; column names and types; rows, in their order
// where the call asks for one; counts of changed rows; which commit a timestamp is of, and the
// order of commit and read timestamps; whether a transaction began. Texts of errors are not: they
// are no API.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "tests/differential/player.h"
#include "tests/differential/sequence.h"

namespace whorl::differential {

// What differs; empty when nothing does.
std::string FindDifference(const Operation& operation, const std::optional<Answer>& model,
                           const std::optional<Answer>& emulator);

// What the two know after a difference: the same, or not, so that the sequence ends there.
enum class Afterwards : uint8_t { kTheSame, kNotTheSame };
// Whether the answers differ, or only those to what follows.
enum class Shows : uint8_t { kNow, kLater };

// A difference that is known and right, by its name in spanner_model/README.md. It is either met
// by nothing that the generator draws (`explains` is null), or explained where it is met.
struct KnownDifference {
  const char* name;
  const char* reason;
  bool (*explains)(const Operation& operation, const Answer& model,
                   const Answer& emulator) = nullptr;
  Afterwards afterwards = Afterwards::kTheSame;
  Shows shows = Shows::kNow;
};
// Null when there is none. Where the answers are the same (`shows` is kLater), one that shows
// later.
const KnownDifference* Explain(const Operation& operation, const std::optional<Answer>& model,
                               const std::optional<Answer>& emulator, Shows shows);
std::string DescribeKnownDifferences();

// What has been met, so that one can see that it is not nothing.
class Tally {
 public:
  // One that was compared to its end, and how many of its statements were made.
  void AddSequence(int most_open, int operations, int statements);
  // One of which too much named what was not begun.
  void AddTooShort() { ++too_short_; }
  void AddAnswer(const Operation& operation, const std::optional<Answer>& emulator);
  void AddKnown(const KnownDifference& known) {
    ++known_[known.name];
    if (known.afterwards == Afterwards::kNotTheSame) ++cut_short_[known.name];
  }

  int sequences() const { return sequences_; }
  // Of a hundred sequences, those in which two transactions or more were open at a time.
  double percent_interleaved() const { return 100.0 * interleaved_ / std::max(sequences_, 1); }
  std::string Describe() const;

 private:
  int sequences_ = 0;
  int interleaved_ = 0;
  int operations_ = 0;
  int statements_ = 0;
  int fewest_statements_ = std::numeric_limits<int>::max();  // of a sequence
  int too_short_ = 0;                                        // sequences
  int left_out_ = 0;
  // Sequences, by a difference after which the two do not know the same.
  std::map<std::string, int> cut_short_;
  std::array<std::map<grpc::StatusCode, int>, kOperationKinds> answers_;
  std::map<std::string, int> known_;
  std::string deaths_;
  int rows_ = 0;
  int statements_failed_in_batches_ = 0;
};

}  // namespace whorl::differential
