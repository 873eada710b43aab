// One table gives an enumeration its words. Reports, scenarios and messages all read them from
// there, so an enumerator without a word has to be noticed when the program is compiled.
#include "protocol/spanner/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace whorl::words_test {

enum class Colour : uint8_t { kRed, kGreen, kBlue2 };
constexpr auto WordTableOf(Colour) {
  return MakeWordTable<Colour>({
      {Colour::kRed, "red"},
      {Colour::kGreen, "green"},
      {Colour::kBlue2, "blue"},
  });
}

enum class Wordless { kOne, kTwo };
struct Holder {
  enum class Inner : uint8_t { kOnly };
};

template <typename Enum>
concept ThreeEntriesCompile =
    requires { MakeWordTable<Enum>({{Enum{0}, "a"}, {Enum{1}, "b"}, {Enum{2}, "c"}}); };
template <typename Enum>
concept TwoEntriesCompile = requires { MakeWordTable<Enum>({{Enum{0}, "a"}, {Enum{1}, "b"}}); };

namespace {

using testing::ElementsAre;

enum class Hidden : uint8_t { kA, kB };

TEST(WordTable, GivesTheWordOfAnEnumeratorAndTheEnumeratorOfAWord) {
  static_assert(WordOf(Colour::kBlue2) == "blue");
  EXPECT_EQ(ParseWord<Colour>("green"), Colour::kGreen);
  EXPECT_EQ(ParseWord<Colour>("mauve"), std::nullopt);
  EXPECT_THAT(AllWords<Colour>(), ElementsAre("red", "green", "blue"));
  EXPECT_THAT(AllOf<Colour>(), ElementsAre(Colour::kRed, Colour::kGreen, Colour::kBlue2));
}

TEST(WordTable, CountsEnumeratorsWhereverTheyAreDeclared) {
  // The count is what tells a missing entry from a whole table.
  static_assert(kCountOf<Colour> == 3);
  static_assert(kCountOf<Wordless> == 2);
  static_assert(kCountOf<Holder::Inner> == 1);
  static_assert(kCountOf<Hidden> == 2);
}

TEST(WordTable, DoesNotCompileWithoutAnEntryForEachEnumerator) {
  // A new enumerator would otherwise be printed as whatever lies behind the table.
  static_assert(ThreeEntriesCompile<Colour>);
  static_assert(!TwoEntriesCompile<Colour>);
  static_assert(TwoEntriesCompile<Wordless>);
  static_assert(!ThreeEntriesCompile<Wordless>);
}

TEST(WordTable, LeavesEnumerationsWithoutWordsAlone) {
  // They are printed by their number.
  static_assert(HasWords<Colour>);
  static_assert(!HasWords<Wordless>);
  static_assert(!HasWords<int>);
}

TEST(WordTable, HoldsTextsThatMayBeEmptyOrTheSame) {
  constexpr auto kTexts = MakeTextTable<Colour>({
      {Colour::kRed, ""},
      {Colour::kGreen, "calm"},
      {Colour::kBlue2, "calm"},
  });
  EXPECT_EQ(kTexts[Colour::kRed], "");
  EXPECT_EQ(kTexts[Colour::kBlue2], "calm");
}

}  // namespace
}  // namespace whorl::words_test
