// The field visitor and the fingerprint. (That a forgotten field does not compile cannot be a test:
// the structured binding of WHORL_FIELDS is a hard error then.)
#include "protocol/spanner/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "protocol/client/transaction_runner.h"
#include "protocol/machine.h"
#include "protocol/spanner/fingerprint.h"
#include "protocol/spindle_v2/spindle_v2.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::fields_test {
namespace {

using testing::ElementsAre;

enum class Colour : uint8_t { kRed, kBlue };

struct Inner {
  int32_t number = 0;
  std::string text;
  WHORL_FIELDS(Inner, number, text);
};

struct Outer {
  Inner inner;
  std::vector<Inner> many;
  std::optional<int64_t> maybe;
  Colour colour = Colour::kRed;
  bool flag = false;
  WHORL_FIELDS(Outer, inner, many, maybe, colour, flag);
};

struct Nothing {
  WHORL_NO_FIELDS(Nothing);
};

struct OtherNothing {
  WHORL_NO_FIELDS(OtherNothing);
};

struct Texts {
  std::string a;
  std::string b;
  WHORL_FIELDS(Texts, a, b);
};

struct Lists {
  std::vector<int64_t> a;
  std::vector<int64_t> b;
  WHORL_FIELDS(Lists, a, b);
};

struct Number {
  int64_t value = 0;
  WHORL_FIELDS(Number, value);
};

template <typename T>
std::vector<std::string> NamesOf(const T& value) {
  std::vector<std::string> names;
  VisitFields(value, [&](std::string_view name, const auto&) { names.emplace_back(name); });
  return names;
}

Outer Sample() {
  return {.inner = {.number = 7, .text = "seven"},
          .many = {{.number = 1, .text = "one"}, {.number = 2, .text = "two"}},
          .maybe = 3,
          .colour = Colour::kBlue,
          .flag = true};
}

// Sample() with each of its fields changed in turn.
std::vector<Outer> ChangedSamples() {
  std::vector<Outer> changed(9, Sample());
  changed[0].inner.number = 8;
  changed[1].inner.text = "Seven";
  changed[2].many.pop_back();
  changed[3].many[1].text.clear();
  std::swap(changed[4].many[0], changed[4].many[1]);
  changed[5].maybe.reset();
  changed[6].maybe = 0;
  changed[7].colour = Colour::kRed;
  changed[8].flag = false;
  return changed;
}

// --- the visitor -------------------------------------------------------------------------------

TEST(FieldsTest, AreVisitedByNameInTheOrderOfDeclaration) {
  // JSON, traces and fingerprints all come from this one visit.
  EXPECT_THAT(NamesOf(Outer()), ElementsAre("inner", "many", "maybe", "colour", "flag"));
  EXPECT_THAT(NamesOf(Number()), ElementsAre("value"));
  EXPECT_THAT(NamesOf(Nothing()), ElementsAre());
}

TEST(FieldsTest, NamesAreCleanWhereTheListIsBrokenOverLines) {
  // The macro sees its arguments with whatever white space they were written with.
  EXPECT_THAT(NamesOf(spindle_v2::State()), ElementsAre("id", "own_token", "active", "told_leader",
                                                        "iterations", "runs", "asks"));
  for (const std::string& name : NamesOf(RunnerState())) {
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << name;
  }
}

TEST(FieldsTest, AVisitorCanChangeNothingThatIsConst) {
  // The same visit reads and (on a mutable value) writes; constness goes through it.
  Number number{.value = 1};
  std::get<0>(Number::Tie(number)) = 2;
  EXPECT_EQ(number.value, 2);
  const Number& constant = number;
  static_assert(std::is_same_v<decltype(Number::Tie(constant)), std::tuple<const int64_t&>>);
}

TEST(FieldsTest, EqualityLooksAtEveryField) {
  // A field that == forgets merges states that mean different things.
  EXPECT_EQ(Sample(), Sample());
  for (const Outer& changed : ChangedSamples()) EXPECT_FALSE(changed == Sample());
  EXPECT_FALSE((Texts{.a = "ab", .b = "c"}) == (Texts{.a = "a", .b = "bc"}));
  EXPECT_FALSE((Lists{.a = {1}, .b = {}}) == (Lists{.a = {}, .b = {1}}));
  EXPECT_FALSE(Number{.value = 1} == Number{.value = 2});
}

TEST(FieldsTest, WithoutFieldsAllAreEqual) {
  // An event that says nothing but that it happened.
  EXPECT_EQ(Nothing(), Nothing());
  EXPECT_EQ(OtherNothing(), OtherNothing());
  EXPECT_EQ(FingerprintOf(Nothing()), FingerprintOf(OtherNothing()));
}

// --- the fingerprint ---------------------------------------------------------------------------

TEST(FingerprintTest, EqualValuesHaveEqualFingerprints) {
  // However they came about: a copied state that took the same events is the same state.
  Outer grown = Sample();
  grown.many.reserve(1'000);
  grown.inner.text.reserve(1'000);
  EXPECT_EQ(FingerprintOf(grown), FingerprintOf(Sample()));
}

TEST(FingerprintTest, EveryFieldCounts) {
  // What == tells apart, the rolling hash of a run has to tell apart.
  for (const Outer& changed : ChangedSamples()) {
    EXPECT_NE(FingerprintOf(changed), FingerprintOf(Sample()));
  }
}

TEST(FingerprintTest, OrderMatters) {
  // The hash of a run is of a sequence: two swapped events are another run.
  Fingerprint forwards;
  Fingerprint backwards;
  forwards.AddWord(1);
  forwards.AddWord(2);
  backwards.AddWord(2);
  backwards.AddWord(1);
  EXPECT_NE(forwards.value(), backwards.value());
  EXPECT_NE(FingerprintOf(std::vector<int64_t>{1, 2}), FingerprintOf(std::vector<int64_t>{2, 1}));
}

TEST(FingerprintTest, NeighboursDoNotRunTogether) {
  // Moving something over the border of two fields is a change.
  EXPECT_NE(FingerprintOf(Texts{.a = "ab", .b = "c"}), FingerprintOf(Texts{.a = "a", .b = "bc"}));
  EXPECT_NE(FingerprintOf(Texts{.a = "", .b = "x"}), FingerprintOf(Texts{.a = "x", .b = ""}));
  EXPECT_NE(FingerprintOf(Lists{.a = {1, 2}, .b = {}}), FingerprintOf(Lists{.a = {1}, .b = {2}}));
  EXPECT_NE(FingerprintOf(Lists{.a = {0}, .b = {}}), FingerprintOf(Lists{.a = {}, .b = {0}}));
  EXPECT_NE(FingerprintOf(std::vector<std::optional<int64_t>>{std::nullopt, 0}),
            FingerprintOf(std::vector<std::optional<int64_t>>{0, std::nullopt}));
}

TEST(FingerprintTest, NothingIsNotZero) {
  // "Has no token" and "has the token of 1970" are different states.
  EXPECT_NE(FingerprintOf(std::optional<int64_t>()), FingerprintOf(std::optional<int64_t>(0)));
  EXPECT_NE(FingerprintOf(std::optional<Timestamp>()),
            FingerprintOf(std::optional<Timestamp>(Timestamp())));
  EXPECT_NE(FingerprintOf(std::vector<int64_t>()), FingerprintOf(std::vector<int64_t>{0}));
  EXPECT_NE(FingerprintOf(std::string()), FingerprintOf(std::string(1, '\0')));
}

TEST(FingerprintTest, AlternativesAreTold) {
  // Two events without fields differ by nothing but which of them they are.
  using Either = std::variant<Nothing, OtherNothing>;
  EXPECT_NE(FingerprintOf(Either(Nothing())), FingerprintOf(Either(OtherNothing())));
  using SameTwice = std::variant<int64_t, Number>;
  EXPECT_NE(FingerprintOf(SameTwice(int64_t{5})), FingerprintOf(SameTwice(Number{.value = 5})));
}

TEST(FingerprintTest, GoesOnFromWhatWasAddedBefore) {
  // A rolling hash: its value after an event depends on all events before.
  Fingerprint rolling(FingerprintOf(Sample()));
  rolling.Add(Number{.value = 1});
  Fingerprint whole;
  whole.Add(Sample());
  whole.Add(Number{.value = 1});
  EXPECT_EQ(rolling.value(), whole.value());
}

TEST(FingerprintTest, NegativeNumbersOfEveryWidthAreTheSameWord) {
  // Widening a field must not change what old traces say.
  EXPECT_EQ(FingerprintOf(int16_t{-1}), FingerprintOf(int64_t{-1}));
  EXPECT_EQ(FingerprintOf(Colour::kBlue), FingerprintOf(int64_t{1}));
}

// Computed once and written down: another value on some compiler, library or machine means that
// traces from there cannot be compared with traces from here.
TEST(FingerprintTest, IsTheSameOnEveryCompiler) {
  // Rule 5 of the design: scenario and seed give the same bytes everywhere.
  Fingerprint words;
  for (uint64_t word = 0; word < 4; ++word) words.AddWord(word);
  EXPECT_EQ(words.value(), 5'881'706'357'428'081'878U);
  EXPECT_EQ(FingerprintOf(std::string("whorl")), 975'638'928'389'479'469U);
  EXPECT_EQ(FingerprintOf(std::string(300, 'w')), 7'380'088'679'585'706'646U);
  EXPECT_EQ(FingerprintOf(Sample()), 8'802'721'724'830'537'957U);
  EXPECT_EQ(FingerprintOf(Value(Float64(0.1))), 14'035'766'875'749'957'279U);
  EXPECT_EQ(FingerprintOf(Value(At(Milliseconds(1'500)))), 11'686'765'823'455'219'932U);
  EXPECT_EQ(FingerprintOf(Sql::Intern("SELECT 1")), 12'328'691'572'842'752'099U);
}

}  // namespace
}  // namespace whorl::fields_test
