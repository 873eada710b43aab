// Any protocol as one machine: what a host holds is a value, whatever type it hides.
#include "protocol/protocol.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/fenced_lease/fenced_lease.h"
#include "protocol/hosted.h"
#include "protocol/lease_lock/lease_lock.h"
#include "protocol/protocols.h"
#include "protocol/semaphore/semaphore.h"
#include "protocol/spindle_v2/lock.h"
#include "protocol/spindle_v3/spindle_v3.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::protocol_test {
namespace {

ProtocolConfig ConfigOf(std::string_view protocol) {
  return FindProtocol(protocol)->make_config("locktable", "lock", "a", Seconds(10));
}

std::vector<Effect> Take(const ProtocolConfig& config, ProtocolState& state, const Event& event) {
  ScriptedEntropy entropy;
  std::vector<Effect> out;
  Step(config, state, {.monotonic = ShownAfter(Seconds(1)), .wall = At(Seconds(1))}, entropy, event,
       out);
  return out;
}

struct Claims {
  const char* protocol;
  std::set<Invariant> promised;
  std::set<Invariant> not_promised;
  bool has_tokens;
  bool answers_locally;
};

TEST(ProtocolInfoTest, PromisesOnlyWhatHolds) {
  // The property tests assert the promises; the rest is what the findings break. Without tokens
  // nothing is promised of them, and nothing that only a fence can keep.
  using enum Invariant;
  const std::vector<Claims> all = {
      {"lease_lock",
       {kHasLockTruthful, kLeaseRespected, kIsolation, kNoWedge, kNoWorkAfterRelease},
       {kSingleLeaderBelief, kSingleWorker, kPacedCalls},
       false,
       true},
      {"semaphore",
       {kHasLockTruthful, kLeaseRespected, kIsolation, kNoWedge},
       {kSingleLeaderBelief, kSingleWorker, kPacedCalls},
       false,
       false},
      {"spindle_v2",
       {kOneLiveToken, kHasLockTruthful, kFencedWritesOrdered},
       {kTokenMonotonic, kHandedTokenMonotonic, kLeaseRespected, kSingleLeaderBelief, kIsolation,
        kNoWedge, kSingleWorker, kPacedCalls},
       true,
       false},
      {"spindle_v3",
       {kOneLiveToken, kTokenMonotonic, kLeaseRespected, kFencedWritesOrdered, kIsolation,
        kNoWedge},
       {kHandedTokenMonotonic, kHasLockTruthful, kSingleLeaderBelief, kNoWorkAfterRelease,
        kSingleWorker, kPacedCalls},
       true,
       true}};
  for (const Claims& claims : all) {
    SCOPED_TRACE(claims.protocol);
    const ProtocolInfo& info = *FindProtocol(claims.protocol);
    EXPECT_EQ(InvariantsThatAre(Promise::kPromised, info), claims.promised);
    EXPECT_EQ(InvariantsThatAre(Promise::kNotPromised, info), claims.not_promised);
    EXPECT_EQ(info.has_tokens, claims.has_tokens);
    EXPECT_EQ(info.answers_locally, claims.answers_locally);
  }
}

TEST(ProtocolInfoTest, SpindlesLeasesHaveTheirLeastLengths) {
  EXPECT_EQ(FindProtocol("spindle_v2")->lease_min, Seconds(1));
  EXPECT_EQ(FindProtocol("spindle_v2")->lease_default, Seconds(10));
  EXPECT_EQ(FindProtocol("spindle_v3")->lease_min, Seconds(5));
}

TEST(ProtocolInfoTest, WhatWasPortedFromGoHasTheRetriesOfGooglesClient) {
  ExpectHostedWithGosRetries<lease_lock::State>("lease_lock", 3);
  ExpectHostedWithGosRetries<semaphore::State>("semaphore", 2);
  ExpectHostedWithGosRetries<spindle_v3::State>("spindle_v3", 3);
}

TEST(ProtocolStateTest, ACopyIsAStateOfItsOwn) {
  // World is a value: copying it forks it, and what one does the other must not see.
  for (const ProtocolInfo& info : Protocols()) {
    const ProtocolConfig config = ConfigOf(info.name);
    ProtocolState state = MakeProtocolState(config, false);
    const ProtocolState before = state;
    EXPECT_EQ(state, before);
    EXPECT_FALSE(Take(config, state, Started{}).empty());
    EXPECT_NE(state, before) << info.name;
    EXPECT_EQ(before, MakeProtocolState(config, false)) << info.name;
    ProtocolState other;
    other = state;
    EXPECT_EQ(other, state) << info.name;
  }
}

TEST(ProtocolStateTest, StatesOfDifferentTypesDiffer) {
  const ProtocolState empty;
  const ProtocolState spindle = MakeProtocolState(ConfigOf("spindle_v2"), false);
  const ProtocolState wrapper = MakeProtocolState(ConfigOf("spindle_v2"), true);
  const ProtocolState fenced = MakeProtocolState(ConfigOf("fenced_lease"), false);
  EXPECT_EQ(empty, ProtocolState());
  EXPECT_NE(empty, spindle);
  EXPECT_NE(spindle, empty);
  EXPECT_NE(spindle, wrapper);
  EXPECT_NE(spindle, fenced);
  EXPECT_NE(wrapper.Get<spindle_v2::LockState>(), nullptr);
  EXPECT_EQ(wrapper.Get<spindle_v2::State>(), nullptr);
  EXPECT_EQ(empty.Get<spindle_v2::State>(), nullptr);
}

TEST(ProtocolStateTest, TheFingerprintIsThatOfTheFields) {
  // A forgotten field would join states that differ.
  const ProtocolConfig config = ConfigOf("fenced_lease");
  ProtocolState state = MakeProtocolState(config, false);
  const uint64_t before = FingerprintOf(state);
  EXPECT_EQ(before, FingerprintOf(MakeProtocolState(config, false)));
  EXPECT_NE(before, FingerprintOf(ProtocolState()));
  Take(config, state, Started{});
  EXPECT_NE(before, FingerprintOf(state));
}

TEST(ProtocolStateTest, TellsTheFieldsThatAreNotEmpty) {
  const ProtocolConfig config = ConfigOf("fenced_lease");
  ProtocolState state = MakeProtocolState(config, false);
  Take(config, state, Started{});
  std::vector<std::string> names;
  for (const NamedField& field : state.Fields()) names.emplace_back(field.name);
  EXPECT_EQ(names, (std::vector<std::string>{"id", "prefix", "first_look", "flights"}));
  EXPECT_TRUE(ProtocolState().Fields().empty());
}

TEST(ProtocolStateDeathTest, IsNotSteppedWithAnotherProtocolsConfiguration) {
  // It would be read as what it is not.
  ProtocolState state = MakeProtocolState(ConfigOf("spindle_v3"), false);
  EXPECT_DEATH(Take(ConfigOf("fenced_lease"), state, Started{}), "another protocol's");
}

struct Texts {
  Sql inner;
  WHORL_FIELDS(Texts, inner);
};
struct Config {
  std::string lock_name;
  Sql first;
  Texts nested;
  Sql last;
  WHORL_FIELDS(Config, lock_name, first, nested, last);
};
struct State {
  WHORL_NO_FIELDS(State);
};
void Step(const Config&, State&, LocalTime, Entropy&, const Event&, std::vector<Effect>&) {}
LeadershipView LeadershipViewOf(const State&) { return {}; }

TEST(ProtocolConfigTest, AllItsTextsAreStatements) {
  // A text that the database has not planned cannot be run.
  const Config config = {.lock_name = "lock",
                         .first = Sql::Intern("SELECT 1"),
                         .nested = {.inner = Sql::Intern("SELECT 2")},
                         .last = Sql::Intern("SELECT 3")};
  ASSERT_TRUE(config == Config(config));
  EXPECT_EQ(StatementsOf(Hosted<State>(config)),
            (std::vector<Sql>{config.first, config.nested.inner, config.last}));
}

}  // namespace
}  // namespace whorl::protocol_test
