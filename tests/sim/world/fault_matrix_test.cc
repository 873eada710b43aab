// Every kind of fault that waits for a step, at every phase of every step that comes: it has its effect, or
// the loader refuses it and says why. One that strikes and changes nothing would pass as a proof.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/protocols.h"
#include "sim/world/copied_call.h"
#include "sim/world/reached_phase.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::fault_matrix_test {
namespace {

constexpr Duration kAdded = Seconds(1);
constexpr Duration kLasts = Seconds(3);

// Steps of both nodes: grants, renewals, a takeover, releases.
constexpr const char* kWorld = R"({"version": 1, "about": "a test", "protocol": "PROTOCOL",
  "lease": "5s", "nodes": ["a", {"name": "b", "start_at": "1s"}, {"name": "c", "start_at": "never"}],
  "duration": "100s", "workload": {"write_every": "400ms"},
  "network": {"connection_timeout": "4s"}, "faults": [
  {"at": "30s", "do": "stop", "node": "a", "restart_after": "4s"},
  {"at": "55s", "do": "crash", "node": "b", "restart_after": "4s"},
  {"at": "75s", "do": "stop", "node": "a", "restart_after": "4s"} FAULT]})";

std::string World(std::string_view protocol, const std::string& fault) {
  std::string text = kWorld;
  const auto put = [&text](std::string_view what, std::string_view with) {
    text.replace(text.find(what), what.size(), with);
  };
  put("PROTOCOL", protocol);
  put("FAULT", fault.empty() ? "" : ", " + fault);
  return text;
}

// --- what a run shows ---------------------------------------------------------------------------

// One cell of the matrix, and what its run observed.
struct Cell {
  const Scenario& scenario;
  const std::vector<Observation>& all;
  int16_t node;  // whose step triggers the fault
  StepName step;
  Phase phase;
  size_t began;                     // the place of FaultBegan
  Instant at;                       // when that was
  std::optional<CallName> trigger;  // the call that reached the phase; nothing at `replied`

  // Whether an observation of type T that `wanted` accepts comes at or after the fault's beginning, except
  // `within` later at most.
  template <typename T, typename Wanted>
  bool Sees(const Wanted& wanted, Duration within = Seconds(100)) const {
    return Find<T>(wanted, within).has_value();
  }
  template <typename T, typename Wanted>
  std::optional<Instant> Find(const Wanted& wanted, Duration within = Seconds(100)) const {
    // What a fault does at once stands right before or after it.
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].at < at || (all[i].at == at && i + 3 < began)) continue;
      if (all[i].at > at + within) break;
      const auto* what = std::get_if<T>(&all[i].what);
      if (what != nullptr && wanted(*what)) return all[i].at;
    }
    return std::nullopt;
  }
  // The same after the fault began, and not with it.
  template <typename T, typename Wanted>
  bool SeesBefore(Duration within, const Wanted& wanted) const {
    for (size_t i = began + 1; i < all.size() && all[i].at < at + within; ++i) {
      const auto* what = std::get_if<T>(&all[i].what);
      if (what != nullptr && wanted(*what)) return true;
    }
    return false;
  }
  // When the call was sent, served last and ended.
  template <typename T>
  std::optional<Instant> TimeOf(const CallName& call) const {
    std::optional<Instant> last;
    for (const Observation& one : all) {
      const auto* what = std::get_if<T>(&one.what);
      if (what != nullptr && what->call == call) last = one.at;
    }
    return last;
  }
  bool IsAtReply() const {
    return phase == Phase::kServed || phase == Phase::kCommitted || phase == Phase::kReplied;
  }
  bool IsOfSpanner() const { return step != steps::kWrite && trigger.has_value(); }
};

template <typename T>
auto OfNode(int16_t node) {
  return [node](const T& what) { return what.process.node == node; };
}
template <typename T>
auto CallOf(int16_t node) {
  return [node](const T& what) { return what.call.process.node == node; };
}

// --- the effects --------------------------------------------------------------------------------

using Effect = std::function<bool(const Cell&)>;

