#include "sim/report/determinism.h"

#include "sim/report/trace.h"

namespace whorl::sim {
namespace {

constexpr std::string_view kEnded = "(the run had ended)";

}  // namespace

void Recording::Hear(const Observation& observation, uint64_t, uint64_t hash) {
  hashes_.push_back(hash);
  if (kept_.size() < kKeptObservations) kept_.push_back(observation);
}

std::string Comparison::FirstSide(size_t i) const {
  if (i >= recording_.hashes().size()) return std::string(kEnded);
  const uint64_t hash = recording_.hashes()[i];
  const Observation* kept = recording_.Kept(i);
  if (kept == nullptr) return "(not kept; hash " + HashText(hash) + ")";
  return TraceLine(printer_, *kept, i + 1, hash);
}

void Comparison::Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) {
  const size_t i = heard_++;
  if (difference_.has_value()) return;
  const std::vector<uint64_t>& hashes = recording_.hashes();
  if (i < hashes.size() && hashes[i] == hash) return;
  difference_ = {.ordinal = ordinal,
                 .first = FirstSide(i),
                 .second = TraceLine(printer_, observation, ordinal, hash)};
}

std::optional<Difference> Comparison::Finish(bool results_equal) const {
  if (difference_.has_value()) return difference_;
  if (heard_ < recording_.hashes().size()) {
    return Difference{
        .ordinal = heard_ + 1, .first = FirstSide(heard_), .second = std::string(kEnded)};
  }
  if (results_equal) return std::nullopt;
  return Difference{.ordinal = heard_ + 1,
                    .first = "(something that was not observed, after the last observation)",
                    .second = "(something else)"};
}

}  // namespace whorl::sim
