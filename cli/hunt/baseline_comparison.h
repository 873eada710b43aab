// Compares how the same worlds went before and now: which figures moved beyond chance, in which direction, and
// which run shows it. Prints that as text and as JSON lines:
//   {"format":"whorl-moved","version":1,"whorl":"...","line":"protocol","protocol":"spindle_v3",...}
//   {"format":"whorl-moved","version":1,"whorl":"...","line":"moved","protocol":"spindle_v3",...}   for each
//   {"format":"whorl-moved","version":1,"whorl":"...","line":"end",...}
//
// Definitions:
//   1. Where all worlds of a protocol are the same, its runs are compared in pairs. In how many runs a figure's
//      level rose and in how many it fell is judged by the sign test; the rest says nothing. A change that merely
//      draws other chance lets as many rise as fall.
//   2. Where worlds differ, the levels of all runs are split as evenly as one level can split them, and the
//      shares above it are judged by Fisher's test.
//   3. A figure moved beyond chance if its test says so among all tests of the comparison (Holm), of which a
//      change that moves nothing lets any say so once in kOneFalseAlarmIn comparisons at most.
// Invariant: the same records give the same bytes with every compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/hunt/baseline.h"

namespace whorl::cli {

inline constexpr int kMovedFormat = 1;
inline constexpr int kOneFalseAlarmIn = 1'000;

enum class Move : uint8_t { kMore, kLess };
constexpr auto WordTableOf(Move) {
  return MakeWordTable<Move>({{Move::kMore, "more"}, {Move::kLess, "less"}});
}

struct FigureTotals {
  int64_t runs = 0;  // in which it is not 0
  int64_t sum = 0;
};

struct FigureMove {
  sim::FigureName name;
  FigureTotals before;
  FigureTotals now;
  // In pairs: runs whose level rose, or fell. Otherwise: runs now, or before, above the level that splits them.
  int64_t rose = 0;
  int64_t fell = 0;
  Move move = Move::kMore;
  double probability = 1;  // by chance
  bool is_beyond_chance = false;
  std::optional<uint64_t>
      shown_by;  // the run in which it moved the most that way, and the first of these
};

struct ProtocolMoves {
  std::string protocol;
  size_t runs = 0;
  size_t other_worlds = 0;  // runs whose world is not the one that was recorded
  size_t differing = 0;     // runs that went otherwise
  std::vector<FigureMove>
      figures;  // of all that were compared; those beyond chance first, the worst ahead
  std::vector<uint64_t> unrepeatable;  // runs that came out otherwise the second time
  std::vector<uint64_t> broken;        // runs that break a promise now

  size_t MovedCount() const;
  // Whether all runs went as before.
  bool IsTheSame() const;
};

struct BaselineComparison {
  sim::HuntOptions hunt;
  uint64_t runs = 0;
  std::vector<ProtocolMoves> protocols;
  // What one of the two revisions counts and the other does not, so that it was not compared.
  std::vector<sim::FigureName> only_before;
  std::vector<sim::FigureName> only_now;

  size_t MovedCount() const;
  // Whether it decides the exit code: something moved, a promise is broken, or a run could not be repeated.
  bool HasFound() const;
};

// REQUIRES: both have the same hunt, and as many runs.
BaselineComparison CompareBaselines(const sim::Baseline& before, const sim::Baseline& now);

// What the two sides are called, and the command line that records the second one as the new baseline.
struct ComparisonWords {
  std::string before = "before";
  std::string now = "now";
  std::string command;  // how whorl was called, as words of a shell
  std::string accept;   // a command line; empty: none
};

void PrintMoves(const BaselineComparison& comparison, const ComparisonWords& words,
                std::ostream& out);
std::string MoveLines(const BaselineComparison& comparison, const ComparisonWords& words);

// The options of a hunt of these worlds, as words of a shell.
std::string HuntWords(const sim::HuntOptions& hunt);

}  // namespace whorl::cli
