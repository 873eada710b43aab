// The search for versions of rows, on tables whose history the test has written.
#include "real_client/row_versions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace whorl::real_client::row_versions_test {
namespace {

Timestamp At(int64_t micros) { return Timestamp::FromUnixNanos(micros * 1'000); }

// By key, each commit in microseconds and what the row was from then on.
using History = std::map<std::string, std::map<int64_t, std::optional<Row>>>;

std::optional<Row> RowAt(const History& history, const std::string& key, Timestamp at) {
  const auto& versions = history.at(key);
  auto later = versions.upper_bound(at.UnixNanos() / 1'000);
  return later == versions.begin() ? std::nullopt : std::prev(later)->second;
}

struct Outcome {
  std::vector<RowVersions::Change> changes;
  std::vector<RowVersions::Unseen> unseen;
  int reads = 0;
  bool in_order = true;
};

// Answers reads in any order, and lets some of them break.
Outcome Search(const History& history, int64_t from, int64_t to, Duration step, uint64_t seed) {
  std::mt19937_64 draws(seed);
  RowVersions versions(/*key_column=*/0, At(from), At(to), step);
  std::vector<RowVersions::Read> open;
  Outcome outcome;
  while (!versions.IsDone()) {
    for (RowVersions::Read& read : versions.TakeReads(/*most=*/4)) open.push_back(std::move(read));
    EXPECT_LE(open.size(), 4U);
    if (open.empty()) break;
    const size_t place = draws() % open.size();
    const RowVersions::Read read = open[place];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(place));
    if (draws() % 8 == 0) {
      versions.Break(read.id);
      continue;
    }
    ++outcome.reads;
    std::vector<Row> rows;
    for (const auto& [key, of_key] : history) {
      if (read.key && *read.key != Value(key)) continue;
      if (auto row = RowAt(history, key, read.at)) rows.push_back(*std::move(row));
    }
    versions.Add(read.id, std::move(rows));
    RowVersions::Found found = versions.Take();
    for (RowVersions::Change& change : found.changes) {
      outcome.in_order = outcome.in_order && (outcome.changes.empty() ||
                                              outcome.changes.back().commit <= change.commit);
      EXPECT_LE(change.commit, versions.reached());
      outcome.changes.push_back(std::move(change));
    }
    for (RowVersions::Unseen& unseen : found.unseen) outcome.unseen.push_back(std::move(unseen));
  }
  EXPECT_TRUE(versions.IsDone());
  return outcome;
}

// Rows that are inserted, changed and deleted; with or without a column that says when.
History Draw(uint64_t seed, bool names_commit, bool deletes) {
  std::mt19937_64 draws(seed);
  History history;
  for (const char* key : {"a", "b", "c"}) {
    bool is_there = false;
    int64_t at = static_cast<int64_t>(draws() % 3'000);
    for (int64_t number = 0; at < 10'000; ++number) {
      const bool is_deleted = is_there && deletes && draws() % 3 == 0;
      std::optional<Row> row;
      if (!is_deleted) {
        row = Row{Value(std::string(key)), Value(number),
                  names_commit ? Value(At(at)) : Value(Null{})};
      }
      history[key][at] = row;
      is_there = !is_deleted;
      at += 1 + static_cast<int64_t>(draws() % (draws() % 2 == 0 ? 5 : 3'000));
    }
  }
  return history;
}

// The changes between the two times, as a search finds them if it finds all.
std::vector<RowVersions::Change> AllOf(const History& history, int64_t from, int64_t to) {
  std::vector<RowVersions::Change> all;
  for (const auto& [key, versions] : history) {
    for (const auto& [at, row] : versions) {
      if (at <= from || at > to) continue;
      all.push_back({.commit = At(at), .before = RowAt(history, key, At(at - 1)), .after = row});
    }
  }
  return all;
}

bool IsSame(const RowVersions::Change& a, const RowVersions::Change& b) {
  return a.commit == b.commit && a.before == b.before && a.after == b.after;
}

// What is not found lies where it is said that something may have been.
TEST(RowVersionsTest, EveryChangeIsFoundOrInTheUnseen) {
  constexpr int64_t kFrom = 1'000;
  constexpr int64_t kTo = 9'000;
  int missed = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const History history = Draw(seed, /*names_commit=*/seed % 2 == 0, /*deletes=*/seed % 4 < 2);
    const Outcome outcome =
        Search(history, kFrom, kTo, Microseconds(seed % 3 == 0 ? 100 : 2'500), seed);
    EXPECT_TRUE(outcome.in_order) << seed;
    const std::vector<RowVersions::Change> all = AllOf(history, kFrom, kTo);
    for (const RowVersions::Change& found : outcome.changes) {
      EXPECT_TRUE(std::ranges::any_of(all, [&](auto& x) { return IsSame(x, found); })) << seed;
    }
    for (const RowVersions::Change& change : all) {
      if (std::ranges::any_of(outcome.changes, [&](auto& x) { return IsSame(x, change); }))
        continue;
      ++missed;
      const Value key = (change.after ? *change.after : *change.before)[0];
      const bool is_told = std::ranges::any_of(outcome.unseen, [&](auto& unseen) {
        return unseen.key == key && unseen.from < change.commit && change.commit <= unseen.to;
      });
      const bool is_known = std::ranges::any_of(
          outcome.changes, [&](auto& x) { return (x.after ? *x.after : *x.before)[0] == key; });
      EXPECT_TRUE(is_told || !is_known) << seed;
    }
    if (seed % 4 >= 2) {
      EXPECT_EQ(outcome.changes.size(), all.size()) << seed;
    }
  }
  EXPECT_GT(missed, 0) << "otherwise nothing was tested";
}

// A heartbeat each second for five minutes: two reads for each.
TEST(RowVersionsTest, AColumnWithTheCommitTimestampSavesReads) {
  History history;
  for (int64_t at = 1; at <= 300; ++at) {
    history["a"][at * 1'000'000 + 17] = Row{Value("a"), Value(At(at * 1'000'000 + 17))};
  }
  const Outcome outcome = Search(history, 0, 400'000'000, Seconds(5), 1);
  EXPECT_EQ(outcome.changes.size(), 300U);
  EXPECT_LE(outcome.reads, 80 + 1 + 2 * 300);
  EXPECT_TRUE(outcome.unseen.empty() || outcome.unseen[0].from == At(0));
}

TEST(RowVersionsTest, WithoutOneTheTimeIsFoundByHalving) {
  const History history = {{"a",
                            {{123'456, Row{Value("a"), Value(int64_t{1})}},
                             {3'000'001, Row{Value("a"), Value(int64_t{2})}}}}};
  const Outcome outcome = Search(history, 0, 4'000'000, Seconds(1), 1);
  ASSERT_EQ(outcome.changes.size(), 2U);
  EXPECT_EQ(outcome.changes[0].commit, At(123'456));
  EXPECT_EQ(outcome.changes[1].commit, At(3'000'001));
  EXPECT_LE(outcome.reads, 5 + 2 * 20);
  ASSERT_EQ(outcome.unseen.size(), 1U);
  EXPECT_EQ(outcome.unseen[0].from, At(0));
  EXPECT_EQ(outcome.unseen[0].to, At(123'455));
}

}  // namespace
}  // namespace whorl::real_client::row_versions_test