// No reply of Spanner reaches the node meanwhile; none that it was about to take, either.
bool HearsNothing(const Cell& cell, Duration within) {
  return !cell.SeesBefore<CallEnded>(within, [&](const CallEnded& ended) {
    return ended.call.process.node == cell.node && ended.from_spanner;
  });
}
// Spanner serves no call that the node sends meanwhile.
bool SendsNothing(const Cell& cell, Duration within) {
  std::vector<CallName> sent;
  for (size_t i = cell.began + 1; i < cell.all.size() && cell.all[i].at < cell.at + within; ++i) {
    if (const auto* one = std::get_if<CallSent>(&cell.all[i].what)) sent.push_back(one->call);
    const auto* served = std::get_if<CallServed>(&cell.all[i].what);
    if (served == nullptr || served->call.process.node != cell.node) continue;
    if (std::ranges::find(sent, served->call) != sent.end()) return false;
  }
  return true;
}

bool CutsOff(const Cell& cell, Direction direction) {
  if (!cell.Sees<LinkChanged>([&](const LinkChanged& x) { return x.node == cell.node; }, {})) {
    return false;
  }
  const Duration most = kLasts - Milliseconds(1);
  return (!Covers(direction, Direction::kFrom) || HearsNothing(cell, most)) &&
         (!Covers(direction, Direction::kTo) || SendsNothing(cell, most));
}

// The message of the trigger's call that is on its way is late; else the next one that the node sends or gets.
bool Slows(const Cell& cell, Direction direction) {
  const bool to = Covers(direction, Direction::kTo);
  const bool from = Covers(direction, Direction::kFrom);
  if (cell.phase == Phase::kReplied && from) {
    return !cell.SeesBefore<CallEnded>(kAdded, [&](const CallEnded& ended) {
      return ended.call.process.node == cell.node && ended.step == cell.step;
    });
  }
  if (cell.IsOfSpanner() && cell.phase == Phase::kSent && to) {
    const auto served = cell.TimeOf<CallServed>(*cell.trigger);
    return !served || *served >= cell.at + kAdded;
  }
  if (cell.IsOfSpanner() && cell.IsAtReply() && from) {
    const auto ended = cell.TimeOf<CallEnded>(*cell.trigger);
    return !ended || *ended >= cell.at + kAdded;
  }
  // What was sent before is not late; what is sent from now on is.
  std::map<CallName, Instant> sent;
  std::map<CallName, Instant> served;
  bool is_late = true;
  for (size_t i = cell.began + 1; i < cell.all.size() && cell.all[i].at < cell.at + kLasts; ++i) {
    const Observation& one = cell.all[i];
    if (const auto* x = std::get_if<CallSent>(&one.what)) sent[x->call] = one.at;
    if (const auto* x = std::get_if<CallServed>(&one.what)) {
      if (x->call.process.node != cell.node) continue;
      served[x->call] = one.at;
      if (to && sent.contains(x->call)) is_late &= one.at - sent[x->call] >= kAdded;
    }
    if (const auto* x = std::get_if<CallEnded>(&one.what)) {
      if (x->call.process.node != cell.node || !x->from_spanner || !served.contains(x->call))
        continue;
      if (from) is_late &= one.at - served[x->call] >= kAdded;
    }
  }
  return is_late;
}

