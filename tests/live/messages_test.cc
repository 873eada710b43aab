// Messages between a coordinator and its nodes arrive as they were sent: a changed one would make a
// history wrong unnoticed.
#include "live/messages.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <variant>

#include "live/call_names.h"
#include "live/message_codec.h"
#include "live/shift_times.h"
#include "protocol/spindle_v2/words.h"
#include "sim/judge/run.h"
#include "sim/scenario/loader.h"

namespace whorl::live::messages_test {
namespace {

template <typename T>
T Again(const T& value) {
  T again;
  FromJson(MessageJson::parse(ToJson(value).dump()), again);
  return again;
}

class EachObservation final : public sim::ObservationSink {
 public:
  void Hear(const sim::Observation& observation, uint64_t, uint64_t) override {
    EXPECT_EQ(Again(observation), observation);
    seen_.insert(observation.what.index());
  }
  size_t kinds() const { return seen_.size(); }

 private:
  std::set<size_t> seen_;
};

// Every scenario of the repository, and everything that can be observed of some of them.
TEST(LiveMessagesTest, ScenariosAndObservationsComeBackAsTheyWere) {
  EachObservation sink;
  for (const char* name : {"s4_token_goes_back", "fault_session_loss_outcome_unknown",
                           "fenced_take_outcome_unknown", "lease_lock_release_deletes_anothers"}) {
    const auto scenario = sim::LoadScenario(std::string("scenarios/") + name + ".json");
    ASSERT_TRUE(scenario.ok()) << scenario.status();
    EXPECT_EQ(Again(*scenario), *scenario);
    sim::RunScenario(*scenario, scenario->seed, &sink);
  }
  EXPECT_GT(sink.kinds(), 20U);
}

TEST(LiveMessagesTest, RowsOfAllTypesComeBackAsTheyWere) {
  const Row row = {Null{},
                   true,
                   int64_t{1} << 62,
                   Float64(1.5),
                   std::string("ä"),
                   Bytes{"bytes"},
                   Timestamp::FromUnixNanos(1'767'225'600'123'456'789)};
  EXPECT_EQ(Again(row), row);
}

TEST(LiveMessagesTest, WhatIsNoMessageIsRefused) {
  for (const char* text : {"[99,[]]", "[0]", "{}", "[1,[1]]", "\"x\"", "[1,"}) {
    Report report;
    EXPECT_THROW(FromJson(MessageJson::parse(text), report), MessageJson::exception) << text;
  }
}

// The proxy knows a call by its header alone.
TEST(LiveMessagesTest, ACallIsNamedByItsHeader) {
  const NamedCall call{.name = {.process = {.node = 3, .incarnation = 2},
                                .lock = 1,
                                .request = 32769,
                                .generation = 4,
                                .attempt = 5,
                                .call = 6},
                       .step = spindle_v2::steps::kTakeoverUpdate,
                       .request = 2};
  const auto read = ParseCallHeader(FormatCallHeader(call));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->name, call.name);
  EXPECT_EQ(read->step, call.step);
  EXPECT_EQ(read->request, call.request);
  for (const char* text : {"", "1.2.3", "1.2.3.4.5.6.7.8.", "1.2.3.4.5.6.7.8.no_step",
                           "1.2.3.4.5.6.7.x.check", "1.2.3.4.5.6.7.8.check.", "a.b"}) {
    EXPECT_FALSE(ParseCallHeader(text).has_value()) << text;
  }
}

// Spanner's times are told as if a run had begun when all simulations begin.
TEST(LiveMessagesTest, AllTimesInsideAValueAreMoved) {
  const Timestamp at = Timestamp::FromUnixNanos(0);
  sim::ObservedEvent what = sim::RowCommitted{.before = Row{std::string("k"), at},
                                              .after = Row{std::string("k"), at + Seconds(1)},
                                              .commit = at + Seconds(2)};
  ShiftTimes(Seconds(10), what);
  const auto& row = std::get<sim::RowCommitted>(what);
  EXPECT_EQ(row.before->at(1), Value(at + Seconds(10)));
  EXPECT_EQ(row.after->at(1), Value(at + Seconds(11)));
  EXPECT_EQ(row.commit, at + Seconds(12));
}

}  // namespace
}  // namespace whorl::live::messages_test
