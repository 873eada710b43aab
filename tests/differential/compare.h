// Compares the answers of two servers.
//
// Compared are status codes, also that of a batch's statement; column names and types; rows, in
// order if the call requests one; counts of changed rows; the commit to which a timestamp belongs,
// and the order of commit and read timestamps; whether a transaction began. Error texts are not
// compared: they are no API.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tests/differential/player.h"
#include "tests/differential/sequence.h"

namespace whorl::differential {

// Describes the difference; empty if there is none.
std::string FindDifference(const Operation& operation, const std::optional<Answer>& model,
                           const std::optional<Answer>& emulator);

// Whether the servers have the same state after a difference; if not, the sequence ends there.
// kTransactionLeft: except a transaction that no client can end, since none was told its id; the
// next begin on its session ends it.
enum class Afterwards : uint8_t { kTheSame, kTransactionLeft, kNotTheSame };
// Whether the answers themselves differ, or only later ones.
enum class Shows : uint8_t { kNow, kLater };

// A known and intended difference, by its name in spanner_model/README.md. Either the generator
// draws no operation that shows it (`explains` is null), or `explains` recognises it.
struct KnownDifference {
  const char* name;
  const char* reason;
  bool (*explains)(const Operation& operation, const Answer& model,
                   const Answer& emulator) = nullptr;
  Afterwards afterwards = Afterwards::kTheSame;
  Shows shows = Shows::kNow;
};
// The known difference that explains these answers, or null. If the answers are equal (`shows` is
// kLater), one that later answers will show.
const KnownDifference* Explain(const Operation& operation, const std::optional<Answer>& model,
                               const std::optional<Answer>& emulator, Shows shows);
std::set<std::string> NamesOfKnownDifferences();
std::string DescribeKnownDifferences();

// Counts what the sequences contained, to show that the test is not vacuous.
class Tally {
 public:
  // Adds a sequence that was compared to its end; `statements` were executed.
  void AddSequence(int most_open, int operations, int statements);
  // Adds a sequence too many of whose operations named transactions that were not begun.
  void AddTooShort() { ++too_short_; }
  void AddAnswer(const Operation& operation, const std::optional<Answer>& emulator);
  void AddKnown(const KnownDifference& known) {
    ++known_[known.name];
    if (known.afterwards == Afterwards::kNotTheSame) ++cut_short_[known.name];
  }

  int sequences() const { return sequences_; }
  // The percentage of sequences with two transactions or more open at a time.
  double percent_interleaved() const { return 100.0 * interleaved_ / std::max(sequences_, 1); }
  // The percentage of sequences that were compared to their end.
  double percent_whole() const;
  std::string Describe() const;

 private:
  int sequences_ = 0;
  int interleaved_ = 0;
  int operations_ = 0;
  int statements_ = 0;
  int fewest_statements_ = std::numeric_limits<int>::max();  // in any sequence
  int too_short_ = 0;                                        // number of sequences
  int left_out_ = 0;
  // The number of sequences that each difference ended.
  std::map<std::string, int> cut_short_;
  std::array<std::map<grpc::StatusCode, int>, kOperationKinds> answers_;
  std::map<std::string, int> known_;
  std::string deaths_;
  int rows_ = 0;
  int statements_failed_in_batches_ = 0;
};

}  // namespace whorl::differential
