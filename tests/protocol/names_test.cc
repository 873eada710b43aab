// Protocols bring their own words for steps, notes and draws. Draws and hashes of runs are made
// with these words, so what a word means to them may depend on nothing but its letters.
#include "protocol/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "protocol/fenced_lease/words.h"
#include "protocol/field_tree.h"
#include "protocol/protocols.h"
#include "protocol/spanner/fingerprint.h"
#include "protocol/spindle_v2/words.h"
#include "protocol/spindle_v3/words.h"

namespace whorl::names_test {
namespace {

using testing::IsSupersetOf;

namespace steps {
constexpr StepName kRenew{"renew"};
}  // namespace steps

TEST(Name, IsItsWordWhoeverDeclaredIt) {
  // Protocols share words: `release` of one is `release` of another.
  EXPECT_EQ(fenced_lease::steps::kRelease, spindle_v3::steps::kRelease);
  EXPECT_NE(fenced_lease::steps::kRelease, fenced_lease::steps::kBeat);
  const std::string heard = "renew";
  EXPECT_EQ(StepName::Borrow(heard.c_str()), steps::kRenew);
  EXPECT_EQ(WordOf(steps::kRenew), "renew");
}

TEST(Name, IsAValueThatIsCopiedAsItStands) {
  // Worlds are copied to fork them, and observations by the million.
  static_assert(std::is_trivially_copyable_v<StepName>);
  static_assert(sizeof(StepName) <= 16);
}

TEST(Name, HasAKeyThatFollowsFromItsWordOnEveryCompiler) {
  // Written down: another one would move the draws of every run of such a protocol.
  EXPECT_EQ(steps::kRenew.key(), 0xf9d3d5f345bd5c0eU);
  EXPECT_EQ(Purpose{"renew"}.key(), steps::kRenew.key());
}

TEST(Name, KeepsTheNumberThatItsWordHadBefore) {
  // Golden files have hashes of runs in them, and scenarios' seeds were chosen for their draws.
  EXPECT_EQ(spindle_v2::steps::kCheck.key(), 0U);
  EXPECT_EQ(fenced_lease::steps::kRelease.key(), 13U);
  EXPECT_EQ(StepName{"get"}.key(), 19U);
  EXPECT_EQ(whorl::notes::kReleaseFailed.key(), 14U);
  EXPECT_EQ(Purpose{"key_order"}.key(), 8U);
  EXPECT_GT(steps::kRenew.key(), uint64_t{1} << 62);  // no number collides with a hash
}

TEST(Name, IsOrderedByItsWord) {
  // Where names are sorted for people or in a map, the order is the same in every program.
  EXPECT_LT(fenced_lease::steps::kBeat, spindle_v2::steps::kCheck);
  EXPECT_LT(spindle_v2::steps::kCheck, steps::kRenew);
}

TEST(Name, AddsItsKeyToAFingerprint) {
  Fingerprint name;
  name.Add(steps::kRenew);
  Fingerprint word;
  word.AddWord(steps::kRenew.key());
  EXPECT_EQ(name.value(), word.value());
}

TEST(Name, IsReportedByItsWord) {
  EXPECT_EQ(std::get<std::string>(ToFieldTree(steps::kRenew).what), "renew");
}

TEST(AllSteps, AreEachThereOnceWithTheApplicationsOwn) {
  // The schema offers them, and the loader takes no others.
  const std::vector<StepName> all = AllSteps();
  for (const ProtocolInfo& info : Protocols()) {
    EXPECT_THAT(all, IsSupersetOf(info.steps.begin(), info.steps.end())) << info.name;
  }
  EXPECT_EQ(std::ranges::count(all, fenced_lease::steps::kRelease), 1);
  EXPECT_EQ(FindStep("has_lock"), whorl::steps::kHasLock);
  EXPECT_EQ(FindStep("renew"), std::nullopt);
}

}  // namespace
}  // namespace whorl::names_test
