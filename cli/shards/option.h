// Parses --shard and --exit-code-found, for the commands whose work can be split between machines.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace whorl::cli {

// The part of the work that this command does.
struct Shard {
  uint64_t shard = 0;   // from 0
  uint64_t shards = 1;  // shard < shards
  bool is_given = false;
  std::string source;  // the engine that said so; empty: the command line did

  // Says on standard error what an engine said.
  void Tell() const;
};

inline constexpr std::string_view kShardType = "I/N|auto[/N]";

// "2/8": the second of eight. "auto", "auto/8": the one that the engine says.
// Throws CLI::ValidationError if it is neither, or the engine does not say.
Shard ShardOf(const std::string& text);

// Some engines try again what has failed, or take a code for another reason to stop.
// Throws CLI::ValidationError if it is no code, or one with a meaning of its own.
int FoundCodeOf(const std::string& text);

// Messages about the options that were given, except `mode` itself, such as "--merge", and `others`: a mode
// that makes no runs has no use for them.
std::vector<std::string> NotBeside(const CLI::App& app, std::string_view mode,
                                   const std::vector<std::string>& others);

// Reads which part of the work this worker does from the environment that its engine sets:
// Kubernetes Indexed Jobs, Slurm arrays, AWS Batch arrays, Cloud Run jobs, GCP Batch, Bazel, GitLab.

struct EngineShard {
  uint64_t shard = 0;   // from 0
  uint64_t shards = 1;  // shard < shards
  std::string source;   // what said so: "Kubernetes, JOB_COMPLETION_INDEX=3"
};

// The value of a variable; empty if it is not set.
using Environment = std::function<std::string(const std::string& name)>;

// The environment of this process.
std::string VariableOfProcess(const std::string& name);

// `count`: how many shards there are, where the command line says so; Kubernetes does not, and a Slurm
// array that runs some tasks again says how many these are. Slurm's task numbers then count from 0.
//
// Errors, all kInvalidArgument and with a remedy: no engine or several of them, nobody says how many
// shards there are or two say different numbers, a value is no number or out of range, a Slurm array
// that may be a part of another one. A worker never takes the whole for want of a variable.
absl::StatusOr<EngineShard> ShardOfEngine(const Environment& environment,
                                          std::optional<uint64_t> count);

}  // namespace whorl::cli
