// Measures how fast recorded histories are judged: 50 locks that 100 processes take in turn. No timed test:
//   build/bench/whorl_check_speed
// The same as lines, a hundred in each round, so that the command itself is measured, from a pipe:
//   build/bench/whorl_check_speed write 100000 |
//     build/whorl check - --protocol spindle_v2 --lease 100ms --clock-error 100us

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check.h"
#include "check/json_lines.h"

namespace whorl::check {
namespace {

constexpr int64_t kLocks = 50;
constexpr int64_t kProcesses = 100;
constexpr int64_t kRenewals = 40;  // between two takeovers

std::string At(int64_t ms) {
  return FormatRfc3339(Timestamp::FromUnixNanos(1'767'225'600'000'000'000) + Milliseconds(ms));
}

// Alternately a renewal or takeover of each lock, and what its holder says.
template <typename Take>
void GiveHistory(int64_t rounds, const Take& take) {
  std::vector<std::string> old_values(kLocks, "{}");
  std::vector<std::string> token(kLocks);
  for (int64_t round = 0; round < rounds; ++round) {
    for (int64_t lock = 0; lock < kLocks; ++lock) {
      const auto place = static_cast<size_t>(lock);
      const int64_t now = (round * kLocks + lock) * 2;
      const std::string name = "job" + std::to_string(lock);
      const std::string process = "p" + std::to_string((lock * 7 + round / kRenewals) % kProcesses);
      if (round % kRenewals == 0) token[place] = At(now);
      const std::string values = R"({"heartbeat":")" + At(now) + R"(","token":")" + token[place] +
                                 R"(","writer":")" + process + R"("})";
      take(R"({"commit_timestamp":")" + At(now) + R"(","mod_type":")" +
           (round == 0 ? "INSERT" : "UPDATE") + R"(","mods":[{"keys":{"name":")" + name +
           R"("},"new_values":)" + values + R"(,"old_values":)" + old_values[place] + "}]}");
      old_values[place] = values;
      const int64_t term = round % kRenewals;
      const char* event = term == 0 ? "leads" : term == kRenewals - 1 ? "lost" : "goes_on";
      take(R"({"event":")" + std::string(event) + R"(","id":")" + process + R"(","lock":")" + name +
           R"(","time":")" + At(now + 1) + R"("})");
    }
  }
}

std::vector<std::string> History(int64_t rounds) {
  std::vector<std::string> lines;
  GiveHistory(rounds, [&](std::string line) { lines.push_back(std::move(line)); });
  return lines;
}

void WriteHistory(int64_t rounds) {
  GiveHistory(rounds, [](const std::string& line) { std::cout << line << '\n'; });
}

void ReadAndJudge(benchmark::State& state) {
  const ProtocolInfo& protocol = *FindProtocol("spindle_v2");
  const std::vector<std::string> lines = History(state.range(0));
  for (auto _ : state) {
    Checker checker(protocol, {.lease = Milliseconds(100), .clock_error = Microseconds(100)});
    JsonLines reader(protocol, {});
    std::vector<Operation> operations;
    for (const std::string& line : lines) {
      operations.clear();
      reader.Read(line, {}, operations);
      for (Operation& operation : operations) checker.Add(std::move(operation));
    }
    benchmark::DoNotOptimize(checker.Verdict());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(lines.size()));
}
BENCHMARK(ReadAndJudge)->Arg(200)->Arg(2'000)->Unit(benchmark::kMillisecond);

void Judge(benchmark::State& state) {
  const ProtocolInfo& protocol = *FindProtocol("spindle_v2");
  JsonLines reader(protocol, {});
  std::vector<Operation> operations;
  for (const std::string& line : History(state.range(0))) reader.Read(line, {}, operations);
  for (auto _ : state) {
    Checker checker(protocol, {.lease = Milliseconds(100), .clock_error = Microseconds(100)});
    for (const Operation& operation : operations) checker.Add(operation);
    benchmark::DoNotOptimize(checker.Verdict());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(operations.size()));
}
BENCHMARK(Judge)->Arg(200)->Arg(2'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace whorl::check

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "write") {
    std::ios::sync_with_stdio(false);
    whorl::check::WriteHistory(std::atoll(argv[2]));
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
