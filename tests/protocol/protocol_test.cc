// Any protocol as one machine: what a host holds is a value, whatever type it hides.
#include "protocol/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/fenced_lease/fenced_lease.h"
#include "protocol/hosted.h"
#include "protocol/lease_lock/lease_lock.h"
#include "protocol/protocols.h"
#include "protocol/semaphore/semaphore.h"
#include "protocol/spindle_v2/lock.h"
#include "protocol/spindle_v3/spindle_v3.h"
#include "tests/protocol/process_under_test.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::protocol_test {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

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

// --- what all protocols have in common ----------------------------------------------------------

// A process of any of them, or of its blocking wrapper, whose transactions find no row, or write one.
class AnyProcess : public ProcessUnderTest<ProtocolConfig, ProtocolState> {
 public:
  AnyProcess(const ProtocolInfo& info, std::string id, bool blocking = false)
      : ProcessUnderTest(
            info.make_config(std::string(info.table), "job", std::move(id), Seconds(10))) {
    state = MakeProtocolState(config, blocking);
  }

  void Begins(bool blocking) { blocking ? Asks(Question::kLock) : Starts(); }
  // A transaction ends, or the next timer fires.
  void GoesOn() {
    if (running.empty()) {
      const auto next =
          std::ranges::min_element(timers, {}, [](const auto& timer) { return timer.second; });
      Fires(next->first);
      return;
    }
    const auto& [request, out] = *running.begin();
    const bool reads = out.transaction.mode == Mode::kStrongRead;
    TransactionResult result = reads ? Found({}) : Committed(Clocks().wall, 1);
    if (!reads) result.commit_sent = out.since;
    Ends(request, std::move(result));
  }

 private:
  std::string TimerText(TimerId timer) const override { return std::to_string(timer); }
};

class EveryProtocolTest : public testing::TestWithParam<const ProtocolInfo*> {
 protected:
  const ProtocolInfo& info_ = *GetParam();
};
std::vector<const ProtocolInfo*> AllProtocols() {
  std::vector<const ProtocolInfo*> all;
  for (const ProtocolInfo& info : Protocols()) all.push_back(&info);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Protocols, EveryProtocolTest, testing::ValuesIn(AllProtocols()),
                         [](const auto& of) { return std::string(of.param->name); });

TEST_P(EveryProtocolTest, KeepsAStateThatIsAValue) {
  // Exploration forks the world by copying it, and compares states by equality and fingerprint: a
  // hidden pointer or clock, or a forgotten field, would let copies differ or join what differs.
  for (const bool blocking : {false, true}) {
    if (blocking && !info_.has_blocking_wrapper) continue;
    AnyProcess original(info_, "", blocking);
    original.Begins(blocking);
    AnyProcess copy = original;
    AnyProcess other(info_, "", blocking);
    other.Begins(blocking);
    for (int event = 0; event < 12; ++event) {
      SCOPED_TRACE(event);
      const ProtocolState before = original.state;
      original.GoesOn();
      EXPECT_EQ(FingerprintOf(original.state) == FingerprintOf(before), original.state == before);
      EXPECT_EQ(copy.state, before) << "it takes its own events";
      for (AnyProcess* same : {&copy, &other}) {
        same->GoesOn();
        EXPECT_EQ(same->state, original.state);
        EXPECT_EQ(FingerprintOf(same->state), FingerprintOf(original.state));
        EXPECT_EQ(same->effects, original.effects);
      }
    }
    EXPECT_NE(original.state, AnyProcess(info_, "", blocking).state);
  }
}

TEST_P(EveryProtocolTest, DrawsAMissingIdAsAUuid) {
  // Ids tell owners apart: without one, two processes would share it, and both lead (finding V4).
  AnyProcess unnamed(info_, "");
  unnamed.entropy.next = {0x0123'4567, 0x89ab'cdef, 0x0fed'cba9, 0x7654'3210};
  unnamed.Starts();
  const FieldTree::Fields fields = unnamed.state.Fields();
  const auto id = std::ranges::find(fields, std::string_view("id"), &NamedField::name);
  ASSERT_NE(id, fields.end());
  EXPECT_EQ(std::get<std::string>(id->value.what), "01234567-89ab-4def-8fed-cba976543210");
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(unnamed.entropy.draws.at(i).purpose, purposes::kInstanceId);
  }
}

TEST_P(EveryProtocolTest, AnswersFromItsConfigurationWhatThatSays) {
  AnyProcess process(info_, "a");
  EXPECT_THAT(process.Asks(Question::kHasLock), ElementsAre("HasLock no")) << "it has not started";
  process.Starts();
  while (!process.running.empty()) process.GoesOn();
  EXPECT_THAT(process.Asks(Question::kDuration), ElementsAre("Duration yes 10000"));
  ASSERT_THAT(process.Asks(Question::kIterations), ElementsAre(StartsWith("Iterations yes")));
  if (info_.name != "fenced_lease") {  // which has no rounds
    EXPECT_EQ(process.did.front(), "Iterations yes 1");
  }
  if (info_.has_blocking_wrapper) return;
  EXPECT_THAT(process.Asks(Question::kLock),
              ElementsAre("Lock no '" + std::string(info_.name) + " has no blocking Lock()'"));
}

// --- what they promise ---------------------------------------------------------------------------

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
       {kHasLockTruthful, kLeaseRespected, kIsolation, kNoWedge, kNoWorkAfterRelease,
        kAnsweredInTime},
       {kSingleLeaderBelief, kSingleWorker, kPacedCalls, kToldOfLeadership, kReasonedStepDown,
        kPromptHandover},
       false,
       true},
      {"semaphore",
       {kHasLockTruthful, kLeaseRespected, kIsolation, kNoWedge, kToldOfLeadership,
        kAnsweredInTime},
       {kSingleLeaderBelief, kSingleWorker, kPacedCalls, kReasonedStepDown},
       false,
       false},
      {"spindle_v2",
       {kOneLiveToken, kHasLockTruthful, kFencedWritesOrdered, kAnsweredInTime},
       {kTokenMonotonic, kHandedTokenMonotonic, kLeaseRespected, kSingleLeaderBelief, kIsolation,
        kNoWedge, kSingleWorker, kPacedCalls, kToldOfLeadership, kReasonedStepDown},
       true,
       false},
      {"spindle_v3",
       {kOneLiveToken, kTokenMonotonic, kLeaseRespected, kFencedWritesOrdered, kIsolation, kNoWedge,
        kToldOfLeadership, kAnsweredInTime, kPromptHandover},
       {kHandedTokenMonotonic, kHasLockTruthful, kSingleLeaderBelief, kNoWorkAfterRelease,
        kSingleWorker, kPacedCalls, kReasonedStepDown},
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

// --- the machine that hides which it is ---------------------------------------------------------

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

TEST(ProtocolStateTest, TellsTheFieldsThatAreNotEmpty) {
  const ProtocolConfig config = ConfigOf("fenced_lease");
  ProtocolState state = MakeProtocolState(config, false);
  Take(config, state, Started{});
  std::vector<std::string> names;
  for (const NamedField& field : state.Fields()) names.emplace_back(field.name);
  EXPECT_EQ(names, (std::vector<std::string>{"id", "prefix", "first_look", "looks_paid_until",
                                             "flights"}));
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
