// Which part of a hunt this worker does, as the engine that started it says in the environment:
// Kubernetes Indexed Jobs, Slurm arrays, AWS Batch arrays, Cloud Run jobs, GCP Batch, Bazel, GitLab.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace whorl::cli {

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
