// Sends drawn calls of every method to `whorl serve`, by eight threads, until the server does what it must
// not: die, hold up another session, answer by a code that Spanner has not for the call, or outlive
// SIGTERM. The calls are then made fewer while the failure stays, and written as a script.
//
//   whorl_fuzz_calls [--whorl PATH] [--for 60] [--seed 1] [--calls 2000] [--answer-within-ms 1000]
//                    [--script FILE]
//   whorl_fuzz_calls --replay FILE [--whorl PATH]
//
// Real threads and time: a seed draws the same calls, but not the same run. Every second round is served
// like the emulator. Exit codes: 0 nothing; 1 a failure; 2 wrong options; 3 it could not run.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "tests/fuzz/calls/draw_calls.h"
#include "tests/fuzz/calls/play_calls.h"
#include "tests/fuzz/calls/played_call.h"

namespace whorl::fuzz {
namespace {

struct Options {
  std::string whorl = WHORL_COMMAND;
  int seconds = 60;
  uint64_t seed = 1;
  int calls = 2'000;
  int64_t answer_within_ms = 1'000;
  std::string script = "fuzz_calls.script";
  std::string replay;
};

std::vector<std::string> ArgumentsOf(uint64_t seed) {
  if (seed % 2 == 0) return {"--like-emulator"};
  return {};
}

ServerUnderTest ServerOf(const Options& options, uint64_t seed) {
  return {.whorl = options.whorl,
          .arguments = ArgumentsOf(seed),
          .answer_within_ms = options.answer_within_ms};
}

bool Write(const std::string& file, const Failure& failure, uint64_t seed,
           const std::vector<PlayedCall>& calls) {
  std::ofstream out(file);
  out << "# " << failure.kind << "\n# seed " << seed << '\n' << FormatScript(calls);
  return out.good();
}

// Fewer calls that fail by the same kind. A failure that needs a race may not come again: what was not
// seen to fail stays in.
std::vector<PlayedCall> Shrink(const ServerUnderTest& server, const Failure& failure,
                               std::vector<PlayedCall> calls) {
  const auto fails = [&](const std::vector<PlayedCall>& some) {
    const Played played = Play(server, some);
    return played.failure && played.failure->kind == failure.kind;
  };
  for (size_t piece = std::max<size_t>(1, calls.size() / 2); piece >= 1; piece /= 2) {
    for (size_t at = 0; at < calls.size();) {
      std::vector<PlayedCall> fewer = calls;
      const auto first = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(first, first + static_cast<std::ptrdiff_t>(std::min(piece, calls.size() - at)));
      if (!fewer.empty() && fails(fewer)) {
        calls = std::move(fewer);
        std::fprintf(stderr, "%zu calls are left\n", calls.size());
      } else {
        at += piece;
      }
    }
  }
  return calls;
}

int Replay(const Options& options) {
  std::ifstream in(options.replay);
  if (!in) {
    std::fprintf(stderr, "%s cannot be read\n", options.replay.c_str());
    return 2;
  }
  const std::vector<PlayedCall> calls = ParseScript(in);
  for (uint64_t kind = 0; kind < 2; ++kind) {
    const Played played = Play(ServerOf(options, kind), calls);
    if (!played.failure) continue;
    std::printf("%s\n%s\n", played.failure->kind.c_str(), played.failure->detail.c_str());
    return 1;
  }
  std::printf("%zu calls: no failure\n", calls.size());
  return 0;
}

int Fuzz(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto end = start + std::chrono::seconds(options.seconds);
  int64_t calls = 0;
  int64_t answered_ok = 0;
  int64_t slowest = 0;
  int64_t memory = 0;
  uint64_t seed = options.seed;
  for (; std::chrono::steady_clock::now() < end; ++seed) {
    const std::vector<PlayedCall> round = DrawRound(seed, options.calls);
    const ServerUnderTest server = ServerOf(options, seed);
    Played played = Play(server, round);
    calls += played.calls;
    answered_ok += played.answered_ok;
    // A machine that is busy with something else is slow once.
    if (played.failure && played.failure->kind == kSlow) {
      std::fprintf(stderr, "seed %llu: slow; once more\n", static_cast<unsigned long long>(seed));
      played = Play(server, round);
    }
    slowest = std::max(slowest, played.slowest_probe_ms);
    memory = std::max(memory, played.memory_mb);
    if (!played.failure) continue;
    std::printf("seed %llu: %s\n%s\n", static_cast<unsigned long long>(seed),
                played.failure->kind.c_str(), played.failure->detail.c_str());
    std::fflush(stdout);
    // Whole first: shrinking takes time, and may be interrupted.
    if (!Write(options.script, *played.failure, seed, round)) return 3;
    const std::vector<PlayedCall> few = Shrink(server, *played.failure, round);
    if (!Write(options.script, *played.failure, seed, few)) return 3;
    std::printf("%zu calls show it: whorl_fuzz_calls --replay %s\n", few.size(),
                options.script.c_str());
    return 1;
  }
  std::printf(
      "%lld calls in %llu rounds, %lld of them answered with OK: no failure\n"
      "slowest answer to another session %lld ms, memory after a round at most %lld MB\n",
      static_cast<long long>(calls), static_cast<unsigned long long>(seed - options.seed),
      static_cast<long long>(answered_ok), static_cast<long long>(slowest),
      static_cast<long long>(memory));
  return 0;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Sends drawn calls to whorl serve until it does what it must not");
  app.add_option("--whorl", options.whorl, "The command");
  app.add_option("--for", options.seconds, "Seconds")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "Of the first round");
  app.add_option("--calls", options.calls, "In a round")->check(CLI::PositiveNumber);
  app.add_option("--answer-within-ms", options.answer_within_ms,
                 "In which another session has to be answered");
  app.add_option("--script", options.script, "The file for the calls that show a failure");
  app.add_option("--replay", options.replay, "Plays this file once, by both kinds of server");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return options.replay.empty() ? Fuzz(options) : Replay(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}

}  // namespace
}  // namespace whorl::fuzz

int main(int argc, char** argv) { return whorl::fuzz::Main(argc, argv); }
