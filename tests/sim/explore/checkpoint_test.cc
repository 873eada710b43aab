// A search that is interrupted and goes on ends as one that was not: hours of work depend on it, and
// a result that differed would be believed. The thread sanitizer runs these tests too.

#include "sim/explore/engine/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "sim/explore/engine/search.h"
#include "tests/sim/explore/any_checkpoint.h"
#include "tests/sim/explore/random_graph.h"
#include "tests/sim/explore/toy_lease.h"

namespace whorl::explore::checkpoint_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

const Settings kSettings = {{"--seed", "7"}, {"empty", ""}};

Checkpoint Read(const std::string& bytes) {
  std::istringstream in(bytes);
  CheckpointReader reader(in);
  EXPECT_EQ(reader.ReadSettings(), kSettings);
  return reader.ReadSearch();
}

// Saves into `bytes`, and stops after `rounds` rounds; never if that is empty.
SearchOptions Stopping(SearchOptions options, std::optional<int> rounds, std::string& bytes) {
  options.progress = [rounds](const Progress& progress) mutable {
    if (progress.is_restoring || !rounds) return Continue::kYes;
    return (*rounds)-- <= 0 ? Continue::kNo : Continue::kYes;
  };
  options.save = [&bytes](const SearchRecord& record, const WaitingLinks& waiting) {
    std::ostringstream out;
    WriteCheckpoint(kSettings, record, waiting, {}, out);
    bytes = out.str();
  };
  return options;
}

struct Resumed {
  int times = 0;
  std::string bytes;  // of the last checkpoint
};

// Explores with a stop after every `rounds` rounds, each time from the bytes on and with the next
// number of threads.
template <typename M>
SearchResult<typename M::Choice> ExploreInPieces(const M& model, SearchOptions options, int rounds,
                                                 Resumed& resumed) {
  std::optional<Checkpoint> from;
  while (true) {
    options.jobs = 1 + resumed.times % 2;
    const auto result = Explore(model, Stopping(options, rounds, resumed.bytes), std::move(from));
    if (result.ending != Ending::kStopped) return result;
    from = Read(resumed.bytes);
    ++resumed.times;
  }
}

template <typename Choice>
void ExpectSame(const SearchResult<Choice>& one, const SearchResult<Choice>& other) {
  EXPECT_EQ(one.ending, other.ending);
  EXPECT_EQ(one.states, other.states);
  EXPECT_EQ(one.transitions, other.transitions);
  EXPECT_EQ(one.frontier, other.frontier);
  EXPECT_EQ(one.explored_faults, other.explored_faults);
  EXPECT_EQ(one.explored_steps, other.explored_steps);
  EXPECT_EQ(one.levels, other.levels);
  EXPECT_EQ(one.violating, other.violating);
  EXPECT_TRUE(one.violations == other.violations) << "other paths, or another order";
}

TEST(CheckpointTest, ASearchInPiecesIsOneThatWasNeverInterrupted) {
  int times = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph graph(seed, 20 + seed * 5, 1 + seed % 3);
    for (const SearchOptions& options :
         {SearchOptions{.round = 3}, SearchOptions{.max_faults = 1, .round = 20},
          SearchOptions{.each_kind = true, .round = 1},
          SearchOptions{.stop_at_violation = true, .round = 2}}) {
      Resumed resumed;
      ExpectSame(ExploreInPieces(graph, options, static_cast<int>(seed % 3), resumed),
                 Explore(graph, options));
      times += resumed.times;
    }
  }
  EXPECT_GT(times, 1'000);
}

TEST(CheckpointTest, LargeLevelsAreGoneOnWith) {
  const ToyLease model(5, 3);
  Resumed resumed;
  const auto result = ExploreInPieces(model, {.round = 700}, 2, resumed);
  EXPECT_GE(resumed.times, 10);
  ExpectSame(result, Explore(model));
}

// What a machine has no memory for, another one has.
TEST(CheckpointTest, ASearchThatRanOutOfMemoryGoesOnWithMore) {
  const RandomGraph graph(8, 3000, 3);
  std::string bytes;
  SearchOptions options = Stopping({.round = 10}, {}, bytes);
  options.max_bytes = 100'000;
  EXPECT_EQ(Explore(graph, options).ending, Ending::kMemory);
  EXPECT_EQ(Explore(graph, options, Read(bytes)).ending, Ending::kMemory);
  options.max_bytes = 10'000'000;
  ExpectSame(Explore(graph, options, Read(bytes)), Explore(graph));
}

