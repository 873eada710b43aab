#include "cli/shards/option.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/option_values.h"
#include "cli/shards/coverage.h"

namespace whorl::cli {

void Shard::Tell() const {
  if (source.empty()) return;
  std::cerr << "shard " << shard + 1 << '/' << shards << ", by " << source << '\n';
}

Shard ShardOf(const std::string& text) {
  const size_t slash = text.find('/');
  const bool is_auto = text.substr(0, slash) == "auto";
  if (slash == std::string::npos && !is_auto) {
    throw CLI::ValidationError(
        Cat("--shard wants I/N, such as 2/8 for the second of eight, or auto or auto/N, and got ",
            Quoted(text)));
  }
  std::optional<uint64_t> said;
  if (slash != std::string::npos) {
    said = NumberOf("N of --shard I/N", text.substr(slash + 1), 1, kShardsMax);
  }
  if (is_auto) {
    const absl::StatusOr<EngineShard> found = ShardOfEngine(VariableOfProcess, said);
    if (!found.ok()) throw CLI::ValidationError(std::string(found.status().message()));
    return {
        .shard = found->shard, .shards = found->shards, .is_given = true, .source = found->source};
  }
  const uint64_t place = NumberOf("I of --shard I/N", text.substr(0, slash), 1, *said);
  return {.shard = place - 1, .shards = *said, .is_given = true, .source = {}};
}

int FoundCodeOf(const std::string& text) {
  constexpr uint64_t kLastOfOwnCodes = 125;  // shells and kernels use those above
  const uint64_t code = NumberOf("--exit-code-found", text, 0, kLastOfOwnCodes);
  if (code == kBadInput || code == kCannotRun) {
    throw CLI::ValidationError(
        Cat("--exit-code-found ", text, " would look like ",
            code == kBadInput ? "bad input" : "output that could not be written",
            "; take another code from 0 to 125"));
  }
  return static_cast<int>(code);
}

std::vector<std::string> NotBeside(const CLI::App& app, std::string_view mode,
                                   const std::vector<std::string>& others) {
  std::vector<std::string> errors;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_lnames().empty() ? std::string("files")
                                                          : Cat("--", option->get_lnames().front());
    if (option->count() == 0 || name == mode) continue;
    if (std::ranges::find(others, name) != others.end()) continue;
    errors.push_back(Cat(mode, " makes no runs; it does not go with ", name, ": leave it out"));
  }
  return errors;
}

namespace {

struct Engine {
  std::string_view name;
  std::string_view index;  // a variable
  uint64_t first = 0;      // its least value
  std::string_view count;  // a variable; empty if there is none
};

constexpr std::string_view kSlurm = "Slurm";
constexpr std::array<Engine, 7> kEngines = {{
    {.name = "Kubernetes", .index = "JOB_COMPLETION_INDEX", .count = {}},
    {.name = kSlurm, .index = "SLURM_ARRAY_TASK_ID", .count = "SLURM_ARRAY_TASK_COUNT"},
    {.name = "AWS Batch",
     .index = "AWS_BATCH_JOB_ARRAY_INDEX",
     .count = "AWS_BATCH_JOB_ARRAY_SIZE"},
    {.name = "Cloud Run", .index = "CLOUD_RUN_TASK_INDEX", .count = "CLOUD_RUN_TASK_COUNT"},
    {.name = "GCP Batch", .index = "BATCH_TASK_INDEX", .count = "BATCH_TASK_COUNT"},
    {.name = "Bazel", .index = "TEST_SHARD_INDEX", .count = "TEST_TOTAL_SHARDS"},
    {.name = "GitLab", .index = "CI_NODE_INDEX", .first = 1, .count = "CI_NODE_TOTAL"},
}};

constexpr std::string_view kByHand = "give --shard I/N";

absl::Status Refusal(std::string_view text) {
  return absl::InvalidArgumentError(Cat("--shard auto: ", text));
}

class ShardReader {
 public:
  ShardReader(const Environment& environment, std::optional<uint64_t> count)
      : environment_(environment), count_(count) {}

  absl::StatusOr<EngineShard> Read() const {
    std::vector<const Engine*> present;
    for (const Engine& engine : kEngines) {
      if (!Value(engine.index).empty()) present.push_back(&engine);
    }
    if (present.empty()) return None();
    if (present.size() > 1) {
      return Refusal(Cat(present[0]->index, " of ", present[0]->name, " and ", present[1]->index,
                         " of ", present[1]->name, " are both set; unset one, or ", kByHand));
    }
    return present.front()->name == kSlurm ? OfSlurm(*present.front()) : Of(*present.front());
  }