bool LosesRequest(const Cell& cell) {
  const auto hangs = [&](const CallHangs& x) {
    return x.call.process.node == cell.node && !cell.TimeOf<CallServed>(x.call);
  };
  return cell.Sees<CallHangs>(hangs, {});
}
// A copy is served beside a call of the same step.
bool ServesTwice(const Cell& cell) {
  std::optional<CallServed> copy;
  for (const Observation& one : cell.all) {
    const auto* served = std::get_if<CallServed>(&one.what);
    if (served == nullptr || served->call.process.node != cell.node) continue;
    if ((served->call.generation & kCopiedCall) != 0) copy = *served;
  }
  if (!copy) return false;
  CallName first = copy->call;
  first.generation &= ~kCopiedCall;
  return cell.TimeOf<CallSent>(first).has_value();
}
bool LosesReply(const Cell& cell) {
  const auto hangs = [&](const CallHangs& x) {
    if (x.call.process.node != cell.node) return false;
    if (cell.IsOfSpanner() && cell.IsAtReply() && x.call != *cell.trigger) return false;
    for (const Observation& one : cell.all) {
      const auto* ended = std::get_if<CallEnded>(&one.what);
      if (ended != nullptr && ended->call == x.call && ended->from_spanner) return false;
    }
    return true;
  };
  return cell.Sees<CallHangs>(hangs);
}
bool AnswersBy(const Cell& cell, Code code) {
  return cell.Sees<CallServed>(
      [&](const CallServed& x) { return x.call.process.node == cell.node && x.code == code; });
}
// No transaction commits of those whose Commit the node sends meanwhile.
bool AbortsAll(const Cell& cell, Duration within) {
  std::vector<CallName> sent;
  for (size_t i = cell.began + 1; i < cell.all.size() && cell.all[i].at < cell.at + within; ++i) {
    if (const auto* one = std::get_if<CallSent>(&cell.all[i].what)) sent.push_back(one->call);
    const auto* committed = std::get_if<TransactionCommitted>(&cell.all[i].what);
    if (committed == nullptr || committed->call.process.node != cell.node) continue;
    if (std::ranges::find(sent, committed->call) != sent.end()) return false;
  }
  return true;
}
// No call of the step that the node sends meanwhile is answered otherwise, except a Rollback.
bool AnswersAllBy(const Cell& cell, Code code, Duration within) {
  constexpr uint8_t kRollback = 3;  // Request::index()
  std::vector<CallName> sent;
  for (size_t i = cell.began + 1; i < cell.all.size() && cell.all[i].at < cell.at + within; ++i) {
    if (const auto* one = std::get_if<CallSent>(&cell.all[i].what)) sent.push_back(one->call);
    const auto* served = std::get_if<CallServed>(&cell.all[i].what);
    if (served == nullptr || served->call.process.node != cell.node) continue;
    if (served->step != cell.step || served->request == kRollback || served->code == code) continue;
    if (std::ranges::find(sent, served->call) != sent.end()) return false;
  }
  return true;
}
bool SlowsWrites(const Cell& cell) {
  const bool is_sent = cell.step == steps::kWrite && cell.phase == Phase::kSent;
  // Earlier writes are on their way for some milliseconds; at `sent`, the last of them is the trigger's own.
  for (size_t i = cell.began + 1; i < cell.all.size() && cell.all[i].at < cell.at + kAdded; ++i) {
    const auto* arrived = std::get_if<WriteArrived>(&cell.all[i].what);
    if (arrived == nullptr || arrived->process.node != cell.node) continue;
    if (is_sent || cell.all[i].at > cell.at + Milliseconds(130)) return false;
  }
  return true;
}

struct Kind {
  std::string name;
  std::string keys;
  Effect effect;
  // It does not strike where there is no row or session yet, where its process has been told to stop, or where
  // it waits for a call that does not come any more. The run says so, and fails.
  bool may_find_nothing = false;
};

