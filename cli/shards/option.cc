#include "cli/shards/option.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "absl/status/statusor.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/option_values.h"
#include "cli/shards/coverage.h"
#include "cli/shards/engine_shard.h"

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
    errors.push_back(Cat(mode, " makes no runs; it does not go with ", name));
  }
  return errors;
}

}  // namespace whorl::cli
