// Values of options, read strictly: CLI11 would take -1 for the greatest of all numbers.
//
// Each throws CLI::ValidationError, which names the option, what was expected and the nearest word.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "live/backend_kind.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"

namespace whorl::cli {

// The number of runs at the same time that anyone may ask for.
inline constexpr uint64_t kJobsMax = 256;
// One for each core.
uint64_t DefaultJobs();
// On real processes: two for each core, since they mostly wait. No more, since what they wait for is
// to be in time.
uint64_t DefaultJobsOn();

uint64_t NumberOf(std::string_view option, const std::string& text, uint64_t min, uint64_t max);

// `example` is a value that it could have.
Duration DurationOf(std::string_view option, const std::string& text, std::string_view example);

// The place of `word` in `known`; `what` is "invariant" or the like.
size_t PlaceOfWord(std::string_view option, std::string_view what, const std::string& word,
                   std::span<const std::string_view> known);

Invariant InvariantOf(std::string_view option, const std::string& word);

// "a,b,c": a, b and c.
std::vector<std::string> CommaSeparated(const std::string& text);

// --on: the Spanner on which a command is to run on real processes.
void AddOn(CLI::App& app, std::optional<live::BackendKind>& on, const std::string& help);

// An option of text, which `take` reads into the request.
template <typename Request>
void AddText(CLI::App& app, const std::string& name, const std::string& type,
             const std::shared_ptr<Request>& request,
             std::type_identity_t<void (*)(const std::string& text, Request& request)> take,
             const std::string& help) {
  app.add_option_function<std::string>(
         name, [request, take](const std::string& text) { take(text, *request); }, help)
      ->type_name(type);
}

void AddNumber(CLI::App& app, const std::string& name, uint64_t min, uint64_t max,
               std::function<void(uint64_t)> take, const std::string& help);

}  // namespace whorl::cli