 private:
  std::string Value(std::string_view name) const { return environment_(std::string(name)); }

  absl::StatusOr<uint64_t> Number(std::string_view name, uint64_t min, uint64_t max) const {
    const std::string text = Value(name);
    uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || rest != end || number < min || number > max) {
      return Refusal(Cat(name, " is to be a number from ", std::to_string(min), " to ",
                         std::to_string(max), ", and is ", Quoted(text), "; ", kByHand));
    }
    return number;
  }

  // Names what is missing: an engine that gives a number of shards only was left without the other.
  absl::Status None() const {
    for (const Engine& engine : kEngines) {
      if (engine.count.empty() || Value(engine.count).empty()) continue;
      return Refusal(Cat(engine.count, " of ", engine.name, " is set, and ", engine.index,
                         " is not; ", kByHand));
    }
    std::string names;
    for (const Engine& engine : kEngines) {
      names += Cat(names.empty() ? "" : ", ", engine.index, " (", engine.name, ")");
    }
    return Refusal(Cat("none of these is set: ", names, "; ", kByHand));
  }

  // How many shards there are, by the command line and by the engine.
  absl::StatusOr<uint64_t> CountOf(const Engine& engine) const {
    if (engine.count.empty() || Value(engine.count).empty()) {
      if (count_.has_value()) return *count_;
      const std::string whose = engine.count.empty() ? Cat(engine.name, " does not say")
                                                     : Cat(engine.count, " is not set to say");
      return Refusal(Cat(engine.index, " is set, and ", whose,
                         " how many shards there are; give --shard auto/N"));
    }
    const absl::StatusOr<uint64_t> said = Number(engine.count, 1, kShardsMax);
    if (!said.ok()) return said;
    if (count_.has_value() && *count_ != *said) {
      return Refusal(Cat(engine.count, " says ", std::to_string(*said),
                         " shards, and the command line ", std::to_string(*count_),
                         "; they have to be equal"));
    }
    return said;
  }

  absl::StatusOr<EngineShard> Of(const Engine& engine) const {
    const absl::StatusOr<uint64_t> count = CountOf(engine);
    if (!count.ok()) return count.status();
    const absl::StatusOr<uint64_t> index =
        Number(engine.index, engine.first, engine.first + *count - 1);
    if (!index.ok()) return index.status();
    return Shard(engine, *index - engine.first, *count);
  }

  absl::StatusOr<EngineShard> OfSlurm(const Engine& engine) const {
    if (count_.has_value()) {
      const absl::StatusOr<uint64_t> task = Number(engine.index, 0, *count_ - 1);
      if (!task.ok()) return task.status();
      return Shard(engine, *task, *count_);
    }
    const absl::StatusOr<uint64_t> count = CountOf(engine);
    if (!count.ok()) return count.status();
    const std::string remedy =
        "; if it runs tasks of another array again, or has a step, number tasks from 0 and give "
        "--shard auto/N with N of the whole";
    if (*count == 1) {
      return Refusal(Cat("SLURM_ARRAY_TASK_COUNT is 1, which would be the whole hunt", remedy));
    }
    // Tasks 0 to N-1, or 1 to N, and no others.
    const absl::StatusOr<uint64_t> first = Number("SLURM_ARRAY_TASK_MIN", 0, 1);
    if (!first.ok()) return Refusal(Cat("SLURM_ARRAY_TASK_MIN is neither 0 nor 1", remedy));
    const absl::StatusOr<uint64_t> last =
        Number("SLURM_ARRAY_TASK_MAX", *first + *count - 1, *first + *count - 1);
    if (!last.ok()) return Refusal(Cat("the numbers of the array's tasks have gaps", remedy));
    const absl::StatusOr<uint64_t> task = Number(engine.index, *first, *last);
    if (!task.ok()) return task.status();
    return Shard(engine, *task - *first, *count);
  }

  EngineShard Shard(const Engine& engine, uint64_t shard, uint64_t shards) const {
    return {.shard = shard,
            .shards = shards,
            .source = Cat(engine.name, ", ", engine.index, "=", Value(engine.index))};
  }

  const Environment& environment_;
  std::optional<uint64_t> count_;
};

}  // namespace

std::string VariableOfProcess(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

absl::StatusOr<EngineShard> ShardOfEngine(const Environment& environment,
                                          std::optional<uint64_t> count) {
  return ShardReader(environment, count).Read();
}

}  // namespace whorl::cli
