// The picture of a run is one that its viewers accept: events that pair, slices that nest, arrows
// that begin and end in slices, times that are exact.
#include "sim/report/perfetto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/scenario_files.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::perfetto_test {
namespace {

using nlohmann::json;
using Track = std::pair<int, int>;

std::string PictureOf(const Scenario& scenario) {
  std::ostringstream out;
  PerfettoWriter writer(out, scenario, scenario.seed, "0.0.0");
  RunScenario(scenario, scenario.seed, &writer);
  return out.str();
}

// Microseconds with three decimals as nanoseconds.
int64_t Nanos(const json& micros) { return std::llround(micros.get<double>() * 1000); }

struct Slice {
  int64_t from = 0;
  int64_t to = 0;
  std::string name;
};

// A picture that was read, and checked while it was.
struct Picture {
  std::map<int, std::string> processes;
  std::map<Track, std::string> tracks;
  std::map<Track, std::vector<Slice>> slices;  // in the order in which they ended
  std::multiset<std::string> points;           // by name
  int arrows = 0;

  bool HasSlice(const std::string& process, const std::string& track, const std::string& name) {
    for (const auto& [id, all] : slices) {
      if (processes[id.first] != process || tracks[id] != track) continue;
      for (const Slice& slice : all) {
        if (slice.name == name) return true;
      }
    }
    return false;
  }
};

class Reader {
 public:
  Picture Read(const std::string& text, Duration duration) {
    end_ = duration.ns;
    const json document = json::parse(text);
    for (const json& event : document.at("traceEvents")) Take(event);
    for (const auto& [track, open] : open_) EXPECT_TRUE(open.empty()) << "a B without an E";
    for (auto& [track, all] : picture_.slices) ExpectNested(all);
    for (const json& end : arrow_ends_) ExpectInSlice(end);
    EXPECT_TRUE(arrows_.empty()) << "an s without an f";
    return picture_;
  }

 private:
  static Track TrackOf(const json& event) { return {event.at("pid"), event.at("tid")}; }

  void Take(const json& event) {
    const std::string phase = event.at("ph");
    if (phase == "M") return TakeName(event);
    const Track track = TrackOf(event);
    EXPECT_TRUE(picture_.tracks.contains(track)) << "a track without a name: " << event;
    const int64_t at = Nanos(event.at("ts"));
    EXPECT_GE(at, 0) << event;
    EXPECT_LE(at, end_) << event;
    if (phase == "B") {
      EXPECT_GE(at, last_[track]) << event;
      last_[track] = at;
      open_[track].push_back({.from = at, .name = event.at("name")});
    } else if (phase == "E") {
      EXPECT_GE(at, last_[track]) << event;
      last_[track] = at;
      ASSERT_FALSE(open_[track].empty()) << "an E without a B: " << event;
      Slice slice = open_[track].back();
      open_[track].pop_back();
      slice.to = at;
      picture_.slices[track].push_back(slice);
    } else if (phase == "X") {
      const int64_t length = Nanos(event.at("dur"));
      EXPECT_GT(length, 0) << event;
      picture_.slices[track].push_back({.from = at, .to = at + length, .name = event.at("name")});
    } else if (phase == "i") {
      EXPECT_EQ(event.at("s"), "t");
      picture_.points.insert(event.at("name"));
    } else {
      TakeArrow(event, phase);
    }
  }

  void TakeName(const json& event) {
    const std::string name = event.at("name");
    if (name == "process_name") {
      EXPECT_TRUE(picture_.processes.emplace(event.at("pid"), event["args"]["name"]).second);
    } else if (name == "thread_name") {
      EXPECT_TRUE(picture_.processes.contains(event.at("pid")));
      EXPECT_TRUE(picture_.tracks.emplace(TrackOf(event), event["args"]["name"]).second);
    }
  }

  void TakeArrow(const json& event, const std::string& phase) {
    const int id = event.at("id");
    if (phase == "s") {
      EXPECT_TRUE(arrows_.emplace(id, event).second) << event;
    } else {
      ASSERT_EQ(phase, "f");
      ASSERT_TRUE(arrows_.contains(id)) << "an f without an s: " << event;
      EXPECT_EQ(event.at("name"), arrows_[id].at("name"));
      EXPECT_LE(Nanos(arrows_[id].at("ts")), Nanos(event.at("ts"))) << event;
      EXPECT_EQ(event.at("bp"), "e");
      arrows_.erase(id);
      ++picture_.arrows;
    }
    arrow_ends_.push_back(event);
  }

  // Two slices of a track are apart, or one contains the other.
  static void ExpectNested(std::vector<Slice>& slices) {
    std::vector<Slice> sorted = slices;
    std::ranges::sort(sorted, [](const Slice& a, const Slice& b) {
      return a.from != b.from ? a.from < b.from : a.to > b.to;
    });
    std::vector<int64_t> ends;
    for (const Slice& slice : sorted) {
      while (!ends.empty() && ends.back() <= slice.from) ends.pop_back();
      if (!ends.empty()) {
        EXPECT_LE(slice.to, ends.back()) << slice.name << " at " << slice.from;
      }
      ends.push_back(slice.to);
    }
  }

