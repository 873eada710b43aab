// Values of options, read strictly: CLI11 would take -1 for the greatest of all numbers.
//
// Each throws CLI::ValidationError, which names the option, what was expected and the nearest word.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"

namespace whorl::cli {

// The number of runs at the same time that anyone may ask for.
inline constexpr uint64_t kJobsMax = 256;
// One for each core.
uint64_t DefaultJobs();

uint64_t NumberOf(std::string_view option, const std::string& text, uint64_t min, uint64_t max);

// `example` is a value that it could have.
Duration DurationOf(std::string_view option, const std::string& text, std::string_view example);

// The place of `word` in `known`; `what` is "invariant" or the like.
size_t PlaceOfWord(std::string_view option, std::string_view what, const std::string& word,
                   std::span<const std::string_view> known);

Invariant InvariantOf(std::string_view option, const std::string& word);

// "a,b,c": a, b and c.
std::vector<std::string> CommaSeparated(const std::string& text);

void AddNumber(CLI::App& app, const std::string& name, uint64_t min, uint64_t max,
               std::function<void(uint64_t)> take, const std::string& help);

}  // namespace whorl::cli
