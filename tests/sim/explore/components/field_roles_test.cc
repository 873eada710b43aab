// Each field of a struct has a role, which says what of it a canonical form adds.
#include "sim/explore/components/field_roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace whorl::sim::field_roles_test {
struct Pair {
  int first = 0;
  int second = 0;
  WHORL_FIELDS(Pair, first, second);
};

namespace {

template <typename... Roles>
constexpr bool Suffice(Roles... /*roles*/) {
  return kEachFieldHasOneRole<Pair, Roles...>;
}

// A form that left out a field would make a search take states for one that have different futures.
// tests/forgotten_field.sh asks the same of the structs of a world.
static_assert(Suffice(Plain<&Pair::second>(), Plain<&Pair::first>()));
static_assert(Suffice(Ignored<&Pair::first>("x"), OnlyIf(false, Plain<&Pair::second>())));
static_assert(!Suffice(Plain<&Pair::first>()), "the second one is forgotten");
static_assert(!Suffice(Plain<&Pair::first>(), Plain<&Pair::first>()), "and here, too");
static_assert(!Suffice(Plain<&Pair::first>(), Plain<&Pair::second>(), Ignored<&Pair::second>("x")));

struct Words {
  std::vector<int> words;
  void Add(int word) { words.push_back(word); }
};

TEST(FieldRoles, FieldsAreAddedInTheOrderOfTheirRoles) {
  const Pair pair = {.first = 1, .second = 2};
  Words words;
  AddFields(words, pair, Plain<&Pair::second>(), Plain<&Pair::first>());
  EXPECT_THAT(words.words, testing::ElementsAre(2, 1));
}

TEST(FieldRoles, WhatCannotMatterIsNotAdded) {
  const Pair pair = {.first = 1, .second = 2};
  Words words;
  AddFields(words, pair, Ignored<&Pair::first>("x"), OnlyIf(false, Plain<&Pair::second>()));
  AddFields(words, pair, Elsewhere<&Pair::first>("here"),
            OnlyIf(true, Custom<&Pair::second>([&words](int number) { words.Add(10 * number); })));
  EXPECT_THAT(words.words, testing::ElementsAre(20));
}

}  // namespace
}  // namespace whorl::sim::field_roles_test