// Or --memory would end it at once, or never.
TEST(CheckpointTest, MemoryIsCountedAsBefore) {
  const RandomGraph graph(8, 3000, 3);
  std::string bytes;
  const auto half = Explore(graph, Stopping({.round = 10}, 100, bytes));
  ASSERT_GT(half.frontier, 100U);
  size_t last = 0;
  SearchOptions options = {.round = 10};
  options.progress = [&last](const Progress& progress) {
    last = progress.bytes;
    return Continue::kYes;
  };
  Explore(graph, options, Read(bytes));
  const size_t resumed = last;
  Explore(graph, options);
  EXPECT_NEAR(static_cast<double>(resumed), static_cast<double>(last), 100);
}

// It can be looked at again without the hours that it took.
TEST(CheckpointTest, ACompleteSearchIsToldAgain) {
  const RandomGraph graph(8, 2000, 3);
  std::string bytes;
  const auto result = Explore(graph, Stopping({}, {}, bytes));
  SearchOptions options;
  options.progress = [](const Progress&) {
    ADD_FAILURE() << "searches";
    return Continue::kYes;
  };
  ExpectSame(Explore(graph, options, Read(bytes)), result);
}

// States are made again in the same time as the rest, so this may be interrupted, too. The checkpoint
// stays as it was.
TEST(CheckpointTest, StatesThatAreMadeAgainCanBeInterrupted) {
  const ToyLease model(5, 3);
  std::string bytes;
  Explore(model, Stopping({.round = 100}, 60, bytes));
  Checkpoint saved = Read(bytes);
  const uint64_t states = saved.record.log.size() + saved.waiting.found.size();
  bytes.clear();
  uint64_t made = 0;
  SearchOptions options = Stopping({}, {}, bytes);
  options.progress = [&made](const Progress& progress) {
    EXPECT_TRUE(progress.is_restoring);
    EXPECT_GT(progress.made, made);
    EXPECT_LE(progress.made, progress.frontier);
    made = progress.made;
    return made < 1000 ? Continue::kYes : Continue::kNo;
  };
  const auto result = Explore(model, options, std::move(saved));
  EXPECT_EQ(result.ending, Ending::kStopped);
  EXPECT_EQ(result.states, states);
  EXPECT_GT(made, 0U);
  EXPECT_TRUE(bytes.empty()) << "saved what is not whole";
}

// What reading these bytes says.
std::string ErrorOf(const std::string& bytes) {
  try {
    std::istringstream in(bytes);
    CheckpointReader reader(in);
    reader.ReadSettings();
    reader.ReadSearch();
  } catch (const BadCheckpoint& error) {
    return error.what();
  }
  return "";
}

void ExpectDamageIsLocated(const std::string& whole) {
  ASSERT_EQ(ErrorOf(whole), "");
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_THAT(ErrorOf(whole.substr(0, i)),
                AllOf(StartsWith("byte "), AnyOf(HasSubstr("cut off"), HasSubstr("no checkpoint"))))
        << i;
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    EXPECT_THAT(ErrorOf(damaged), StartsWith("byte ")) << i;
  }
  EXPECT_THAT(ErrorOf(whole + "x"), HasSubstr("something follows the end"));
}

TEST(CheckpointTest, DamageIsNoticedAndLocated) {
  ExpectDamageIsLocated(WholeCheckpoint(kSettings));
  ExpectDamageIsLocated(WholeLassoCheckpoint());
}

TEST(CheckpointTest, OneOfAnotherVersionIsRefused) {
  std::string other = WholeCheckpoint(kSettings);
  other.replace(other.find(" 2\n"), 3, " 1\n");
  EXPECT_EQ(ErrorOf(other), "byte 0: a checkpoint of version 1, and this program reads version 2");
}

// The toy lease, but that its states are others.
class Rekeyed : public ToyLease {
 public:
  using ToyLease::ToyLease;
  static Key128 Fingerprint(const State& state) { return Extend(ToyLease::Fingerprint(state), 1); }
};

TEST(CheckpointTest, AnotherModelIsRefused) {
  const std::string bytes = WholeCheckpoint(kSettings);
  EXPECT_THROW(Explore(RandomGraph(4, 300, 3), {}, Read(bytes)), BadCheckpoint);
  EXPECT_THROW(Explore(ToyLease(5, 3), {}, Read(bytes)), BadCheckpoint);
  std::string of_toy;
  Explore(ToyLease(5, 3), Stopping({.round = 100}, 20, of_toy));
  EXPECT_THROW(Explore(Rekeyed(5, 3), {}, Read(of_toy)), BadCheckpoint);
}

}  // namespace
}  // namespace whorl::explore::checkpoint_test