std::vector<Kind> Kinds() {
  const auto gone = [](const Cell& cell) {
    return cell.Sees<ProcessGone>(OfNode<ProcessGone>(cell.node), {});
  };
  const auto stopped = [](const Cell& cell) {
    return cell.Sees<ProcessStopped>(OfNode<ProcessStopped>(cell.node), {});
  };
  const auto paused = [](const Cell& cell) {
    return cell.Sees<ProcessPaused>(OfNode<ProcessPaused>(cell.node), {}) &&
           HearsNothing(cell, kLasts - Milliseconds(1)) &&
           !cell.SeesBefore<CallSent>(kLasts - Milliseconds(1), CallOf<CallSent>(cell.node));
  };
  const auto by_operator = [](const Cell& cell) {
    return cell.Sees<FaultEnded>([&](const FaultEnded& x) { return x.fault == 3; });
  };
  const auto clock = [](const Cell& cell) {
    return cell.Sees<ClockChanged>([&](const ClockChanged& x) { return x.node == cell.node; }, {});
  };
  const auto spanners = [](const Cell& cell) {
    return cell.Sees<SpannerClocksChanged>([](const SpannerClocksChanged&) { return true; }, {});
  };
  const auto error = [](const Cell& cell) { return AnswersBy(cell, Code::kInternal); };
  const auto abort = [](const Cell& cell) { return AnswersBy(cell, Code::kAborted); };
  std::vector<Kind> kinds = {
      {"pause", R"("for": "3s")", paused},
      {"crash", R"("restart_after": "4s")", gone},
      {"stop", R"("restart_after": "4s")", stopped, true},
      {"start", R"("node": "c")",
       [](const Cell& cell) { return cell.Sees<ProcessStarted>(OfNode<ProcessStarted>(2), {}); }},
      {"drop_request", "", LosesRequest, true},
      {"drop_request", R"("node": "NODE")", LosesRequest, true},
      {"drop_reply", "", LosesReply, true},
      {"duplicate_request", "", ServesTwice, true},
      {"duplicate_request", R"("node": "NODE", "after": "1s")", ServesTwice, true},
      {"abort", "", abort, true},
      {"abort", R"("for": "9s")",
       [](const Cell& cell) { return AbortsAll(cell, Milliseconds(8'999)); }},
      {"error", R"("code": "INTERNAL")", error, true},
      {"error", R"("code": "INTERNAL", "for": "9s")",
       [](const Cell& cell) { return AnswersAllBy(cell, Code::kInternal, Milliseconds(8'999)); }},
      {"unavailable", R"("for": "3s")",
       [](const Cell& cell) {
         return cell.Sees<SpannerAvailability>([](const auto& x) { return !x.available; }, {}) &&
                SendsNothing(cell, kLasts - Milliseconds(1));
       }},
      {"session_loss", "",
       [](const Cell& cell) { return cell.Sees<SessionLost>(OfNode<SessionLost>(cell.node), {}); },
       true},
      {"clock", R"("offset": "10s")", clock},
      {"clock", R"("step": "10s")", clock},
      {"clock", R"("rate_ppm": 500)", clock},
      {"clock", R"("stands": true, "for": "3s")", clock},
      {"truetime", R"("epsilon": "30ms")", spanners},
      {"current_timestamp", R"("error": "5ms")", spanners},
      {"delete_row", "", by_operator, true},
      {"release_row", "", by_operator, true},
      {"empty_row", "", by_operator, true},
      {"delete_side_rows", "", by_operator, true},
      {"slow_resource", R"("add": "1s", "for": "3s")", SlowsWrites},
      {"announce", R"("node": "b")", [](const Cell&) { return true; }, true},
  };
  for (const Direction direction : AllOf<Direction>()) {
    const std::string way = R"(, "direction": ")" + std::string(WordOf(direction)) + "\"";
    for (const char* mode : {"black_hole", "refuse"}) {
      kinds.push_back({"partition", R"("for": "3s", "mode": ")" + std::string(mode) + "\"" + way,
                       [direction](const Cell& cell) { return CutsOff(cell, direction); }});
    }
    kinds.push_back({"latency", R"("add": "1s", "for": "3s")" + way,
                     [direction](const Cell& cell) { return Slows(cell, direction); }});
  }
  return kinds;
}

// --- the matrix ---------------------------------------------------------------------------------

// The steps and phases that a run reaches, each with its node and its count, at the first time after 9 s if
// there is one: the row is there by then.
struct Reached {
  int16_t node = 0;
  int64_t count = 0;
  bool is_late = false;
};
std::map<std::pair<StepName, Phase>, Reached> ReachedIn(const Witness& run,
                                                        const ProtocolInfo& protocol) {
  std::map<std::pair<StepName, Phase>, Reached> reached;
  std::map<std::tuple<StepName, Phase, int16_t>, int64_t> counts;
  for (const Observation& one : run.observations) {
    const auto phase = PhaseReachedBy(one.what, protocol);
    if (!phase || phase->call.process.node > 1) continue;
    const auto note = [&](Phase which) {
      const int16_t node = phase->call.process.node;
      const int64_t count = ++counts[{phase->step, which, node}];
      Reached& known = reached[{phase->step, which}];
      const bool is_late = one.at > At(Seconds(9));
      if (known.count > 0 && (known.is_late || !is_late)) return;
      known = {.node = node, .count = count, .is_late = is_late};
    };
    note(phase->phase);
  }
  return reached;
}

class FaultMatrixTest : public testing::TestWithParam<const char*> {};

TEST_P(FaultMatrixTest, EveryFaultHasItsEffectOrIsRefused) {
  const ProtocolInfo& protocol = *FindProtocol(GetParam());
  const Witness base = Watch(ScenarioOf(World(protocol.name, "")));
  const auto reached = ReachedIn(base, protocol);
  std::set<StepName> steps_reached;
  int cells = 0;
  int refused = 0;
  for (const StepName step : AllSteps()) {
    for (const Phase phase : AllOf<Phase>()) {
      // A reply comes with the end, before it.
      const Phase shown = phase == Phase::kReplied ? Phase::kEnded : phase;
      const auto found = reached.find({step, shown});
      if (found == reached.end()) continue;
      steps_reached.insert(step);
      const std::string node = found->second.node == 0 ? "a" : "b";
      // An end that is counted may be one without a reply; the first reply is surely there.
      const int64_t count = phase == Phase::kReplied ? 1 : found->second.count;
      for (const Kind& kind : Kinds()) {
        std::string keys = kind.keys;
        if (const size_t at = keys.find("NODE"); at != std::string::npos) keys.replace(at, 4, node);
        const std::string fault = R"({"when": {"node": ")" + node + R"(", "step": ")" +
                                  std::string(WordOf(step)) + R"(", "phase": ")" +
                                  std::string(WordOf(phase)) + R"(", "count": )" +
                                  std::to_string(count) + R"(}, "do": ")" + kind.name + "\"" +
                                  (keys.empty() ? "" : ", " + keys) + "}";
        SCOPED_TRACE(fault);
        ++cells;
        const auto scenario = ParseScenario(World(protocol.name, fault), "x.json");
        if (!scenario.ok()) {
          ++refused;
          EXPECT_NE(scenario.status().message().find("/faults/3"), std::string::npos)
              << scenario.status().message();
          continue;
        }
        const Witness run = Watch(*scenario);
        const uint32_t index = 3;
        const auto began = std::ranges::find_if(run.observations, [&](const Observation& one) {
          const auto* what = std::get_if<FaultBegan>(&one.what);
          return what != nullptr && what->fault == index;
        });
        if (began == run.observations.end()) {
          EXPECT_TRUE(kind.may_find_nothing);
          EXPECT_EQ(run.result.unfired_faults, std::vector<uint32_t>{index});
          continue;
        }
        Cell cell{.scenario = *scenario,
                  .all = run.observations,
                  .node = found->second.node,
                  .step = step,
                  .phase = phase,
                  .began = static_cast<size_t>(began - run.observations.begin()),
                  .at = began->at,
                  .trigger = {}};
        // What an armed fault strikes later has another trigger.
        int64_t seen = 0;
        for (size_t i = 0; i < cell.began; ++i) {
          const auto what = PhaseReachedBy(run.observations[i].what, protocol);
          if (!what || what->step != step || what->phase != phase) continue;
          if (what->call.process.node != cell.node || ++seen != count) continue;
          if (run.observations[i].at == cell.at && what->call.generation > 0) {
            cell.trigger = what->call;
          }
        }
        EXPECT_TRUE(kind.effect(cell)) << "at " << FormatDuration(cell.at - Instant{});
      }
    }
  }
  for (const StepName step : protocol.steps) {
    EXPECT_TRUE(steps_reached.contains(step)) << WordOf(step) << " does not come in this world";
  }
  EXPECT_GT(cells, 400);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Protocols, FaultMatrixTest,
                         testing::Values("fenced_lease", "spindle_v2", "spindle_v3", "lease_lock",
                                         "semaphore"),
                         [](const auto& test) { return std::string(test.param); });

// The field's own case: the grant is committed, and its answer comes when the lease is over. It was judged as if
// the answer had come at once, and broke three invariants on a server.
TEST(FaultMatrix, AnAnswerToAGrantThatIsLateIsLate) {
  const Witness run = Watch(ScenarioOf(R"({"version": 1, "about": "x", "protocol": "spindle_v3",
    "lease": "5s", "nodes": ["a", {"name": "b", "start_at": "1s"}], "duration": "45s", "faults": [
    {"at": "20s", "do": "crash", "node": "a"},
    {"when": {"node": "b", "step": "acquire", "phase": "committed"}, "do": "latency", "node": "b",
     "direction": "from", "add": "9s", "for": "8s"}]})"));
  const auto began = run.When<FaultBegan>([](const FaultBegan& x) { return x.fault == 1; });
  ASSERT_EQ(began.size(), 1u);
  const auto granted = run.When<TransactionFinished>([](const TransactionFinished& x) {
    return x.process.node == 1 && WordOf(x.step) == "acquire" && x.outcome == Outcome::kCommitted;
  });
  ASSERT_FALSE(granted.empty());
  EXPECT_GE(granted.front(), began.front() + Seconds(9));
}

}  // namespace
}  // namespace whorl::sim::fault_matrix_test