  void ExpectInSlice(const json& end) {
    const int64_t at = Nanos(end.at("ts"));
    for (const Slice& slice : picture_.slices[TrackOf(end)]) {
      if (slice.from <= at && at <= slice.to) return;
    }
    ADD_FAILURE() << "an arrow that hangs in the air: " << end;
  }

  int64_t end_ = 0;
  Picture picture_;
  std::map<Track, std::vector<Slice>> open_;
  std::map<Track, int64_t> last_;
  std::map<int, json> arrows_;
  std::vector<json> arrow_ends_;
};

Picture ReadPicture(const Scenario& scenario) {
  return Reader().Read(PictureOf(scenario), scenario.duration + PerfettoWriter::kServedWidth);
}

// A viewer silently drops events that do not pair or nest, and then shows a different run.
TEST(Perfetto, EveryScenarioMakesAPictureThatPairsAndNests) {
  int pictures = 0;
  for (const std::filesystem::path& path : ScenarioFiles()) {
    const Scenario scenario = ScenarioFile(path);
    // A picture of a long run takes long to read, and has nothing that a short one lacks.
    if (scenario.duration > Seconds(60) || scenario.nodes.size() > 4) continue;
    SCOPED_TRACE(path);
    const Picture picture = ReadPicture(scenario);
    EXPECT_GT(picture.arrows, 10);
    ++pictures;
  }
  EXPECT_GE(pictures, 10);
}

// What a person opens the picture for.
TEST(Perfetto, ShowsTermsBeliefsFaultsCallsAndViolations) {
  const Scenario scenario = NamedScenario("s4_token_goes_back");
  Picture picture = ReadPicture(scenario);
  std::vector<std::string> names;
  for (const auto& [pid, name] : picture.processes) names.push_back(name);
  EXPECT_THAT(names, testing::ElementsAre("invariants", "Spanner", "resource", "node a", "node b",
                                          "node c"));
  EXPECT_TRUE(picture.HasSlice("node a", "life", "a#1"));
  EXPECT_TRUE(picture.HasSlice("node a", "life", "paused"));
  EXPECT_TRUE(picture.HasSlice("node a", "faults", "pause (line 11)"));
  EXPECT_TRUE(picture.HasSlice("node a", "lock \"lock\"", "believes that it leads"));
  EXPECT_TRUE(picture.HasSlice("node b", "transactions", "takeover_update"));
  EXPECT_TRUE(picture.HasSlice("node b", "transactions", "takeover_update Commit"));
  EXPECT_TRUE(picture.HasSlice("Spanner", "calls served", "b takeover_update Commit"));
  EXPECT_TRUE(picture.points.contains("crash (line 13)"));
  EXPECT_TRUE(picture.points.contains("token_monotonic violated"));
  EXPECT_TRUE(picture.points.contains("callback 1"));
  EXPECT_TRUE(picture.points.contains("HasLock: yes"));
  int terms = 0;
  for (const auto& [track, name] : picture.tracks) {
    if (name == "holder of lock") terms = static_cast<int>(picture.slices[track].size());
  }
  EXPECT_EQ(terms, 3) << "of a, c and b";
}

// Three processes try to take over at once, so one commit waits for another's.
TEST(Perfetto, ShowsThatACallWaitsForALock) {
  const Scenario scenario = ScenarioOf(R"({"version": 1, "about": "a test",
    "protocol": "spindle_v2", "lease": "5s", "duration": "3s",
    "nodes": [{"name": "n", "count": 6}]})");
  Picture picture = ReadPicture(scenario);
  bool waits = false;
  for (const auto& [track, slices] : picture.slices) {
    for (const Slice& slice : slices) waits |= slice.name == "waits for a lock";
  }
  EXPECT_TRUE(waits);
}

// A run must be the same picture each time, or two of them could not be compared; and a double
// would show in a number as 0.1999.
TEST(Perfetto, BytesAreTheSameEachTimeAndTimesAreExact) {
  const Scenario scenario = NamedScenario("s1_insert_loser_takes_over");
  const std::string text = PictureOf(scenario);
  EXPECT_EQ(text, PictureOf(scenario));
  const std::regex time(R"re("(ts|dur)":([^,}]*))re");
  const std::regex exact(R"([0-9]+\.[0-9]{3})");
  int times = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), time), end; at != end; ++at, ++times) {
    ASSERT_TRUE(std::regex_match((*at)[2].str(), exact)) << (*at)[0];
  }
  EXPECT_GT(times, 100);
}

}  // namespace
}  // namespace whorl::sim::perfetto_test
