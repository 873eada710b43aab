// Searches for a lasso that have to find the same.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "sim/explore/engine/bad_graph.h"
#include "sim/explore/engine/checkpoint.h"
#include "sim/explore/engine/lasso.h"

namespace whorl::explore {

template <typename Choice>
void ExpectSame(const LassoResult<Choice>& one, const LassoResult<Choice>& other) {
  EXPECT_EQ(one.search.ending, other.search.ending);
  EXPECT_EQ(one.search.states, other.search.states);
  EXPECT_EQ(one.search.transitions, other.search.transitions);
  EXPECT_EQ(one.bad_states, other.bad_states);
  EXPECT_EQ(one.bad_transitions, other.bad_transitions);
  ASSERT_EQ(one.lasso.has_value(), other.lasso.has_value());
  if (!one.lasso) return;
  EXPECT_EQ(one.lasso->faults, other.lasso->faults);
  EXPECT_TRUE(one.lasso->stem == other.lasso->stem);
  EXPECT_TRUE(one.lasso->loop == other.lasso->loop);
}

// Stops the search after every `rounds` rounds, and goes on from its checkpoint with the next number of threads,
// from one to `most_jobs`. search(options, save, from) makes the search; `times` counts how often it was stopped.
template <typename Search>
auto InPieces(const Search& search, int rounds, int most_jobs, size_t round, int& times) {
  std::string bytes;
  const auto save = [&bytes](const SearchRecord& record, const WaitingLinks& waiting,
                             const BadGraph& bad) {
    std::ostringstream out;
    WriteCheckpoint({}, record, waiting, bad, out);
    bytes = out.str();
  };
  for (std::optional<Checkpoint> from;; ++times) {
    int left = rounds;
    SearchOptions options = {.jobs = 1 + times % most_jobs, .round = round};
    options.progress = [&left](const Progress& progress) {
      return progress.is_restoring || left-- > 0 ? Continue::kYes : Continue::kNo;
    };
    auto result = search(options, save, std::move(from));
    if (result.search.ending != Ending::kStopped) return result;
    std::istringstream in(bytes);
    CheckpointReader reader(in);
    reader.ReadSettings();
    from = reader.ReadSearch();
  }
}

}  // namespace whorl::explore
