// --shard and --exit-code-found, for the commands whose work can be shared out.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace whorl::cli
