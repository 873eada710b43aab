// Reads the values of options strictly; CLI11 would accept -1 as the greatest number.
//
// Each function throws CLI::ValidationError, which names the option, what was expected and the nearest word.
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

// The greatest value of --jobs.
inline constexpr uint64_t kJobsMax = 256;
// The default of --jobs: one for each core.
uint64_t DefaultJobs();
// The default of --jobs with --on: two for each core, since real processes mostly wait; not more,
// since they have to be on time.
uint64_t DefaultJobsOn();

uint64_t NumberOf(std::string_view option, const std::string& text, uint64_t min, uint64_t max);

// "2000" and "2000M" are 2000 MiB, "8G" is 8 GiB.
uint64_t MebibytesOf(std::string_view option, const std::string& text, uint64_t max);

// `example` is a valid value, for the message.
Duration DurationOf(std::string_view option, const std::string& text, std::string_view example);

// The place of `word` in `known`; `what` is "invariant" or the like.
size_t PlaceOfWord(std::string_view option, std::string_view what, const std::string& word,
                   std::span<const std::string_view> known);

Invariant InvariantOf(std::string_view option, const std::string& word);

// "a,b,c": a, b and c.
std::vector<std::string> CommaSeparated(const std::string& text);

// Adds --on, which chooses the Spanner for real processes.
void AddOn(CLI::App& app, std::optional<live::BackendKind>& on, const std::string& help);

// Adds an option whose text `take` reads into the request.
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

// The absolute path of a program that can be executed. Throws CLI::ValidationError if there is none.
std::string ProgramAt(const std::string& option, const std::string& text);

}  // namespace whorl::cli
