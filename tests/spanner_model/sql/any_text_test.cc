// Passes seeded mutations of valid statements to the function that the fuzz target calls.
#include "tests/spanner_model/sql/any_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/split_mix.h"

namespace whorl::model::any_text_test {
namespace {

constexpr auto kStatements = std::to_array<std::string_view>({
    "SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), heartbeat, MILLISECOND) AS diff, token "
    "FROM locktable WHERE name = @name",
    "SELECT token, writer FROM locktable WHERE name = @name",
    "SELECT *, -lease_ms * 2 + 0x1F, 'it\\'s' FROM locktable;",
    "INSERT locktable (name, heartbeat, token, writer) "
    "VALUES (@name, PENDING_COMMIT_TIMESTAMP(), PENDING_COMMIT_TIMESTAMP(), @id)",
    "INSERT INTO locktable (name) VALUES (@name), ('\\u00e9\\n'), (\"b\")",
    "UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP(), token = @token, "
    "writer = @id WHERE name = @name",
    "UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP(), writer = NULL, attempt = NULL "
    "WHERE name = @name AND token = @token AND attempt = @attempt",
    "DELETE FROM locktable WHERE STARTS_WITH(name, @prefix) -- clean up",
    "UPDATE LeaderElection SET service_id = @me, last_seen_active = CURRENT_TIMESTAMP() "
    "WHERE anchor = 1 AND ((service_id != @me AND last_seen_active < "
    "TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @timeout SECOND)) OR service_id = @me)",
    "SELECT service_id FROM `LeaderElection` WHERE anchor = 1 AND last_seen_active >= "
    "TIMESTAMP_ADD(TIMESTAMP '2026-01-01 00:00:00.5+01:30', INTERVAL -@timeout DAY)",
    "DELETE LeaderElection WHERE NOT (anchor <= 1.5e3 OR service_id IS NOT NULL) /* all */ "
    "AND @flag # or none",
    "SELECT COUNT(*) AS n, MAX(lease_ms) - MIN(lease_ms), SUM(lease_ms) FROM locktable "
    "WHERE name IN ('a', @name) LIMIT 1",
    "SELECT UPPER(name) || 'x', IF(@flag, COALESCE(lease_ms, 0), 1) AS z FROM locktable "
    "WHERE name LIKE 'a%' AND lease_ms BETWEEN 1 AND @timeout ORDER BY z DESC, 1 LIMIT 3 OFFSET 1",
    "SELECT CAST(token AS STRING), SAFE_CAST(attempt AS INT64), CAST(lease_ms AS FLOAT64) / 2 "
    "FROM locktable",
    "SELECT 1, SUBSTR(@name, 2, 3), b'\\xff' || @data, MOD(@timeout, 2), @ratio IS NULL LIMIT 1",
    "INSERT OR UPDATE locktable (name, lease_ms) VALUES (@name, DEFAULT) THEN RETURN *, 1 AS one",
    "INSERT OR IGNORE INTO locktable (name) VALUES ('a') THEN RETURN writer",
    "DELETE FROM locktable WHERE (NULLIF(writer, @id) = 'x') IS NOT TRUE THEN RETURN name",
    "SELECT name FROM locktable l WHERE writer IN (SELECT service_id FROM LeaderElection) AND "
    "EXISTS(SELECT 1 FROM LeaderElection e WHERE e.anchor = 1) OR name IN UNNEST(['a', @name])",
    "INSERT INTO locktable (name, lease_ms) SELECT service_id, anchor FROM LeaderElection WHERE "
    "anchor > (SELECT ARRAY_LENGTH(ARRAY<DATE>[DATE '2026-01-01']))",
    "SELECT table_name FROM information_schema.tables WHERE NUMERIC '1.5' > 1 ORDER BY 1",
    "SELECT @ratio >= 1, STARTS_WITH(@data, @data), @seen = heartbeat FROM locktable WHERE TRUE",
});

// Fragments that mutations insert: valid SQL, so that many mutants still compile. A tilde is a
// space.
std::vector<std::string> Fragments() {
  std::istringstream words(R"(( ) , ' " ` @name @timeout @token ~NULL~ ~NOT~ ~AND~ ~OR~ = < >= + - *
      1 9223372036854775807 0x .5 1e9 'a' name heartbeat lease_ms TRUE ~IS~NULL ~ -~ TRUE~AND~ NOT~
      TIMESTAMP~'2026-01-01' / || ~IN~(1) ~BETWEEN~1~AND~2 ~LIKE~'_%' ~ORDER~BY~1 ~LIMIT~1
      ~THEN~RETURN~* COUNT(*) CAST(1~AS~STRING) IF(TRUE,~1,~2) LENGTH( b'\xff' \ /* */ -- # ;
      CURRENT_TIMESTAMP INTERVAL~1~DAY (SELECT~1) ~IN~(SELECT~name~FROM~locktable) EXISTS(SELECT~1)
      ~IN~UNNEST([1]) [ ] DATE~'2026-01-01' NUMERIC~'1.5'
      TIMESTAMP_DIFF(token,~heartbeat,~NANOSECOND))");
  std::vector<std::string> all = {"\n", "\t", "\xff", "\xc3\xa9"};
  for (std::string word; words >> word; all.push_back(word)) std::ranges::replace(word, '~', ' ');
  return all;
}
const std::vector<std::string> kFragments = Fragments();

// Words that can replace each other, so that more mutants compile.
constexpr auto kKin = std::to_array<std::array<std::string_view, 4>>(
    {{" = ", " != ", " < ", " >= "},
     {" AND ", " OR ", " AND NOT ", " OR FALSE AND "},
     {"token", "heartbeat", "@token", "CURRENT_TIMESTAMP()"},
     {"@name", "@id", "@prefix", "NULL"},
     {"MILLISECOND", "NANOSECOND", "SECOND", "DAY"},
     {"1", "-9223372036854775808", "lease_ms + 1", "0x7F"},
     {"(", "((", " (", "( "},
     {"writer", "name", "attempt", "'x'"}});

// The word that begins at or after `at`, as a range; empty at the end.
std::pair<size_t, size_t> WordAt(const std::string& text, size_t at) {
  const size_t begin = std::min(text.find_first_not_of(" (),;", at), text.size());
  const size_t end = std::min(text.find_first_of(" (),;", begin), text.size());
  return {begin, end - begin};
}

// Replaces a word by another of its group, if the text has one.
void SwapKin(SplitMix& generator, std::string& text) {
  const auto& kin = kKin[generator.Below(kKin.size())];
  const std::string_view word = kin[generator.Below(kin.size())];
  const size_t at = text.find(word, generator.Below(text.size() + 1));
  if (at != std::string::npos) text.replace(at, word.size(), kin[generator.Below(kin.size())]);
}

void Mutate(SplitMix& generator, std::string& text) {
  if (generator.Below(2) == 0) return SwapKin(generator, text);
  const size_t at = generator.Below(text.size() + 1);
  const std::string& fragment = kFragments[generator.Below(kFragments.size())];
  const auto [word, length] = WordAt(text, at);
  switch (generator.Below(6)) {
    case 0:
      text.erase(at, generator.Below(8));
      break;
    case 1:
      text.insert(at, fragment);
      break;
    case 2:
      text.insert(word, fragment);
      break;
    case 3:
      text.replace(word, length, fragment);
      break;
    case 4:
      text.insert(at, 1, static_cast<char>(generator.Below(256)));
      break;
    default: {
      const std::string_view other = kStatements[generator.Below(kStatements.size())];
      const size_t from = generator.Below(other.size());
      text.insert(word, other.substr(from, generator.Below(40)));
    }
  }
}

TEST(SqlAnyText, TheStatementsThemselvesCompile) {
  // Mutants of statements that do not compile would test only the start of the parser.
  for (const std::string_view statement : kStatements) {
    EXPECT_EQ(CompileAndEvaluate(statement), Compilation::kCompiled) << statement;
  }
}

TEST(SqlAnyText, MutantsAreRefusedOrEvaluate) {
  // A client may send anything; the model must answer, and never stop or read out of bounds.
  int compiled = 0;
  for (uint64_t seed = 0; seed < 6'000; ++seed) {
    SplitMix generator(seed);
    std::string text(kStatements[generator.Below(kStatements.size())]);
    for (size_t mutations = 1 + generator.Below(2); mutations > 0; --mutations) {
      Mutate(generator, text);
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    if (CompileAndEvaluate(text) == Compilation::kCompiled) ++compiled;
  }
  // Not vacuous: some mutants are evaluated, and most are refused.
  EXPECT_GT(compiled, 300);
  EXPECT_LT(compiled, 5'000);
  RecordProperty("compiled", compiled);
}

}  // namespace
}  // namespace whorl::model::any_text_test
